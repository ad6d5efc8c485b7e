/* SPDX-License-Identifier: Apache-2.0 */
/* The writers of a verdict in the formats of `formats`, with hostile names; exit status;
 * budgets. */
#include "costmodel/check.h"

#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/arena.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define U        CM_UNKNOWN

static const struct cm_check_finding over[] = {
    {"", "regression", 4412112896, 4089184256, 4089184256, 322928640, "", false, false}};
static const struct cm_check_finding under[] = {
    {"", "pass", 25557032, 25557032, 26068172, U, "", true, true}};
static const struct cm_check_finding modules_over[] = {
    {"layer1.0|conv1", "regression", 5000, 0, 0, 5000, "", true, false},
    {"`x` <b>&amp;</b> @user]](http://a) ::error::", "regression", 999, 998, 998, 1, "", false,
     true},
    {"::warning file=a,line=1::\xE2\x80\xAE%0A%\r\n::error::no", "not-compared", U, U, U, U,
     "the model has unknown operators: a::\x1b[31m<Op> | `b`", false, false},
};
static const struct cm_check_finding unsure[] = {
    {"", "ambiguous", 1234567890, 1200000000, 1200000000, U,
     "the measured range overlaps the limit", false, false}};
static const struct cm_check_finding none[] = {
    {"", "not-compared", 9223372036854775807, U, U, U, "no baseline was given", true, false}};

static const struct cm_check_blame blame[] = {
    {"layer3.0.conv1", "layer3.0.conv1", "changed", 400000000, 200000000, 200000000, true,
     false},
    {"layer3.<new>", "", "added", 122928640, 0, 122928640, false, false},
    {"layer4.\xEF\xBF\xBF", "layer5", "renamed", 10, 0, 10, false, false},
};

static const struct cm_check_case cases[] = {
    {"params <= +2%", "budget.json", "params", "elements", 1, "pass", 1, 1, under, 0, 0, NULL,
     0},
    {"macs <= +0%", "budget.json", "macs", "MACs", 1, "regression", 1, 1, over, 0, N(blame),
     blame, 7},
    {"*: flops <= 1k", "--limit", "flops", "flops", 32, "regression", 161, N(modules_over),
     modules_over, 5, 0, NULL, 0},
    {"layer1.*: macs <= 1G", "--limit", "macs", "MACs", 32, "pass", 12, 0, NULL, 0, 0, NULL, 0},
    {"latency <= +0%", "--limit", "latency_ps", "ps", 32, "ambiguous", 1, 1, unsure, 0, 0, NULL,
     0},
    {"arena_bytes <= +0%", "--limit", "arena_bytes", "bytes", U, "not-compared", 1, 1, none, 0,
     0, NULL, 0},
};

static const size_t unchecked[] = {8, 32};

static const struct cm_verdict hostile = {
    .model = "mo del\"<&'\x01\n::error::.onnx",
    .state = "regression",
    .passed = 2,
    .regressions = 2,
    .ambiguous = 1,
    .not_compared = 1,
    .convention = "deepspeed",
    .precision = "",
    .baseline = "base|`line`.onnx",
    .times = "measured, a <b>board</b>",
    .accept = "costmodel check --update-baseline --reason 'why' '```' 'a\nb' m.onnx",
    .n_unchecked = N(unchecked),
    .unchecked = unchecked,
    .n_cases = N(cases),
    .cases = cases,
};

static const struct cm_verdict plain = {
    .model = "models/resnet50.onnx",
    .state = "pass",
    .passed = 1,
    .convention = "deepspeed",
    .precision = "",
    .baseline = "",
    .times = "",
    .accept = "",
    .n_cases = 1,
    .cases = cases,
};

typedef int writer(const struct cm_verdict *verdict, FILE *out);

static int write_text(const struct cm_verdict *verdict, FILE *out) {
    struct cm_text_options options;
    cm_text_options_init(&options);
    return cm_verdict_write_text(verdict, &options, out);
}

static const struct {
    writer *write;
    const char *golden;
    const char *golden_plain;
} formats[] = {
    {write_text, "gate_hostile.txt", "gate_plain.txt"},
    {cm_verdict_write_json, "gate_hostile.json", "gate_plain.json"},
    {cm_verdict_write_markdown, "gate_hostile.md", "gate_plain.md"},
    {cm_verdict_write_junit, "gate_hostile.xml", "gate_plain.xml"},
    {cm_verdict_write_sarif, "gate_hostile.sarif", "gate_plain.sarif"},
    {cm_verdict_write_github, "gate_hostile.commands", "gate_plain.commands"},
};

static char *written(writer *write, const struct cm_verdict *verdict, size_t *ret_size) {
    char *text = NULL;
    FILE *stream = open_memstream(&text, ret_size);
    assert_non_null(stream);
    assert_int_equal(write(verdict, stream), CM_OK);
    fclose(stream);
    return text;
}

static void text_and_ci_formats_equal_their_goldens(void **state) {
    (void)state;
    for (size_t i = 0; i < N(formats); i++) {
        size_t size = 0;
        char *text = written(formats[i].write, &hostile, &size);
        fixture_expect_golden(formats[i].golden, text);
        free(text);
        text = written(formats[i].write, &plain, &size);
        fixture_expect_golden(formats[i].golden_plain, text);
        free(text);
    }
}

static void several_models_have_one_report(void **state) {
    static const char *const goldens[] = {"gate_joined.txt",   "gate_joined.json",
                                          "gate_joined.md",    "gate_joined.xml",
                                          "gate_joined.sarif", "gate_joined.commands"};
    const struct cm_verdict *const parts[] = {&plain, &hostile};
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_verdict *joined = NULL;
    struct cm_verdict *again = NULL;
    (void)state;
    assert_int_equal(cm_verdict_join(parts, N(parts), diag, &joined), CM_OK);
    assert_int_equal(cm_verdict_exit(joined), 1);
    assert_int_equal(joined->passed, 3);
    for (size_t i = 0; i < N(formats); i++) {
        size_t size = 0;
        char *text = written(formats[i].write, joined, &size);
        fixture_expect_golden(goldens[i], text);
        free(text);
    }
    const struct cm_verdict *const nested[] = {&plain, joined};
    assert_int_equal(cm_verdict_join(nested, N(nested), diag, &again), CM_USAGE);
    assert_string_equal(cm_diagnostics_get(diag, 0)->message, "verdict 1 is of several models");
    if (cm_html_check(NULL) == CM_OK) {
        assert_int_equal(cm_verdict_write_html(joined, NULL, NULL, diag, stdout), CM_USAGE);
        assert_string_equal(cm_diagnostics_get(diag, 1)->message,
                            "a page shows one model, got 2");
    }
    cm_verdict_free(joined);
    cm_diagnostics_free(diag);
}

/* Names cannot control a terminal, end a line, or form a command of a CI workflow. */
static void escapes_line_breaks_and_control_characters_of_names(void **state) {
    (void)state;
    for (size_t i = 0; i < N(formats); i++) {
        size_t size = 0;
        if (formats[i].write == cm_verdict_write_json) continue; /* escapes: \u001b */
        char *text = written(formats[i].write, &hostile, &size);
        assert_null(memchr(text, '\x1b', size));
        assert_null(memchr(text, '\r', size));
        assert_null(strstr(text, "\xE2\x80\xAE"));
        assert_null(strstr(text, "\n::error::"));
        free(text);
    }
}

static void fails_on_uncertain_times_if_requested(void **state) {
    struct cm_verdict strict = hostile;
    size_t size = 0;
    (void)state;
    strict.fail_ambiguous = true;
    char *text = written(cm_verdict_write_junit, &strict, &size);
    assert_non_null(strstr(text, "failures=\"3\" errors=\"1\" skipped=\"0\""));
    free(text);
}

static void exit_status_is_that_of_the_worst_state(void **state) {
    struct cm_verdict verdict = plain;
    (void)state;
    assert_int_equal(cm_verdict_exit(&verdict), 0);
    verdict.not_compared = 1;
    assert_int_equal(cm_verdict_exit(&verdict), 3);
    verdict.ambiguous = 1;
    assert_int_equal(cm_verdict_exit(&verdict), 3);
    verdict.not_compared = 0;
    assert_int_equal(cm_verdict_exit(&verdict), 3);
    verdict.fail_ambiguous = true;
    assert_int_equal(cm_verdict_exit(&verdict), 1);
    verdict.not_compared = 1;
    assert_int_equal(cm_verdict_exit(&verdict), 1);
    verdict.fail_ambiguous = false;
    verdict.regressions = 1;
    assert_int_equal(cm_verdict_exit(&verdict), 1);
}

/* 3,000 findings with paths of 100 bytes; a pull request comment holds 65,536 characters. */
static void limits_the_length_of_a_pull_request_comment(void **state) {
    static struct cm_check_finding many[3000];
    char path[101];
    size_t size = 0;
    (void)state;
    memset(path, '`', sizeof(path) - 1);
    path[100] = '\0';
    for (size_t i = 0; i < N(many); i++)
        many[i] = (struct cm_check_finding){path, "regression", 2, 1, 1, 1, "", false, false};
    const struct cm_check_case case_ = {"*: macs <= +0%",
                                        "--limit",
                                        "macs",
                                        "MACs",
                                        1,
                                        "regression",
                                        N(many),
                                        N(many),
                                        many,
                                        0,
                                        0,
                                        NULL,
                                        0};
    struct cm_verdict verdict = hostile;
    verdict.n_cases = 1;
    verdict.cases = &case_;
    char *text = written(cm_verdict_write_markdown, &verdict, &size);
    assert_true(size < 60000);
    assert_non_null(strstr(text, " more rows."));
    free(text);
}

/* 500 models, of which some fit into a pull request comment. */
static void counts_the_models_that_a_pull_request_comment_omits(void **state) {
    static const struct cm_verdict *many[500];
    struct cm_verdict *joined = NULL;
    size_t size = 0;
    (void)state;
    for (size_t i = 0; i < N(many); i++) many[i] = &plain;
    assert_int_equal(cm_verdict_join(many, N(many), NULL, &joined), CM_OK);
    char *text = written(cm_verdict_write_markdown, joined, &size);
    assert_in_range(size, 40000, 65000);
    assert_non_null(strstr(text, " more models.\n\n</details>\n"));
    free(text);
    cm_verdict_free(joined);
}

/* 2,000 modules with paths of 200 bytes, of which some fit into a pull request comment. */
static void counts_the_modules_that_a_pull_request_comment_omits(void **state) {
    static struct cm_check_blame modules[2000];
    char path[201];
    char more[64];
    size_t size = 0;
    size_t n = 0;
    (void)state;
    memset(path, 'm', sizeof(path) - 1);
    path[200] = '\0';
    for (size_t i = 0; i < N(modules); i++)
        modules[i] = (struct cm_check_blame){
            .path = path, .was = "", .change = "changed", .value = 2, .old = 1};
    const struct cm_check_case case_ = {.limit = "*: macs <= +0%",
                                        .source = "--limit",
                                        .metric = "macs",
                                        .unit = "MACs",
                                        .batch = 1,
                                        .state = "regression",
                                        .n_blame = N(modules),
                                        .blame = modules};
    struct cm_verdict verdict = hostile;
    verdict.n_cases = 1;
    verdict.cases = &case_;
    char *text = written(cm_verdict_write_markdown, &verdict, &size);
    assert_true(size < 60000);
    for (const char *at = text; (at = strstr(at, path)) != NULL; at += 200) n++;
    assert_true(n > 0);
    snprintf(more, sizeof(more), "\nand %zu more modules\n", N(modules) - n);
    assert_non_null(strstr(text, more));
    free(text);
}

static void reads_a_budget_and_locates_its_errors(void **state) {
    static const struct {
        const char *text;
        const char *message; /* NULL: valid */
    } budgets[] = {
        {"{\"schema\":\"costmodel/budget/1\",\"$schema\":\"x\",\"limits\":[\"macs <= 1\"],"
         "\"batches\":[1,32],\"dims\":{\"seq\":128},\"convention\":\"fvcore\"}",
         NULL},
        {"{\"schema\":\"costmodel/budget/1\",\"limits\":[]}", NULL},
        {"{\"schema\":\"costmodel/budget/1\",\"limit\":[]}",
         "limit: expected a key of the schema, got another"},
        {"{\"schema\":\"costmodel/budget/1\"}", "limits: expected a value, got none"},
        {"{\"schema\":\"costmodel/budget/1\",\"limits\":[1]}",
         "limits[0]: expected a string, got 1"},
        {"{\"schema\":\"costmodel/budget/1\",\"limits\":[],\"batches\":[-1]}",
         "batches[0]: expected an index, got -1"},
        {"{\"limits\":[]}", "schema must be \"costmodel/budget/1\", got none"},
    };
    (void)state;
    for (size_t i = 0; i < N(budgets); i++) {
        struct cm_diagnostics *diag = cm_diagnostics_new();
        struct cm_budget *budget = NULL;
        const int status =
            cm_budget_read_json(budgets[i].text, strlen(budgets[i].text), "b", diag, &budget);
        assert_int_equal(status, budgets[i].message == NULL ? CM_OK : CM_REFUSED);
        if (budgets[i].message != NULL)
            assert_string_equal(cm_diagnostics_get(diag, 0)->message, budgets[i].message);
        cm_budget_free(budget);
        cm_diagnostics_free(diag);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_ci_formats_equal_their_goldens),
        cmocka_unit_test(several_models_have_one_report),
        cmocka_unit_test(escapes_line_breaks_and_control_characters_of_names),
        cmocka_unit_test(fails_on_uncertain_times_if_requested),
        cmocka_unit_test(exit_status_is_that_of_the_worst_state),
        cmocka_unit_test(limits_the_length_of_a_pull_request_comment),
        cmocka_unit_test(counts_the_models_that_a_pull_request_comment_omits),
        cmocka_unit_test(counts_the_modules_that_a_pull_request_comment_omits),
        cmocka_unit_test(reads_a_budget_and_locates_its_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
