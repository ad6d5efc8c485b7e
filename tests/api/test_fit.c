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

static struct cm_device_memory device_memory_at(struct cm_model *model,
                                                struct cm_options options, int64_t batch) {
    options.batch = batch;
    struct cm_result *result = profile(model, &options);
    const struct cm_device_memory memory = result->device_memory;
    int64_t sum = 0;
    for (size_t i = 0; i < memory.n_parts; i++) sum += memory.parts[i].bytes;
    assert_int_equal(sum, memory.bytes);
    assert_int_equal(result->memory.required_bytes, memory.bytes);
    assert_true(memory.bytes > result->training.peak_bytes);
    assert_true(memory.low_bytes < memory.bytes && memory.bytes < memory.high_bytes);
    cm_result_free(result);
    return memory;
}

/* With an optimizer the limit applies to the device memory of a training step, which grows by
 * segments: several batches may need as much. */
static void finds_the_exact_largest_batch_of_a_training_step(void **state) {
    struct cm_model *model = load("pointnet");
    struct cm_options options;
    (void)state;
    cm_options_init(&options);
    options.optimizer = "adam";
    for (int64_t n = 64; n <= 256; n *= 2) {
        options.batch = n;
        options.memory_limit = device_memory_at(model, options, n).bytes;
        struct cm_result *result = profile(model, &options);
        const struct cm_fit fit = *result->memory.fit;
        const int64_t limit = options.memory_limit;
        cm_result_free(result);
        options.memory_limit = 0;
        assert_true(fit.fits);
        assert_true(fit.confident_batch < n && n <= fit.largest_batch);
        assert_true(device_memory_at(model, options, fit.largest_batch).bytes <= limit);
        assert_true(device_memory_at(model, options, fit.largest_batch + 1).bytes > limit);
        assert_true(device_memory_at(model, options, fit.confident_batch).high_bytes <= limit);
        assert_true(device_memory_at(model, options, fit.confident_batch + 1).high_bytes >
                    limit);
    }
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
