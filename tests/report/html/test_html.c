/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a profile: its data are the JSON of the result, its names are escaped. */
#include "fixture.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/check.h"
#include "costmodel/costmodel.h"
#include "report/html/html_assets.h"
#include "support/arena.h"
#include "support/diag.h"

/* Skips the test in a build without d3. */
static char *page_of(const struct cm_result *result) {
    char *text = NULL;
    size_t size = 0;
    if (cm_html_check(NULL) != CM_OK) skip();
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(report_write_html(&(struct report){.result = result, .out = out}), CM_OK);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(strlen(text), size);
    return text;
}

/* Returns the content of a data script; the caller frees it. */
static char *data_of(const char *page, const char *id) {
    char begin[80];
    (void)snprintf(begin, sizeof begin, "<script type=\"application/json\" id=\"%s\">", id);
    const char *at = strstr(page, begin);
    assert_non_null(at);
    at += strlen(begin);
    const char *end = strstr(at, "</script>");
    assert_non_null(end);
    return strndup(at, (size_t)(end - at));
}

static void expect_same_data(const struct cm_result *result) {
    struct cm_result *read = NULL;
    char *page = page_of(result);
    char *data = data_of(page, "costmodel-profile");
    assert_null(strpbrk(data, "<>&"));
    assert_int_equal(cm_result_read_json(data, strlen(data), "page", NULL, &read), CM_OK);
    char *json = fixture_json(result);
    char *again = fixture_json(read);
    assert_string_equal(again, json);
    arena_free(read->arena);
    free(again);
    free(json);
    free(data);
    free(page);
}

static void a_page_embeds_the_json_of_the_result(void **state) {
    (void)state;
    expect_same_data(&fixture_pointnet);
    expect_same_data(&fixture_hostile);
}

static void a_page_without_scripts_shows_exact_and_rounded_totals(void **state) {
    (void)state;
    char *page = page_of(&fixture_pointnet);
    assert_non_null(strstr(page, "<html lang=\"en\" data-kind=\"profile\">"));
    assert_non_null(strstr(
        page, "<tr><th scope=\"row\">fwd MACs<td data-value=\"14068146176\">14.1 GMACs\n"));
    assert_non_null(strstr(page, "<section id=\"modules\">"));
    assert_non_null(strstr(page, "<section id=\"operators\">"));
    free(page);
}

static void a_page_without_scripts_shows_the_parts_of_the_device_memory(void **state) {
    (void)state;
    const struct cm_memory_part parts[] = {{"a", CM_UNKNOWN, "x"}, {"<b>", 999, "line\n<i>"}};
    struct cm_result result = fixture_pointnet;
    char *page = page_of(&result);
    assert_null(strstr(page, "<section id=\"device-memory\">"));
    free(page);
    result.device_memory = (struct cm_device_memory){true, 999, CM_UNKNOWN, 1100, 2, parts};
    page = page_of(&result);
    assert_non_null(strstr(page, "<section id=\"device-memory\">"));
    assert_non_null(strstr(page,
                           "high end for 9 of 10 processes<td data-value=\"1100\">1.10 kB\n<tr>"
                           "<th scope=\"row\">&lt;b&gt;<td data-value=\"999\">999 B\n"
                           "<td>line\\x0a&lt;i&gt;\n</table>"));
    free(page);
}

/* 1 + 150 modules: depth 1 already has too many rows, so 100 are listed and the rest is
 * counted. */
static void a_flat_model_lists_a_hundred_modules(void **state) {
    (void)state;
    enum { N = 151 };
    struct cm_module modules[N] = {{.path = "", .name = "m", .type = "m", .arguments = ""}};
    struct cm_result result = fixture_pointnet;
    modules[0].parent = CM_NO_INDEX;
    for (size_t i = 1; i < N; i++)
        modules[i] = (struct cm_module){
            .path = "a", .name = "a", .type = "a", .arguments = "", .depth = 1};
    result.n_modules = N;
    result.modules = modules;
    result.n_nodes = 0;
    char *page = page_of(&result);
    assert_non_null(strstr(page, "<p>and 51 more\n"));
    free(page);
}

static void a_build_without_d3_has_no_pages(void **state) {
    (void)state;
    const struct html_assets none = {.d3 = {NULL, NULL}};
    struct cm_diagnostics *diag = cm_diagnostics_new();
    assert_int_equal(html_check_assets(&none, diag), CM_USAGE);
    const struct cm_diagnostic *message = cm_diagnostics_get(diag, 0);
    assert_string_equal(message->message,
                        "format html requires a build with d3, this one has none");
    assert_string_equal(message->hint,
                        "install d3 5 (Debian and Ubuntu: node-d3), or give cmake "
                        "-DCOSTMODEL_D3=d3.min.js, and build again");
    cm_diagnostics_free(diag);
}

static void the_title_of_a_check_has_a_mark(void **state) {
    (void)state;
    const struct {
        int64_t regressions, ambiguous, not_compared;
        bool fail_ambiguous;
        const char *title;
    } rows[] = {
        {0, 0, 0, false, "<title>✓ check of &lt;b&gt; - costmodel</title>"},
        {1, 0, 1, false, "<title>✗ check of &lt;b&gt; - costmodel</title>"},
        {0, 1, 0, true, "<title>✗ check of &lt;b&gt; - costmodel</title>"},
        {0, 1, 0, false, "<title>? check of &lt;b&gt; - costmodel</title>"},
        {0, 0, 1, false, "<title>? check of &lt;b&gt; - costmodel</title>"},
    };
    if (cm_html_check(NULL) != CM_OK) skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct cm_verdict verdict = {
            .model = "/a/<b>",
            .state = "pass",
            .regressions = rows[i].regressions,
            .ambiguous = rows[i].ambiguous,
            .not_compared = rows[i].not_compared,
            .fail_ambiguous = rows[i].fail_ambiguous,
            .convention = "c",
            .precision = "",
            .baseline = "",
            .times = "",
            .accept = "",
        };
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        assert_int_equal(cm_verdict_write_html(&verdict, NULL, NULL, NULL, out), CM_OK);
        assert_int_equal(fclose(out), 0);
        assert_non_null(strstr(text, rows[i].title));
        assert_non_null(
            strstr(text, "<pre id=\"costmodel-markdown\" hidden>\n### costmodel check"));
        assert_non_null(strstr(text, "against no baseline"));
        assert_null(strstr(text, "id=\"costmodel-old\""));
        free(text);
    }
}

static void a_full_disk_is_reported(void **state) {
    (void)state;
    if (cm_html_check(NULL) != CM_OK) skip();
    FILE *out = fopen("/dev/full", "w");
    if (out == NULL) skip();
    assert_int_equal(
        report_write_html(&(struct report){.result = &fixture_pointnet, .out = out}), CM_IO);
    fclose(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_embeds_the_json_of_the_result),
        cmocka_unit_test(a_page_without_scripts_shows_exact_and_rounded_totals),
        cmocka_unit_test(a_page_without_scripts_shows_the_parts_of_the_device_memory),
        cmocka_unit_test(a_flat_model_lists_a_hundred_modules),
        cmocka_unit_test(a_build_without_d3_has_no_pages),
        cmocka_unit_test(the_title_of_a_check_has_a_mark),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
