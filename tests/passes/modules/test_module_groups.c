/* SPDX-License-Identifier: Apache-2.0 */
/* Modules regrouped by a regular expression (--group). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/modules/module_groups.h"
#include "support/arena.h"
#include "support/diag.h"

static const char net[] =
    "in x float[1,3]\ninit layer1.0.fc.weight float[3,3]\ninit layer1.1.fc.weight float[3,3]\n"
    "init layer2.0.fc.weight float[3,3]\ninit layer2.0.spare.weight float[3]\n"
    "node /layer1/layer1.0/fc/MatMul MatMul x layer1.0.fc.weight -> 1\n"
    "node /layer1/layer1.1/fc/MatMul MatMul 1 layer1.1.fc.weight -> 2\n"
    "node /layer1/Relu Relu 2 -> 3\n"
    "node /layer2/layer2.0/fc/MatMul MatMul 3 layer2.0.fc.weight -> 4\n"
    "node /Mul Mul 4 layer2.0.spare.weight -> y\nout y\n";

static void groups_replace_modules(void **state) {
    static const struct {
        const char *group;
        const char *paths;
        const char *first; /* group of the first node */
        const char *relu;  /* group of /layer1/Relu */
    } rows[] = {
        {"layer[0-9]+", "() layer1 layer2", "layer1", "layer1"},
        {"layer[0-9]+[.][0-9]+", "() layer1.0 layer1.1 layer2.0", "layer1.0", ""},
        {"[.](fc)$", "() fc", "fc", ""},
        {"^layer1", "() layer1", "layer1", "layer1"},
        {"layer(1|2)?", "() 1 2", "1", "1"},
        /* an empty match is not a group */
        {"nowhere", "()", "", ""},
        {"x*", "()", "", ""},
        {"(x)|layer", "()", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct cm_options options = {.group = rows[i].group};
        struct bench *bench = bench_open_with(net, &options);
        assert_int_equal(bench->status, CM_OK);
        assert_string_equal(bench_paths(bench), rows[i].paths);
        assert_string_equal(bench_node_module(bench, "/layer1/layer1.0/fc/MatMul"),
                            rows[i].first);
        assert_string_equal(bench_node_module(bench, "/layer1/Relu"), rows[i].relu);
        assert_string_equal(bench_node_module(bench, "/Mul"), "");
        bench_close(bench);
    }
}

static void group_costs_are_sums_of_members(void **state) {
    const struct cm_options options = {.group = "layer[0-9]+"};
    struct bench *bench = bench_open_with(net, &options);
    const struct cm_module *first = bench_module(bench, "layer1");
    const struct cm_module *second = bench_module(bench, "layer2");
    (void)state;
    assert_int_equal(first->costs.macs, 18);
    assert_int_equal(first->costs.params, 18);
    assert_int_equal(first->calls, 1);
    assert_int_equal(first->depth, 1);
    assert_string_equal(first->type, "layer1");
    assert_string_equal(bench_outputs(bench, "layer1"), "3");
    assert_int_equal(second->costs.macs, 9);
    assert_int_equal(second->costs.params, 12); /* spare.weight is used outside the group */
    assert_int_equal(bench_module(bench, "")->costs.params, 30);
    bench_close(bench);
}

static void notes_a_group_without_matches(void **state) {
    const struct cm_options options = {.group = "head"};
    struct bench *bench = bench_open_with(net, &options);
    (void)state;
    assert_string_equal(bench_messages(bench),
                        "note[assumption]: --group 'head' matches no module");
    bench_close(bench);
}

static void locates_syntax_errors(void **state) {
    static const struct {
        const char *group;
        const char *front; /* start of the message */
    } rows[] = {
        {"[", "--group '[' is not a valid regular expression at character 1: "},
        {"layer[0-9", "--group 'layer[0-9' is not a valid regular expression at character 6: "},
        {"a(b", "--group 'a(b' is not a valid regular expression at character 2: "},
    };
    struct arena *arena = arena_new("test", 0);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cm_diagnostics *diag = cm_diagnostics_new();
        assert_int_equal(module_groups_check(rows[i].group, arena, diag), CM_USAGE);
        const char *message = cm_diagnostics_get(diag, 0)->message;
        assert_int_equal(strncmp(message, rows[i].front, strlen(rows[i].front)), 0);
        cm_diagnostics_free(diag);
    }
    assert_int_equal(module_groups_check("layer[0-9]+", arena, NULL), CM_OK);
    arena_free(arena);
}

static void long_paths_are_in_no_group(void **state) {
    char lines[2400] = "in x float[1]\nnode /";
    size_t n = strlen(lines);
    const struct cm_options options = {.group = "a+"};
    (void)state;
    memset(lines + n, 'a', 2000);
    (void)snprintf(lines + n + 2000, sizeof lines - n - 2000, "%s",
                   "/Relu Relu x -> 1\nnode /aaa/Relu Relu 1 -> y\nout y\n");
    struct bench *bench = bench_open_with(lines, &options);
    assert_string_equal(bench_paths(bench), "() aaa");
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_replace_modules),
        cmocka_unit_test(group_costs_are_sums_of_members),
        cmocka_unit_test(notes_a_group_without_matches),
        cmocka_unit_test(locates_syntax_errors),
        cmocka_unit_test(long_paths_are_in_no_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
