/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the results of the kernels with PyTorch's (kernel_truth.h): the text of a kernel is
 * compiled as C++ with an emulation of CUDA (emulate.hpp) and run on the CPU.
 */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/cuda/jit/jit.h"
#include "backends/primitive.h"
#include "kernel_truth.h"
#include "works.h"

#define MAX_ARGS 6

typedef void kernel(void *, void *, void *, void *, void *, void *);
typedef void emulator(kernel *, unsigned, unsigned, int, void **);

static double truth(const char *name) {
    for (size_t i = 0; i < sizeof(kernel_truth) / sizeof(kernel_truth[0]); i++)
        if (strcmp(kernel_truth[i].name, name) == 0) return kernel_truth[i].sum;
    fail_msg("no truth for %s", name);
    return 0;
}

/* Returns the contents of operand `k`, as make_kernel_truth.py computes them. Indices are below
 * `axis`. */
static void *fill(const struct cm_tensor *tensor, int64_t k, int64_t axis) {
    const int64_t bytes = primitive_span(tensor);
    const int64_t n = bytes / primitive_element_size(tensor->element);
    char *ret = calloc(1, (size_t)bytes);
    assert_non_null(ret);
    for (int64_t i = 0; i < n; i++) {
        const float number = (float)((double)((37 * i + 11 * k) % 101) / 101 + 0.25);
        const int64_t index = 7 * i % (axis > 0 ? axis : 1);
        if (tensor->element == CM_F32) memcpy(ret + 4 * i, &number, 4);
        if (tensor->element == CM_I64) memcpy(ret + 8 * i, &index, 8);
        if (tensor->element == CM_BOOL) ret[i] = number > 0.5F;
    }
    return ret;
}

static double sum_of(const struct cm_tensor *tensor, const char *bytes) {
    const int64_t n = primitive_span(tensor) / primitive_element_size(tensor->element);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = 0;
        float number = 0;
        if (tensor->element == CM_F32)
            memcpy(&bits, bytes + 4 * i, 4);
        else
            memcpy((char *)&bits + 2, bytes + 2 * i, 2); /* bf16: the upper half */
        memcpy(&number, &bits, 4);
        sum += (double)number * (double)(i % 13 + 1);
    }
    return sum;
}

static void *compile(const char *text) {
    char source[TEMPORARY_PATH];
    temporary_path(source);
    char library[sizeof(source) + 4];
    char command[2 * sizeof(source) + 128];
    const int file = mkstemp(source);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    assert_non_null(out);
    (void)fprintf(out, "#include \"%s/tests/backends/cuda/emulate.hpp\"\n%s", TEST_SOURCE_DIR,
                  text);
    assert_int_equal(fclose(out), 0);
    (void)snprintf(library, sizeof(library), "%s.so", source);
    (void)snprintf(command, sizeof(command),
                   "g++ -std=c++17 -w -shared -fPIC -o %s -x c++ %s -lpthread", library,
                   source);
    const int compiled = system(command); /* the path is ours, not an input */
    void *handle = compiled == 0 ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
    (void)unlink(source);
    (void)unlink(library);
    assert_non_null(handle);
    return handle;
}

static void run_kernels(const struct jit *jit, void **args) {
    void *handle = compile(jit->text);
    emulator *emulate = NULL;
    void *symbol = dlsym(handle, "emulate");
    memcpy(&emulate, &symbol, sizeof(symbol));
    assert_non_null(emulate);
    for (int i = 0; i < jit->n_kernels; i++) {
        char name[64];
        kernel *function = NULL;
        (void)snprintf(name, sizeof(name), "costmodel_%s_%d", jit->what, i);
        symbol = dlsym(handle, name);
        memcpy(&function, &symbol, sizeof(symbol));
        assert_non_null(function);
        const int meet = strstr(strstr(jit->text, "extern \"C\""), "<TPR") != NULL;
        emulate(function, (unsigned)((jit->threads[i] + JIT_BLOCK - 1) / JIT_BLOCK), JIT_BLOCK,
                meet, args);
    }
    (void)dlclose(handle);
}

/* Runs the kernels of `work` and compares their result with kernel_truth[name]. Indices are
 * below `axis`. */
static void computes_indexed(const char *name, const struct cm_primitive *work, int64_t axis) {
    struct jit jit;
    struct cm_reason reason = {""};
    void *args[MAX_ARGS] = {NULL};
    if (system("g++ --version >/dev/null 2>&1") != 0) skip();
    if (jit_write(work, &jit, &reason) != CM_BACKEND_OK) fail_msg("%s: %s", name, reason.text);
    for (int32_t i = 0; i < work->n_inputs; i++) args[i] = fill(&work->inputs[i], i, axis);
    args[work->n_inputs] = calloc(1, (size_t)primitive_span(&work->outputs[0]));
    run_kernels(&jit, args);
    const double have = sum_of(&work->outputs[0], args[work->n_inputs]);
    const double want = truth(name);
    for (int i = 0; i < MAX_ARGS; i++) free(args[i]);
    free(jit.text);
    if (!(fabs(have - want) <= 2e-5 * fmax(1, fabs(want))))
        fail_msg("%s: have %.9g, want %.9g", name, have, want);
}

static void computes(const char *name, const struct cm_primitive *work) {
    computes_indexed(name, work, 0);
}

static struct cm_tensor tensor(int rank, int64_t a, int64_t b, int64_t c, int64_t d) {
    return fixture_tensor(CM_F32, rank, (const int64_t[]){a, b, c, d});
}

static void computes_softmax_and_reductions(void **state) {
    const struct cm_tensor x = works_image(CM_F32, 2, 8, 5, 40);
    struct cm_primitive work = works_of(CM_SOFTMAX, CM_SOFTMAX_PLAIN, x, x);
    (void)state;
    work.axis = 3;
    computes("softmax_rows", &work);
    work.axis = 1;
    work.algorithm = CM_SOFTMAX_LOG;
    computes("softmax_columns", &work);
    work = works_of(CM_REDUCE, CM_REDUCE_MEAN, x, works_image(CM_F32, 2, 8, 1, 1));
    computes("reduce_mean", &work);
    work = works_of(CM_REDUCE, CM_REDUCE_SUM, x, works_image(CM_F32, 1, 8, 1, 40));
    computes("reduce_sum", &work);
    work = works_of(CM_REDUCE, CM_REDUCE_L2, x, works_image(CM_F32, 2, 8, 5, 1));
    computes("reduce_l2", &work);
    work = works_of(CM_REDUCE, CM_REDUCE_MAX, x, works_image(CM_F32, 1, 1, 1, 1));
    computes("reduce_all", &work);
}

static struct cm_primitive norm_of(int32_t which, struct cm_tensor x, int n_inputs) {
    struct cm_primitive work = works_of(CM_NORM, which, x, x);
    work.n_inputs = n_inputs;
    work.epsilon = 1e-5;
    work.groups = 4;
    for (int i = 1; i < n_inputs; i++) work.inputs[i] = works_line(CM_F32, x.dims[1]);
    return work;
}

static void computes_norms(void **state) {
    const struct cm_tensor rows = tensor(2, 6, 100, 0, 0);
    const struct cm_tensor image = works_image(CM_F32, 2, 8, 15, 13);
    const struct cm_tensor last = works_nhwc(CM_F32, 2, 8, 15, 13);
    struct cm_primitive work = norm_of(CM_NORM_LAYER, rows, 3);
    (void)state;
    work.axis = 1;
    computes("layer", &work);
    work = norm_of(CM_NORM_RMS, rows, 2);
    work.axis = 1;
    computes("rms", &work);
    work = norm_of(CM_NORM_INSTANCE, image, 3);
    computes("instance", &work);
    work = norm_of(CM_NORM_GROUP, image, 3);
    computes("group", &work);
    work = norm_of(CM_NORM_GROUP, last, 3);
    computes("group_last", &work);
    work = norm_of(CM_NORM_BATCH, image, 5);
    computes("batch", &work);
    work = norm_of(CM_NORM_BATCH, last, 5);
    computes("batch_last", &work);
    work = norm_of(CM_NORM_BATCH_TRAINING, image, 3);
    computes("batch_training", &work);
}

static void computes_pools_and_resampling(void **state) {
    const struct cm_tensor image = works_image(CM_F32, 2, 8, 15, 13);
    const struct cm_tensor pooled = works_image(CM_F32, 2, 8, 8, 7);
    const struct cm_tensor larger = works_image(CM_F32, 2, 8, 30, 20);
    struct cm_primitive work = works_pool(CM_POOL_MAX, image, pooled);
    (void)state;
    computes("pool_max", &work);
    work = works_pool(CM_POOL_AVERAGE, image, pooled);
    computes("pool_average", &work);
    work = works_pool(CM_POOL_AVERAGE_PADDING, image, pooled);
    computes("pool_padding", &work);
    work = works_pool(CM_POOL_MAX, works_nhwc(CM_F32, 2, 8, 15, 13),
                      works_nhwc(CM_F32, 2, 8, 8, 7));
    computes("pool_last", &work);
    work = works_of(CM_RESAMPLE, CM_RESAMPLE_LINEAR, image, larger);
    computes("resample_linear", &work);
    work = works_of(CM_RESAMPLE, CM_RESAMPLE_NEAREST, image, larger);
    computes("resample_nearest", &work);
}

static struct cm_primitive indexed(int32_t kind, struct cm_tensor x, struct cm_tensor indices,
                                   struct cm_tensor y) {
    struct cm_primitive work = works_of(kind, 0, x, y);
    work.n_inputs = 2;
    work.inputs[1] = indices;
    work.inputs[1].element = CM_I64;
    return work;
}

static void computes_copies_gathers_and_scatters(void **state) {
    const struct cm_tensor image = works_image(CM_F32, 2, 8, 15, 13);
    const struct cm_tensor table = tensor(2, 10, 6, 0, 0);
    struct cm_primitive work = works_of(CM_COPY, 0, image, tensor(4, 2, 15, 13, 8));
    (void)state;
    work.inputs[0] = tensor(4, 2, 15, 13, 8);
    const int64_t strides[] = {8 * 15 * 13, 13, 1, 15 * 13};
    memcpy(work.inputs[0].strides, strides, sizeof(strides));
    computes("transpose", &work);
    work = works_of(CM_COPY, 0, image, works_image(CM_F32, 2, 12, 15, 13));
    work.n_inputs = 2;
    work.inputs[1] = works_image(CM_F32, 2, 4, 15, 13);
    work.axis = 1;
    computes("concat", &work);
    work = indexed(CM_GATHER, table, tensor(2, 2, 4, 0, 0), tensor(3, 2, 4, 6, 0));
    computes_indexed("gather_rows", &work, 10);
    work = indexed(CM_GATHER, table, tensor(2, 10, 4, 0, 0), tensor(2, 10, 4, 0, 0));
    work.axis = 1;
    computes_indexed("gather_elements", &work, 6);
    work = indexed(CM_GATHER, works_image(CM_F32, 2, 8, 5, 40), tensor(2, 3, 2, 0, 0),
                   tensor(3, 3, 5, 40, 0));
    computes_indexed("gather_runs", &work, 8);
    work = indexed(CM_SCATTER, table, tensor(2, 3, 1, 0, 0), table);
    work.n_inputs = 3;
    work.inputs[2] = tensor(2, 3, 6, 0, 0);
    computes_indexed("scatter_runs", &work, 10);
    work.inputs[1] = tensor(2, 1, 6, 0, 0);
    work.inputs[1].element = CM_I64;
    work.inputs[2] = tensor(2, 1, 6, 0, 0);
    computes_indexed("scatter_elements", &work, 10);
}

static void computes_elementwise_chains(void **state) {
    const struct cm_tensor image = works_image(CM_F32, 2, 8, 15, 13);
    struct cm_primitive work = works_binary(CM_ADD, image, tensor(3, 8, 1, 1, 0), image);
    struct cm_tensor half = image;
    (void)state;
    work.n_steps = 3;
    work.steps[1] = (struct cm_eltwise){.function = CM_GELU};
    work.steps[2] = (struct cm_eltwise){.function = CM_MULTIPLY, .operand = 1};
    computes("chain", &work);
    work = works_step(CM_SELECT, image, image);
    work.inputs[0].element = CM_BOOL;
    work.n_inputs = 3;
    work.inputs[1] = image;
    work.inputs[2] = works_line(CM_F32, 1);
    computes("select", &work);
    half.element = CM_BF16;
    work = works_step(CM_CAST, image, half);
    computes("cast_bf16", &work);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes_softmax_and_reductions),
        cmocka_unit_test(computes_norms),
        cmocka_unit_test(computes_pools_and_resampling),
        cmocka_unit_test(computes_copies_gathers_and_scatters),
        cmocka_unit_test(computes_elementwise_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
