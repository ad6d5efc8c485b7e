/* SPDX-License-Identifier: Apache-2.0 */
/* Values of expressions, and messages of syntax errors. */
#include "costmodel/costmodel.h"
#include "ops/custom/expression.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

static bool find(void *context, const char *name, size_t length, int64_t *ret) {
    static const struct {
        const char *name;
        int64_t value;
    } names[] = {
        {"N", 2}, {"C", 3}, {"kernel[1]", 5}, {"unknown", DIM_UNKNOWN}, {"past", DIM_OVERFLOW}};
    (void)context;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == length && strncmp(names[i].name, name, length) == 0) {
            *ret = names[i].value;
            return true;
        }
    return false;
}

/* Reads the whole text; returns the error message, "more" if text remains, or NULL. */
static const char *read_text(const char *text, struct cm_diagnostics *diag,
                             struct expression *ret) {
    const struct expression_names names = {find, NULL};
    struct expression_cursor cursor;
    int status = expression_begin(text, "f.macs", diag, &cursor);
    if (status == CM_OK) status = expression_read(&cursor, &names, ret);
    if (status == CM_OK && !expression_at_end(&cursor)) return "more";
    return status == CM_OK ? NULL : cm_diagnostics_get(diag, 0)->message;
}

static void evaluates_expressions(void **state) {
    static const struct {
        const char *text;
        int64_t value;
        bool by_zero;
    } cases[] = {
        {"7", 7, false},
        {"N", 2, false},
        {" N*C + 4 ", 10, false},
        {"4 + N * C", 10, false},
        {"(4 + N) * C", 18, false},
        {"20 - 5 - 3", 12, false},
        {"20 / 5 / 2", 2, false},
        {"7 / 2", 3, false},
        {"-7 / 2", -4, false},
        {"ceildiv(7, 2)", 4, false},
        {"ceildiv(-7, 2)", -3, false},
        {"--3", 3, false},
        {"2 - -3", 5, false},
        {"min(N, C)", 2, false},
        {"max(1, C, N)", 3, false},
        {"min(4, 3, max(0, -1))", 0, false},
        {"kernel[1] * 2", 10, false},
        {"unknown + 1", DIM_UNKNOWN, false},
        {"min(unknown, 1)", DIM_UNKNOWN, false},
        {"unknown * 0", 0, false},
        {"past + unknown", DIM_OVERFLOW, false},
        {"9223372036854775807", INT64_MAX, false},
        {"9223372036854775807 + 1", DIM_OVERFLOW, false},
        {"4294967296 * 4294967296", DIM_OVERFLOW, false},
        {"1 / (N - 2)", DIM_UNKNOWN, true},
        {"ceildiv(1, 0)", DIM_UNKNOWN, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cm_diagnostics *diag = cm_diagnostics_new();
        struct expression is;
        const char *message = read_text(cases[i].text, diag, &is);
        if (message) fail_msg("'%s': %s", cases[i].text, message);
        if (is.value != cases[i].value || is.by_zero != cases[i].by_zero)
            fail_msg("'%s' is %lld", cases[i].text, (long long)is.value);
        cm_diagnostics_free(diag);
    }
}

static void reports_syntax_errors_with_their_column(void **state) {
    static const char *const cases[][2] = {
        {"", "f.macs: column 1 of '': expected a number, a name or '('"},
        {"N *", "f.macs: column 4 of 'N *': expected a number, a name or '('"},
        {"(N + C", "f.macs: column 7 of '(N + C': expected ')'"},
        {"N + Q", "f.macs: column 5 of 'N + Q': undefined name 'Q'"},
        {"kernel[0]", "f.macs: column 1 of 'kernel[0]': undefined name 'kernel[0]'"},
        {"min N", "f.macs: column 5 of 'min N': expected '('"},
        {"max(N)", "f.macs: column 6 of 'max(N)': max takes at least 2 values"},
        {"ceildiv(N, 2, 3)", "f.macs: column 14 of 'ceildiv(N, 2, 3)': ceildiv takes 2 values"},
        {"9223372036854775808",
         "f.macs: column 1 of '9223372036854775808': the number must be < 2^63"},
        {"N + \x1b[31m", "f.macs: column 5 of 'N + ?[31m': expected a number, a name or '('"},
        {"Z + 1 + 2 + 3 + 4 + 5 +6", /* 24 characters: no dots */
         "f.macs: column 1 of 'Z + 1 + 2 + 3 + 4 + 5 +6': undefined name 'Z'"},
        {"1 + 2 + 3 + 4 + 5 + 6 + 7 + Z + 1 + 2 + 3 + 4 + 5 + 6 + 7",
         "f.macs: column 29 of '...2 + 3 + 4 + 5 + 6 + 7 + Z + 1 + 2 + 3 + 4 + 5 + ...': "
         "undefined name 'Z'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cm_diagnostics *diag = cm_diagnostics_new();
        struct expression expression;
        const char *message = read_text(cases[i][0], diag, &expression);
        if (!message || strcmp(message, cases[i][1]) != 0)
            fail_msg("'%s': %s", cases[i][0], message ? message : "is read");
        cm_diagnostics_free(diag);
    }
}

/* Returns `n` times `unit`, then `end`. */
static char *repeated(struct arena *arena, const char *unit, size_t n, const char *end) {
    const size_t length = strlen(unit);
    char *text = arena_alloc(arena, n * length + strlen(end) + 1);
    for (size_t i = 0; i < n; i++) memcpy(text + i * length, unit, length);
    memcpy(text + n * length, end, strlen(end) + 1);
    return text;
}

static void limits_length_steps_and_nesting(void **state) {
    static const struct {
        const char *unit;
        size_t n;
        const char *end;
        const char *message; /* NULL if it is valid */
    } cases[] = {
        {"(", EXPRESSION_DEEPEST + 1, "1",
         "f.macs: column 34 of '...((((((((((((((((((((((((1': nested deeper than 32"},
        {"-", EXPRESSION_DEEPEST, "1", NULL},
        {"-", EXPRESSION_DEEPEST + 1, "1",
         "f.macs: column 34 of '...------------------------1': nested deeper than 32"},
        {"1+", EXPRESSION_MAX_STEPS / 2 - 1, "1", NULL},
        {"1+", EXPRESSION_MAX_STEPS / 2, "1",
         "f.macs: column 258 of '...+1+1+1+1+1+1+1+1+1+1+1+1': more than 256 numbers, names "
         "and signs"},
        {" ", EXPRESSION_LONGEST - 1, "1", NULL},
        {" ", EXPRESSION_LONGEST, "1", "f.macs must be at most 1000 bytes, got 1001"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_new("test", 0);
        struct cm_diagnostics *diag = cm_diagnostics_new();
        struct expression expression;
        const char *text = repeated(arena, cases[i].unit, cases[i].n, cases[i].end);
        const char *message = read_text(text, diag, &expression);
        const char *want = cases[i].message;
        if (want ? !message || strcmp(message, want) != 0 : message != NULL)
            fail_msg("row %zu: %s", i, message ? message : "is read");
        cm_diagnostics_free(diag);
        arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluates_expressions),
        cmocka_unit_test(reports_syntax_errors_with_their_column),
        cmocka_unit_test(limits_length_steps_and_nesting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
