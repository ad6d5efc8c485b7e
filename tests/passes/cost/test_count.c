/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of a node multiplied by its number of runs; expected values are computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"

struct cost_case {
    const char *lines;
    const char *node;
    struct cm_costs costs; /* params and buffers are not compared: nodes have none here */
};

static void check_field(size_t row, const char *name, int64_t have, int64_t want) {
    if (have != want)
        fail_msg("row %zu: %s %lld, not %lld", row, name, (long long)have, (long long)want);
}

static void check_cases(const struct cost_case *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct bench *bench = bench_open(rows[i].lines);
        if (bench->status != CM_OK) fail_msg("row %zu: %s", i, bench_messages(bench));
        const struct cm_costs *have = bench_costs(bench, rows[i].node);
        const struct cm_costs *want = &rows[i].costs;
        check_field(i, "macs", have->macs, want->macs);
        check_field(i, "flops", have->flops, want->flops);
        check_field(i, "bytes read", have->bytes_read, want->bytes_read);
        check_field(i, "bytes written", have->bytes_written, want->bytes_written);
        check_field(i, "activation", have->activation_bytes, want->activation_bytes);
        bench_close(bench);
    }
}

#define CHECK(rows) check_cases(rows, sizeof(rows) / sizeof *(rows))
#define COST(m, f, r, w, a)                                                                    \
    { .macs = m, .flops = f, .bytes_read = r, .bytes_written = w, .activation_bytes = a }

static void counts_each_operand_read_and_each_output_written(void **state) {
    static const struct cost_case rows[] = {
        /* out [2,4,6,6] = 288; MACs 288 * 3 * 9; x 384, w 108, b 4 elements are read */
        {"in x float[2,3,8,8]\ninit w float[4,3,3,3]\ninit b float[4]\n"
         "node n Conv x w b -> y\nout y\n",
         "n", COST(7776, 15840, 1984, 1152, 1152)},
        {"in x float16[2,3]\nin w float16[3,4]\nnode n MatMul x w -> y\nout y\n", "n",
         COST(24, 48, 36, 16, 16)},
        /* an operand that is used twice is read twice */
        {"in x float[2,4]\nnode n Add x x -> y\nout y\n", "n", COST(0, 0, 64, 32, 32)},
        /* constant sizes and indices are read by the host only */
        {"in x float[2,4]\nconst i int64[2] =0,1\nnode n Gather x i -> y\nout y\n", "n",
         COST(0, 0, 32, 32, 32)},
        {"in x float[2,4]\nin i int64[2]\nnode n Gather x i -> y\nout y\n", "n",
         COST(0, 0, 48, 32, 32)},
        /* each output that is not omitted is written */
        {"in x float[2,4]\nnode n Split x -> y z axis=1\nout y\nout z\n", "n",
         COST(0, 0, 32, 32, 32)},
        {"in x float[2,4]\nnode n Split x -> y - axis=1\nout y\n", "n", COST(0, 0, 32, 16, 16)},
        {"in x float[0,4]\nnode n Relu x -> y\nout y\n", "n", COST(0, 0, 0, 0, 0)},
    };
    (void)state;
    CHECK(rows);
}

/* Rows that are looked up, and chosen experts, instead of the whole operand. */
static void reads_only_what_is_selected(void **state) {
    static const struct cost_case rows[] = {
        /* 2 rows of 8 floats, and 2 indices */
        {"in i int64[2]\ninit t float[1000,8]\nnode n Gather t i -> y\nout y\n", "n",
         COST(0, 0, 2 * 32 + 16, 64, 64)},
        /* each lookup reads its row */
        {"in i int64[5]\ninit t float[2,8]\nnode n Gather t i -> y\nout y\n", "n",
         COST(0, 0, 5 * 32 + 40, 160, 160)},
        {"in i int64[2,1]\ninit t float[1000,8]\nnode n GatherND t i -> y\nout y\n", "n",
         COST(0, 0, 2 * 32 + 16, 64, 64)},
        {"in i int64[2,8]\ninit t float[1000,8]\nnode n GatherElements t i -> y\nout y\n", "n",
         COST(0, 0, 64 + 128, 64, 64)},
        {"in x float[1000,8]\nconst s int64[1] =0\nconst e int64[1] =2\n"
         "node n Slice x s e -> y\nout y\n",
         "n", COST(0, 0, 64, 64, 64)},
        /* of the caches of 1000 positions at most as many elements as x has */
        {"opset 23\nin x float16[1,3,2,8]\ninit c float16[1000,4]\ninit s float16[1000,4]\n"
         "in p int64[1,2]\nnode n RotaryEmbedding x c s p -> y\nout y\n",
         "n", COST(0, 0, 96 + 2 * 96 + 16, 96, 96)},
        /* 1 token chooses 2 of 8 experts; weights [8,16,4] and [8,4,16] */
        {"in x float[1,4]\nin r float[1,8]\ninit f float[8,16,4]\ninit g float[8,4,16]\n"
         "node n com.microsoft::MoE x r f - g -> y k=2\nout y\n",
         "n", COST(256, 512, 16 + 32 + 2 * 2 * 64 * 4, 16, 16)},
        /* 5 tokens may choose all 8 */
        {"in x float[5,4]\nin r float[5,8]\ninit f float[8,16,4]\ninit g float[8,4,16]\n"
         "node n com.microsoft::MoE x r f - g -> y k=2\nout y\n",
         "n", COST(1280, 2560, 80 + 160 + 2 * 8 * 64 * 4, 80, 80)},
    };
    (void)state;
    CHECK(rows);
}

static void views_and_constants_move_no_bytes(void **state) {
    static const struct cost_case rows[] = {
        {"in x float[2,4]\nconst s int64[1] =-1\nnode n Reshape x s -> y\nout y\n", "n",
         COST(0, 0, 0, 0, 0)},
        {"in x float[2,4]\nnode n Identity x -> y\nout y\n", "n", COST(0, 0, 0, 0, 0)},
        {"in x float[2,4]\nnode n Dropout x -> y\nout y\n", "n", COST(0, 0, 0, 0, 0)},
        {"in x float[2,4]\nnode n Shape x -> y\nout y\n", "n", COST(0, 0, 0, 0, 0)},
        {"in x float[2,4]\ninit w float[8,4]\nnode n Transpose w -> t\nnode m MatMul x t -> y\n"
         "out y\n",
         "n", COST(0, 0, 0, 0, 0)},
        /* a folded constant is read like a weight */
        {"in x float[2,4]\ninit w float[8,4]\nnode n Transpose w -> t\nnode m MatMul x t -> y\n"
         "out y\n",
         "m", COST(64, 128, 160, 64, 64)},
    };
    (void)state;
    CHECK(rows);
}

static void unknown_operators_and_shapes_have_unknown_costs(void **state) {
    static const struct cost_case rows[] = {
        {"in x float[2,4]\nnode n com.me::Odd x -> y\nout y\n", "n",
         COST(CM_UNKNOWN, CM_UNKNOWN, 32, CM_UNKNOWN, CM_UNKNOWN)},
        {"in x float[2,4]\nin t int64[2]\nnode - Reshape x t -> z\n"
         "node n Cast z -> y to=1\nout y\n",
         "n", COST(0, 0, CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN)},
        /* upper bound: all 8 elements are non-zero, 2 coordinates each */
        {"in x float[2,4]\nnode - NonZero x -> z\nnode n Cast z -> y to=1\nout y\n", "n",
         COST(0, 0, 128, 64, 64)},
    };
    (void)state;
    CHECK(rows);
}

/* BatchNormalization takes 5 FLOPs per element in training mode, 2 in inference mode. */
static void mode_option_overrides_the_training_attribute(void **state) {
    static const struct {
        const char *attrs;
        enum cm_mode mode;
        int64_t flops;
    } rows[] = {
        {"", CM_MODE_MODEL, 2 * 48},
        {"training_mode=1", CM_MODE_MODEL, 5 * 48},
        {"", CM_MODE_TRAINING, 5 * 48},
        {"training_mode=1", CM_MODE_INFERENCE, 2 * 48},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char lines[256];
        const struct cm_options options = {.mode = rows[i].mode};
        (void)snprintf(lines, sizeof lines,
                       "opset 14\nin x float[2,3,8]\ninit s float[3]\n"
                       "node n BatchNormalization x s s s s -> y %s\nout y\n",
                       rows[i].attrs);
        struct bench *bench = bench_open_with(lines, &options);
        assert_int_equal(bench->status, CM_OK);
        check_field(i, "flops", bench_costs(bench, "n")->flops, rows[i].flops);
        bench_close(bench);
    }
}

#define TRIP_COUNT(n) "const t int64[] =" n "\nconst c bool[] =1\n"
#define LOOP                                                                                   \
    "init w float[4,4]\nbody body\nin i int64[]\nin k bool[]\nin s float[2,4]\n"               \
    "node n MatMul s w -> a\nnode - Identity k -> k1\nout k1\nout a\nclose\n"                  \
    "node l Loop t c x -> y\nout y\n"

static void costs_of_a_body_are_multiplied_by_its_trip_count(void **state) {
    static const struct cost_case rows[] = {
        /* every iteration uses the same buffers */
        {"in x float[2,4]\n" TRIP_COUNT("5") LOOP, "n", COST(160, 320, 480, 160, 32)},
        {"in x float[2,4]\n" TRIP_COUNT("1") LOOP, "n", COST(32, 64, 96, 32, 32)},
        {"in x float[2,4]\n" TRIP_COUNT("0") LOOP, "n", COST(0, 0, 0, 0, 0)},
        {"in x float[2,4]\nin t int64[]\nconst c bool[] =1\n" LOOP, "n",
         COST(32, 64, 96, 32, 32)},
        {"in x float[2,4]\n" TRIP_COUNT("5") LOOP, "l", COST(0, 0, 0, 0, 0)},
        /* 5 * 3 iterations */
        {"in x float[2,4]\ninit w float[4,4]\n" TRIP_COUNT(
             "5") "body body\nin i int64[]\nin k bool[]\nin s float[2,4]\nbody body\n"
                  "in j int64[]\nin k2 bool[]\nin s2 float[2,4]\nnode n MatMul s2 w -> a\n"
                  "node - Identity k2 -> k3\nout k3\nout a\nclose\nconst t2 int64[] =3\n"
                  "node - Loop t2 k s -> s3\nnode - Identity k -> k1\nout k1\nout s3\nclose\n"
                  "node - Loop t c x -> y\nout y\n",
         "n", COST(480, 960, 1440, 480, 32)},
    };
    (void)state;
    CHECK(rows);
}

#define IF(condition, left, right)                                                             \
    "in x float[2,4]\n" condition "init w float[4,4]\ninit v float[4,8]\n"                     \
    "body then_branch\n" left "out a\nclose\nbody else_branch\n" right "out b\nclose\n"        \
    "node - If c -> y\nout y\n"
#define CHEAP     "node cheap MatMul x w -> a\n"
#define EXPENSIVE "node costly MatMul x v -> b\n"

static void counts_only_the_more_expensive_branch(void **state) {
    static const struct cost_case rows[] = {
        {IF("in c bool[]\n", CHEAP, EXPENSIVE), "cheap", COST(0, 0, 0, 0, 0)},
        {IF("in c bool[]\n", CHEAP, EXPENSIVE), "costly", COST(64, 128, 160, 64, 64)},
        /* equal MACs: FLOPs decide; equal FLOPs too: bytes; all equal: the first branch */
        {IF("in c bool[]\n", "node l Relu x -> a\n", "node r Tanh x -> b\n"), "r",
         COST(0, 0, 0, 0, 0)},
        {IF("in c bool[]\n", "node l Tanh x -> a\n",
            "node r Add x x -> d\nnode - Abs d -> b\n"),
         "l", COST(0, 0, 0, 0, 0)},
        {IF("in c bool[]\n", "node l Tanh x -> a\n", "node r Abs x -> b\n"), "l",
         COST(0, 0, 32, 32, 32)},
        {IF("in c bool[]\n", "node l Tanh x -> a\n", "node r Abs x -> b\n"), "r",
         COST(0, 0, 0, 0, 0)},
        /* a branch that is known to be taken counts, even if it is cheaper */
        {IF("const c bool[] =1\n", CHEAP, EXPENSIVE), "cheap", COST(32, 64, 96, 32, 32)},
        {IF("const c bool[] =1\n", CHEAP, EXPENSIVE), "costly", COST(0, 0, 0, 0, 0)},
    };
    (void)state;
    CHECK(rows);
}

static void bodies_inside_an_uncounted_branch_cost_nothing(void **state) {
    static const struct cost_case rows[] = {
        {IF("in c bool[]\n",
            "const t int64[] =1\nbody body\nin i int64[]\nin k bool[]\nin s float[2,4]\n"
            "node n Relu s -> e\nnode - Identity k -> k1\nout k1\nout e\nclose\n"
            "node - Loop t - x -> a\n",
            EXPENSIVE),
         "n", COST(0, 0, 0, 0, 0)},
        /* the loop counts for its branch: 3 * 32 MACs exceed the 64 of the other branch */
        {IF("in c bool[]\n",
            "const t int64[] =3\nbody body\nin i int64[]\nin k bool[]\nin s float[2,4]\n"
            "node n MatMul s w -> e\nnode - Identity k -> k1\nout k1\nout e\nclose\n"
            "node - Loop t - x -> a\n",
            EXPENSIVE),
         "n", COST(96, 192, 288, 96, 32)},
    };
    (void)state;
    CHECK(rows);
}

static void overflow_of_a_cost_is_reported_with_its_node(void **state) {
    static const char *const rows[] = {
        "in x float[1,4611686018427387904]\nnode n Relu x -> y\nout y\n",
        "in x float[4194304,4194304]\nin w float[4194304,4194304]\nnode n MatMul x w -> y\n"
        "out y\n",
        "in x float[2,4]\n" TRIP_COUNT("9223372036854775806") LOOP,
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench *bench = bench_open(rows[i]);
        assert_int_equal(bench->status, CM_REFUSED);
        assert_string_equal(bench_messages(bench),
                            "error[overflow] at n: the cost of the node must be below 2^63");
        bench_close(bench);
    }
}

static void overflow_of_a_sum_over_nodes_is_an_error(void **state) {
    struct bench *bench = bench_open("in x float[1073741824,1073741824]\nnode a Relu x -> y\n"
                                     "node b Relu y -> z\nout z\n");
    (void)state;
    assert_int_equal(bench->status, CM_REFUSED);
    assert_string_equal(bench_messages(bench),
                        "error[overflow]: the model's bytes read exceed 2^63");
    bench_close(bench);
    /* 3 * 2^60 MACs each: the sum of MACs fits, the sum of operations overflows */
    const struct cm_options exact = {.convention = "exact"};
    bench = bench_open_with("in a uint8[1048576,3145728]\nin b int8[3145728,1048576]\n"
                            "node n MatMulInteger a b -> y\nnode m MatMulInteger a b -> z\n"
                            "out y\nout z\n",
                            &exact);
    assert_int_equal(bench->status, CM_REFUSED);
    assert_string_equal(bench_messages(bench),
                        "error[overflow]: the model's integer operations exceed 2^63");
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overflow_of_a_sum_over_nodes_is_an_error),
        cmocka_unit_test(counts_each_operand_read_and_each_output_written),
        cmocka_unit_test(reads_only_what_is_selected),
        cmocka_unit_test(views_and_constants_move_no_bytes),
        cmocka_unit_test(unknown_operators_and_shapes_have_unknown_costs),
        cmocka_unit_test(mode_option_overrides_the_training_attribute),
        cmocka_unit_test(costs_of_a_body_are_multiplied_by_its_trip_count),
        cmocka_unit_test(counts_only_the_more_expensive_branch),
        cmocka_unit_test(bodies_inside_an_uncounted_branch_cost_nothing),
        cmocka_unit_test(overflow_of_a_cost_is_reported_with_its_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
