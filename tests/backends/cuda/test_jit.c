/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the kernels that the module generates: NVRTC compiles each, which requires no
 * GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cuda/jit/jit.h"
#include "works.h"

static int make(void **state) {
    struct cuda_nvrtc *nvrtc = calloc(1, sizeof(*nvrtc));
    struct library_folders folders;
    struct cm_reason reason = {"not wanted"};
    if (nvrtc == NULL || library_find_folders(NULL, &folders, &reason) != CM_BACKEND_OK)
        return 1;
    const struct api_wanted latest = {0, 0};
    if (getenv("TEST_WITHOUT_NVRTC") != NULL ||
        api_load_nvrtc(&folders, &latest, nvrtc, &reason) != CM_BACKEND_OK) {
        print_message("no kernel is compiled: %s\n", reason.text);
        nvrtc->nvrtcVersion = NULL;
    }
    library_drop_folders(&folders);
    *state = nvrtc;
    return 0;
}

static int end(void **state) {
    free(*state);
    return 0;
}

static void compiles_for(const struct cuda_nvrtc *nvrtc, const struct cm_primitive *work,
                         int sm) {
    struct jit jit;
    struct cm_reason reason = {""};
    if (jit_write(work, &jit, &reason) != CM_BACKEND_OK) {
        char *text = fixture_print(work);
        fail_msg("%s: %s", text, reason.text);
    }
    if (nvrtc->nvrtcVersion != NULL) {
        struct cm_device device = {.nvrtc = *nvrtc, .sm = sm};
        char *image = NULL;
        device.jit_sm = api_newest_sm(nvrtc, sm);
        if (jit_compile(&device, jit.text, &image, &reason) != CM_BACKEND_OK)
            fail_msg("sm_%d: %s\n%s", sm, reason.text, strstr(jit.text, "extern \"C\""));
        /* Only PTX, which is text, contains ".version". */
        assert_int_equal(strstr(image, ".version") != NULL, device.jit_sm < sm);
        free(image);
    }
    free(jit.text);
}

static void compiles(const struct cuda_nvrtc *nvrtc, const struct cm_primitive *work) {
    compiles_for(nvrtc, work, 90);
}

static void compiles_every_function(void **state) {
    const struct cm_tensor x = works_line(CM_F32, 4096);
    for (int32_t f = CM_FUNCTION_NONE + 1; f < CM_FIRST_BINARY; f++) {
        const struct cm_primitive work = works_step(f, x, x);
        compiles(*state, &work);
    }
    for (int32_t f = CM_FIRST_BINARY; f < CM_SELECT; f++) {
        const struct cm_primitive work = works_binary(f, x, x, x);
        compiles(*state, &work);
    }
}

static void compiles_every_element_type(void **state) {
    for (int32_t element = CM_ELEMENT_NONE + 1; element < CM_N_ELEMENTS; element++) {
        const struct cm_primitive to =
            works_step(CM_CAST, works_line(CM_F32, 4096), works_line(element, 4096));
        const struct cm_primitive from =
            works_step(CM_CAST, works_line(element, 999), works_line(CM_I64, 999));
        compiles_for(*state, &to, 75);
        compiles_for(*state, &from, 90);
    }
}

static void compiles_chains_and_selections(void **state) {
    struct cm_primitive chain =
        works_binary(CM_ADD, works_image(CM_F16, 2, 64, 56, 56),
                     fixture_tensor(CM_F16, 3, (const int64_t[]){64, 1, 1}),
                     works_image(CM_F16, 2, 64, 56, 56));
    chain.n_steps = 3;
    chain.steps[1] = (struct cm_eltwise){.function = CM_GELU};
    chain.steps[2] = (struct cm_eltwise){.function = CM_MULTIPLY, .operand = 1};
    struct cm_primitive select =
        works_step(CM_SELECT, works_line(CM_BOOL, 4096), works_line(CM_F32, 4096));
    select.n_inputs = 3;
    select.inputs[1] = works_line(CM_F32, 4096);
    select.inputs[2] = works_line(CM_F32, 1);
    compiles(*state, &chain);
    compiles(*state, &select);
}

static void compiles_copies_and_gathers(void **state) {
    struct cm_primitive transpose =
        works_of(CM_COPY, 0, works_image(CM_F32, 2, 3, 5, 7), works_nhwc(CM_F32, 2, 3, 5, 7));
    struct cm_primitive concat = works_of(CM_COPY, 0, works_image(CM_BF16, 2, 8, 4, 4),
                                          works_image(CM_BF16, 2, 24, 4, 4));
    concat.n_inputs = 2;
    concat.inputs[1] = works_image(CM_BF16, 2, 16, 4, 4);
    concat.axis = 1;
    struct cm_primitive rows =
        works_of(CM_GATHER, 0, fixture_tensor(CM_F32, 2, (const int64_t[]){1000, 64}),
                 fixture_tensor(CM_F32, 3, (const int64_t[]){2, 9, 64}));
    rows.n_inputs = 2;
    rows.inputs[1] = fixture_tensor(CM_I64, 2, (const int64_t[]){2, 9});
    struct cm_primitive elements = rows;
    elements.inputs[0] = fixture_tensor(CM_I8, 2, (const int64_t[]){10, 64});
    elements.inputs[1] = fixture_tensor(CM_I32, 2, (const int64_t[]){10, 5});
    elements.outputs[0] = fixture_tensor(CM_I8, 2, (const int64_t[]){10, 5});
    elements.axis = 1;
    struct cm_primitive runs = rows;
    runs.inputs[0] = fixture_tensor(CM_F16, 3, (const int64_t[]){10, 20, 64});
    runs.inputs[1] = fixture_tensor(CM_I64, 2, (const int64_t[]){7, 2});
    runs.outputs[0] = fixture_tensor(CM_F16, 2, (const int64_t[]){7, 64});
    const struct cm_primitive order = works_of(CM_GATHER, 0, works_image(CM_F32, 1, 8, 4, 4),
                                               works_image(CM_F32, 1, 2, 8, 8));
    compiles(*state, &transpose);
    compiles(*state, &concat);
    compiles(*state, &rows);
    compiles(*state, &elements);
    compiles(*state, &runs);
    compiles(*state, &order);
}

static void compiles_scatters(void **state) {
    struct cm_primitive work =
        works_of(CM_SCATTER, 0, fixture_tensor(CM_F16, 2, (const int64_t[]){10, 64}),
                 fixture_tensor(CM_F16, 2, (const int64_t[]){10, 64}));
    work.n_inputs = 3;
    work.inputs[1] = fixture_tensor(CM_I64, 2, (const int64_t[]){3, 1});
    work.inputs[2] = fixture_tensor(CM_F16, 2, (const int64_t[]){3, 64});
    compiles(*state, &work);
    work.inputs[1] = fixture_tensor(CM_I32, 2, (const int64_t[]){3, 64});
    compiles(*state, &work);
}

static void compiles_softmax_and_reductions(void **state) {
    const struct cm_tensor x = works_image(CM_F16, 2, 32, 14, 14);
    struct cm_primitive softmax = works_of(CM_SOFTMAX, CM_SOFTMAX_PLAIN, x, x);
    softmax.axis = 3;
    compiles(*state, &softmax);
    softmax.axis = 1;
    softmax.algorithm = CM_SOFTMAX_LOG;
    compiles(*state, &softmax);
    for (int32_t which = CM_REDUCE_SUM; which <= CM_REDUCE_ARG_MIN; which++) {
        const struct cm_primitive last =
            works_of(CM_REDUCE, which, x, works_image(CM_F16, 2, 32, 1, 1));
        const struct cm_primitive first =
            works_of(CM_REDUCE, which, x, works_image(CM_F16, 1, 32, 1, 14));
        compiles(*state, &last);
        compiles(*state, &first);
    }
}

static void reports_arg_max_as_proxy(void **state) {
    struct jit jit;
    struct cm_reason reason = {""};
    const struct cm_primitive work =
        works_of(CM_REDUCE, CM_REDUCE_ARG_MAX, works_line(CM_F32, 64), works_line(CM_I64, 1));
    (void)state;
    assert_int_equal(jit_write(&work, &jit, &reason), CM_BACKEND_OK);
    assert_string_equal(jit.proxy_note.text,
                        "computed the extreme values instead of their indices");
    free(jit.text);
}

static void compiles_norms(void **state) {
    const struct cm_tensor layouts[] = {works_image(CM_F32, 2, 32, 14, 14),
                                        works_nhwc(CM_F32, 2, 32, 14, 14)};
    for (int i = 0; i < 2; i++) {
        struct cm_primitive norm = works_of(CM_NORM, CM_NORM_BATCH, layouts[i], layouts[i]);
        norm.n_inputs = 5;
        norm.epsilon = 1e-5;
        norm.groups = 8;
        for (int k = 1; k < 5; k++) norm.inputs[k] = works_line(CM_F32, 32);
        compiles(*state, &norm);
        norm.n_inputs = 3;
        norm.algorithm = CM_NORM_INSTANCE;
        compiles(*state, &norm);
        norm.algorithm = CM_NORM_GROUP;
        compiles(*state, &norm);
        norm.algorithm = CM_NORM_BATCH_TRAINING;
        compiles(*state, &norm);
    }
    struct cm_primitive layer =
        works_of(CM_NORM, CM_NORM_LAYER, fixture_tensor(CM_BF16, 2, (const int64_t[]){64, 768}),
                 fixture_tensor(CM_BF16, 2, (const int64_t[]){64, 768}));
    layer.n_inputs = 2;
    layer.inputs[1] = works_line(CM_BF16, 768);
    layer.axis = 1;
    compiles(*state, &layer);
    layer.algorithm = CM_NORM_RMS;
    compiles(*state, &layer);
}

static void compiles_pools_and_resampling(void **state) {
    for (int32_t which = CM_POOL_MAX; which <= CM_POOL_AVERAGE_PADDING; which++) {
        const struct cm_primitive pool =
            works_pool(which, works_nhwc(CM_F16, 2, 8, 15, 15), works_nhwc(CM_F16, 2, 8, 8, 8));
        compiles(*state, &pool);
    }
    for (int32_t which = CM_RESAMPLE_NEAREST; which <= CM_RESAMPLE_LINEAR; which++) {
        const struct cm_primitive resample =
            works_of(CM_RESAMPLE, which, works_image(CM_F32, 1, 3, 8, 8),
                     works_image(CM_F32, 1, 3, 16, 12));
        compiles(*state, &resample);
    }
}

static void refuses(struct cm_primitive work, const char *why) {
    struct jit jit;
    struct cm_reason reason = {""};
    assert_int_equal(jit_write(&work, &jit, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, why);
}

static void reports_why_there_is_no_kernel(void **state) {
    const struct cm_tensor x = works_line(CM_F32, 8);
    struct cm_primitive work = works_of(CM_RNN, CM_RNN_LSTM, x, x);
    (void)state;
    refuses(work, "no kernel for this kind");
    refuses(works_step(CM_RELU, works_line(CM_F32, 0), works_line(CM_F32, 0)),
            "an operand is empty");
    refuses(works_binary(CM_SELECT, x, x, x), "a selection must have three operands");
    refuses(works_step(CM_FUNCTION_NONE, x, x), "unknown function");
    refuses(works_step(CM_RELU, works_line(CM_F32, 3), x),
            "the operands do not broadcast to the result");
    work = works_of(CM_COPY, 0, x, works_image(CM_F32, 1, 1, 2, 8));
    work.n_inputs = 2;
    work.inputs[1] = x;
    work.axis = 3;
    refuses(work, "all operands must have the rank of the result");
    work.axis = 4;
    refuses(work, "the concat axis must be an axis of the result");
    work = works_of(CM_COPY, 0, x, works_line(CM_F32, 20));
    work.n_inputs = 2;
    work.inputs[1] = x;
    refuses(work, "the operands do not add up to the result");
    refuses(works_of(CM_COPY, 0, x, works_line(CM_I8, 8)),
            "an operand is not a part of the result");
    struct cm_tensor gaps = x;
    gaps.strides[0] = 2;
    refuses(works_of(CM_GATHER, 0, gaps, x),
            "gather requires one output, contiguous and of the operand's data type");
    work = works_of(CM_GATHER, 0, works_image(CM_F32, 2, 2, 2, 2), x);
    work.n_inputs = 2;
    work.inputs[1] = works_line(CM_I64, 3);
    refuses(work, "the shape of the indices does not match the result");
    work.inputs[1].strides[0] = 2;
    refuses(work, "gather indices must be contiguous");
    work.kind = CM_SCATTER;
    refuses(work, "scatter operands must be contiguous");
    work = works_of(CM_SCATTER, 0, x, x);
    work.n_inputs = 3;
    work.inputs[1] = works_line(CM_I64, 3);
    work.inputs[2] = works_line(CM_F32, 2);
    refuses(work, "the shape of the updates does not match the indices");
    refuses(works_of(CM_SOFTMAX, CM_SOFTMAX_PLAIN, gaps, x),
            "softmax operands must be contiguous");
    refuses(works_of(CM_REDUCE, CM_REDUCE_SUM, x, gaps), "unknown reduction");
    refuses(works_of(CM_REDUCE, CM_REDUCE_SUM, x, works_line(CM_F32, 4)),
            "the shape of the result does not match");
    refuses(works_of(CM_NORM, CM_NORM_LAYER, gaps, gaps), "norm operands must be contiguous");
    refuses(works_of(CM_NORM, CM_NORM_BATCH, x, x),
            "a batch norm must have its statistics as operands");
    refuses(works_of(CM_POOL, CM_POOL_MAX, x, x), "an image must have 1 to 3 spatial dims");
    work = works_of(CM_POOL, CM_POOL_MAX, works_image(CM_F32, 1, 1, 2, 2),
                    works_image(CM_F32, 1, 1, 2, 2));
    refuses(work, "the window must have the spatial dims of the image");
}

/* sm_9990 is an architecture that no NVRTC knows. */
static void compiles_ptx_for_newer_devices(void **state) {
    const struct cm_tensor x = works_line(CM_F32, 4096);
    const struct cm_primitive work = works_step(CM_RELU, x, x);
    const struct cuda_nvrtc *nvrtc = *state;
    if (nvrtc->nvrtcVersion == NULL) skip();
    assert_int_equal(api_newest_sm(nvrtc, 90), 90);
    assert_true(api_newest_sm(nvrtc, 9990) >= 90);
    assert_int_equal(api_newest_sm(nvrtc, 30), 0);
    compiles_for(nvrtc, &work, 9990);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiles_every_function),
        cmocka_unit_test(compiles_every_element_type),
        cmocka_unit_test(compiles_chains_and_selections),
        cmocka_unit_test(compiles_copies_and_gathers),
        cmocka_unit_test(compiles_scatters),
        cmocka_unit_test(compiles_softmax_and_reductions),
        cmocka_unit_test(reports_arg_max_as_proxy),
        cmocka_unit_test(compiles_norms),
        cmocka_unit_test(compiles_pools_and_resampling),
        cmocka_unit_test(reports_why_there_is_no_kernel),
        cmocka_unit_test(compiles_ptx_for_newer_devices),
    };
    return cmocka_run_group_tests(tests, make, end);
}
