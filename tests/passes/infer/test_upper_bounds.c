/* SPDX-License-Identifier: Apache-2.0 */
/* Upper bounds of data-dependent shapes, propagated through operators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/print.h"
#include "model_harness.h"
#include "passes/memory/liveness.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/text.h"

/* A model and the upper bounds of some values: "y=i64[1,6]<=", exact without "<=". */
struct upper_bound_case {
    const char *lines;
    const char *values; /* "y=i64[1,6]<= z=f32[?]" */
};

static const char *upper_bound_type(const struct bench *bench, const char *name) {
    const struct value_info *info =
        &bench->analysis.infer->upper->infos[bench_value(bench, name)];
    struct value_info plain = *info;
    struct text text;
    plain.is_upper_bound = false;
    text_init(&text, bench->arena);
    print_value_info(&plain, &text);
    if (info->is_upper_bound) text_append(&text, "<=");
    return text_string(&text);
}

static void check_cases(const struct upper_bound_case *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct bench *bench = bench_open(rows[i].lines);
        const char *values = rows[i].values;
        if (bench->status != CM_OK) fail_msg("row %zu: %s", i, bench_messages(bench));
        while (*values) {
            const size_t name = strcspn(values, "=");
            const size_t length = strcspn(values, " ");
            const char *value = arena_strndup(bench->arena, values, name);
            const char *want =
                arena_strndup(bench->arena, values + name + 1, length - name - 1);
            if (strcmp(upper_bound_type(bench, value), want) != 0)
                fail_msg("row %zu: %s is %s, not %s", i, value, upper_bound_type(bench, value),
                         want);
            values += length + (values[length] == ' ');
        }
        bench_close(bench);
    }
}

#define CHECK(rows) check_cases(rows, sizeof(rows) / sizeof *(rows))
#define CHOSEN      "in x float[6,4]\nin c bool[6]\nnode - Compress x c -> z axis=0\n"

static void test_bounds_data_dependent_selections(void **state) {
    static const struct upper_bound_case rows[] = {
        {"in x float[2,3]\nnode - NonZero x -> y\nout y\n", "y=i64[2,6]<="},
        {CHOSEN "out z\n", "z=f32[6,4]<="},
        {"in x float[9,4]\nin c bool[5]\nnode - Compress x c -> z axis=0\nout z\n",
         "z=f32[5,4]<="},
        {"in x float[2,3]\nin c bool[4]\nnode - Compress x c -> z\nout z\n", "z=f32[4]<="},
        {"in x float[2,3]\nnode - Unique x -> y i v c\nout y\n",
         "y=f32[6]<= i=i64[6]<= v=i64[6] c=i64[6]<="},
        {"in x float[2,3]\nnode - Unique x -> y axis=1\nout y\n", "y=f32[2,3]<="},
        {"in x float[2,3]\nin k int64[1]\nnode - TopK x k -> y i\nout y\n",
         "y=f32[2,3]<= i=i64[2,3]<="},
        /* 2 batches, 3 classes, 4 of 10 boxes each */
        {"in b float[2,10,4]\nin s float[2,3,10]\nconst m int64[1] =4\n"
         "node - NonMaxSuppression b s m -> y\nout y\n",
         "y=i64[24,3]<="},
        /* the count is at most the number of candidates, also if it is unknown */
        {"in b float[2,10,4]\nin s float[2,3,10]\nconst m int64[1] =99\n"
         "node - NonMaxSuppression b s m -> y\nout y\n",
         "y=i64[60,3]<="},
        {"in b float[2,10,4]\nin s float[2,3,10]\nin m int64[1]\n"
         "node - NonMaxSuppression b s m -> y\nout y\n",
         "y=i64[60,3]<="},
        {"opset 20\nin x string[3]\nnode - StringSplit x -> y n maxsplit=4\nout y\n",
         "y=str[3,5]<= n=i64[3]"},
        {"opset 20\nin x string[3]\nnode - StringSplit x -> y n\nout y\n", "y=str[3,?]"},
    };
    (void)state;
    CHECK(rows);
}

static void test_propagates_bounds_through_monotone_operators(void **state) {
    static const struct upper_bound_case rows[] = {
        {CHOSEN "node - Relu z -> y\nout y\n", "y=f32[6,4]<="},
        {CHOSEN "init w float[4,5]\nnode - MatMul z w -> y\nout y\n", "y=f32[6,5]<="},
        {CHOSEN "node - Transpose z -> y perm=[1,0]\nout y\n", "y=f32[4,6]<="},
        {CHOSEN "node - Concat z x -> y axis=0\nout y\n", "y=f32[12,4]<="},
        {CHOSEN "node - NonZero z -> y\nout y\n", "y=i64[2,24]<="},
        /* a Slice from the front is at most `end` long, one from the back at most -`start` */
        {CHOSEN "const s int64[1] =0\nconst e int64[1] =2\nnode - Slice z s e -> y\nout y\n",
         "y=f32[2,4]<="},
        {CHOSEN "const s int64[1] =-3\nconst e int64[1] =9223372036854775807\n"
                "node - Slice z s e -> y\nout y\n",
         "y=f32[3,4]<="},
        /* z[-3:2] is empty if z has 6 elements, but has 2 if z has 3 */
        {CHOSEN "const s int64[1] =-3\nconst e int64[1] =2\nnode - Slice z s e -> y\nout y\n",
         "y=f32[2,4]<="},
        {CHOSEN "in s int64[1]\nconst e int64[1] =5\nnode - Slice z s e -> y\nout y\n",
         "y=f32[6,4]<="},
        /* the last part may be as long as the others */
        {"opset 18\n" CHOSEN "node - Split z -> a b c d num_outputs=4\nout a\n",
         "a=f32[2,4]<= d=f32[2,4]<="},
        /* a copied dim (0) and an inferred dim (-1) */
        {CHOSEN "const t int64[3] =0,2,2\nnode - Reshape z t -> y\nout y\n", "y=f32[6,2,2]<="},
        {CHOSEN "const t int64[2] =-1,8\nnode - Reshape z t -> y\nout y\n", "y=f32[3,8]<="},
        {CHOSEN "node - Shape z -> s\nnode - ConstantOfShape s -> y\nout y\n",
         "s=i64[2] y=f32[6,4]<="},
    };
    (void)state;
    CHECK(rows);
}

#define COUNTED                                                                                \
    CHOSEN "node - Shape z -> s\nconst i int64[] =0\nconst ax int64[1] =0\n"                   \
           "node - Gather s i -> n0\nnode - Unsqueeze n0 ax -> n\n"

static void test_bounds_shape_arithmetic_from_both_sides(void **state) {
    static const struct upper_bound_case rows[] = {
        {COUNTED "const w int64[2] =2,2\nnode - Concat n w -> t axis=0\n"
                 "node - Reshape z t -> y\nout y\n",
         "y=f32[6,2,2]<="},
        /* a dim computed from the count twice may shrink when the count grows */
        {COUNTED "const w int64[1] =-1\nnode - Concat n w -> t axis=0\n"
                 "node - Reshape x t -> y\nout y\n",
         "y=f32[6,?]<="},
        {COUNTED "const m int64[1] =2\nnode - Min n m -> k\nnode - TopK z k -> y j axis=0\n"
                 "out y\n",
         "y=f32[2,4]<="},
        {COUNTED "const m int64[1] =3\nnode - Mul n m -> k\nnode - ConstantOfShape k -> y\n"
                 "out y\n",
         "y=f32[18]<="},
        /* no bound if the factor is negative; 10 - n is at most 10 */
        {COUNTED "const m int64[1] =-3\nnode - Mul n m -> k\nnode - ConstantOfShape k -> y\n"
                 "out y\n",
         "y=f32[?]"},
        {COUNTED "const m int64[1] =10\nnode - Sub m n -> k\nnode - ConstantOfShape k -> y\n"
                 "out y\n",
         "y=f32[10]<="},
        {COUNTED "const m int64[1] =5\nnode - Mod n m -> k\nnode - ConstantOfShape k -> y\n"
                 "out y\n",
         "y=f32[?]"},
        {COUNTED "const o int64[1] =-1\nconst u int64[1] =1\nnode - Equal n o -> q\n"
                 "node - Where q u n -> t\nnode - ConstantOfShape t -> y\nout y\n",
         "y=f32[6]<="},
        {COUNTED "const l int64[] =0\nconst d int64[] =1\nnode - Range l n0 d -> y\nout y\n",
         "y=i64[6]<="},
        {COUNTED "const l int64[] =9\nconst d int64[] =-1\nnode - Range l n0 d -> y\nout y\n",
         "y=i64[?]"},
    };
    (void)state;
    CHECK(rows);
}

static void test_drops_bounds_that_may_shrink(void **state) {
    static const struct upper_bound_case rows[] = {
        /* a larger kernel gives a smaller output */
        {"in x float[1,1,9,9]\nin k float[1,1,5,3]\nin c bool[5]\n"
         "node - Compress k c -> z axis=2\nnode - Conv x z -> y\nout y\n",
         "z=f32[1,1,5,3]<= y=f32[1,1,?,7]"},
        {CHOSEN "node - me.org::Odd z -> y\nout y\n", "y=?"},
        /* a bound larger than any memory is dropped */
        {"in x float[65536,65536]\nnode - NonZero x -> y\nnode - MatMul y y -> z\nout z\n",
         "y=i64[2,4294967296]<= z=i64[2,?]"},
    };
    (void)state;
    CHECK(rows);
}

static void test_bodies_take_the_larger_bound(void **state) {
    static const struct upper_bound_case rows[] = {
        {"in x float[6,4]\nin c bool[]\nbody then_branch\ninit a float[3,4]\n"
         "node - Identity a -> p\nout p\nclose\nbody else_branch\ninit b float[5,4]\n"
         "node - Identity b -> q\nout q\nclose\nnode - If c -> y\nout y\n",
         "y=f32[5,4]<="},
        /* at most 7 iterations, each stacks one row */
        {"in x float[4]\nin go bool[]\nconst m int64[] =7\nbody body\nin i int64[]\n"
         "in on bool[]\nin v float[4]\nnode - ReduceMax v -> r keepdims=0\n"
         "node - Cast r -> more to=9\nnode - Relu v -> w\nnode - Identity w -> u\n"
         "out more\nout w\nout u\nclose\nnode - Loop m go x -> last all\nout all\n",
         "last=f32[4] all=f32[7,4]<="},
    };
    (void)state;
    CHECK(rows);
}

static void test_walks_a_static_model_once(void **state) {
    struct bench *bench = bench_open("in x float[2,3]\nnode - Relu x -> y\nout y\n");
    (void)state;
    assert_ptr_equal(bench->analysis.infer->upper, bench->analysis.infer);
    bench_close(bench);
}

static void test_marks_costs_of_bounded_shapes_as_upper_bounds(void **state) {
    struct bench *bench =
        bench_open(CHOSEN "init w float[4,5]\nnode m MatMul z w -> y\nout y\n");
    (void)state;
    const struct cm_costs *costs = bench_costs(bench, "m");
    assert_int_equal(costs->macs, 6 * 5 * 4);
    assert_int_equal(costs->bytes_written, 6 * 5 * 4);
    assert_int_equal(costs->bytes_read, (6 * 4 + 4 * 5) * 4);
    assert_int_equal(costs->upper_bound,
                     CM_COST_BIT(macs) | CM_COST_BIT(flops) | CM_COST_BIT(bytes_read) |
                         CM_COST_BIT(bytes_written) | CM_COST_BIT(activation_bytes));
    /* while m runs, z and y are alive */
    assert_true(bench->analysis.liveness->upper_bound);
    assert_true(bench->analysis.liveness->peak_upper_bound);
    assert_int_equal(bench->analysis.liveness->peak_bytes, 6 * 4 * 4 + 6 * 5 * 4);
    bench_close(bench);
}

/* y is a scalar for any z [<=6,4]. */
static void test_marks_costs_if_only_an_operand_is_bounded(void **state) {
    struct bench *bench = bench_open(CHOSEN "node m ReduceSum z -> y keepdims=0\nout y\n");
    (void)state;
    const struct cm_costs *costs = bench_costs(bench, "m");
    assert_int_equal(costs->bytes_read, 6 * 4 * 4);
    assert_true(costs->upper_bound & CM_COST_BIT(bytes_read));
    assert_false(costs->upper_bound & CM_COST_BIT(bytes_written));
    bench_close(bench);
}

static void test_trip_count_option_bounds_body_runs(void **state) {
    struct bench *bench =
        bench_open("in x float[4]\nin go bool[]\nconst m int64[] =7\nbody body\nin i int64[]\n"
                   "in on bool[]\nin v float[4]\nnode - ReduceMax v -> r keepdims=0\n"
                   "node - Cast r -> more to=9\nnode relu Relu v -> w\nout more\nout w\nclose\n"
                   "node - Loop m go x -> last\nout last\n");
    (void)state;
    assert_int_equal(bench_costs(bench, "relu")->flops, 7 * 4);
    assert_true(bench_costs(bench, "relu")->upper_bound & CM_COST_BIT(flops));
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_data_dependent_selections),
        cmocka_unit_test(test_propagates_bounds_through_monotone_operators),
        cmocka_unit_test(test_bounds_shape_arithmetic_from_both_sides),
        cmocka_unit_test(test_drops_bounds_that_may_shrink),
        cmocka_unit_test(test_bodies_take_the_larger_bound),
        cmocka_unit_test(test_walks_a_static_model_once),
        cmocka_unit_test(test_marks_costs_of_bounded_shapes_as_upper_bounds),
        cmocka_unit_test(test_marks_costs_if_only_an_operand_is_bounded),
        cmocka_unit_test(test_trip_count_option_bounds_body_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
