/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analyses many models concurrently, with every kind of pass, and compares each report with
 * that of a single thread. The preset `tsan` detects data races.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "costmodel/costmodel.h"

#define N_THREADS 8
#define N_ROUNDS  2

static const char *const models[] = {
    "pointnet.onnx",           "loop_if.onnx",       "lstm.onnx", "siamese.onnx",
    "pointnet_functions.onnx", "gpt_mini_tied.onnx", "qdq.onnx",  "odd_conv.onnx"};

#define N_MODELS (sizeof(models) / sizeof(models[0]))

static bool has_free_dim(const char *name) {
    return strcmp(name, "gpt_mini_tied.onnx") == 0 || strcmp(name, "lstm.onnx") == 0;
}

/* Every other model is analysed with all options. */
static void set_options(size_t index, struct cm_options *options) {
    static const char *const explained[] = {"0"};
    static const struct cm_dim_option dims[] = {{"seq", 16}};
    const bool everything = index % 2 == 1;
    cm_options_init(options);
    options->batch = 2;
    options->dims = dims;
    options->n_dims = has_free_dim(models[index]);
    if (!everything) return;
    options->optimizer = "adamw";
    options->schedule = CM_SCHEDULE_MIN_MEMORY;
    options->memory_limit = 1 << 24;
    options->memory_curve = true;
    options->memory_plan = true;
    options->n_explain = 1;
    options->explain = explained;
    options->group = "^[^.]*";
}

static void write_all(const struct cm_result *result, FILE *out) {
    struct cm_text_options options;
    cm_text_options_init(&options);
    if (cm_result_write(result, "json", NULL, NULL, out) != CM_OK ||
        cm_result_write(result, "text", &(struct cm_report_options){.text = &options}, NULL,
                        out) != CM_OK ||
        cm_result_write(result, "deepspeed", &(struct cm_report_options){.text = &options},
                        NULL, out) != CM_OK)
        abort();
}

/* Returns the report, followed by the report of the result read back; the caller frees it.
 * Aborts on failure, because cmocka's messages are not thread-safe. */
static char *report_of(size_t index) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    struct cm_result *back = NULL;
    struct cm_options options;
    char path[1024];
    char *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof(path), "%s/%s", TEST_MODELS_DIR, models[index]);
    set_options(index, &options);
    if (cm_model_load_file(path, diagnostics, &model) != CM_OK ||
        cm_model_profile(model, &options, diagnostics, &result) != CM_OK) {
        fprintf(stderr, "%s: %s\n", path, cm_diagnostics_get(diagnostics, 0)->message);
        abort();
    }
    FILE *out = open_memstream(&text, &size);
    if (!out) abort();
    write_all(result, out);
    if (fclose(out) != 0) abort();
    const size_t length = (size_t)(strstr(text, "\n}\n") + 3 - text);
    if (cm_result_read_json(text, length, path, diagnostics, &back) != CM_OK) abort();
    cm_result_free(back);
    cm_result_free(result);
    cm_model_free(model);
    cm_diagnostics_free(diagnostics);
    return text;
}

struct worker {
    pthread_t thread;
    size_t first; /* first model */
    char *const *want;
    size_t n_wrong;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    for (size_t i = 0; i < N_ROUNDS * N_MODELS; i++) {
        const size_t index = (worker->first + i) % N_MODELS;
        char *text = report_of(index);
        if (strcmp(text, worker->want[index]) != 0) worker->n_wrong++;
        free(text);
    }
    return NULL;
}

static void reports_of_threads_equal_those_of_one_thread(void **state) {
    struct worker workers[N_THREADS];
    char *want[N_MODELS];
    (void)state;
    for (size_t i = 0; i < N_MODELS; i++) want[i] = report_of(i);
    for (size_t i = 0; i < N_THREADS; i++) {
        workers[i] = (struct worker){.first = i, .want = want};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < N_THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].n_wrong, 0);
    }
    for (size_t i = 0; i < N_MODELS; i++) free(want[i]);
}

static void *profile_first(void *argument) {
    *(char **)argument = report_of(0);
    return NULL;
}

/* Runs first, so that all threads initialise lazily created state at the same time. */
static void threads_may_open_the_same_file(void **state) {
    pthread_t threads[N_THREADS];
    char *reports[N_THREADS] = {NULL};
    (void)state;
    for (size_t i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, profile_first, &reports[i]), 0);
    for (size_t i = 0; i < N_THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < N_THREADS; i++) {
        assert_string_equal(reports[i], reports[0]);
        if (i > 0) free(reports[i]);
    }
    free(reports[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_may_open_the_same_file),
        cmocka_unit_test(reports_of_threads_equal_those_of_one_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
