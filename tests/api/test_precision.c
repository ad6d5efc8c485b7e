/* SPDX-License-Identifier: Apache-2.0 */
/* A result has one precision: its bytes, limits and times are of the same elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* ResNet-50 has only floats, apart from the indices of MaxPool in training. */
static struct cm_result *profile(struct cm_options *options) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    assert_int_equal(cm_model_load_file(TEST_MODELS_DIR "/resnet50.onnx", diag, &model), CM_OK);
    assert_int_equal(cm_model_profile(model, options, diag, &result), CM_OK);
    cm_model_free(model);
    cm_diagnostics_free(diag);
    return result;
}

static struct cm_result *profile_at(enum cm_precision precision) {
    struct cm_options options;
    cm_options_init(&options);
    options.precision = precision;
    options.optimizer = "adam";
    options.memory_limit = INT64_C(16) << 30;
    return profile(&options);
}

static void all_bytes_have_the_size_of_the_precision(void **state) {
    static const struct {
        enum cm_precision precision;
        const char *name;
        int64_t weights, activations; /* bytes per element */
    } cases[] = {
        {CM_PRECISION_FP32, "fp32", 4, 4}, {CM_PRECISION_TF32, "tf32", 4, 4},
        {CM_PRECISION_FP16, "fp16", 2, 2}, {CM_PRECISION_BF16, "bf16", 2, 2},
        {CM_PRECISION_AMP, "amp", 4, 2},
    };
    struct cm_result *file = profile_at(CM_PRECISION_AS_STORED);
    (void)state;
    assert_string_equal(file->options.precision, "fp32");
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_result *is = profile_at(cases[i].precision);
        const int64_t weights = 4 / cases[i].weights;
        const int64_t activations = 4 / cases[i].activations;
        assert_string_equal(is->options.precision, cases[i].name);
        assert_string_equal(is->options.file_precision, "fp32");
        assert_int_equal(is->totals.macs, file->totals.macs);
        assert_int_equal(weights * is->totals.weight_bytes, file->totals.weight_bytes);
        assert_int_equal(weights * is->training.gradient_bytes, file->training.gradient_bytes);
        assert_int_equal(weights * is->training.optimizer_bytes,
                         file->training.optimizer_bytes);
        assert_int_equal(activations * is->totals.bytes_written, file->totals.bytes_written);
        assert_int_equal(activations * is->totals.activation_bytes,
                         file->totals.activation_bytes);
        assert_int_equal(activations * is->memory.peak_activation_bytes,
                         file->memory.peak_activation_bytes);
        assert_int_equal(is->memory.required_bytes, is->device_memory.bytes);
        assert_non_null(is->memory.fit);
        if (activations > 1)
            assert_true(is->memory.fit->largest_batch > file->memory.fit->largest_batch);
        cm_result_free(is);
    }
    cm_result_free(file);
}

/* With eager, each node is a kernel that moves the bytes of the node: the arithmetic intensity
 * of a layer is the same in all views. */
static void kernels_move_the_bytes_of_their_nodes(void **state) {
    static const enum cm_precision precisions[] = {CM_PRECISION_AS_STORED, CM_PRECISION_FP16,
                                                   CM_PRECISION_BF16, CM_PRECISION_TF32};
    (void)state;
    for (size_t i = 0; i < N(precisions); i++) {
        struct cm_options options;
        cm_options_init(&options);
        options.precision = precisions[i];
        options.backend = "roofline:device=" TEST_SOURCE_DIR "/devices/rtx-4090.json";
        options.runtime = CM_RUNTIME_TORCH_EAGER;
        struct cm_result *result = profile(&options);
        const struct cm_measure *measure = result->measure;
        assert_true(cm_result_modelled(result));
        for (size_t k = 0; k < measure->n_primitives; k++) {
            const struct cm_timed *timed = &measure->primitives[k];
            const struct cm_costs *costs = &result->nodes[timed->nodes[0]].costs;
            assert_int_equal(timed->bytes, costs->bytes_read + costs->bytes_written);
        }
        cm_result_free(result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_bytes_have_the_size_of_the_precision),
        cmocka_unit_test(kernels_move_the_bytes_of_their_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
