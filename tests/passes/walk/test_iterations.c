/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that are executed iteration by iteration: shapes, contents, costs and limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/print.h"
#include "model_harness.h"
#include "passes/summary/explain.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/text.h"

/* Types of values: "y=f32[2,4] z=?"; of upper bounds: "y<=f32[3,4]". */
struct iteration_case {
    const char *lines;
    const char *messages;
    const char *types;
    const char *node; /* whose MACs are compared, or NULL */
    int64_t macs;
};

static const char *upper_type(const struct bench *bench, const char *name) {
    struct value_info info = bench->analysis.infer->upper->infos[bench_value(bench, name)];
    struct text text;
    if (!info.is_upper_bound) return "exact";
    info.is_upper_bound = false;
    text_init(&text, bench->arena);
    print_value_info(&info, &text);
    return text_string(&text);
}

static void check_type(const struct bench *bench, const char *word, size_t length) {
    const char *copy = arena_strndup(bench->arena, word, length);
    const char *equals = strchr(copy, '=');
    const bool upper = equals[-1] == '<';
    const char *name = arena_strndup(bench->arena, copy, (size_t)(equals - copy) - upper);
    const char *have = upper ? upper_type(bench, name) : bench_type(bench, name);
    if (strcmp(have, equals + 1) != 0) fail_msg("%s: have %s", copy, have);
}

static void check(const struct iteration_case *row) {
    struct bench *bench = bench_open(row->lines);
    if (bench->status < 0) fail_msg("%s: %s", row->lines, bench_messages(bench));
    if (strcmp(bench_messages(bench), row->messages) != 0)
        fail_msg("%s: %s", row->lines, bench_messages(bench));
    for (const char *word = row->types; *word; word += strspn(word, " ")) {
        check_type(bench, word, strcspn(word, " "));
        word += strcspn(word, " ");
    }
    if (row->node && bench_costs(bench, row->node)->macs != row->macs)
        fail_msg("%s: %lld MACs at %s", row->lines,
                 (long long)bench_costs(bench, row->node)->macs, row->node);
    bench_close(bench);
}

#define CHECK(rows)                                                                            \
    for (size_t row_ = 0; row_ < sizeof(rows) / sizeof *(rows); row_++) check(&(rows)[row_])

/* `part` is a slice of x [12,4]: PREFIX takes x[0 : i + 1] in iteration i, TABLE takes
 * x[starts[i] : starts[i + 1]]. */
#define START                                                                                  \
    "in x float[12,4]\ninit w float[4,5]\nconst go bool[] =1\nconst zero int64[1] =0\n"        \
    "const one int64[1] =1\nconst two int64[1] =2\nnode empty SequenceEmpty -> s0\n"
#define BODY   "body body\nin i int64[]\nin on bool[]\n"
#define PREFIX "node - Add i one -> end\nnode - Slice x zero end zero -> part\n"
#define TABLE                                                                                  \
    "node - Add i one -> next\nnode - Gather starts i -> start\n"                              \
    "node - Unsqueeze start zero -> from\n"                                                    \
    "node - Gather starts next -> to\nnode - Slice x from to zero -> part\n"
#define GO_ON "node - Identity on -> on1\nout on1\n"

static void test_elements_of_a_sequence_keep_their_shapes(void **state) {
    static const struct iteration_case rows[] = {
        /* as torch exports tensor_split(x, [1, 3, 7]) */
        {START
         "const n int64[] =3\nconst starts int64[4] =0,1,3,7\n"
         "const last int64[] =-1\nconst first int64[] =0\n" BODY "in s float\n" TABLE
         "node - SequenceInsert s part -> s1\n" GO_ON "out s1\nclose\n"
         "node l Loop n go s0 -> parts\nnode - SequenceAt parts first -> a\n"
         "node - SequenceAt parts last -> c\nnode - ConcatFromSequence parts -> y axis=0\n"
         "node - SequenceLength parts -> n1\nnode - Unsqueeze n1 zero -> n2\nnode - "
         "ConstantOfShape n2 -> z\n"
         "node m MatMul c w -> d\nout y\nout a\nout d\nout z\n",
         "", "a=f32[1,4] c=f32[4,4] y=f32[7,4] z=f32[3] part=f32[?,4] part<=f32[4,4]", "m", 80},
        {"opset 18\nin x float[7,4]\nin w float[4,3]\nconst k int64[] =3\n"
         "node - SplitToSequence x k -> s axis=0\n"
         "body body\nin e float[?,4]\nin v float[4,3]\nnode m MatMul e v -> o\nout o\nclose\n"
         "node q SequenceMap s w -> t\nnode - ConcatFromSequence t -> y axis=0\nout y\n",
         "", "y=f32[7,3] o=f32[?,3] o<=f32[3,3]", "m", 7 * 12},
    };
    (void)state;
    CHECK(rows);
}

/* 4 iterations with 1, 2, 3 and 4 rows of `part`; each row of a product takes 4 x 5 MACs. */
static void test_costs_are_sums_over_the_iterations(void **state) {
    static const struct iteration_case rows[] = {
        {START "const n int64[] =4\n" BODY "in s float[?,4]\n" PREFIX
               "node - Concat s part -> s1 axis=0\nnode m MatMul s1 w -> e\n" GO_ON
               "out s1\nclose\nnode l Loop n go x -> y\nout y\n",
         "", "y=f32[22,4] e=f32[?,5] e<=f32[22,5]", "m", (13 + 15 + 18 + 22) * 20},
        /* the body of the inner Loop runs 0 + 1 + 2 + 3 times */
        {START "const n int64[] =4\n" BODY "in s float[?,4]\n" PREFIX
               "body body\nin j int64[]\nin on2 bool[]\nin t float[?,4]\n"
               "node - Concat t part -> t1 axis=0\nnode m MatMul part w -> e\n"
               "node - Identity on2 -> on3\nout on3\nout t1\nclose\n"
               "node inner Loop i go s -> u\n" GO_ON
               "out u\nclose\nnode l Loop n go x -> y\nout y\n",
         "", "y=f32[32,4] part=f32[?,4]", "m", (2 + 3 + 3 + 4 + 4 + 4) * 20},
    };
    (void)state;
    CHECK(rows);
}

#define COUNTER                                                                                \
    START "const k0 int64[1] =0\n" BODY "in k int64[1]\nnode - Add k two -> k1\n" GO_ON        \
          "out k1\nclose\nnode l Loop n go k0 -> count\nnode - ConstantOfShape count -> y\n"   \
          "out y\n"

static void test_contents_of_the_state_are_known_after_the_loop(void **state) {
    static const struct iteration_case rows[] = {
        {"const n int64[] =3\n" COUNTER, "", "y=f32[6]", NULL, 0},
        {"const n int64[] =0\n" COUNTER, "", "y=f32[0]", NULL, 0},
    };
    (void)state;
    CHECK(rows);
}

#define BRANCHES                                                                               \
    "body then_branch\nnode m MatMul part w -> a\nout a\nclose\n"                              \
    "body else_branch\nnode - Relu part -> b\nout b\nclose\n"

/* The condition of the If is static in each iteration: it holds in the first 2 of 4. */
static void test_conditions_are_static_in_each_iteration(void **state) {
    static const struct iteration_case rows[] = {
        {START "const n int64[] =4\n" BODY "in s float[?,4]\n" PREFIX
               "node - Less i two -> early\n" BRANCHES "node if If early -> e\n"
               "node - Concat s part -> s1 axis=0\n" GO_ON
               "out s1\nclose\nnode l Loop n go x -> y\nout y\n",
         "", "y=f32[22,4]", "m", (1 + 2) * 20},
        /* the loop ends when its condition becomes false: after iteration 2 of 9 */
        {START "const n int64[] =9\n" BODY "in s float[?,4]\n" PREFIX
               "node m MatMul part w -> e\nnode - Concat s part -> s1 axis=0\n"
               "node - Mul i i -> square\nnode - Less square two -> on1\nout on1\nout s1\n"
               "close\nnode l Loop n go x -> y\nout y\n",
         "", "y=f32[18,4]", "m", (1 + 2 + 3) * 20},
    };
    (void)state;
    CHECK(rows);
}

#define GROWING(trips)                                                                         \
    START "const n int64[] =" trips "\n" BODY "in s float[?,4]\n"                              \
          "node - Concat s x -> s1 axis=0\nnode m MatMul x w -> e\n" GO_ON                     \
          "out s1\nclose\nnode l Loop n go x -> y\nout y\n"

static void test_loops_above_64_iterations_are_not_executed(void **state) {
    static const struct iteration_case rows[] = {
        {GROWING("64"), "", "y=f32[780,4]", "m", 64 * 240},
        {GROWING("65"), "", "y=f32[?,4]", "m", 65 * 240},
    };
    (void)state;
    CHECK(rows);
}

#define NESTED(outer, inner)                                                                   \
    START "const n int64[] =" outer "\nconst k int64[] =" inner "\n" BODY "in s float[?,4]\n"  \
          "body body\nin j int64[]\nin on2 bool[]\nin t float[?,4]\n"                          \
          "node - Concat t x -> t1 axis=0\nnode m MatMul x w -> e\n"                           \
          "node - Identity on2 -> on3\nout on3\nout t1\nclose\nnode inner Loop k go s -> "     \
          "u\n" GO_ON "out u\nclose\nnode l Loop n go x -> y\nout y\n"

static void test_nested_loops_share_the_limit(void **state) {
    static const struct iteration_case rows[] = {
        {NESTED("8", "8"), "", "y=f32[780,4]", "m", 64 * 240},
        {NESTED("8", "9"), "", "y=f32[?,4]", "m", 72 * 240},
    };
    (void)state;
    CHECK(rows);
}

/* Six nested Loops of 20 trips: too many to be executed, but the state keeps its shape. */
static void test_shapes_of_deeply_nested_loops_are_found(void **state) {
    struct arena *arena = arena_new("test", 0);
    struct text text;
    (void)state;
    text_init(&text, arena);
    text_append(&text, "in a0 float[2,4]\ninit w float[4,4]\nconst n int64[] =20\n"
                       "const go bool[] =1\n");
    for (int d = 1; d <= 6; d++)
        text_printf(&text, "body body\nin i%d int64[]\nin c%d bool[]\nin a%d float\n", d, d, d);
    text_append(&text, "node m MatMul a6 w -> b6\n");
    for (int d = 6; d >= 1; d--)
        text_printf(&text,
                    "node - Identity c%d -> k%d\nout k%d\nout b%d\nclose\n"
                    "node l%d Loop n go a%d -> b%d\n",
                    d, d, d, d, d, d - 1, d - 1);
    text_append(&text, "out b0\n");
    const struct iteration_case row = {text_string(&text), "", "b0=f32[2,4]", "m",
                                       INT64_C(64000000) * 32};
    check(&row);
    arena_free(arena);
}

/* In iteration 0 the condition is static, later it is data-dependent: both branches count. */
static void test_costs_are_upper_bounds_if_a_condition_is_not_always_static(void **state) {
    struct bench *bench = bench_open(
        START "const n int64[] =3\nconst f bool[] =1\n" BODY
              "in s float[?,4]\nin c bool[]\n" PREFIX
              "body then_branch\nnode m MatMul part w -> a\nout a\nclose\n"
              "body else_branch\nnode m2 MatMul x w -> b\nout b\nclose\nnode if If c -> e\n"
              "node - ReduceMax e -> peak keepdims=0\nnode - Cast peak -> c1 to=9\n"
              "node - Concat s part -> s1 axis=0\n" GO_ON
              "out s1\nout c1\nclose\nnode l Loop n go x f -> y last\nout y\n");
    (void)state;
    assert_string_equal(bench_type(bench, "y"), "f32[18,4]");
    assert_int_equal(bench_costs(bench, "m")->macs, (1 + 2 + 3) * 20);
    assert_int_equal(bench_costs(bench, "m2")->macs, 2 * 240);
    assert_true(bench_costs(bench, "m")->upper_bound & CM_COST_BIT(macs));
    assert_non_null(strstr(bench_messages(bench), "the condition is data-dependent"));
    bench_close(bench);
}

static void test_a_data_dependent_dim_stays_an_upper_bound(void **state) {
    static const struct iteration_case rows[] = {
        {START "in c bool[12]\nconst n int64[] =2\n" BODY "in s float[?,4]\n"
               "node - Compress x c -> z axis=0\nnode m MatMul z w -> e\n"
               "node - Concat s x -> s1 axis=0\n" GO_ON
               "out s1\nclose\nnode l Loop n go x -> y\nout y\n",
         "", "y=f32[36,4] e=f32[?,5] e<=f32[12,5]", "m", 2 * 240},
    };
    (void)state;
    CHECK(rows);
}

static void test_explanations_sum_over_the_iterations(void **state) {
    static const char *const names[] = {"m"};
    const struct cm_options options = {.n_explain = 1, .explain = names};
    struct bench *bench =
        bench_open_with(START "const n int64[] =4\n" BODY "in s float[?,4]\n" PREFIX
                              "node m MatMul part w -> e\n" GO_ON
                              "out s\nclose\nnode l Loop n go x -> y\nout y\n",
                        &options);
    const struct cm_explanation *item = bench->analysis.explain->items;
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_int_equal(item->nodes[0].runs, 1);
    assert_int_equal(item->nodes[0].factors[0].size, (1 + 2 + 3 + 4) * 20);
    for (size_t i = 0; i < item->n_by; i++)
        assert_true(item->by[i].flops == 200 || item->by[i].flops == 400);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_of_a_sequence_keep_their_shapes),
        cmocka_unit_test(test_costs_are_sums_over_the_iterations),
        cmocka_unit_test(test_contents_of_the_state_are_known_after_the_loop),
        cmocka_unit_test(test_conditions_are_static_in_each_iteration),
        cmocka_unit_test(test_loops_above_64_iterations_are_not_executed),
        cmocka_unit_test(test_nested_loops_share_the_limit),
        cmocka_unit_test(test_shapes_of_deeply_nested_loops_are_found),
        cmocka_unit_test(test_costs_are_upper_bounds_if_a_condition_is_not_always_static),
        cmocka_unit_test(test_a_data_dependent_dim_stays_an_upper_bound),
        cmocka_unit_test(test_explanations_sum_over_the_iterations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
