/* SPDX-License-Identifier: Apache-2.0 */
/* Products fused with the elementwise nodes that follow them: the nodes of a group, and how the
 * time of the group is divided among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backends/primitive.h"
#include "model_harness.h"
#include "passes/modules/modules.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/text.h"
#include "timed_harness.h"
#include "timing/estimate.h"
#include "timing/primitives.h"
#include "timing/times.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Times of the nodes of `block` without fusion: 4 + 1 + 0.5 + 0.5 ms. */
#define APART "conv f32: 0.004\nnorm: 0.001\neltwise: 0.0005\ngemm f32: 0.004\n"

static struct bench *ask(const char *lines, const char *table) {
    const struct cm_options options = {.memory_alignment = 1, .fuse = true};
    return timed_open_with(lines, table, &options);
}

static int64_t latency(const struct bench *bench, const char *node) {
    return timed_node(bench, node)->latency_ps;
}

/* The block of a ResNet: x is added to the normalized convolution. */
static const char block[] =
    "in x float[2,8,4,4]\ninit c.weight float[8,8,3,3]\ninit n.weight float[8]\n"
    "init n.bias float[8]\ninit n.mean float[8]\ninit n.var float[8]\n"
    "node c Conv x c.weight -> p pads=[1,1,1,1]\n"
    "node n BatchNormalization p n.weight n.bias n.mean n.var -> q\n"
    "node a Add x q -> s\nnode r Relu s -> y\nout y\n";

/* 3 ms in total: the convolution gets 4/6, the norm 1/6, Add and ReLU 0.5/6 each. */
static void time_of_a_group_is_divided_in_proportion_to_its_members(void **state) {
    struct bench *bench = ask(block, "conv add relu f32: 0.003\n" APART);
    (void)state;
    assert_int_equal(latency(bench, "c"), 2000000000);
    assert_int_equal(latency(bench, "n"), 500000000);
    assert_int_equal(latency(bench, "a"), 250000000);
    assert_int_equal(latency(bench, "r"), 250000000);
    assert_int_equal(bench->timing->times->of_module[0].latency_ps, 3000000000);
    bench_close(bench);
}

static void refused_group_is_measured_node_by_node(void **state) {
    static const char *const tables[] = {
        "conv add relu f32: refuse\n" APART,
        "conv add relu f32: crash\n" APART,
    };
    (void)state;
    for (size_t i = 0; i < N(tables); i++) {
        struct bench *bench = ask(block, tables[i]);
        assert_int_equal(latency(bench, "c"), 4000000000);
        assert_int_equal(latency(bench, "n"), 1000000000);
        assert_int_equal(latency(bench, "a"), 500000000);
        assert_int_equal(bench->timing->times->of_module[0].latency_ps, 6000000000);
        bench_close(bench);
    }
}

static void groups_of_single_nodes_are_noted(void **state) {
    struct bench *bench = ask(block, "conv add relu f32: refuse\n" APART);
    (void)state;
    assert_non_null(strstr(bench_messages(bench),
                           "1 of 1 groups of fused nodes run as single nodes; reason of the "
                           "first: the table refuses it"));
    bench_close(bench);
    bench = ask(block, "conv add relu f32: 0.003\neltwise relu: refuse\n" APART);
    assert_non_null(strstr(bench_messages(bench),
                           "1 of 1 groups of fused nodes run as single nodes; reason of the "
                           "first: a node of it has no time"));
    bench_close(bench);
}

/* A plan has no time, so there is nothing to divide. */
static void planned_group_is_the_plan_of_its_nodes(void **state) {
    static const char *const nodes[] = {"c", "n", "a", "r"};
    const struct cm_options options = {.memory_alignment = 1, .fuse = true, .plan_only = true};
    struct bench *bench = timed_open_with(block, "conv add relu f32: 0.003\n" APART, &options);
    const struct timing *timing = bench->timing;
    const uint32_t product = bench_node(bench, "c");
    (void)state;
    for (size_t i = 0; i < N(nodes); i++) {
        const uint32_t node = bench_node(bench, nodes[i]);
        assert_int_equal(estimate_primitive(timing, node), timing->primitives->fused[product]);
        assert_int_equal(estimate_state(timing, node), CM_PLANNED);
        assert_int_equal(estimate_runs(timing, node), node == product);
        assert_int_equal(latency(bench, nodes[i]), DIM_UNKNOWN);
    }
    bench_close(bench);
    bench = timed_open_with(block, "conv add relu f32: refuse\n" APART, &options);
    for (size_t i = 0; i < N(nodes); i++) {
        const uint32_t node = bench_node(bench, nodes[i]);
        assert_int_equal(estimate_primitive(bench->timing, node),
                         bench->timing->primitives->of_node[node]);
        assert_int_equal(estimate_state(bench->timing, node), CM_PLANNED);
    }
    bench_close(bench);
}

/* Without the time of a member there is no proportion. */
static void group_with_an_unmeasured_member_is_measured_node_by_node(void **state) {
    struct bench *bench = ask(block, "conv add relu f32: 0.003\neltwise relu: refuse\n" APART);
    (void)state;
    assert_int_equal(latency(bench, "c"), 4000000000);
    assert_int_equal(latency(bench, "r"), DIM_UNKNOWN);
    bench_close(bench);
}

static void without_the_option_nothing_is_fused(void **state) {
    struct bench *bench = timed_open(block, "conv add relu f32: 0.003\n" APART);
    (void)state;
    assert_null(bench->timing->primitives->group);
    assert_int_equal(latency(bench, "c"), 4000000000);
    bench_close(bench);
}

struct row {
    const char *lines;
    const char *fused; /* text of the group's primitive; NULL: there is none */
};

static const struct row rows[] = {
    /* BatchNormalization: the scale is folded into the weights, the shift becomes a bias. */
    {block, "conv add relu f32 2x8x4x4 8x8x3x3 8 2x8x4x4 -> 2x8x4x4 kernel 3x3 "
            "pad 1x1+1x1"},
    {"in x float[4,16]\ninit a.w float[16,8]\ninit a.b float[8]\nnode g MatMul x a.w -> p\n"
     "node b Add p a.b -> q\nnode r Sigmoid q -> y\nout y\n",
     "gemm sigmoid f32 4x16 16x8 8 -> 4x8"},
    /* The product is [8,8]; the nodes that read it have the file's shape [2,4,8]. */
    {"in x float[2,4,16]\ninit a.w float[16,8]\ninit a.b float[8]\nin r float[2,4,8]\n"
     "node g MatMul x a.w -> p\nnode b Add p a.b -> q\nnode a Add r q -> s\n"
     "node u Relu s -> y\nout y\n",
     "gemm add relu f32 8x16 16x8 8 8x8 -> 8x8"},
    {"in x float[2,4,16]\ninit a.w float[16,8]\nin s float[1]\nnode g MatMul x a.w -> p\n"
     "node m Mul p s -> y\nout y\n",
     "gemm multiply f32 8x16 16x8 1 -> 8x8"},
    {"in x float[2,4,16]\nin v float[2,1,8]\ninit a.w float[16,8]\n"
     "node g MatMul x a.w -> p\nnode b Add p v -> y\nout y\n",
     NULL}, /* broadcast along rows of each batch */
    /* A vector that is not constant is an operand of an addition. */
    {"in x float[4,16]\nin v float[8]\ninit a.w float[16,8]\nnode g MatMul x a.w -> p\n"
     "node b Add p v -> q\nout q\n",
     "gemm add f32 4x16 16x8 8 -> 4x8"},
    {"in x float[4,16]\nin v float[4,8]\ninit a.w float[16,8]\nnode g MatMul x a.w -> p\n"
     "node s Sub p v -> q\nnode m Mul v q -> y\nout y\n",
     "gemm subtract multiply f32 4x16 16x8 4x8 4x8 -> 4x8"},
    {"in x float[4,16]\nin v float[4,8]\ninit a.w float[16,8]\nnode g MatMul x a.w -> p\n"
     "node s Sub v p -> y\nout y\n",
     NULL}, /* the product is the second operand */
    {"in x float[4,16]\ninit a.w float[16,8]\nnode g MatMul x a.w -> p\nnode r Relu p -> q\n"
     "node e Exp p -> y\nout q\nout y\n",
     NULL}, /* two readers */
    {"in x float[4,16]\ninit a.w float[16,8]\nnode g MatMul x a.w -> p\nnode r Relu p -> q\n"
     "out p\nout q\n",
     NULL}, /* a result of the model */
    {"in x float[4,16]\nin v float[3,4,8]\ninit a.w float[16,8]\nnode g MatMul x a.w -> p\n"
     "node b Add p v -> y\nout y\n",
     NULL}, /* the sum is larger */
    {"in x float[4,16]\ninit a.w float[16,8]\nnode g MatMul x a.w -> p\nnode s Softmax p -> y\n"
     "out y\n",
     NULL},
};

static void groups_are_chains_after_a_product(void **state) {
    (void)state;
    for (size_t i = 0; i < N(rows); i++) {
        struct bench *bench = ask(rows[i].lines, APART "softmax: 0.001\n");
        const struct primitives_table *table = bench->timing->primitives;
        const uint32_t product = bench_node(bench, i == 0 ? "c" : "g");
        struct text text;
        text_init(&text, bench->analysis.arena);
        if (table->fused[product] != ID_NONE)
            primitive_print(&table->items[table->fused[product]], &text);
        const char *have = table->fused[product] == ID_NONE ? NULL : text_string(&text);
        if (!text_equal(have, rows[i].fused)) fail_msg("row %zu: %s", i, have ? have : "none");
        bench_close(bench);
    }
}

/* The primitive of the group reads the residual too, and writes once. */
static void group_moves_the_bytes_of_its_operands(void **state) {
    struct bench *bench = ask(block, "conv add relu f32: 0.003\n" APART);
    const struct primitives_table *table = bench->timing->primitives;
    const struct cm_primitive *fused = &table->items[table->fused[bench_node(bench, "c")]];
    (void)state;
    assert_int_equal(fused->bytes_read, 1024 + 8 * 8 * 9 * 4 + 8 * 4 + 1024);
    assert_int_equal(fused->bytes_written, 1024);
    assert_true(primitive_has_bias(fused));
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_of_a_group_is_divided_in_proportion_to_its_members),
        cmocka_unit_test(refused_group_is_measured_node_by_node),
        cmocka_unit_test(groups_of_single_nodes_are_noted),
        cmocka_unit_test(planned_group_is_the_plan_of_its_nodes),
        cmocka_unit_test(group_with_an_unmeasured_member_is_measured_node_by_node),
        cmocka_unit_test(without_the_option_nothing_is_fused),
        cmocka_unit_test(groups_are_chains_after_a_product),
        cmocka_unit_test(group_moves_the_bytes_of_its_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
