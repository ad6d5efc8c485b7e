/* SPDX-License-Identifier: Apache-2.0 */
/* Reports by the name of their format, written to a stream and into memory. */
#include "costmodel/costmodel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct cm_diagnostics *diag;
    struct cm_result *result;
};

static void set_up(struct fixture *f, const char *backend) {
    struct cm_model *model = NULL;
    struct cm_options options;
    cm_options_init(&options);
    options.backend = backend;
    f->diag = cm_diagnostics_new();
    assert_int_equal(cm_model_load_file(TEST_MODELS_DIR "/resnet50.onnx", f->diag, &model),
                     CM_OK);
    assert_int_equal(cm_model_profile(model, &options, f->diag, &f->result), CM_OK);
    cm_model_free(model);
}

static void tear_down(struct fixture *f) {
    cm_result_free(f->result);
    cm_diagnostics_free(f->diag);
}

static void renders_each_format_as_it_is_written(void **state) {
    struct fixture f;
    size_t n = 0;
    (void)state;
    set_up(&f, "roofline:device=h200");
    for (const char *format = NULL; (format = cm_format_at(n)) != NULL; n++) {
        char *written = NULL;
        char *rendered = NULL;
        size_t size = 0;
        size_t rendered_size = 0;
        if (strcmp(format, "html") == 0 && cm_html_check(NULL) != CM_OK) continue;
        FILE *out = open_memstream(&written, &size);
        assert_int_equal(cm_result_write(f.result, format, NULL, f.diag, out), CM_OK);
        assert_int_equal(fclose(out), 0);
        assert_int_equal(
            cm_result_render(f.result, format, NULL, f.diag, &rendered, &rendered_size), CM_OK);
        assert_int_equal(rendered_size, size);
        assert_memory_equal(rendered, written, size + 1); /* with the NUL */
        cm_report_free(rendered);
        free(written);
    }
    assert_int_equal(n, 11);
    assert_string_equal(cm_format_at(0), "text");
    tear_down(&f);
}

/* Compares `text` with what the function of the format writes. */
static void expect_csv(const struct cm_sweep *sweep, const char *text) {
    struct cm_table_options table;
    char *csv = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&csv, &size);
    cm_table_options_init(&table);
    assert_int_equal(
        cm_sweep_write(sweep, "csv", &(struct cm_report_options){.table = &table}, NULL, out),
        CM_OK);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, csv);
    free(csv);
}

static void writes_a_sweep_in_each_format_of_sweeps(void **state) {
    static const int64_t batches[] = {1, 8};
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_model *model = NULL;
    struct cm_sweep *sweep = NULL;
    struct cm_options options;
    int n = 0;
    (void)state;
    cm_options_init(&options);
    assert_int_equal(cm_model_load_file(TEST_MODELS_DIR "/pointnet.onnx", diag, &model), CM_OK);
    assert_int_equal(cm_model_sweep(model, &options, batches, 2, diag, &sweep), CM_OK);
    for (size_t i = 0; cm_format_at(i) != NULL; i++) {
        const struct cm_format *format = cm_format_find(cm_format_at(i));
        char *text = NULL;
        size_t size = 0;
        if (format->is_page && cm_html_check(NULL) != CM_OK) continue;
        FILE *out = open_memstream(&text, &size);
        assert_int_equal(cm_sweep_write(sweep, format->name, NULL, diag, out),
                         format->of_sweeps ? CM_OK : CM_USAGE);
        assert_int_equal(fclose(out), 0);
        assert_int_equal(size > 0, format->of_sweeps);
        if (strcmp(format->name, "csv") == 0) expect_csv(sweep, text);
        n += format->of_sweeps && !format->is_page;
        free(text);
    }
    assert_int_equal(n, 5);
    assert_string_equal(cm_diagnostics_get(diag, cm_diagnostics_count(diag) - 1)->message,
                        "format 'trace' requires one batch");
    cm_sweep_free(sweep);
    cm_model_free(model);
    cm_diagnostics_free(diag);
}

static void describes_each_format(void **state) {
    (void)state;
    for (size_t i = 0; cm_format_at(i) != NULL; i++) {
        const struct cm_format *format = cm_format_find(cm_format_at(i));
        assert_non_null(format);
        assert_string_equal(format->name, cm_format_at(i));
        assert_non_null(format->summary);
        assert_true(format->uses != 0);
    }
    assert_int_equal(cm_format_find("csv")->uses, CM_USES_TABLE);
    assert_true(cm_format_find("trace")->requires_times);
    assert_true(cm_format_find("html")->is_page);
    assert_null(cm_format_find("xml"));
}

static void renders_the_columns_and_rows_of_the_options(void **state) {
    struct fixture f;
    struct cm_table_options table;
    const struct cm_report_options options = {.table = &table};
    char *text = NULL;
    size_t size = 0;
    (void)state;
    set_up(&f, NULL);
    cm_table_options_init(&table);
    table.columns = "path,macs";
    table.depth = 1;
    table.top = 2;
    table.sort = "macs";
    assert_int_equal(cm_result_render(f.result, "csv", &options, f.diag, &text, &size), CM_OK);
    assert_string_equal(text, "path,macs\r\n,4089184256\r\nlayer3,1464336384\r\n");
    cm_report_free(text);
    tear_down(&f);
}

static void refuses_unknown_formats_and_columns(void **state) {
    struct fixture f;
    struct cm_table_options table;
    const struct cm_report_options options = {.table = &table};
    char *text = NULL;
    size_t size = 7;
    (void)state;
    set_up(&f, NULL);
    assert_int_equal(cm_result_render(f.result, "xml", NULL, f.diag, &text, &size), CM_USAGE);
    assert_string_equal(cm_diagnostics_get(f.diag, cm_diagnostics_count(f.diag) - 1)->message,
                        "unknown report format 'xml'");
    cm_table_options_init(&table);
    table.columns = "latency_ps";
    assert_int_equal(cm_result_render(f.result, "csv", &options, f.diag, &text, &size),
                     CM_USAGE);
    assert_int_equal(cm_result_render(f.result, "trace", NULL, f.diag, &text, &size), CM_USAGE);
    assert_null(text);
    assert_int_equal(size, 7);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renders_each_format_as_it_is_written),
        cmocka_unit_test(writes_a_sweep_in_each_format_of_sweeps),
        cmocka_unit_test(describes_each_format),
        cmocka_unit_test(renders_the_columns_and_rows_of_the_options),
        cmocka_unit_test(refuses_unknown_formats_and_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
