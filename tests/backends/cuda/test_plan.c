/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of plans that the real cuDNN makes for a device that is not present, by kind of
 * primitive. Which engine a plan uses depends on the version; whether an engine exists was
 * verified with 9.19 and 9.26. Skipped without cuDNN.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#define N(array)   (sizeof(array) / sizeof((array)[0]))
#define SKIPPED    77
#define DIMS(...)  ((const int64_t[]){__VA_ARGS__})
#define CAN(which) (1U << (which))

/* Suppresses leaks of NVIDIA's libraries, which keep what they load until the process ends. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libcudnn\nleak:libcublas\nleak:libnvrtc\nleak:libcudart\n";
}

static const struct cm_backend *find_backend(void) {
    void *module = dlopen(TEST_CUDA_MODULE, RTLD_NOW | RTLD_LOCAL);
    cm_backend_entry *entry = NULL;
    if (module == NULL) return NULL;
    *(void **)&entry = dlsym(module, CM_BACKEND_ENTRY);
    return entry != NULL ? entry(CM_BACKEND_ABI) : NULL;
}

static int open_target(const struct cm_backend *backend, const char *target, int32_t precision,
                       int32_t layout, struct cm_device **ret, struct cm_reason *reason) {
    const struct cm_setting setting = {"target", target};
    const struct cm_settings settings = {
        .n = 1, .items = &setting, .precision = precision, .layout = layout, .plan_only = 1};
    return backend->open(&settings, ret, reason);
}

/* Returns the element type of primitives in a precision. */
static int32_t element_of(int32_t precision) {
    static const int32_t elements[CM_N_PRECISIONS] = {
        [CM_PRECISION_AS_STORED] = CM_F32, [CM_PRECISION_TF32] = CM_F32,
        [CM_PRECISION_FP16] = CM_F16,      [CM_PRECISION_BF16] = CM_BF16,
        [CM_PRECISION_INT8] = CM_I8,       [CM_PRECISION_FP8] = CM_F8E4M3,
    };
    return elements[precision];
}

static void put_last(struct cm_tensor *tensor) {
    int64_t stride = tensor->dims[1];
    tensor->strides[1] = 1;
    for (int i = tensor->rank - 1; i >= 0; i--) {
        if (i == 1) continue;
        tensor->strides[i] = stride;
        stride *= tensor->dims[i];
    }
}

/* Returns the element type of the result: products of 8-bit types write more than 8 bits. */
static int32_t result_of(int32_t element) {
    if (element == CM_I8) return CM_F32;
    return element == CM_F8E4M3 ? CM_F16 : element;
}

static struct cm_primitive start(int32_t kind, int32_t algorithm, int n_inputs) {
    struct cm_primitive ret;
    memset(&ret, 0, sizeof(ret));
    ret.kind = kind;
    ret.algorithm = algorithm;
    ret.n_inputs = n_inputs;
    ret.n_outputs = 1;
    ret.groups = 1;
    return ret;
}

static struct cm_primitive conv(int32_t element, int n_spatial, int64_t groups, bool bias,
                                bool back) {
    const int64_t x[] = {2, 32, 16, 16, 16};
    const int64_t w[] = {32, 32 / groups, 3, 3, 3};
    struct cm_primitive ret = start(back ? CM_DECONV : CM_CONV, 0, bias ? 3 : 2);
    ret.inputs[0] = fixture_tensor(element, 2 + n_spatial, x);
    ret.inputs[1] = fixture_tensor(element, 2 + n_spatial, w);
    if (bias) ret.inputs[2] = fixture_tensor(result_of(element), 1, DIMS(32));
    /* int8 is requantized in the graph */
    ret.outputs[0] =
        fixture_tensor(element == CM_I8 ? CM_I8 : result_of(element), 2 + n_spatial, x);
    ret.groups = groups;
    ret.window.n_spatial = n_spatial;
    for (int i = 0; i < n_spatial; i++) {
        ret.window.kernel[i] = 3;
        ret.window.strides[i] = ret.window.dilations[i] = 1;
        ret.window.pads_begin[i] = ret.window.pads_end[i] = 1;
    }
    return ret;
}

static struct cm_primitive conv_1d(int32_t element) {
    return conv(element, 1, 1, true, false);
}
static struct cm_primitive conv_2d(int32_t element) {
    return conv(element, 2, 1, false, false);
}
static struct cm_primitive conv_bias(int32_t element) {
    return conv(element, 2, 1, true, false);
}
static struct cm_primitive conv_3d(int32_t element) {
    return conv(element, 3, 1, false, false);
}
static struct cm_primitive conv_groups(int32_t element) {
    return conv(element, 2, 4, false, false);
}
static struct cm_primitive deconv(int32_t element) {
    return conv(element, 2, 1, false, true);
}

/* Appends a post-op. Its operand, unless NULL, is added after the inputs of the primitive. */
static void add_step(struct cm_primitive *primitive, int32_t function,
                     const struct cm_tensor *operand) {
    struct cm_eltwise *step = &primitive->steps[primitive->n_steps++];
    step->function = function;
    if (operand == NULL) return;
    step->operand = primitive->n_inputs;
    primitive->inputs[primitive->n_inputs++] = *operand;
}

static struct cm_primitive conv_relu(int32_t element) {
    struct cm_primitive ret = conv_bias(element);
    add_step(&ret, CM_RELU, NULL);
    return ret;
}

static struct cm_primitive conv_residual(int32_t element) {
    struct cm_primitive ret = conv_bias(element);
    add_step(&ret, CM_ADD, &ret.outputs[0]);
    add_step(&ret, CM_RELU, NULL);
    return ret;
}

/* The scale of a squeeze-and-excitation block has an element per image and channel. */
static struct cm_primitive conv_scaled(int32_t element) {
    struct cm_primitive ret = conv_bias(element);
    const struct cm_tensor scale = fixture_tensor(element, 4, DIMS(2, 32, 1, 1));
    add_step(&ret, CM_MULTIPLY, &scale);
    add_step(&ret, CM_HARD_SWISH, NULL);
    return ret;
}

static struct cm_primitive gemm(int32_t element) {
    struct cm_primitive ret = fixture_gemm(element, 64, 128, 32);
    ret.outputs[0].element = result_of(element);
    return ret;
}

/* As a framework exports a linear layer: weights [N, K], biases [N]. */
static struct cm_primitive linear(int32_t element) {
    struct cm_primitive ret = gemm(element);
    ret.n_inputs = 3;
    ret.inputs[1].strides[0] = 1;
    ret.inputs[1].strides[1] = 128;
    ret.inputs[2] = fixture_tensor(result_of(element), 1, DIMS(32));
    return ret;
}

static struct cm_primitive linear_gelu(int32_t element) {
    struct cm_primitive ret = linear(element);
    add_step(&ret, CM_GELU, NULL);
    return ret;
}

static struct cm_primitive gemm_batches(int32_t element) {
    struct cm_primitive ret = start(CM_GEMM, 0, 2);
    ret.inputs[0] = fixture_tensor(element, 4, DIMS(2, 4, 64, 128));
    ret.inputs[1] = fixture_tensor(element, 4, DIMS(2, 4, 128, 32));
    ret.outputs[0] = fixture_tensor(result_of(element), 4, DIMS(2, 4, 64, 32));
    return ret;
}

static struct cm_primitive same(int32_t kind, int32_t algorithm, int32_t element) {
    struct cm_primitive ret = start(kind, algorithm, 1);
    ret.inputs[0] = ret.outputs[0] = fixture_tensor(element, 4, DIMS(2, 32, 16, 16));
    return ret;
}

static struct cm_primitive relu(int32_t element) {
    struct cm_primitive ret = same(CM_ELTWISE, 0, element);
    ret.n_steps = 1;
    ret.steps[0].function = CM_RELU;
    return ret;
}

static struct cm_primitive add_channels(int32_t element) {
    struct cm_primitive ret = relu(element);
    ret.steps[0].function = CM_ADD;
    ret.steps[0].operand = 1;
    ret.n_inputs = 2;
    ret.inputs[1] = fixture_tensor(element, 3, DIMS(32, 1, 1));
    return ret;
}

static struct cm_primitive hard_swish(int32_t element) {
    struct cm_primitive ret = relu(element);
    ret.steps[0].function = CM_HARD_SWISH;
    return ret;
}

static struct cm_primitive compare(int32_t element) {
    struct cm_primitive ret = add_channels(element);
    ret.steps[0].function = CM_COMPARE;
    ret.outputs[0].element = CM_BOOL;
    return ret;
}

static struct cm_primitive max_pool(int32_t element) {
    struct cm_primitive ret = same(CM_POOL, CM_POOL_MAX, element);
    ret.outputs[0] = fixture_tensor(element, 4, DIMS(2, 32, 8, 8));
    ret.window = (struct cm_window){
        .n_spatial = 2, .kernel = {2, 2}, .strides = {2, 2}, .dilations = {1, 1}};
    return ret;
}

static struct cm_primitive batch_norm(int32_t element) {
    struct cm_primitive ret = same(CM_NORM, CM_NORM_BATCH, element);
    ret.n_inputs = 5;
    for (int i = 1; i < 5; i++) ret.inputs[i] = fixture_tensor(CM_F32, 1, DIMS(32));
    ret.epsilon = 1e-5;
    return ret;
}

static struct cm_primitive layer_norm(int32_t element) {
    struct cm_primitive ret = start(CM_NORM, CM_NORM_LAYER, 3);
    ret.inputs[0] = ret.outputs[0] = fixture_tensor(element, 3, DIMS(4, 128, 256));
    ret.inputs[1] = ret.inputs[2] = fixture_tensor(element, 1, DIMS(256));
    ret.axis = 2;
    ret.epsilon = 1e-5;
    return ret;
}

static struct cm_primitive reduce(int32_t element) {
    struct cm_primitive ret = start(CM_REDUCE, CM_REDUCE_SUM, 1);
    ret.inputs[0] = fixture_tensor(element, 3, DIMS(4, 128, 256));
    ret.outputs[0] = fixture_tensor(element, 3, DIMS(4, 128, 1));
    return ret;
}

static struct cm_primitive attention(int32_t element) {
    struct cm_primitive ret = start(CM_ATTENTION, 0, 3);
    for (int i = 0; i < 3; i++) ret.inputs[i] = fixture_tensor(element, 4, DIMS(2, 4, 128, 64));
    ret.outputs[0] = ret.inputs[0];
    return ret;
}

/* A prompt: each query sees the keys up to its own. */
static struct cm_primitive causal(int32_t element) {
    struct cm_primitive ret = attention(element);
    ret.causal = CM_CAUSAL_FIRST;
    return ret;
}

/* Four query heads share one key head; the queries are the last 64 of 512 positions. */
static struct cm_primitive chunk(int32_t element) {
    struct cm_primitive ret = start(CM_ATTENTION, 0, 3);
    ret.inputs[0] = ret.outputs[0] = fixture_tensor(element, 4, DIMS(1, 8, 64, 128));
    ret.inputs[1] = ret.inputs[2] = fixture_tensor(element, 4, DIMS(1, 2, 512, 128));
    ret.causal = CM_CAUSAL_LAST;
    return ret;
}

/* The largest graph: 17 operations. */
static struct cm_primitive masked_chunk(int32_t element) {
    struct cm_primitive ret = chunk(element);
    ret.n_inputs = 4;
    ret.inputs[3] = fixture_tensor(element, 2, DIMS(64, 512));
    return ret;
}

/* A decode step: one query. */
static struct cm_primitive decode(int32_t element) {
    struct cm_primitive ret = chunk(element);
    ret.inputs[0] = ret.outputs[0] = fixture_tensor(element, 4, DIMS(1, 8, 1, 128));
    ret.causal = CM_CAUSAL_NONE;
    return ret;
}

static struct cm_primitive masked(int32_t element) {
    struct cm_primitive ret = attention(element);
    ret.n_inputs = 4;
    ret.inputs[3] = fixture_tensor(element, 2, DIMS(128, 128));
    return ret;
}

/* A mask of padding: one row for all queries. */
static struct cm_primitive padded(int32_t element) {
    struct cm_primitive ret = masked(element);
    ret.inputs[3] = fixture_tensor(element, 4, DIMS(2, 1, 1, 128));
    return ret;
}

#define STRICT  CAN(CM_PRECISION_AS_STORED)
#define SINGLES (STRICT | CAN(CM_PRECISION_TF32))
#define FLOATS  (SINGLES | CAN(CM_PRECISION_FP16) | CAN(CM_PRECISION_BF16))
#define HALVES  (FLOATS & ~SINGLES)
#define BYTES   (CAN(CM_PRECISION_INT8) | CAN(CM_PRECISION_FP8))

/* clang-format off */
static const struct row {
    const char *name;
    struct cm_primitive (*make)(int32_t element);
    unsigned planned; /* bits: precisions with a plan */
    unsigned tried;   /* bits: precisions to try; those without a plan must give a reason */
    const char *provider;
    unsigned fused; /* bits: planned precisions that run as one graph; 0: not checked */
} rows[] = {
    {"conv 1-D, biases", conv_1d,      FLOATS,           FLOATS,         "cudnn graph", 0},
    {"conv 2-D",         conv_2d,      FLOATS | BYTES,   FLOATS | BYTES, "cudnn graph", 0},
    {"conv biases",      conv_bias,    FLOATS,           FLOATS,         "cudnn graph", 0},
    {"conv 3-D",         conv_3d,      FLOATS,           FLOATS,         "cudnn graph", 0},
    {"conv groups",      conv_groups,  FLOATS,           FLOATS,         "cudnn graph", 0},
    {"deconv",           deconv,       FLOATS,           FLOATS,         "cudnn graph", 0},
    {"conv relu",        conv_relu,    FLOATS,           FLOATS,         "cudnn graph", FLOATS},
    {"conv add relu",    conv_residual, FLOATS,          FLOATS,         "cudnn graph", FLOATS},
    {"conv multiply hard swish", conv_scaled, FLOATS,    FLOATS,         "cudnn graph", HALVES},
    {"linear gelu",      linear_gelu,  FLOATS & ~STRICT, FLOATS,         "cudnn graph",
     FLOATS & ~STRICT},
    {"gemm",             gemm,         FLOATS,           FLOATS,         "cudnn graph", 0},
    {"linear",           linear,       FLOATS,           FLOATS,         "cudnn graph", 0},
    {"gemm of batches",  gemm_batches, FLOATS,           FLOATS,         "cudnn graph", 0},
    {"relu",             relu,         FLOATS,           FLOATS,         "cudnn graph", 0},
    {"add channels",     add_channels, FLOATS,           FLOATS,         "cudnn graph", 0},
    {"hard swish",       hard_swish,   FLOATS,           FLOATS,         "cudnn graph", 0},
    {"compare",          compare,      FLOATS,           FLOATS,         "cudnn graph", 0},
    {"max pool",         max_pool,     FLOATS,           FLOATS,         "cudnn graph", 0},
    {"batch norm",       batch_norm,   FLOATS,           FLOATS,         "cudnn graph", 0},
    {"layer norm",       layer_norm,   FLOATS,           FLOATS,         "cudnn graph", 0},
    {"reduce",           reduce,       SINGLES,          SINGLES,        "cudnn graph", 0},
    {"attention",        attention,    FLOATS & ~STRICT, FLOATS,         "cudnn graph", 0},
    {"causal",           causal,       FLOATS & ~STRICT, FLOATS,         "cudnn graph", 0},
    {"causal chunk",     chunk,        FLOATS & ~STRICT, FLOATS,         "cudnn graph", 0},
    {"masked chunk",     masked_chunk, FLOATS & ~STRICT, FLOATS,         "cudnn graph", 0},
    {"decode step",      decode,       FLOATS & ~STRICT, FLOATS,         "cudnn graph", 0},
    {"mask",             masked,       FLOATS & ~STRICT, FLOATS,         "cudnn graph", 0},
    {"mask of padding",  padded,       FLOATS & ~STRICT, FLOATS,         "cudnn graph", 0},
};
/* clang-format on */

/* The convolutions, the first rows, have precompiled engines. */
#define N_PRECOMPILED ((size_t)6)

static const struct cm_backend *backend;

static bool is_image(const struct cm_tensor *tensor) {
    return tensor->rank >= 3;
}

static void lay_out(struct cm_primitive *primitive, int32_t layout) {
    const bool image = primitive->kind == CM_CONV || primitive->kind == CM_DECONV ||
                       primitive->kind == CM_POOL || primitive->algorithm == CM_NORM_BATCH ||
                       (primitive->kind == CM_ELTWISE && primitive->inputs[0].rank == 4);
    if (layout != CM_LAYOUT_NHWC || !image) return;
    for (int i = 0; i < primitive->n_inputs; i++)
        if (is_image(&primitive->inputs[i])) put_last(&primitive->inputs[i]);
    put_last(&primitive->outputs[0]);
}

static void try_row(struct cm_device *device, const struct row *row, int32_t precision,
                    int32_t layout) {
    struct cm_plan *plan = NULL;
    struct cm_plan_facts facts;
    struct cm_reason reason = {""};
    struct cm_primitive primitive = row->make(element_of(precision));
    lay_out(&primitive, layout);
    const int status = backend->plan(device, &primitive, &plan, &reason);
    const bool want = (row->planned & CAN(precision)) != 0;
    if ((status == CM_BACKEND_OK) != want)
        fail_msg("%s, precision %d, layout %d: %s", row->name, precision, layout,
                 status == CM_BACKEND_OK ? "has a plan" : reason.text);
    if (status != CM_BACKEND_OK) {
        assert_true(reason.text[0] != '\0');
        return;
    }
    memset(&facts, 0, sizeof(facts));
    backend->plan_facts(plan, &facts);
    if (strcmp(facts.how.provider, row->provider) != 0)
        fail_msg("%s, precision %d, layout %d: by %s, %s", row->name, precision, layout,
                 facts.how.provider, facts.how.algorithm);
    assert_int_equal(strncmp(facts.how.algorithm, "engine ", 7), 0);
    if (row->fused != 0) {
        const bool fused = (row->fused & CAN(precision)) != 0;
        if ((strstr(facts.how.algorithm, "unfused") == NULL) != fused)
            fail_msg("%s, precision %d: %s", row->name, precision, facts.how.algorithm);
        assert_int_equal(facts.reason.text[0] == '\0', fused);
    }
    assert_true(facts.how.plans_tried > 0);
    assert_true(facts.how.workspace_bytes >= 0);
    if (precision == CM_PRECISION_AS_STORED && primitive.kind < CM_POOL)
        assert_int_equal(facts.how.tensor_cores, CM_TENSOR_CORES_NO);
    backend->drop(plan);
}

static void try_all(int32_t precision, int32_t layout) {
    struct cm_device *device = NULL;
    struct cm_reason reason = {""};
    if (open_target(backend, "h200", precision, layout, &device, &reason) != CM_BACKEND_OK)
        fail_msg("%s", reason.text);
    /* Compiling an engine takes up to a second: other layouts are tried only with precompiled
     * engines. */
    const size_t n = layout == CM_LAYOUT_AUTO ? N(rows) : N_PRECOMPILED;
    for (size_t i = 0; i < n; i++)
        if ((rows[i].tried & CAN(precision)) != 0) try_row(device, &rows[i], precision, layout);
    backend->close(device);
}

static void plans_fp32_without_tensor_cores(void **state) {
    (void)state;
    try_all(CM_PRECISION_AS_STORED, CM_LAYOUT_AUTO);
    try_all(CM_PRECISION_AS_STORED, CM_LAYOUT_NHWC);
}

static void plans_tf32(void **state) {
    (void)state;
    try_all(CM_PRECISION_TF32, CM_LAYOUT_AUTO);
}

static void plans_fp16_and_bf16_in_any_layout(void **state) {
    (void)state;
    try_all(CM_PRECISION_FP16, CM_LAYOUT_AUTO);
    try_all(CM_PRECISION_FP16, CM_LAYOUT_NCHW);
    try_all(CM_PRECISION_FP16, CM_LAYOUT_NHWC);
    try_all(CM_PRECISION_BF16, CM_LAYOUT_NHWC);
}

static void plans_int8_and_fp8(void **state) {
    (void)state;
    try_all(CM_PRECISION_INT8, CM_LAYOUT_AUTO);
    try_all(CM_PRECISION_FP8, CM_LAYOUT_AUTO);
}

static void accepts_every_built_in_target(void **state) {
    static const char *const names[] = {
        "t4",       "a100-40gb", "a100-80gb", "a10",  "rtx-3090", "l4",      "l40s",
        "rtx-4090", "h100-pcie", "h100-sxm",  "h200", "b200",     "rtx-5090"};
    (void)state;
    for (size_t i = 0; i < N(names); i++) {
        struct cm_device *device = NULL;
        struct cm_reason reason = {""};
        struct cm_plan *plan = NULL;
        const struct cm_primitive work = conv_2d(CM_F16);
        if (open_target(backend, names[i], CM_PRECISION_FP16, CM_LAYOUT_AUTO, &device,
                        &reason) != CM_BACKEND_OK)
            fail_msg("%s: %s", names[i], reason.text);
        if (backend->plan(device, &work, &plan, &reason) != CM_BACKEND_OK)
            fail_msg("%s: %s", names[i], reason.text);
        backend->drop(plan);
        backend->close(device);
    }
}

static void planning_runs_nothing(void **state) {
    struct cm_device *device = NULL;
    struct cm_plan *plan = NULL;
    struct cm_reason reason = {""};
    const struct cm_primitive work = conv_2d(CM_F32);
    double seconds = 0;
    (void)state;
    assert_int_equal(
        open_target(backend, "h200", CM_PRECISION_AS_STORED, CM_LAYOUT_AUTO, &device, &reason),
        CM_BACKEND_OK);
    assert_int_equal(backend->plan(device, &work, &plan, &reason), CM_BACKEND_OK);
    assert_int_equal(backend->run(plan, 1, CM_COLD, &seconds, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "the backend was opened for plans only");
    backend->drop(plan);
    backend->close(device);
}

static void recurrent_layers_have_no_plan_without_a_device(void **state) {
    struct cm_device *device = NULL;
    struct cm_plan *plan = NULL;
    struct cm_reason reason = {""};
    struct cm_primitive lstm = start(CM_RNN, CM_RNN_LSTM, 3);
    (void)state;
    lstm.inputs[0] = fixture_tensor(CM_F32, 3, DIMS(6, 4, 16));
    lstm.inputs[1] = fixture_tensor(CM_F32, 3, DIMS(1, 128, 16));
    lstm.inputs[2] = fixture_tensor(CM_F32, 3, DIMS(1, 128, 32));
    lstm.outputs[0] = fixture_tensor(CM_F32, 4, DIMS(6, 1, 4, 32));
    lstm.hidden = 32;
    lstm.directions = 1;
    assert_int_equal(
        open_target(backend, "h200", CM_PRECISION_AS_STORED, CM_LAYOUT_AUTO, &device, &reason),
        CM_BACKEND_OK);
    assert_int_equal(backend->plan(device, &lstm, &plan, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text,
                        "cudnn legacy: cuDNN plans recurrent layers and LRN on a device only");
    backend->close(device);
}

static void checks_settings(void **state) {
    const struct cm_setting wrong = {"heuristics", "c"};
    const struct cm_settings settings = {.n = 1, .items = &wrong, .plan_only = 1};
    struct cm_device *device = NULL;
    struct cm_reason reason = {""};
    (void)state;
    assert_int_equal(backend->open(&settings, &device, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "heuristics must be a or b");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_every_built_in_target),
        cmocka_unit_test(planning_runs_nothing),
        cmocka_unit_test(recurrent_layers_have_no_plan_without_a_device),
        cmocka_unit_test(checks_settings),
        cmocka_unit_test(plans_fp32_without_tensor_cores),
        cmocka_unit_test(plans_tf32),
        cmocka_unit_test(plans_fp16_and_bf16_in_any_layout),
        cmocka_unit_test(plans_int8_and_fp8),
    };
    struct cm_device *device = NULL;
    struct cm_reason reason = {""};
    backend = find_backend();
    if (backend == NULL) {
        (void)fprintf(stderr, "the module cannot be loaded\n");
        return 1;
    }
    if (open_target(backend, "h200", CM_PRECISION_AS_STORED, CM_LAYOUT_AUTO, &device,
                    &reason) != CM_BACKEND_OK) {
        (void)fprintf(stderr, "skipped: %s\n", reason.text);
        return SKIPPED;
    }
    backend->close(device);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
