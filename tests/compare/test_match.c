/* SPDX-License-Identifier: Apache-2.0 */
/* Matching of modules by path, structure and position. */
#include "costmodel/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tree.h"

#define NET                                                                                    \
    ". Net 0 0\n"                                                                              \
    "body Body 0 0\n"                                                                          \
    "body.conv1 Conv2d(3,8) 224 1000\n"                                                        \
    "body.conv2 Conv2d(8,8) 584 2000\n"                                                        \
    "body.relu ReLU 0 0\n"                                                                     \
    "head Linear(8,10) 90 80\n"

static void finds_no_difference_in_equal_models(void **state) {
    (void)state;
    tree_expect(NET, NET, "");
}

static void marks_all_ancestors_of_a_change(void **state) {
    (void)state;
    tree_expect(NET,
                ". Net 0 0\n"
                "body Body 0 0\n"
                "body.conv1 Conv2d(3,8) 224 1000\n"
                "body.conv2 Conv2d(8,16) 1168 4000\n"
                "body.relu ReLU 0 0\n"
                "head Linear(8,10) 90 80\n",
                "changed \nchanged body\nchanged body.conv2\n");
}

/* Changed arguments count even if no value changed. */
static void reports_changed_arguments(void **state) {
    (void)state;
    tree_expect(". Net 0 0\nact GELU(none) 0 0\n", ". Net 0 0\nact GELU(tanh) 0 0\n",
                "changed act\n");
}

static void reports_a_renamed_tree_as_one_row(void **state) {
    (void)state;
    tree_expect(NET,
                ". Net 0 0\n"
                "trunk Body 0 0\n"
                "trunk.conv1 Conv2d(3,8) 224 1000\n"
                "trunk.conv2 Conv2d(8,8) 584 2000\n"
                "trunk.relu ReLU 0 0\n"
                "head Linear(8,10) 90 80\n",
                "renamed body -> trunk\n");
}

/* A changed module is matched by its position under the parent, the others by name. */
static void reports_changes_inside_a_renamed_tree(void **state) {
    (void)state;
    tree_expect(NET,
                ". Net 0 0\n"
                "trunk Body 0 0\n"
                "trunk.conv1 Conv2d(3,8) 224 1000\n"
                "trunk.conv2 Conv2d(8,16) 1168 4000\n"
                "trunk.relu ReLU 0 0\n"
                "head Linear(8,10) 90 80\n",
                "changed \nrenamed body -> trunk\nchanged body.conv2\n");
}

static void reports_a_moved_tree_as_one_row(void **state) {
    (void)state;
    tree_expect(NET,
                ". Net 0 0\n"
                "wrapper Wrapper 0 0\n"
                "wrapper.body Body 0 0\n"
                "wrapper.body.conv1 Conv2d(3,8) 224 1000\n"
                "wrapper.body.conv2 Conv2d(8,8) 584 2000\n"
                "wrapper.body.relu ReLU 0 0\n"
                "head Linear(8,10) 90 80\n",
                "added wrapper\nrenamed body -> wrapper.body\n");
}

/* The new conv1 equals the old conv2 except for its name; the name decides. */
static void prefers_the_name_over_the_structure(void **state) {
    (void)state;
    tree_expect(NET,
                ". Net 0 0\n"
                "body Body 0 0\n"
                "body.conv1 Conv2d(8,8) 584 2000\n"
                "body.conv2 Conv2d(8,16) 1168 4000\n"
                "body.relu ReLU 0 0\n"
                "head Linear(8,10) 90 80\n",
                "changed \nchanged body\nchanged body.conv1\nchanged body.conv2\n");
}

static void matches_a_name_with_another_class(void **state) {
    (void)state;
    tree_expect(". Net 0 0\nact ReLU 0 0\nhead Linear(8,10) 90 80\n",
                ". Net 0 0\nact GELU 0 0\nhead Linear(8,10) 90 80\n", "changed act\n");
}

static void reports_added_and_removed_trees_as_one_row_each(void **state) {
    (void)state;
    tree_expect(". Net 0 0\n"
                "a A 0 0\n"
                "a.x X 5 5\n"
                "b B 7 7\n",
                ". Net 0 0\n"
                "b B 7 7\n"
                "c C 0 0\n"
                "c.y Y 9 9\n"
                "c.y.z Z 1 1\n",
                "changed \nadded c\nremoved a\n");
}

/* ReLUs are interchangeable: none moved. */
static void does_not_move_modules_without_weight(void **state) {
    (void)state;
    tree_expect(". Net 0 0\n"
                "a A 0 0\n"
                "a.relu ReLU 0 0\n"
                "b B 7 7\n",
                ". Net 0 0\n"
                "a A 0 0\n"
                "b B 7 7\n"
                "b.relu ReLU 0 0\n",
                "removed a.relu\nadded b.relu\n");
}

static void matches_equal_siblings_in_order(void **state) {
    (void)state;
    tree_expect(". Net 0 0\na B 7 7\nb B 7 7\n", ". Net 0 0\nc B 7 7\nd B 7 7\n",
                "renamed a -> c\nrenamed b -> d\n");
}

/* Modules of unknown class do not match by class. */
static void does_not_match_unknown_classes_by_position(void **state) {
    (void)state;
    tree_expect(". Net 0 0\nencoder ? 7 7\n", ". Net 0 0\nhead ? 9 9\n",
                "changed \nadded head\nremoved encoder\n");
}

static void aligns_a_sequential_with_an_inserted_layer(void **state) {
    (void)state;
    tree_expect(". Net 0 0\n"
                "f Sequential 0 0\n"
                "f.0 Conv2d(3,8) 224 1000\n"
                "f.1 ReLU 0 0\n"
                "f.2 Conv2d(8,8) 584 2000\n"
                "f.3 ReLU 0 0\n",
                ". Net 0 0\n"
                "f Sequential 0 0\n"
                "f.0 Conv2d(3,8) 224 1000\n"
                "f.1 BatchNorm2d(8) 16 0\n"
                "f.2 ReLU 0 0\n"
                "f.3 Conv2d(8,8) 584 2000\n"
                "f.4 ReLU 0 0\n",
                "changed \nchanged f\nadded f.1\nrenamed f.1 -> f.2\nrenamed f.2 -> f.3\n"
                "renamed f.3 -> f.4\n");
}

static void reports_the_last_block_of_a_longer_stage_as_added(void **state) {
    (void)state;
    tree_expect(". Net 0 0\ns Sequential 0 0\ns.0 Block 5 5\ns.1 Block 7 7\ns.2 Block 7 7\n",
                ". Net 0 0\ns Sequential 0 0\ns.0 Block 5 5\ns.1 Block 7 7\ns.2 Block 7 7\n"
                "s.3 Block 7 7\n",
                "changed \nchanged s\nadded s.3\n");
}

static void reports_a_replaced_layer_of_a_sequential_as_changed(void **state) {
    (void)state;
    tree_expect(". Net 0 0\nf Sequential 0 0\nf.0 Conv2d 5 5\nf.1 ReLU 0 0\nf.2 Conv2d 7 7\n",
                ". Net 0 0\nf Sequential 0 0\nf.0 Conv2d 5 5\nf.1 GELU 0 0\nf.2 Conv2d 7 7\n",
                "changed f.1\n");
}

static char *wide_net(size_t n, const char *name) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fputs(". Net 0 0\nlayers ModuleList 0 0\n", out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "layers.%s%zu Block(%zu) %zu 1\n", name, i, i % 7, i % 5);
    fclose(out);
    return text;
}

/* Quadratic matching would take minutes. */
static void matches_ten_thousand_children_in_linear_time(void **state) {
    char *was = wide_net(10000, "a");
    char *is = wide_net(10001, "b");
    struct cm_result *old_result = NULL;
    struct cm_result *new_result = NULL;
    (void)state;
    struct cm_diff *diff = tree_diff(was, is, &old_result, &new_result);
    size_t n[5] = {0};
    for (size_t i = 0; i < diff->n_modules; i++) n[diff->modules[i].status]++;
    assert_int_equal(n[CM_DIFF_RENAMED], 10000);
    assert_int_equal(n[CM_DIFF_ADDED], 1);
    assert_int_equal(n[CM_DIFF_REMOVED], 0);
    cm_diff_free(diff);
    tree_free(old_result);
    tree_free(new_result);
    free(was);
    free(is);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_no_difference_in_equal_models),
        cmocka_unit_test(marks_all_ancestors_of_a_change),
        cmocka_unit_test(reports_changed_arguments),
        cmocka_unit_test(reports_a_renamed_tree_as_one_row),
        cmocka_unit_test(reports_changes_inside_a_renamed_tree),
        cmocka_unit_test(reports_a_moved_tree_as_one_row),
        cmocka_unit_test(prefers_the_name_over_the_structure),
        cmocka_unit_test(matches_a_name_with_another_class),
        cmocka_unit_test(reports_added_and_removed_trees_as_one_row_each),
        cmocka_unit_test(does_not_move_modules_without_weight),
        cmocka_unit_test(matches_equal_siblings_in_order),
        cmocka_unit_test(does_not_match_unknown_classes_by_position),
        cmocka_unit_test(aligns_a_sequential_with_an_inserted_layer),
        cmocka_unit_test(reports_the_last_block_of_a_longer_stage_as_added),
        cmocka_unit_test(reports_a_replaced_layer_of_a_sequential_as_changed),
        cmocka_unit_test(matches_ten_thousand_children_in_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
