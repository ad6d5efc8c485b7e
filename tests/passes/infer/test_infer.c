/* SPDX-License-Identifier: Apache-2.0 */
/* Pass infer: types, contents, bodies, and errors after which the walk continues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "passes/walk/walk.h"
#include "support/arena.h"

/* A model, its messages, and the types of some values: "y=f32[2] z=?". */
struct infer_case {
    const char *lines;
    int64_t batch; /* --batch; 0: none */
    const char *messages;
    const char *types;
};

static void check_types(const struct bench *bench, size_t row, const char *types) {
    while (*types) {
        size_t name = strcspn(types, "=");
        size_t length = strcspn(types, " ");
        const char *value = arena_strndup(bench->arena, types, name);
        const char *want = arena_strndup(bench->arena, types + name + 1, length - name - 1);
        if (strcmp(bench_type(bench, value), want) != 0)
            fail_msg("row %zu: %s is %s, not %s", row, value, bench_type(bench, value), want);
        types += length + (types[length] == ' ');
    }
}

static void check_cases(const struct infer_case *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const struct cm_options options = {.batch = rows[i].batch};
        struct bench *bench = bench_open_with(rows[i].lines, &options);
        if (strcmp(bench_messages(bench), rows[i].messages) != 0)
            fail_msg("row %zu: %s", i, bench_messages(bench));
        check_types(bench, i, rows[i].types);
        bench_close(bench);
    }
}

#define CHECK(rows) check_cases(rows, sizeof(rows) / sizeof *(rows))

static void test_folds_a_target_computed_from_shapes(void **state) {
    static const struct infer_case rows[] = {
        {"in x float[?n,6,4]\nconst i int64[] =0\nconst ax int64[1] =0\nconst r int64[1] =-1\n"
         "node - Shape x -> s\nnode - Gather s i -> d\nnode - Unsqueeze d ax -> u\n"
         "node - Concat u r -> t axis=0\nnode - Reshape x t -> y\nout y\n",
         5, "", "s=i64[3] t=i64[2] y=f32[5,24]"},
        /* an input has no contents to fold */
        {"in x float[2,6]\nin t int64[2]\nnode - Reshape x t -> y\nout y\n", 0, "",
         "y=f32[?,?]"},
    };
    (void)state;
    CHECK(rows);
}

static void test_continues_after_an_error_with_unknown_outputs(void **state) {
    static const struct infer_case rows[] = {
        {"in x float[2,3]\nin w float[4,5]\nnode m MatMul x w -> y\nnode r Relu y -> z\n"
         "node n MatMul w x -> u\nout z\nout u\n",
         0,
         "error[shape] at m: the inner axes of [2,3] and [4,5] differ: 3 and 4\n"
         "error[shape] at n: the inner axes of [4,5] and [2,3] differ: 5 and 2",
         "y=? z=?[?...] u=?"},
    };
    (void)state;
    CHECK(rows);
}

static void test_reports_the_node_of_dims_above_2_63(void **state) {
    static const struct infer_case rows[] = {
        {"in x float[4611686018427387904,2]\nnode c Concat x x -> y axis=0\nout y\n", 0,
         "error[overflow] at c: dim 0 of output 0 is past 2^63", "y=?"},
        {"in x float[4611686018427387904,4]\nconst t int64[1] =-1\nnode r Reshape x t -> y\n"
         "out y\n",
         0, "error[overflow] at r: input [4611686018427387904,4] has more than 2^63 elements",
         "y=?"},
        {"in x float[4611686018427387904,2]\nnode f Flatten x -> y axis=2\nout y\n", 0,
         "error[overflow] at f: dim 0 of output 0 is past 2^63", "y=?"},
    };
    (void)state;
    CHECK(rows);
}

static void test_declared_types_fill_unknowns(void **state) {
    static const struct infer_case rows[] = {
        {"in x float[2,4]\nnode - com.me::Odd x -> y\ntype y float[2,7]\nnode - Relu y -> z\n"
         "out z\n",
         0, "", "y=f32[2,7] z=f32[2,7]"},
        {"in x float[2,4]\nnode - NonZero x -> y\ntype y int64[2,5]\nout y\n", 0, "",
         "y=i64[2,5]"},
        /* declared types do not override inferred ones */
        {"in x float[2,4]\nnode - Relu x -> y\ntype y float[9,9]\nout y\n", 0, "",
         "y=f32[2,4]"},
        {"in x float[2,4]\nnode - NonZero x -> y\ntype y int64[5]\nout y\n", 0, "",
         "y=i64[2,?]"},
        /* declared types apply only if the inputs have the shapes of the file */
        {"in x float[2,4]\nnode - com.me::Odd x -> y\ntype y float[2,7]\nout y\n", 3, "",
         "y=?"},
        {"in x float[2,4]\nnode - NonZero x -> y\ntype y int64[2,5]\nout y\n", 3, "",
         "y=i64[2,?]"},
        {"in x float[?n,4]\nnode - com.me::Odd x -> y\ntype y float[8,7]\nout y\n", 3, "",
         "y=f32[8,7]"},
    };
    (void)state;
    CHECK(rows);
}

#define BRANCHES(left, right)                                                                  \
    "init w float[4,8]\nbody then_branch\nnode m MatMul x w -> a\n" left                       \
    "close\nbody else_branch\nnode n MatMul x w -> b\n" right "close\n"
#define EITHER                                                                                 \
    "note[assumption] at i: the condition is data-dependent: counting the more expensive "     \
    "branch"

static void test_if_gives_dims_common_to_both_branches(void **state) {
    static const struct infer_case rows[] = {
        {"in x float[2,4]\nin c bool[]\n" BRANCHES("out a\n",
                                                   "out b\n") "node i If c -> y\nout "
                                                              "y\n",
         0, EITHER, "y=f32[2,8]"},
        {"in x float[2,4]\nin c bool[]\n" BRANCHES(
             "out a\n", "node - Transpose b -> d\nout d\n") "node i If c -> y\nout y\n",
         0, EITHER, "a=f32[2,8] d=f32[8,2] y=f32[?,?]"},
        /* only the taken branch, if the condition is known */
        {"in x float[2,4]\nconst c bool[] =1\n" BRANCHES(
             "out a\n", "node - Transpose b -> d\nout d\n") "node i If c -> y\nout y\n",
         0, "", "y=f32[2,8] d=?"},
        {"in x float[2,4]\nconst c bool[] =0\n" BRANCHES(
             "out a\n", "node - Transpose b -> d\nout d\n") "node i If c -> y\nout y\n",
         0, "", "y=f32[8,2] a=?"},
        /* an error in a body names the body's node */
        {"in x float[2,5]\nin c bool[]\n" BRANCHES("out a\n",
                                                   "out b\n") "node i If c -> y\nout "
                                                              "y\n",
         0, "error[shape] at m: the inner axes of [2,5] and [4,8] differ: 5 and 4", "y=?"},
    };
    (void)state;
    CHECK(rows);
}

#define LOOP(trips)                                                                            \
    "in x float[2,4]\n" trips                                                                  \
    "const c bool[] =1\ninit w float[4,4]\nbody body\nin i int64[]\n"                          \
    "in k bool[]\nin s float[2,4]\nnode m MatMul s w -> a\nnode - Relu a -> e\n"               \
    "node - Identity k -> k1\nout k1\nout a\nout e\nclose\nnode l Loop n c x -> y z\nout z\n"

static void test_loop_stacks_scan_outputs(void **state) {
    static const struct infer_case rows[] = {
        {LOOP("const n int64[] =5\n"), 0, "", "y=f32[2,4] z=f32[5,2,4]"},
        {LOOP("const n int64[] =0\n"), 0, "", "y=f32[2,4] z=f32[0,2,4]"},
        {LOOP("in n int64[]\n"), 0,
         "note[assumption] at l: the trip count is not known: one iteration is counted",
         "y=f32[2,4] z=f32[?,2,4]"},
    };
    (void)state;
    CHECK(rows);
}

#define REPLACED(condition, trips)                                                             \
    "in x float[2,4]\n" condition "const n int64[] =7\nconst z float[] =0\nbody body\n"        \
    "in i int64[]\nin k bool[]\nin s float[]\nnode - ReduceMax x -> peak keepdims=0\n"         \
    "node - Cast peak -> go to=9\nnode - Relu x -> a\nout go\nout a\nclose\n"                  \
    "node l Loop " trips " c z -> y\nout y\n"

static void test_loop_state_has_its_type_after_one_iteration(void **state) {
    static const char upper_bound[] =
        "note[assumption] at l: the trip count is not known, at most 7";
    static const struct infer_case rows[] = {
        {REPLACED("const c bool[] =1\n", "n"), 0, upper_bound, "y=f32[2,4]"},
        {REPLACED("in c bool[]\n", "n"), 0, upper_bound, "y=f32[?...]"},
        {REPLACED("const c bool[] =1\nin m int64[]\n", "m"), 0,
         "note[assumption] at l: the trip count is not known: one iteration is counted",
         "y=f32[?...]"},
        {REPLACED("const c bool[] =0\n", "n"), 0, "", "y=f32[]"},
    };
    (void)state;
    CHECK(rows);
}

static void test_refuses_a_body_with_other_inputs(void **state) {
    static const struct infer_case rows[] = {
        {"in x float[2,4]\nconst n int64[] =5\nbody body\nin i int64[]\nin k bool[]\n"
         "node - Identity k -> k1\nout k1\nclose\nnode l Loop n - x -> y\nout y\n",
         0, "error[graph] at l: the body has 2 inputs, expected 3", "y=?"},
    };
    (void)state;
    CHECK(rows);
}

/* Small float tensors may be scales of shape arithmetic; large ones are weights, whose contents
 * are never read. */
static void test_does_not_fold_large_floats(void **state) {
    static const struct {
        const char *lines;
        bool folded;
    } rows[] = {
        {"const s float[2] =1.0,2.0\nnode - Neg s -> y\nin x float[1]\nout y\n", true},
        {"const s int64[2] =1,2\nnode - Neg s -> y\nin x float[1]\nout y\n", true},
        {"init s float[2,2]\nnode - Neg s -> y\nin x float[1]\nout y\n", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench *bench = bench_open(rows[i].lines);
        const struct value_info *info = &bench->analysis.infer->infos[bench_value(bench, "y")];
        assert_int_equal(bench->status, CM_OK);
        if ((info->value != NULL) != rows[i].folded) fail_msg("row %zu", i);
        assert_true(info->is_constant);
        assert_false(info->is_weight);
        bench_close(bench);
    }
}

/* Random numbers depend on no input, but are not constant. */
static void test_constants_do_not_depend_on_inputs(void **state) {
    static const struct {
        const char *value;
        bool constant, weight;
    } rows[] = {
        {"w", true, true},   {"k", true, true},   {"t", true, false},  {"s", true, false},
        {"x", false, false}, {"y", false, false}, {"r", false, false}, {"o", false, false},
    };
    struct bench *bench = bench_open(
        "in x float[4,4]\ninit w float[4,4]\nconst k float[4] =2\nnode - Transpose w -> t\n"
        "node - Shape x -> s\nnode - MatMul x t -> y\nnode - RandomNormal -> r shape=[4,4]\n"
        "node - com.me::Odd w -> o\nout y\nout r\nout o\n");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct value_info *info =
            &bench->analysis.infer->infos[bench_value(bench, rows[i].value)];
        if (info->is_constant != rows[i].constant || info->is_weight != rows[i].weight)
            fail_msg("%s: constant %d, weight %d", rows[i].value, info->is_constant,
                     info->is_weight);
    }
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folds_a_target_computed_from_shapes),
        cmocka_unit_test(test_continues_after_an_error_with_unknown_outputs),
        cmocka_unit_test(test_reports_the_node_of_dims_above_2_63),
        cmocka_unit_test(test_declared_types_fill_unknowns),
        cmocka_unit_test(test_if_gives_dims_common_to_both_branches),
        cmocka_unit_test(test_loop_stacks_scan_outputs),
        cmocka_unit_test(test_loop_state_has_its_type_after_one_iteration),
        cmocka_unit_test(test_refuses_a_body_with_other_inputs),
        cmocka_unit_test(test_does_not_fold_large_floats),
        cmocka_unit_test(test_constants_do_not_depend_on_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
