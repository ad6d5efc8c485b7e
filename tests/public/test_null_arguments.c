/* SPDX-License-Identifier: Apache-2.0 */
/* Calls public functions with NULL for each pointer that they require. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/campaign.h"
#include "costmodel/check.h"
#include "costmodel/compare.h"
#include "costmodel/costmodel.h"
#include "costmodel/fit.h"
#include "costmodel/llm.h"
#include "costmodel/op_costs.h"
#include "costmodel/times.h"

#define ROW(call)                                                                              \
    { #call, call }

struct null_call {
    const char *call;
    int status;
};

static void expect_usage_errors(struct cm_diagnostics *d, const struct null_call *rows,
                                size_t n) {
    const size_t max_stored = 32;
    size_t n_reporting = 0; /* calls that take `d` */
    for (size_t i = 0; i < n; i++) {
        if (rows[i].status != CM_USAGE) fail_msg("%s: %d", rows[i].call, rows[i].status);
        n_reporting += strstr(rows[i].call, " d,") || strstr(rows[i].call, " d)");
    }
    assert_int_equal(cm_diagnostics_count(d),
                     n_reporting < max_stored ? n_reporting : max_stored);
    for (size_t i = 0; i < cm_diagnostics_count(d); i++)
        assert_string_equal(cm_diagnostics_get(d, i)->message, "a required argument is NULL");
    cm_diagnostics_free(d);
}

/* P: valid memory that no call reads. */
static int make(void **state) {
    *state = calloc(1, 4096);
    return *state ? 0 : -1;
}

static int end(void **state) {
    free(*state);
    return 0;
}

/* One row for each pointer that is required; the others point to P. */

static void null_is_a_usage_error_of_models(void **state) {
    void *const P = *state;
    struct cm_diagnostics *d = cm_diagnostics_new();
    const struct null_call rows[] = {
        /* clang-format off */
        ROW(cm_model_load_file(NULL, d, P)),
        ROW(cm_model_load_file(P, d, NULL)),
        ROW(cm_model_load_memory(NULL, 1, P, d, P)),
        ROW(cm_model_load_memory(P, 1, NULL, d, P)),
        ROW(cm_model_load_memory(P, 1, P, d, NULL)),
        ROW(cm_load_file(NULL, d, P, P)),
        ROW(cm_load_file(P, d, NULL, P)),
        ROW(cm_load_file(P, d, P, NULL)),
        ROW(cm_model_reads_file(NULL, P, d, P)),
        ROW(cm_model_reads_file(P, NULL, d, P)),
        ROW(cm_model_reads_file(P, P, d, NULL)),
        ROW(cm_model_dims(NULL, P, d, P)),
        ROW(cm_model_dims(P, NULL, d, P)),
        ROW(cm_model_dims(P, P, d, NULL)),
        ROW(cm_model_profile(NULL, P, d, P)),
        ROW(cm_model_profile(P, NULL, d, P)),
        ROW(cm_model_profile(P, P, d, NULL)),
        ROW(cm_model_annotate(NULL, P, d, P)),
        ROW(cm_model_annotate(P, NULL, d, P)),
        ROW(cm_model_annotate(P, P, d, NULL)),
        ROW(cm_model_node_data(NULL, P, "macs", d, P)),
        ROW(cm_model_node_data(P, NULL, "macs", d, P)),
        ROW(cm_model_node_data(P, P, NULL, d, P)),
        ROW(cm_model_node_data(P, P, "macs", d, NULL)),
        ROW(cm_model_sweep(NULL, P, P, 1, d, P)),
        ROW(cm_model_sweep(P, NULL, P, 1, d, P)),
        ROW(cm_model_sweep(P, P, NULL, 1, d, P)),
        ROW(cm_model_sweep(P, P, P, 1, d, NULL)),
        ROW(cm_model_sweep_points(NULL, P, P, 1, d, P)),
        ROW(cm_model_sweep_points(P, NULL, P, 1, d, P)),
        ROW(cm_model_sweep_points(P, P, NULL, 1, d, P)),
        ROW(cm_model_sweep_points(P, P, P, 1, d, NULL)),
        ROW(cm_model_formula(NULL, P, d, P)),
        ROW(cm_model_formula(P, NULL, d, P)),
        ROW(cm_model_formula(P, P, d, NULL)),
        ROW(cm_device_resolve(NULL, d, P)),
        ROW(cm_device_resolve(P, d, NULL)),
        ROW(cm_device_fit(NULL, CM_RUNTIME_TORCH_EAGER, P, P, 1, d, P)),
        ROW(cm_device_fit(P, CM_RUNTIME_TORCH_EAGER, NULL, P, 1, d, P)),
        ROW(cm_device_fit(P, CM_RUNTIME_TORCH_EAGER, P, NULL, 1, d, P)),
        ROW(cm_device_fit(P, CM_RUNTIME_TORCH_EAGER, P, P, 1, d, NULL)),
        ROW(cm_calibrate(NULL, d, P)),
        ROW(cm_calibrate(P, d, NULL)),
        /* clang-format on */
    };
    expect_usage_errors(d, rows, sizeof(rows) / sizeof(rows[0]));
}

static void null_is_a_usage_error_of_campaigns(void **state) {
    void *const P = *state;
    struct cm_diagnostics *d = cm_diagnostics_new();
    const struct null_call rows[] = {
        /* clang-format off */
        ROW(cm_campaign_read_file(NULL, d, P)),
        ROW(cm_campaign_read_file("x", d, NULL)),
        ROW(cm_campaign_plan(NULL, NULL, 0, d, P)),
        ROW(cm_campaign_plan(P, NULL, 1, d, P)),
        ROW(cm_campaign_plan(P, NULL, 0, d, NULL)),
        ROW(cm_campaign_extend(NULL, P, NULL, 0, d, P)),
        ROW(cm_campaign_extend(P, NULL, NULL, 0, d, P)),
        ROW(cm_campaign_extend(P, P, NULL, 1, d, P)),
        ROW(cm_campaign_extend(P, P, NULL, 0, d, NULL)),
        ROW(cm_campaign_write_json(NULL, P)),
        ROW(cm_campaign_write_json(P, NULL)),
        ROW(cm_campaign_run(NULL, P, d, P)),
        ROW(cm_campaign_run(P, NULL, d, P)),
        ROW(cm_campaign_run(P, P, d, NULL)),
        ROW(cm_campaign_merge(NULL, 1, d, P)),
        ROW(cm_campaign_merge(P, 0, d, P)),
        ROW(cm_campaign_merge(P, 1, d, NULL)),
        /* clang-format on */
    };
    expect_usage_errors(d, rows, sizeof(rows) / sizeof(rows[0]));
}

static void null_is_a_usage_error_of_reports(void **state) {
    void *const P = *state;
    struct cm_diagnostics *d = cm_diagnostics_new();
    const struct null_call rows[] = {
        /* clang-format off */
        ROW(cm_table_options_check(NULL, false, d)),
        ROW(cm_schema_write(P, NULL)),
        ROW(cm_schema_write(NULL, P)),
        ROW(cm_result_write(NULL, P, P, d, P)),
        ROW(cm_result_write(P, NULL, P, d, P)),
        ROW(cm_result_write(P, P, P, d, NULL)),
        ROW(cm_result_render(NULL, P, P, d, P, P)),
        ROW(cm_result_render(P, NULL, P, d, P, P)),
        ROW(cm_result_render(P, P, P, d, NULL, P)),
        ROW(cm_result_render(P, P, P, d, P, NULL)),
        ROW(cm_result_read_json(NULL, 1, P, d, P)),
        ROW(cm_result_read_json(P, 1, NULL, d, P)),
        ROW(cm_result_read_json(P, 1, P, d, NULL)),
        /* clang-format on */
    };
    expect_usage_errors(d, rows, sizeof(rows) / sizeof(rows[0]));
}

static void null_is_a_usage_error_of_sweeps(void **state) {
    void *const P = *state;
    struct cm_diagnostics *d = cm_diagnostics_new();
    const struct null_call rows[] = {
        /* clang-format off */
        ROW(cm_sweep_write(NULL, P, P, d, P)),
        ROW(cm_sweep_write(P, NULL, P, d, P)),
        ROW(cm_sweep_write(P, P, P, d, NULL)),
        ROW(cm_sweep_read_json(NULL, 1, P, d, P)),
        ROW(cm_sweep_read_json(P, 1, NULL, d, P)),
        ROW(cm_sweep_read_json(P, 1, P, d, NULL)),
        /* clang-format on */
    };
    expect_usage_errors(d, rows, sizeof(rows) / sizeof(rows[0]));
}

static void null_is_a_usage_error_of_formulas(void **state) {
    void *const P = *state;
    struct cm_diagnostics *d = cm_diagnostics_new();
    const struct null_call rows[] = {
        /* clang-format off */
        ROW(cm_formula_write_text(NULL, P, P)),
        ROW(cm_formula_write_text(P, NULL, P)),
        ROW(cm_formula_write_text(P, P, NULL)),
        ROW(cm_formula_write_json(NULL, P)),
        ROW(cm_formula_write_json(P, NULL)),
        ROW(cm_formula_read_json(NULL, 1, P, d, P)),
        ROW(cm_formula_read_json(P, 1, NULL, d, P)),
        ROW(cm_formula_read_json(P, 1, P, d, NULL)),
        /* clang-format on */
    };
    expect_usage_errors(d, rows, sizeof(rows) / sizeof(rows[0]));
}

static void null_is_a_usage_error_of_checks(void **state) {
    void *const P = *state;
    struct cm_diagnostics *d = cm_diagnostics_new();
    const struct null_call rows[] = {
        /* clang-format off */
        ROW(cm_budget_read_json(NULL, 1, P, d, P)),
        ROW(cm_budget_read_json(P, 1, NULL, d, P)),
        ROW(cm_budget_read_json(P, 1, P, d, NULL)),
        ROW(cm_baseline_make(NULL, 1, P, P, d, P)),
        ROW(cm_baseline_make(P, 1, P, NULL, d, P)),
        ROW(cm_baseline_make(P, 1, P, P, d, NULL)),
        ROW(cm_baseline_read_json(NULL, 1, P, d, P)),
        ROW(cm_baseline_read_json(P, 1, NULL, d, P)),
        ROW(cm_baseline_read_json(P, 1, P, d, NULL)),
        ROW(cm_baseline_write_json(NULL, P)),
        ROW(cm_baseline_write_json(P, NULL)),
        ROW(cm_baseline_compare(NULL, P, 1, P, d, P)),
        ROW(cm_baseline_compare(P, NULL, 1, P, d, P)),
        ROW(cm_baseline_compare(P, P, 1, NULL, d, P)),
        ROW(cm_baseline_compare(P, P, 1, P, d, NULL)),
        ROW(cm_check_limit_batch(NULL, d, P)),
        ROW(cm_check_limit_batch(P, d, NULL)),
        ROW(cm_check_limit_metric(NULL, d, P)),
        ROW(cm_check_limit_metric(P, d, NULL)),
        ROW(cm_check(NULL, 1, P, d, P)),
        ROW(cm_check(P, 1, NULL, d, P)),
        ROW(cm_check(P, 1, P, d, NULL)),
        ROW(cm_verdict_join(NULL, 1, d, P)),
        ROW(cm_verdict_join(P, 1, d, NULL)),
        ROW(cm_verdict_write_text(NULL, P, P)),
        ROW(cm_verdict_write_text(P, NULL, P)),
        ROW(cm_verdict_write_text(P, P, NULL)),
        ROW(cm_verdict_write_html(NULL, P, P, d, P)),
        ROW(cm_verdict_write_html(P, P, P, d, NULL)),
        ROW(cm_verdict_write_json(NULL, P)),
        ROW(cm_verdict_write_json(P, NULL)),
        ROW(cm_verdict_write_markdown(NULL, P)),
        ROW(cm_verdict_write_markdown(P, NULL)),
        ROW(cm_verdict_write_junit(NULL, P)),
        ROW(cm_verdict_write_junit(P, NULL)),
        ROW(cm_verdict_write_sarif(NULL, P)),
        ROW(cm_verdict_write_sarif(P, NULL)),
        ROW(cm_verdict_write_github(NULL, P)),
        ROW(cm_verdict_write_github(P, NULL)),
        /* clang-format on */
    };
    expect_usage_errors(d, rows, sizeof(rows) / sizeof(rows[0]));
}

static void null_is_a_usage_error_of_language_models(void **state) {
    void *const P = *state;
    struct cm_diagnostics *d = cm_diagnostics_new();
    const struct null_call rows[] = {
        /* clang-format off */
        ROW(cm_model_llm(NULL, P, P, d, P)),
        ROW(cm_model_llm(P, NULL, P, d, P)),
        ROW(cm_model_llm(P, P, NULL, d, P)),
        ROW(cm_model_llm(P, P, P, d, NULL)),
        ROW(cm_llm_write_text(NULL, P, P)),
        ROW(cm_llm_write_text(P, NULL, P)),
        ROW(cm_llm_write_text(P, P, NULL)),
        ROW(cm_llm_write_json(NULL, P)),
        ROW(cm_llm_write_json(P, NULL)),
        ROW(cm_llm_write_html(NULL, P)),
        ROW(cm_llm_write_html(P, NULL)),
        ROW(cm_llm_sweep_make(NULL, 1, d, P)),
        ROW(cm_llm_sweep_make(P, 1, d, NULL)),
        ROW(cm_llm_sweep_write_text(NULL, P, P)),
        ROW(cm_llm_sweep_write_text(P, NULL, P)),
        ROW(cm_llm_sweep_write_text(P, P, NULL)),
        ROW(cm_llm_sweep_write_csv(NULL, P)),
        ROW(cm_llm_sweep_write_csv(P, NULL)),
        ROW(cm_llm_sweep_write_json(NULL, P)),
        ROW(cm_llm_sweep_write_json(P, NULL)),
        /* clang-format on */
    };
    expect_usage_errors(d, rows, sizeof(rows) / sizeof(rows[0]));
}

static void null_is_a_usage_error_of_diffs(void **state) {
    void *const P = *state;
    struct cm_diagnostics *d = cm_diagnostics_new();
    const struct null_call rows[] = {
        /* clang-format off */
        ROW(cm_diff_make(NULL, P, d, P)),
        ROW(cm_diff_make(P, NULL, d, P)),
        ROW(cm_diff_make(P, P, d, NULL)),
        ROW(cm_diff_write_text(NULL, P, P)),
        ROW(cm_diff_write_text(P, NULL, P)),
        ROW(cm_diff_write_text(P, P, NULL)),
        ROW(cm_diff_write_html(NULL, P, d, P)),
        ROW(cm_diff_write_html(P, NULL, d, P)),
        ROW(cm_diff_write_html(P, P, d, NULL)),
        ROW(cm_diff_write_json(NULL, P, P)),
        ROW(cm_diff_write_json(P, NULL, P)),
        ROW(cm_diff_write_json(P, P, NULL)),
        ROW(cm_diff_write_markdown(NULL, P, P)),
        ROW(cm_diff_write_markdown(P, NULL, P)),
        ROW(cm_diff_write_markdown(P, P, NULL)),
        /* clang-format on */
    };
    expect_usage_errors(d, rows, sizeof(rows) / sizeof(rows[0]));
}

static void null_is_a_usage_error_of_op_costs_and_times(void **state) {
    void *const P = *state;
    struct cm_diagnostics *d = cm_diagnostics_new();
    const struct null_call rows[] = {
        /* clang-format off */
        ROW(cm_op_costs_load_file(NULL, d, P)),
        ROW(cm_op_costs_load_file(P, d, NULL)),
        ROW(cm_op_costs_load_memory(NULL, 1, P, d, P)),
        ROW(cm_op_costs_load_memory(P, 1, NULL, d, P)),
        ROW(cm_op_costs_load_memory(P, 1, P, d, NULL)),
        ROW(cm_op_costs_make(NULL, 1, d, P)),
        ROW(cm_op_costs_make(P, 1, d, NULL)),
        ROW(cm_times_load_file(NULL, d, P)),
        ROW(cm_times_load_file(P, d, NULL)),
        ROW(cm_times_load_memory(NULL, 1, P, d, P)),
        ROW(cm_times_load_memory(P, 1, NULL, d, P)),
        ROW(cm_times_load_memory(P, 1, P, d, NULL)),
        /* clang-format on */
    };
    expect_usage_errors(d, rows, sizeof(rows) / sizeof(rows[0]));
}

static void functions_without_a_status_accept_null(void **state) {
    void *const P = *state;
    assert_true(cm_diagnostics_count(NULL) == 0);
    assert_true(cm_diagnostics_get(NULL, 0) == NULL);
    assert_true(cm_model_path(NULL) == NULL);
    assert_true(!cm_metric_at(0, NULL));
    assert_true(cm_metric_find(NULL) == CM_NO_INDEX);
    assert_true(!cm_metric_of_total(0, NULL, P));
    assert_true(!cm_metric_of_total(0, P, NULL));
    assert_true(!cm_metric_of_module(0, NULL, 0, P));
    assert_true(!cm_metric_of_module(0, P, 0, NULL));
    assert_true(!cm_metric_of_operator(0, NULL, 0, P));
    assert_true(!cm_metric_of_operator(0, P, 0, NULL));
    assert_true(!cm_metric_of_llm(0, NULL, P));
    assert_true(!cm_metric_of_llm(0, P, NULL));
    assert_true(!cm_metric_is_of_step(0, NULL));
    assert_true(!cm_diff_comparable(NULL));
    assert_true(!cm_diff_differs(NULL));
    assert_true(!cm_diff_total(NULL, 0).in_new);
    assert_true(!cm_diff_of_module(NULL, 0, 0).in_new);
    assert_true(!cm_diff_of_operator(NULL, 0, 0).in_new);
    assert_true(cm_diff_blame(NULL, 0, 0, P) == 0);
    assert_true(cm_diff_blame(P, 0, 0, NULL) == 0);
    const int page_status = cm_html_check(NULL);
    assert_true(page_status == CM_OK || page_status == CM_USAGE);
    assert_true(cm_verdict_exit(NULL) == 3);
    assert_true(cm_format_find(NULL) == NULL);
    assert_true(!cm_result_timed(NULL));
    assert_true(!cm_result_complete(NULL));
    assert_true(cm_coverage_unbounded(NULL) == 0);
    cm_diagnostics_free(NULL);
    cm_options_init(NULL);
    cm_options_init_sized(NULL, 8);
    cm_model_free(NULL);
    cm_dims_free(NULL);
    cm_result_free(NULL);
    cm_sweep_free(NULL);
    cm_formula_free(NULL);
    cm_text_options_init(NULL);
    cm_text_options_init_sized(NULL, 8);
    cm_table_options_init(NULL);
    cm_table_options_init_sized(NULL, 8);
    assert_int_equal(cm_campaign_count(NULL), 0);
    cm_campaign_at(NULL, 0, P, P);
    cm_campaign_at(P, 0, NULL, P);
    cm_campaign_at(P, 0, P, NULL);
    cm_campaign_free(NULL);
    cm_budget_free(NULL);
    cm_baseline_free(NULL);
    cm_verdict_free(NULL);
    cm_diff_free(NULL);
    cm_diff_options_init(NULL);
    cm_diff_options_init_sized(NULL, 8);
    cm_llm_options_init(NULL);
    cm_llm_options_init_sized(NULL, 8);
    cm_llm_free(NULL);
    cm_llm_sweep_free(NULL);
    cm_op_costs_free(NULL);
    cm_times_free(NULL);
    cm_report_free(NULL);
}

/* Returns true if the source of this test calls the function. */
static bool is_tested(const char *source, const char *name, size_t length) {
    for (const char *at = strstr(source, "int main("); at > source; at--)
        if (memcmp(at, name, length) == 0 && at[length] == '(') return true;
    return false;
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void every_public_function_with_a_pointer_is_tested(void **state) {
    static const char *const headers[] = {"campaign.h", "check.h", "compare.h",  "costmodel.h",
                                          "fit.h",      "llm.h",   "op_costs.h", "times.h"};
    char *source = read_text(TEST_SOURCE_DIR "/tests/public/test_null_arguments.c");
    (void)state;
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, TEST_SOURCE_DIR "/include/costmodel/%s", headers[i]);
        char *header = read_text(path);
        for (const char *at = header; (at = strstr(at, "\nCM_API ")) != NULL; at++) {
            const char *open = strchr(at, '(');
            const char *end = strchr(open, ';');
            const char *name = open;
            while (name[-1] != ' ' && name[-1] != '*') name--;
            if (memchr(open, '*', (size_t)(end - open)) != NULL &&
                !is_tested(source, name, (size_t)(open - name)))
                fail_msg("%.*s is not tested", (int)(open - name), name);
        }
        free(header);
    }
    free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_a_usage_error_of_models),
        cmocka_unit_test(null_is_a_usage_error_of_campaigns),
        cmocka_unit_test(null_is_a_usage_error_of_reports),
        cmocka_unit_test(null_is_a_usage_error_of_sweeps),
        cmocka_unit_test(null_is_a_usage_error_of_formulas),
        cmocka_unit_test(null_is_a_usage_error_of_checks),
        cmocka_unit_test(null_is_a_usage_error_of_language_models),
        cmocka_unit_test(null_is_a_usage_error_of_diffs),
        cmocka_unit_test(null_is_a_usage_error_of_op_costs_and_times),
        cmocka_unit_test(functions_without_a_status_accept_null),
        cmocka_unit_test(every_public_function_with_a_pointer_is_tested),
    };
    return cmocka_run_group_tests(tests, make, end);
}
