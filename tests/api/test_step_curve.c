/* SPDX-License-Identifier: Apache-2.0 */
/* The curve of a training step: its maximum is the peak of the step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"

static struct cm_result *profile(const char *name, const struct cm_options *options) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    char path[512];
    (void)snprintf(path, sizeof path, TEST_MODELS_DIR "/%s.onnx", name);
    assert_int_equal(cm_model_load_file(path, diagnostics, &model), CM_OK);
    assert_int_equal(cm_model_profile(model, options, diagnostics, &result), CM_OK);
    cm_model_free(model);
    cm_diagnostics_free(diagnostics);
    return result;
}

/* Returns the bytes that are alive at a position. */
static int64_t alive_at(const struct cm_training *step, size_t position) {
    int64_t bytes = step->curve->held_bytes;
    if (position == step->curve->n_order) return step->model_state_bytes;
    for (size_t i = 0; i < step->curve->n_tensors; i++) {
        const struct cm_step_tensors *tensors = &step->curve->tensors[i];
        assert_int_equal(tensors->n_from, tensors->n_nodes);
        assert_int_equal(tensors->n_to, tensors->n_nodes);
        assert_int_equal(tensors->n_bytes, tensors->n_nodes);
        for (size_t k = 0; k < tensors->n_nodes; k++)
            if (tensors->from[k] <= position && position <= tensors->to[k])
                bytes += (int64_t)tensors->bytes[k];
    }
    return bytes;
}

/* The peak is at the first position with most bytes; at the update only if no other has as
 * many. */
static void expect_peak(const struct cm_result *result) {
    const struct cm_training *step = &result->training;
    const struct cm_step_curve *curve = step->curve;
    size_t first = 0;
    int64_t most = -1;
    assert_non_null(curve);
    for (size_t i = 0; i <= curve->n_order; i++) {
        const int64_t bytes = alive_at(step, i);
        if (bytes > most) first = i;
        if (bytes > most) most = bytes;
    }
    assert_int_equal(most, step->peak_bytes);
    if (step->peak_node == CM_NO_INDEX) {
        assert_string_equal(step->peak_phase, "step");
        assert_int_equal(most, alive_at(step, curve->n_order));
        return;
    }
    assert_int_equal(curve->order[first], step->peak_node);
    assert_int_equal(first < (size_t)curve->n_forward,
                     strcmp(step->peak_phase, "forward") == 0);
}

static const char *const everything[] = {"*"};

static const struct {
    const char *optimizer;
    int64_t gpus, stage;
    enum cm_precision precision;
    enum cm_offload offload;
    int64_t micro_batches;
    size_t n_checkpoint, n_freeze;
} steps[] = {
    {"sgd", 0, 0, CM_PRECISION_AS_STORED, CM_OFFLOAD_NONE, 1, 0, 0},
    {"adam", 0, 0, CM_PRECISION_AMP, CM_OFFLOAD_NONE, 1, 0, 0},
    {"adam", 8, 2, CM_PRECISION_BF16, CM_OFFLOAD_NONE, 1, 0, 0},
    {"adam", 8, 3, CM_PRECISION_BF16, CM_OFFLOAD_NONE, 1, 0, 0},
    {"adam", 8, 2, CM_PRECISION_AS_STORED, CM_OFFLOAD_OPTIMIZER, 1, 0, 0},
    {"adam", 0, 0, CM_PRECISION_AS_STORED, CM_OFFLOAD_NONE, 2, 0, 0},
    {"muon", 0, 0, CM_PRECISION_AS_STORED, CM_OFFLOAD_NONE, 1, 1, 0},
    {"adam", 0, 0, CM_PRECISION_AS_STORED, CM_OFFLOAD_NONE, 1, 0, 1},
};

static void the_maximum_of_the_curve_is_the_peak(void **state) {
    static const char *const names[] = {"pointnet", "resnet50", "bert_mini", "train_encoder"};
    static const struct cm_dim_option words = {"seq", 16};
    struct cm_options options;
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
            cm_options_init(&options);
            options.memory_curve = true;
            options.batch = 4;
            options.n_dims = strcmp(names[i], "bert_mini") == 0;
            options.dims = &words;
            options.optimizer = steps[k].optimizer;
            options.shard_gpus = steps[k].gpus;
            if (steps[k].gpus > 0) options.zero_stage = steps[k].stage;
            options.precision = steps[k].precision;
            options.offload = steps[k].offload;
            options.micro_batches = steps[k].micro_batches;
            options.n_checkpoint = steps[k].n_checkpoint;
            options.n_freeze = steps[k].n_freeze;
            options.checkpoint = options.freeze = everything;
            struct cm_result *result = profile(names[i], &options);
            expect_peak(result);
            cm_result_free(result);
        }
}

static void there_is_no_curve_unless_requested(void **state) {
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    options.optimizer = "sgd";
    struct cm_result *result = profile("pointnet", &options);
    assert_true(result->training.present);
    assert_null(result->training.curve);
    cm_result_free(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_maximum_of_the_curve_is_the_peak),
        cmocka_unit_test(there_is_no_curve_unless_requested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
