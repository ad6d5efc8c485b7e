/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of memory in the library: if any allocation fails, the call returns CM_NO_MEMORY or its
 * normal result, and leaks nothing (checked by the sanitizers of the dev preset).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "costmodel/op_costs.h"
#include "failing.h"

/* Number of allocations per case that fail: the first ones, and a sample of the others. */
#define MAX_FAILURES 400
#define FIRST_ONES   150

/* A job for the library: `run` returns the written text, which the caller frees. */
struct job {
    int (*run)(const struct job *job, struct cm_diagnostics *diagnostics, char **ret);
    const char *model;
    bool everything; /* every option that enables passes */
    int64_t batch;
    const char *json; /* the document to read */
};

static void set_options(const struct job *job, struct cm_options *options) {
    static const char *const explained[] = {"0", "net"};
    static const char *const patterns[] = {"*"};
    cm_options_init(options);
    options->batch = job->batch;
    if (!job->everything) return;
    options->optimizer = "adam";
    options->precision = CM_PRECISION_AMP;
    options->n_freeze = 1;
    options->freeze = patterns;
    options->n_trainable = 1;
    options->trainable = patterns;
    options->shard_gpus = 2;
    options->zero_stage = 3;
    options->n_checkpoint = 1;
    options->checkpoint = patterns;
    options->n_explain = 2;
    options->explain = explained;
    options->schedule = CM_SCHEDULE_MIN_MEMORY;
    options->memory_limit = 1 << 20;
    options->memory_curve = true;
    options->memory_plan = true;
    options->group = "^[^.]*";
}

static int write_tables(const struct cm_result *result, FILE *out) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_table_options options;
    cm_table_options_init(&options);
    static const char *const formats[] = {"csv", "markdown", "folded", "dot", "mermaid"};
    const struct cm_report_options report = {.table = &options};
    int status = diagnostics ? CM_OK : CM_NO_MEMORY;
    for (size_t i = 0; i < 5 && status == CM_OK; i++)
        status = cm_result_write(result, formats[i], &report, diagnostics, out);
    cm_diagnostics_free(diagnostics);
    return status;
}

static int write_all(const struct cm_result *result, FILE *out) {
    struct cm_text_options options;
    cm_text_options_init(&options);
    options.operators = true;
    const struct cm_report_options report = {.text = &options};
    struct cm_result plain =
        *result; /* "text" writes explanations instead, if there are some */
    plain.n_explanations = 0;
    int status = cm_result_write(result, "json", NULL, NULL, out);
    if (status == CM_OK) status = cm_result_write(&plain, "text", &report, NULL, out);
    if (status == CM_OK) status = cm_result_write(result, "deepspeed", &report, NULL, out);
    if (status == CM_OK) status = cm_result_write(result, "text", &report, NULL, out);
    return status == CM_OK ? write_tables(result, out) : status;
}

static int render(const struct cm_result *result) {
    char *text = NULL;
    size_t size = 0;
    const int status = cm_result_render(result, "json", NULL, NULL, &text, &size);
    cm_report_free(text);
    return status;
}

/* Returns the written text or NULL; the caller frees it. */
static int write_text(const struct cm_result *result, char **ret) {
    size_t size = 0;
    FILE *out = open_memstream(ret, &size);
    if (!out) return CM_NO_MEMORY;
    int status = write_all(result, out);
    if (status == CM_OK) status = render(result);
    if (fclose(out) != 0 && status == CM_OK) status = CM_NO_MEMORY;
    return status;
}

static int profile(const struct job *job, struct cm_diagnostics *diagnostics, char **ret) {
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    struct cm_options options;
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", TEST_MODELS_DIR, job->model);
    set_options(job, &options);
    int status = cm_model_load_file(path, diagnostics, &model);
    if (status == CM_OK) status = cm_model_profile(model, &options, diagnostics, &result);
    if (status == CM_OK) status = write_text(result, ret);
    cm_result_free(result);
    cm_model_free(model);
    return status;
}

static int sweep(const struct job *job, struct cm_diagnostics *diagnostics, char **ret) {
    static const int64_t batches[] = {1, 5};
    struct cm_model *model = NULL;
    struct cm_sweep *made = NULL;
    struct cm_options options;
    char path[1024];
    size_t size = 0;
    snprintf(path, sizeof(path), "%s/%s", TEST_MODELS_DIR, job->model);
    set_options(job, &options);
    int status = cm_model_load_file(path, diagnostics, &model);
    if (status == CM_OK)
        status = cm_model_sweep(model, &options, batches, 2, diagnostics, &made);
    FILE *out = status == CM_OK ? open_memstream(ret, &size) : NULL;
    if (status == CM_OK)
        status = out ? cm_sweep_write(made, "json", NULL, NULL, out) : CM_NO_MEMORY;
    if (out && fclose(out) != 0 && status == CM_OK) status = CM_NO_MEMORY;
    cm_sweep_free(made);
    cm_model_free(model);
    return status;
}

/* Profiles a model with a custom operator and its description. */
static int profile_custom_ops(const struct job *job, struct cm_diagnostics *diagnostics,
                              char **ret) {
    struct cm_op_costs *costs = NULL;
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    struct cm_options options;
    int status = cm_op_costs_load_file(TEST_SOURCE_DIR "/examples/op-costs/formulas.json",
                                       diagnostics, &costs);
    const struct cm_op_costs *const all[] = {costs};
    set_options(job, &options);
    options.n_op_costs = 1;
    options.op_costs = all;
    if (status == CM_OK)
        status = cm_model_load_file(TEST_SOURCE_DIR "/tests/cli/models/custom_ops.onnx",
                                    diagnostics, &model);
    if (status == CM_OK) status = cm_model_profile(model, &options, diagnostics, &result);
    if (status == CM_OK) status = write_text(result, ret);
    cm_result_free(result);
    cm_model_free(model);
    cm_op_costs_free(costs);
    return status;
}

static int read_back(const struct job *job, struct cm_diagnostics *diagnostics, char **ret) {
    struct cm_result *result = NULL;
    int status =
        cm_result_read_json(job->json, strlen(job->json), "a.json", diagnostics, &result);
    if (status == CM_OK) status = write_text(result, ret);
    cm_result_free(result);
    return status;
}

static int read_sweep_back(const struct job *job, struct cm_diagnostics *diagnostics,
                           char **ret) {
    struct cm_sweep *made = NULL;
    int status = cm_sweep_read_json(job->json, strlen(job->json), "a.json", diagnostics, &made);
    if (status == CM_OK) *ret = strdup(made->model);
    if (status == CM_OK && !*ret) status = CM_NO_MEMORY;
    cm_sweep_free(made);
    return status;
}

/* Runs the job with a failure; returns CM_NO_MEMORY if not even the list of messages was
 * allocated. */
static int run_failing(const struct job *job, size_t nth, bool always, char **ret,
                       size_t *ret_n) {
    *ret = NULL;
    failing_start(nth, always);
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    const int status = diagnostics ? job->run(job, diagnostics, ret) : CM_NO_MEMORY;
    cm_diagnostics_free(diagnostics);
    *ret_n = failing_stop();
    return status;
}

static void expect_same_or_no_memory(const struct job *job, size_t nth, bool always,
                                     const char *want) {
    size_t n = 0;
    char *text = NULL;
    const int status = run_failing(job, nth, always, &text, &n);
    if (status == CM_OK && (!text || strcmp(text, want) != 0))
        fail_msg("allocation %zu: CM_OK, and another report", nth);
    if (status != CM_OK && status != CM_NO_MEMORY)
        fail_msg("allocation %zu: status %d", nth, status);
    if (always && nth <= n && status == CM_OK)
        fail_msg("all allocations from %zu on fail: CM_OK", nth);
    free(text);
}

/* Fails allocations of the job one by one; returns its normal text, which the caller frees. */
static char *expect_clean(const struct job *job) {
    size_t n = 0;
    char *want = NULL;
    assert_int_equal(run_failing(job, 0, false, &want, &n), CM_OK);
    assert_true(n > 0);
    const size_t stride = n / MAX_FAILURES + 1;
    for (size_t nth = 1; nth <= n; nth += nth <= FIRST_ONES ? 1 : stride) {
        expect_same_or_no_memory(job, nth, false, want);
        expect_same_or_no_memory(job, nth, true, want);
    }
    return want;
}

static void profile_reports_failed_allocations(void **state) {
    (void)state;
    free(expect_clean(&(struct job){.run = profile, .model = "odd_conv.onnx"}));
}

static void bodies_and_functions_report_failed_allocations(void **state) {
    (void)state;
    free(expect_clean(&(struct job){.run = profile, .model = "loop_if.onnx"}));
}

/* The constants of this file contain numbers of formulas and lists of sizes. */
static void rebatching_reports_failed_allocations(void **state) {
    (void)state;
    free(expect_clean(
        &(struct job){.run = profile, .model = "quantized/encoder.onnx", .batch = 3}));
}

static void custom_operators_report_failed_allocations(void **state) {
    (void)state;
    free(expect_clean(&(struct job){.run = profile_custom_ops}));
}

static void all_options_and_readers_report_failed_allocations(void **state) {
    (void)state;
    char *text = expect_clean(
        &(struct job){.run = profile, .model = "siamese.onnx", .everything = true, .batch = 3});
    text[strstr(text, "\n}\n") + 3 - text] = '\0'; /* the JSON object comes first */
    free(expect_clean(&(struct job){.run = read_back, .json = text}));
    free(text);
}

static void sweeps_and_their_reader_report_failed_allocations(void **state) {
    (void)state;
    char *text = expect_clean(&(struct job){.run = sweep, .model = "odd_conv.onnx"});
    free(expect_clean(&(struct job){.run = read_sweep_back, .json = text}));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profile_reports_failed_allocations),
        cmocka_unit_test(bodies_and_functions_report_failed_allocations),
        cmocka_unit_test(rebatching_reports_failed_allocations),
        cmocka_unit_test(custom_operators_report_failed_allocations),
        cmocka_unit_test(all_options_and_readers_report_failed_allocations),
        cmocka_unit_test(sweeps_and_their_reader_report_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
