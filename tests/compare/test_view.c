/* SPDX-License-Identifier: Apache-2.0 */
/* Text of changes: rounding hides no change, unknown values are not numbers. */
#include "compare/diff.h"
#include "compare/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/arena.h"
#include "support/text.h"
#include "tree.h"

static void formats_percentages_of_the_old_value(void **state) {
    static const struct {
        struct cm_change change;
        const char *want;
    } cases[] = {
        {{true, true, 100, 103, 3, false, false, false, false}, "+3.00%"},
        {{true, true, 100, 50, -50, false, false, false, false}, "-50.00%"},
        {{true, true, 100, 100, 0, false, false, false, false}, ""},
        {{true, true, 25557032, 25557033, 1, false, false, false, false}, "+<0.01%"},
        {{true, true, INT64_MAX, INT64_MAX - 1, -1, false, false, false, false}, "-<0.01%"},
        {{true, true, 1, INT64_MAX, INT64_MAX - 1, false, false, false, false}, "+>99999999%"},
        {{true, true, 0, 5, 5, false, false, false, false}, "new"},
        {{true, true, 5, 0, -5, false, false, false, false}, "-100.00%"},
        {{false, true, 0, 5, 5, false, false, false, false}, "new"},
        {{true, false, 5, 0, -5, false, false, false, false}, "gone"},
        {{true, true, CM_UNKNOWN, 5, CM_UNKNOWN, false, false, false, false}, "?"},
        {{true, true, -4, -2, 2, false, false, false, false}, "+50.00%"},
    };
    struct arena *arena = arena_new("test", 0);
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text text;
        text_init(&text, arena);
        view_append_percent(&text, &cases[i].change);
        assert_string_equal(text_string(&text), cases[i].want);
    }
    arena_free(arena);
}

static void formats_differences_with_sign_and_unit(void **state) {
    static const struct {
        enum cm_unit unit;
        int64_t difference;
        const char *want;
    } cases[] = {
        {CM_UNIT_ELEMENTS, 1, "+1"},
        {CM_UNIT_ELEMENTS, -2745856, "-2.75 M"},
        {CM_UNIT_MACS, 557154304, "+557.15 MMACs"},
        {CM_UNIT_BYTES, -1, "-1 B"},
        {CM_UNIT_PS, 1500, "+1.5 ns"},
        {CM_UNIT_BYTES, 0, "="},
        {CM_UNIT_BYTES, CM_UNKNOWN, "?"},
        {CM_UNIT_BYTES, 1 - INT64_MAX, "-9.22 EB"},
    };
    struct arena *arena = arena_new("test", 0);
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct view_look look = {CM_UNITS_AUTO, cases[i].unit, false};
        struct text text;
        text_init(&text, arena);
        view_append_difference(&text, look, cases[i].difference);
        assert_string_equal(text_string(&text), cases[i].want);
    }
    arena_free(arena);
}

static void prefixes_known_bounds(void **state) {
    const struct view_look look = {CM_UNITS_AUTO, CM_UNIT_MACS, false};
    const struct cm_change change = {.in_old = true,
                                     .in_new = true,
                                     .old_value = 1500,
                                     .new_value = CM_UNKNOWN,
                                     .difference = CM_UNKNOWN,
                                     .old_upper_bound = true,
                                     .new_upper_bound = true};
    const struct cm_change exact = {
        .in_old = true, .in_new = true, .old_value = 1500, .new_value = 1500};
    struct cm_change bounded = exact;
    struct cm_change partial = exact;
    bounded.new_upper_bound = true;
    partial.new_partial = true;
    struct arena *arena = arena_new("test", 0);
    struct text text;
    (void)state;
    text_init(&text, arena);
    view_append_old(&text, look, &change);
    text_append(&text, ", ");
    view_append_new(&text, look, &change);
    text_append(&text, ", ");
    view_append_old(&text, look, &exact);
    text_append(&text, ", ");
    view_append_new(&text, look, &partial);
    assert_string_equal(text_string(&text), "<= 1.5 kMACs, ?, 1.5 kMACs, >= 1.5 kMACs");
    assert_true(diff_is_unchanged(&exact));
    assert_false(diff_is_unchanged(&bounded));
    assert_false(diff_is_unchanged(&partial));
    arena_free(arena);
}

/* Returns the label of the last row of the diff. */
static void expect_label(const char *was, const char *is, const char *want) {
    struct cm_result *old_result = NULL;
    struct cm_result *new_result = NULL;
    struct cm_diff *diff = tree_diff(was, is, &old_result, &new_result);
    struct arena *arena = arena_new("test", 0);
    struct text text;
    text_init(&text, arena);
    view_append_label(&text, diff, diff->n_modules - 1, "->");
    assert_string_equal(text_string(&text), want);
    arena_free(arena);
    cm_diff_free(diff);
    tree_free(old_result);
    tree_free(new_result);
}

static void formats_changed_arguments_in_the_label(void **state) {
    static const struct {
        const char *was;
        const char *is;
        const char *want;
    } cases[] = {
        {". N 0 0\n", ". N 1 0\n", "(model) N"},
        {". N 0 0\nc Conv(3,8) 1 1\n", ". N 0 0\nc Conv(3,8) 2 1\n", "c Conv"},
        {". N 0 0\nc Conv(3) 1 1\n", ". N 0 0\nc Conv(4) 2 1\n", "c Conv(3 -> 4)"},
        {". N 0 0\nc Conv(stride=(1,1)) 1 1\n", ". N 0 0\nc Conv(stride=(2,2)) 1 1\n",
         "c Conv(stride=(1,1) -> (2,2))"},
        {". N 0 0\nc Conv(a=1) 1 1\n", ". N 0 0\nc Conv(b=1) 1 1\n", "c Conv(a=1 -> b=1)"},
        {". N 0 0\nc Conv() 1 1\n", ". N 0 0\nc Conv(4) 2 1\n", "c Conv(none -> 4)"},
        {". N 0 0\nc ReLU 0 0\n", ". N 0 0\nc GELU 0 0\n", "c ReLU -> GELU"},
        {". N 0 0\nc ReLU 0 0\n", ". N 0 0\nc ? 0 0\n", "c ReLU -> ?"},
        {". N 0 0\nc A 5 5\n", ". N 0 0\nd A 5 5\n", "c -> d A"},
        {". N 0 0\n", ". N 0 0\nd A 5 5\nd.e B 1 1\nd.f B 1 1\n", "added d.f B"},
        {". N 0 0\nd A 5 5\n", ". N 0 0\n", "removed d A"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_label(cases[i].was, cases[i].is, cases[i].want);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_percentages_of_the_old_value),
        cmocka_unit_test(formats_differences_with_sign_and_unit),
        cmocka_unit_test(prefixes_known_bounds),
        cmocka_unit_test(formats_changed_arguments_in_the_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
