/* SPDX-License-Identifier: Apache-2.0 */
/* The largest batch that fits, compared with trying one batch after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"

static struct cm_model *load(const char *name) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_model *model = NULL;
    char path[512];
    (void)snprintf(path, sizeof path, TEST_MODELS_DIR "/%s.onnx", name);
    assert_int_equal(cm_model_load_file(path, diagnostics, &model), CM_OK);
    cm_diagnostics_free(diagnostics);
    return model;
}

static struct cm_result *profile(struct cm_model *model, const struct cm_options *options) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_result *result = NULL;
    assert_int_equal(cm_model_profile(model, options, diagnostics, &result), CM_OK);
    cm_diagnostics_free(diagnostics);
    return result;
}

static int64_t required_at(struct cm_model *model, struct cm_options options, int64_t batch) {
    options.batch = batch;
    struct cm_result *result = profile(model, &options);
    int64_t required = result->memory.required_bytes;
    assert_null(result->memory.fit);
    cm_result_free(result);
    return required;
}

static void expect_largest(struct cm_model *model, struct cm_options options, int64_t limit,
                           int64_t largest, const char *search) {
    options.memory_limit = limit;
    struct cm_result *result = profile(model, &options);
    const struct cm_fit *fit = result->memory.fit;
    assert_non_null(fit);
    assert_int_equal(fit->limit_bytes, limit);
    assert_string_equal(fit->search, search);
    assert_int_equal(fit->largest_batch, largest);
    assert_int_equal(fit->fits, result->memory.required_bytes <= limit);
    cm_result_free(result);
}

#define N_BATCHES 9

/* With a limit of what batch n requires, n fits; with one byte less, n - 1. */
static void finds_the_exact_largest_batch(void **state) {
    static const char *const names[] = {"resnet50", "pointnet_b32", "siamese",
                                        "transformer_encoder_b1"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct cm_model *model = load(names[i]);
        struct cm_options options;
        int64_t required[N_BATCHES + 1];
        cm_options_init(&options);
        for (int64_t n = 1; n <= N_BATCHES; n++) {
            required[n] = required_at(model, options, n);
            assert_true(n == 1 || required[n] > required[n - 1]);
        }
        for (int64_t n = 2; n <= N_BATCHES; n++) {
            options.batch = 1 + n % 3 * 20; /* below and above n */
            expect_largest(model, options, required[n], n, "exact");
            expect_largest(model, options, required[n] - 1, n - 1, "exact");
        }
        expect_largest(model, options, required[1] - 1, 0, "none");
        cm_model_free(model);
    }
}

static void finds_a_large_batch(void **state) {
    struct cm_model *model = load("resnet50");
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    int64_t limit = required_at(model, options, 987654);
    expect_largest(model, options, limit, 987654, "exact");
    expect_largest(model, options, limit - 1, 987653, "exact");
    options.schedule = CM_SCHEDULE_MIN_MEMORY;
    expect_largest(model, options, limit, 987654, "exact");
    cm_model_free(model);
}

/* With an optimizer the limit applies to a training step. */
static void finds_the_exact_largest_batch_of_a_training_step(void **state) {
    struct cm_model *model = load("pointnet");
    struct cm_options options;
    int64_t required[5];
    (void)state;
    cm_options_init(&options);
    options.mode = CM_MODE_TRAINING;
    options.optimizer = "adam";
    for (int64_t n = 1; n <= 4; n++) required[n] = required_at(model, options, n);
    for (int64_t n = 2; n <= 4; n++) {
        options.batch = n;
        struct cm_result *result = profile(model, &options);
        assert_int_equal(result->training.peak_bytes, required[n]);
        cm_result_free(result);
        expect_largest(model, options, required[n], n, "exact");
        expect_largest(model, options, required[n] - 1, n - 1, "exact");
    }
    options.optimizer = NULL;
    assert_true(required_at(model, options, 4) < required[4] / 2);
    cm_model_free(model);
}

static void reports_no_largest_batch_if_every_batch_fits(void **state) {
    struct cm_model *model = load("resnet50");
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    expect_largest(model, options, INT64_MAX, CM_UNKNOWN, "unbounded");
    cm_model_free(model);
}

/* If the shape of the input is given, no batch is left to choose. */
static void keeps_a_batch_set_by_dim_or_input(void **state) {
    static const int64_t dims[] = {2, 3, 224, 224};
    static const struct cm_input_option input = {"input", 4, dims};
    struct cm_model *model = load("resnet50");
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    options.n_inputs = 1;
    options.inputs = &input;
    options.memory_limit = 1;
    struct cm_result *result = profile(model, &options);
    assert_false(result->memory.fit->fits);
    assert_string_equal(result->memory.fit->search, "fixed");
    assert_int_equal(result->memory.fit->largest_batch, CM_UNKNOWN);
    assert_string_equal(result->memory.fit->why,
                        "dim 'batch' is bound to 2, but --batch binds it to 1");
    cm_result_free(result);
    cm_model_free(model);
}

static void accepts_batch_zero(void **state) {
    static const int64_t dims[] = {0, 3, 224, 224};
    static const struct cm_input_option input = {"input", 4, dims};
    struct cm_model *model = load("resnet50");
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    options.n_inputs = 1;
    options.inputs = &input;
    options.memory_limit = 1000000000;
    struct cm_result *result = profile(model, &options);
    assert_true(result->memory.fit->fits);
    assert_string_equal(result->memory.fit->search, "fixed");
    assert_string_equal(result->memory.fit->why,
                        "dim 'batch' is bound to 0, but --batch binds it to 1");
    cm_result_free(result);
    cm_model_free(model);
}

static void trial_runs_add_no_diagnostics(void **state) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_model *model = load("pointnet_b32");
    struct cm_result *alone = NULL;
    struct cm_result *limited = NULL;
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    assert_int_equal(cm_model_profile(model, &options, diagnostics, &alone), CM_OK);
    size_t n = cm_diagnostics_count(diagnostics);
    options.memory_limit = 1000000000;
    assert_int_equal(cm_model_profile(model, &options, diagnostics, &limited), CM_OK);
    assert_int_equal(cm_diagnostics_count(diagnostics), 2 * n);
    assert_int_equal(limited->n_diagnostics, alone->n_diagnostics);
    cm_result_free(alone);
    cm_result_free(limited);
    cm_model_free(model);
    cm_diagnostics_free(diagnostics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_exact_largest_batch),
        cmocka_unit_test(finds_a_large_batch),
        cmocka_unit_test(finds_the_exact_largest_batch_of_a_training_step),
        cmocka_unit_test(reports_no_largest_batch_if_every_batch_fits),
        cmocka_unit_test(keeps_a_batch_set_by_dim_or_input),
        cmocka_unit_test(accepts_batch_zero),
        cmocka_unit_test(trial_runs_add_no_diagnostics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
