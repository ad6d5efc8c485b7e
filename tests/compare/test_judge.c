/* SPDX-License-Identifier: Apache-2.0 */
/* Judgements of exact, measured and bounded values. */
#include "compare/judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"

#define EXACT(value)                                                                           \
    { value, value, value, false }
#define UPPER_BOUND(value)                                                                     \
    { value, value, value, true }
#define BETWEEN(low, high)                                                                     \
    { ((low) + (high)) / 2, low, high, false }
#define NONE                                                                                   \
    { CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN, false }

struct row {
    const char *limit;
    struct figure figure;
    const char *state;
};

/* clang-format off */
static const struct row rows[] = {
    /* limit,              now,                      old,                      state */
    {"macs <= 100",        {.now = EXACT(100)},                                "pass"},
    {"macs <= 100",        {.now = EXACT(101)},                                "regression"},
    {"macs <= +10%",       {.now = EXACT(110), .old = EXACT(100)},             "pass"},
    {"macs <= +10%",       {.now = EXACT(111), .old = EXACT(100)},             "regression"},
    {"macs <= +10%",       {.now = EXACT(1), .old = NONE},                     "not-compared"},
    {"latency <= 100ps",   {.now = BETWEEN(90, 100)},                          "pass"},
    {"latency <= 100ps",   {.now = BETWEEN(90, 110)},                          "ambiguous"},
    {"latency <= 100ps",   {.now = BETWEEN(102, 110)},                         "regression"},
    {"latency <= +0%",     {.now = BETWEEN(90, 110), .old = BETWEEN(80, 90)},  "ambiguous"},
    {"latency <= +0%",     {.now = BETWEEN(92, 110), .old = BETWEEN(80, 90)},  "regression"},

    /* An upper bound within the limit passes; above it the true value may be less. */
    {"macs <= 100",        {.now = UPPER_BOUND(100)},                              "pass"},
    {"macs <= 100",        {.now = UPPER_BOUND(101)},                              "not-compared"},
    {"macs <= +10%",       {.now = UPPER_BOUND(110), .old = EXACT(100)},           "pass"},
    {"macs <= +10%",       {.now = UPPER_BOUND(111), .old = EXACT(100)},           "not-compared"},
    /* The true baseline value may be less: only values above its bound are regressions. */
    {"macs <= +10%",       {.now = EXACT(50), .old = UPPER_BOUND(100)},            "not-compared"},
    {"macs <= +10%",       {.now = EXACT(111), .old = UPPER_BOUND(100)},           "regression"},
    {"macs <= +60",        {.now = EXACT(60), .old = UPPER_BOUND(100)},            "pass"},
    {"macs <= 60",         {.now = EXACT(61), .old = UPPER_BOUND(100)},            "regression"},
    /* Two upper bounds are compared as values, except with an absolute limit. */
    {"macs <= +10%",       {.now = UPPER_BOUND(110), .old = UPPER_BOUND(100)},         "pass"},
    {"macs <= +10%",       {.now = UPPER_BOUND(111), .old = UPPER_BOUND(100)},         "regression"},
    {"macs <= 50",         {.now = UPPER_BOUND(110), .old = UPPER_BOUND(100)},         "not-compared"},
    {"macs <= 50 | +10%",  {.now = UPPER_BOUND(110), .old = UPPER_BOUND(100)},         "pass"},
    {"macs <= 50 | +10%",  {.now = UPPER_BOUND(111), .old = UPPER_BOUND(100)},         "not-compared"},
    /* With allow_incomplete upper bounds count as values. */
    {"macs <= 100",        {.now = UPPER_BOUND(101), .bounds_count = true},        "regression"},
    {"macs <= +10%",       {.now = UPPER_BOUND(111), .old = EXACT(100), .bounds_count = true},
                                                                               "regression"},
    /* A partial sum is a lower bound, unless it contains an upper bound. */
    {"macs <= 100",        {.now = EXACT(100), .no_value = "why"},             "not-compared"},
    {"macs <= 100",        {.now = EXACT(101), .no_value = "why"},             "regression"},
    {"macs <= 100",        {.now = UPPER_BOUND(101), .no_value = "why"},           "not-compared"},
};
/* clang-format on */

static void judges_exact_measured_and_bounded_values(void **state) {
    struct arena *arena = arena_new("test", 0);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct limit limit;
        struct cm_check_finding finding = {.path = ""};
        assert_int_equal(limit_parse(rows[i].limit, "test", arena, diag, &limit), CM_OK);
        (void)judge(&limit, &rows[i].figure, &finding);
        if (strcmp(finding.state, rows[i].state) != 0)
            fail_msg("row %zu: %s, want %s", i, finding.state, rows[i].state);
        assert_int_equal(finding.over != CM_UNKNOWN, strcmp(rows[i].state, "regression") == 0);
    }
    cm_diagnostics_free(diag);
    arena_free(arena);
}

static void gives_the_reason_that_applies_to_the_limit(void **state) {
    struct arena *arena = arena_new("test", 0);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    const struct figure figure = {
        .now = UPPER_BOUND(101), .old = NONE, .no_old = "no baseline"};
    struct cm_check_finding finding = {.path = ""};
    struct limit limit;
    (void)state;
    assert_int_equal(limit_parse("macs <= 100", "test", arena, diag, &limit), CM_OK);
    (void)judge(&limit, &figure, &finding);
    assert_string_equal(finding.because,
                        "the value is an upper bound and may be within the limit");
    assert_int_equal(limit_parse("macs <= +1%", "test", arena, diag, &limit), CM_OK);
    (void)judge(&limit, &figure, &finding);
    assert_string_equal(finding.because, "no baseline");
    cm_diagnostics_free(diag);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_exact_measured_and_bounded_values),
        cmocka_unit_test(gives_the_reason_that_applies_to_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
