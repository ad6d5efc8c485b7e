/* SPDX-License-Identifier: Apache-2.0 */
/* Selection and order of table rows; expected rows are given by their indices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "report/report.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

#define MODULE(path_, type_, depth_, macs_, bytes_)                                            \
    {                                                                                          \
        .path = path_, .name = path_, .type = type_, .arguments = "", .depth = depth_,         \
        .parent = depth_ == 0 ? CM_NO_INDEX : 0, .costs = {                                    \
            .macs = macs_,                                                                     \
            .bytes_read = bytes_                                                               \
        }                                                                                      \
    }

/* Two MAC counts that convert to the same double; an unknown one. */
static const struct cm_module modules[] = {
    MODULE("", "net", 0, 9007199254740993, 16777216),     /* 0 */
    MODULE("a", "Conv2d", 1, 9007199254740992, 16777215), /* 1 */
    MODULE("a.b", "Conv1d", 2, CM_UNKNOWN, CM_UNKNOWN),   /* 2 */
    MODULE("c", "Linear", 1, 1500000, 0),                 /* 3 */
    MODULE("d", "Linear", 1, 1500000, 1),                 /* 4 */
};

static const struct cm_result result = {
    .options = {1, 0, NULL, "exact", "model", "", "", "file", NULL, 0, NULL, NULL, NULL,
                CM_UNKNOWN},
    .totals = {.macs = 9007199254740993, .bytes_read = 100},
    .n_modules = N(modules),
    .modules = modules,
};

/* Expects these indices of rows, separated by blanks. */
static void expect(const struct cm_table_options *options, const char *want) {
    char *text = NULL;
    size_t size = 0;
    char have[64] = "";
    struct cm_table_options indices = *options;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    indices.columns = "index";
    assert_int_equal(
        report_write_csv(&(struct report){.result = &result, .table = &indices, .out = out}),
        CM_OK);
    fclose(out);
    for (const char *at = strchr(text, '\n') + 1; *at != '\0'; at = strchr(at, '\n') + 1)
        snprintf(have + strlen(have), sizeof(have) - strlen(have), "%s%.*s",
                 have[0] == '\0' ? "" : " ", (int)strcspn(at, "\r"), at);
    assert_string_equal(have, want);
    free(text);
}

static void filters_choose_rows(void **state) {
    static const struct {
        const char *filter;
        const char *rows;
    } cases[] = {
        {"macs=9007199254740993", "0"},
        {"macs!=9007199254740993", "1 2 3 4"},
        {"macs>9007199254740992", "0"},
        {"macs>=9007199254740992", "0 1"},
        {"macs<=1500k", "3 4"},
        {"macs=1.5M", "3 4"},
        {"macs<1.5M", ""},
        {"macs=?", "2"},
        {"macs!=?", "0 1 3 4"},
        {"bytes_read=16MiB", "0"},
        {"bytes_read<16Mi", "1 3 4"},
        {"bytes_read>=1kB", "0 1"},
        {"bytes_read<1PiB", "0 1 3 4"},
        {"macs>=1E", ""},
        {"macs_share>99%", "0 1"},
        {"macs_share<=0.5", "3 4"},
        {"type=Conv*", "1 2"},
        {"type!=Conv?d", "0 3 4"},
        {"type=conv*", ""},
        {"path=", "0"},
        {"path=a.*", "2"},
        {"depth=1", "1 3 4"},
        {"index>=3", "3 4"},
    };
    (void)state;
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_table_options options;
        cm_table_options_init(&options);
        options.n_filters = 1;
        options.filters = &cases[i].filter;
        expect(&options, cases[i].rows);
    }
}

static void rows_must_satisfy_all_filters(void **state) {
    static const char *const filters[] = {"type=Linear", "bytes_read>0", "depth<=1"};
    struct cm_table_options options;
    (void)state;
    cm_table_options_init(&options);
    options.n_filters = N(filters);
    options.filters = filters;
    expect(&options, "4");
}

static void sorts_rows_with_unknown_values_last(void **state) {
    static const struct {
        const char *sort;
        const char *rows;
    } cases[] = {
        {"macs", "0 1 3 4 2"},       {"macs:desc", "0 1 3 4 2"}, {"macs:asc", "3 4 1 0 2"},
        {"type", "2 1 3 4 0"},       {"type:desc", "0 3 4 1 2"}, {"path:asc", "0 1 2 3 4"},
        {"macs_share", "0 1 3 4 2"}, {"depth", "2 1 3 4 0"},
    };
    (void)state;
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_table_options options;
        cm_table_options_init(&options);
        options.sort = cases[i].sort;
        expect(&options, cases[i].rows);
    }
}

static void depth_and_top_omit_rows(void **state) {
    struct cm_table_options options;
    (void)state;
    cm_table_options_init(&options);
    options.depth = 1;
    expect(&options, "0 1 3 4");
    options.top = 2;
    options.sort = "bytes_read:asc";
    expect(&options, "3 4");
    options.depth = 0;
    expect(&options, "0");
}

static void refuses_layers_of_a_single_profile(void **state) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_table_options options;
    (void)state;
    cm_table_options_init(&options);
    options.rows = CM_ROWS_LAYERS;
    assert_int_equal(report_write_csv(&(struct report){
                         .result = &result, .table = &options, .diag = diag, .out = stderr}),
                     CM_USAGE);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message, "rows of layers require a sweep");
    cm_diagnostics_free(diag);
}

static void writes_nothing_on_errors(void **state) {
    static const struct cm_table_options faults[] = {
        {.columns = "path,none", .depth = -1},       {.columns = "", .depth = -1},
        {.columns = "path,latency_ps", .depth = -1}, {.sort = "macs:", .depth = -1},
        {.rows = CM_ROWS_OPERATORS, .depth = 0},
    };
    (void)state;
    for (size_t i = 0; i < N(faults); i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        assert_int_equal(report_write_csv(&(struct report){
                             .result = &result, .table = &faults[i], .out = out}),
                         CM_USAGE);
        assert_int_equal(report_write_markdown(&(struct report){
                             .result = &result, .table = &faults[i], .out = out}),
                         CM_USAGE);
        fclose(out);
        assert_int_equal(size, 0);
        free(text);
    }
}

/* A long list of modules is truncated to the length of a comment, with a note. */
static void truncates_long_markdown_with_a_note(void **state) {
    enum { MANY = 5000 };
    struct cm_table_options options;
    struct cm_result large = result;
    struct cm_module *many = calloc(MANY, sizeof(*many));
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    assert_non_null(many);
    assert_non_null(out);
    for (size_t i = 0; i < MANY; i++) many[i] = modules[1];
    large.modules = many;
    large.n_modules = MANY;
    large.model.path = "m";
    cm_table_options_init(&options);
    assert_int_equal(report_write_markdown(
                         &(struct report){.result = &large, .table = &options, .out = out}),
                     CM_OK);
    fclose(out);
    assert_in_range(size, 59000, 60000);
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, "\n| `a`")) != NULL; at++) n++;
    size_t n_more = 0;
    assert_int_equal(sscanf(strstr(text, "\nand "), "\nand %zu more", &n_more), 1);
    assert_int_equal(n + n_more, MANY);
    free(text);
    free(many);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_choose_rows),
        cmocka_unit_test(rows_must_satisfy_all_filters),
        cmocka_unit_test(sorts_rows_with_unknown_values_last),
        cmocka_unit_test(depth_and_top_omit_rows),
        cmocka_unit_test(refuses_layers_of_a_single_profile),
        cmocka_unit_test(writes_nothing_on_errors),
        cmocka_unit_test(truncates_long_markdown_with_a_note),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
