/* SPDX-License-Identifier: Apache-2.0 */
/* Attribution of changes to modules: no change is counted twice. */
#include "costmodel/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compare/blame.h"
#include "support/arena.h"
#include "tree.h"

#define OLD                                                                                    \
    ". Net 1 1\n"                                                                              \
    "a A 10 100\n"                                                                             \
    "a.x X 20 200\n"                                                                           \
    "a.x.deep D 30 300\n"                                                                      \
    "b B 40 400\n"

static const char *path_of(const struct cm_diff *diff, size_t row) {
    const struct cm_diff_module *module = &diff->modules[row];
    return module->new_module != CM_NO_INDEX
               ? diff->new_result->modules[module->new_module].path
               : diff->old_result->modules[module->old_module].path;
}

/* Formats "b +60, a.x -20 rest" in the order of the blame, and checks the sum. */
static void expect_blame(const char *is, const char *metric, int depth, const char *want) {
    char have[400] = "";
    size_t length = 0;
    int64_t sum = 0;
    struct cm_result *old_result = NULL;
    struct cm_result *new_result = NULL;
    struct cm_diff *diff = tree_diff(OLD, is, &old_result, &new_result);
    struct cm_blame *rows = calloc(diff->n_modules, sizeof(*rows));
    const size_t index = cm_metric_find(metric);
    const size_t n = cm_diff_blame(diff, index, depth, rows);
    for (size_t i = 0; i < n; i++) {
        const int wrote = snprintf(have + length, sizeof(have) - length, "%s%s %+d%s",
                                   i > 0 ? ", " : "", path_of(diff, rows[i].module),
                                   (int)rows[i].difference, rows[i].is_rest ? " rest" : "");
        assert_true(wrote > 0);
        length += (size_t)wrote;
        sum += rows[i].difference;
    }
    assert_string_equal(have, want);
    assert_int_equal(sum, cm_diff_total(diff, index).difference);
    free(rows);
    cm_diff_free(diff);
    tree_free(old_result);
    tree_free(new_result);
}

/* Formats "layer1 +120, b +3" in the order of the rolled up rows. */
static void expect_roll_up(const char *was, const char *is, size_t top, const char *want) {
    char have[400] = "";
    size_t length = 0;
    struct cm_result *old_result = NULL;
    struct cm_result *new_result = NULL;
    struct cm_diff *diff = tree_diff(was, is, &old_result, &new_result);
    struct cm_blame *rows = calloc(diff->n_modules, sizeof(*rows));
    struct arena *arena = arena_new("test", 0);
    size_t n = cm_diff_blame(diff, cm_metric_find("macs"), -1, rows);
    n = blame_roll_up(diff, n, top, arena, rows);
    for (size_t i = 0; i < n; i++)
        length += (size_t)snprintf(have + length, sizeof(have) - length, "%s%s %+d",
                                   i > 0 ? ", " : "", path_of(diff, rows[i].module),
                                   (int)rows[i].difference);
    assert_string_equal(have, want);
    arena_free(arena);
    free(rows);
    cm_diff_free(diff);
    tree_free(old_result);
    tree_free(new_result);
}

#define LAYERS_OLD                                                                             \
    ". Net 0 0\nl L 0 0\nl.0 B 0 0\nl.0.c C 1 10\nl.1 B 0 0\nl.1.c C 1 10\nl.2 B 0 0\n"        \
    "l.2.c C 1 10\nb B 1 10\n"
#define LAYERS_NEW                                                                             \
    ". Net 0 0\nl L 0 0\nl.0 B 0 0\nl.0.c C 1 15\nl.1 B 0 0\nl.1.c C 1 16\nl.2 B 0 0\n"        \
    "l.2.c C 1 17\nb B 1 13\n"

static void rolls_blame_up_to_the_rows_that_fit(void **state) {
    (void)state;
    expect_roll_up(LAYERS_OLD, LAYERS_NEW, 2, "l +18, b +3");
    expect_roll_up(LAYERS_OLD, LAYERS_NEW, 3, "l +18, b +3");
    expect_roll_up(LAYERS_OLD, LAYERS_NEW, 4, "l.2.c +7, l.1.c +6, l.0.c +5, b +3");
}

static void rolls_up_to_the_deepest_module_if_it_is_the_only_one(void **state) {
    (void)state;
    expect_roll_up(OLD, ". Net 1 1\na A 10 100\na.x X 20 200\na.x.deep D 30 350\nb B 40 390\n",
                   1, "a.x.deep +50");
    expect_roll_up(OLD, ". Net 1 1\na A 10 130\na.x X 20 200\na.x.deep D 30 350\nb B 40 400\n",
                   1, "a +80");
}

static void keeps_all_children_of_the_root_that_increased(void **state) {
    (void)state;
    expect_roll_up(OLD, ". Net 1 3\na A 10 110\na.x X 20 200\na.x.deep D 30 300\nb B 40 405\n",
                   1, "a +10, b +5,  +2");
}

static void reports_no_module_if_nothing_changed(void **state) {
    (void)state;
    expect_blame(OLD, "macs", -1, "");
}

static void attributes_a_change_to_the_deepest_module(void **state) {
    (void)state;
    expect_blame(". Net 1 1\na A 10 100\na.x X 20 200\na.x.deep D 30 350\nb B 40 400\n", "macs",
                 -1, "a.x.deep +50");
}

static void separates_a_modules_own_change_from_its_children(void **state) {
    (void)state;
    expect_blame(". Net 1 1\na A 10 70\na.x X 20 200\na.x.deep D 30 350\nb B 40 400\n", "macs",
                 -1, "a.x.deep +50, a -30 rest");
}

/* Two changes that cancel out are both reported. */
static void reports_changes_that_cancel_out(void **state) {
    (void)state;
    expect_blame(". Net 1 1\na A 10 100\na.x X 20 200\na.x.deep D 30 350\nb B 40 350\n", "macs",
                 -1, "a.x.deep +50, b -50");
}

static void merges_modules_below_the_depth(void **state) {
    static const char is[] = ". Net 1 1\na A 10 70\na.x X 20 200\na.x.deep D 30 350\n"
                             "b B 40 401\n";
    (void)state;
    expect_blame(is, "macs", 1, "a +20, b +1");
    expect_blame(is, "macs", 0, " +21");
}

static void reports_an_added_tree_as_one_row(void **state) {
    (void)state;
    expect_blame(OLD "c C 1 1\nc.y Y 2 2\nc.y.z Z 3 3\n", "params", -1, "c +6");
}

static void reports_a_removed_tree_as_one_row(void **state) {
    (void)state;
    expect_blame(". Net 1 1\nb B 40 400\n", "params", -1, "a -60");
}

/* A module moves with its values: neither parent has changed. */
static void reports_no_change_for_a_moved_module(void **state) {
    (void)state;
    expect_blame(". Net 1 1\na A 10 100\nb B 40 400\nc C 5 5\nc.x X 20 200\n"
                 "c.x.deep D 30 300\n",
                 "macs", -1, "c +5");
}

static void attributes_a_change_to_a_renamed_module(void **state) {
    (void)state;
    expect_blame(". Net 1 1\na A 10 100\na.y X 20 250\na.y.deep D 30 300\nb B 40 400\n", "macs",
                 -1, "a.y +50");
}

static void reports_the_deepest_module_for_metrics_that_are_not_sums(void **state) {
    struct cm_result *old_result = tree_make(OLD);
    struct cm_result *new_result = tree_make(OLD);
    struct cm_module *modules = calloc(new_result->n_modules, sizeof(*modules));
    struct cm_blame rows[5];
    struct cm_diff *diff = NULL;
    (void)state;
    memcpy(modules, new_result->modules, new_result->n_modules * sizeof(*modules));
    for (size_t i = 0; i < 4; i++) modules[i].peak_activation_bytes = 10; /* down to a.x.deep */
    new_result->modules = modules;
    assert_int_equal(cm_diff_make(old_result, new_result, NULL, &diff), CM_OK);
    const size_t peak = cm_metric_find("peak_activation_bytes");
    assert_int_equal(cm_diff_blame(diff, peak, -1, rows), 1);
    assert_string_equal(path_of(diff, rows[0].module), "a.x.deep");
    assert_int_equal(rows[0].difference, 10);
    assert_int_equal(cm_diff_blame(diff, peak, 1, rows), 1);
    assert_string_equal(path_of(diff, rows[0].module), "a");
    assert_int_equal(cm_diff_blame(diff, cm_metric_find("required_bytes"), -1, rows), 0);
    cm_diff_free(diff);
    free(modules);
    tree_free(old_result);
    tree_free(new_result);
}

static void lists_unknown_changes_first(void **state) {
    struct cm_result *old_result = tree_make(OLD);
    struct cm_result *new_result =
        tree_make(". Net 1 1\na A 10 900\na.x X 20 200\na.x.deep D 30 300\nb B 40 400\n");
    struct cm_module *modules = calloc(new_result->n_modules, sizeof(*modules));
    struct cm_blame rows[5];
    struct cm_diff *diff = NULL;
    (void)state;
    memcpy(modules, new_result->modules, new_result->n_modules * sizeof(*modules));
    modules[3].costs.macs = CM_UNKNOWN;
    new_result->modules = modules;
    assert_int_equal(cm_diff_make(old_result, new_result, NULL, &diff), CM_OK);
    assert_int_equal(cm_diff_of_module(diff, 3, cm_metric_find("macs")).difference, CM_UNKNOWN);
    assert_true(cm_diff_blame(diff, cm_metric_find("macs"), -1, rows) >= 2);
    assert_int_equal(rows[0].difference, CM_UNKNOWN);
    cm_diff_free(diff);
    free(modules);
    tree_free(old_result);
    tree_free(new_result);
}

static void treats_unknown_on_both_sides_as_unchanged(void **state) {
    struct cm_result *result = tree_make(OLD);
    struct cm_module *modules = calloc(result->n_modules, sizeof(*modules));
    struct cm_blame rows[5];
    struct cm_diff *diff = NULL;
    (void)state;
    memcpy(modules, result->modules, result->n_modules * sizeof(*modules));
    for (size_t i = 0; i < result->n_modules; i++) {
        modules[i].costs.macs = CM_UNKNOWN;
        modules[i].peak_activation_bytes = CM_UNKNOWN;
    }
    result->modules = modules;
    assert_int_equal(cm_diff_make(result, result, NULL, &diff), CM_OK);
    assert_int_equal(cm_diff_blame(diff, cm_metric_find("macs"), -1, rows), 0);
    assert_int_equal(cm_diff_blame(diff, cm_metric_find("peak_activation_bytes"), -1, rows), 0);
    assert_false(cm_diff_differs(diff));
    cm_diff_free(diff);
    free(modules);
    tree_free(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rolls_blame_up_to_the_rows_that_fit),
        cmocka_unit_test(rolls_up_to_the_deepest_module_if_it_is_the_only_one),
        cmocka_unit_test(keeps_all_children_of_the_root_that_increased),
        cmocka_unit_test(reports_no_module_if_nothing_changed),
        cmocka_unit_test(attributes_a_change_to_the_deepest_module),
        cmocka_unit_test(separates_a_modules_own_change_from_its_children),
        cmocka_unit_test(reports_changes_that_cancel_out),
        cmocka_unit_test(merges_modules_below_the_depth),
        cmocka_unit_test(reports_an_added_tree_as_one_row),
        cmocka_unit_test(reports_a_removed_tree_as_one_row),
        cmocka_unit_test(reports_no_change_for_a_moved_module),
        cmocka_unit_test(attributes_a_change_to_a_renamed_module),
        cmocka_unit_test(reports_the_deepest_module_for_metrics_that_are_not_sums),
        cmocka_unit_test(lists_unknown_changes_first),
        cmocka_unit_test(treats_unknown_on_both_sides_as_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
