/* SPDX-License-Identifier: Apache-2.0 */
/* Required memory: each stored tensor once, by dtype and storage; the arena; their sum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model_harness.h"

#include "passes/memory/arena_plan.h"
#include "passes/memory/liveness.h"
#include "passes/summary/memory_required.h"

struct group {
    const char *dtype;
    const char *storage;
    int64_t tensors;
    int64_t elements;
    int64_t bytes;
};

static void expect_groups(const struct bench *bench, const struct group *want, size_t n) {
    const struct memory_required_table *table = bench->analysis.memory_required;
    assert_int_equal(bench->status, CM_OK);
    assert_int_equal(table->n_weights, n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(table->weights[i].dtype, want[i].dtype);
        assert_string_equal(table->weights[i].storage, want[i].storage);
        assert_int_equal(table->weights[i].tensors, want[i].tensors);
        assert_int_equal(table->weights[i].elements, want[i].elements);
        assert_int_equal(table->weights[i].bytes, want[i].bytes);
    }
}

static void packed_4_bit_weight_takes_half_a_byte_per_element(void **state) {
    static const struct group want[] = {
        {"int4", "raw", 1, 15, 8},
        {"float16", "raw", 1, 3, 6},
    };
    struct bench *bench =
        bench_open("opset 21\nin x float16[2,5]\ninit q int4[5,3] =1\ninit s float16[3] =1\n"
                   "node - DequantizeLinear q s -> w\nnode - MatMul x w -> y\nout y\n");
    (void)state;
    expect_groups(bench, want, 2);
    assert_int_equal(bench->analysis.memory_required->required_bytes, 8 + 6 + 20 + 12);
    bench_close(bench);
}

static void shared_weight_counts_once(void **state) {
    static const struct group want[] = {{"float", "raw", 1, 16, 64}};
    struct bench *bench = bench_open(
        "in x float[4,4]\ninit a.weight float[4,4] =1\nnode - Identity a.weight -> b.weight\n"
        "node - MatMul x a.weight -> p\nnode - MatMul p b.weight -> q\n"
        "node - MatMul q a.weight -> r\nout r\n");
    (void)state;
    expect_groups(bench, want, 1);
    bench_close(bench);
}

static void unread_weight_is_left_out(void **state) {
    struct bench *bench =
        bench_open("in x float[4,4]\ninit a.weight float[4,4]\nnode - Relu x -> y\nout y\n");
    (void)state;
    expect_groups(bench, NULL, 0);
    assert_int_equal(bench->analysis.memory_required->required_bytes, 128);
    bench_close(bench);
}

static void unread_weight_that_is_a_graph_output_counts(void **state) {
    static const struct group want[] = {{"float", "raw", 1, 16, 64}};
    struct bench *bench = bench_open("in x float[4,4]\ninit a.weight float[4,4] =1\n"
                                     "node - Relu x -> y\nout y\nout a.weight\n");
    (void)state;
    expect_groups(bench, want, 1);
    assert_int_equal(bench->analysis.memory_required->required_bytes, 128 + 64);
    bench_close(bench);
}

static void weight_absent_from_the_file_counts(void **state) {
    static const struct group want[] = {{"float", "absent", 1, 16, 64}};
    struct bench *bench = bench_open(
        "in x float[4,4]\ninit a.weight float[4,4]\nnode - MatMul x a.weight -> y\nout y\n");
    (void)state;
    expect_groups(bench, want, 1);
    bench_close(bench);
}

/* The weight is a graph input, so the arena contains it. */
static void weight_fed_as_an_input_counts_once(void **state) {
    static const struct group want[] = {{"float", "input", 1, 16, 64}};
    struct bench *bench = bench_open("in x float[?n,4]\nin fc.weight float[4,4]\n"
                                     "node - Gemm x fc.weight -> y\nout y\n");
    (void)state;
    expect_groups(bench, want, 1);
    assert_int_equal(bench->analysis.arena_plan->arena_bytes, 16 + 64 + 16);
    assert_int_equal(bench->analysis.memory_required->required_bytes, 16 + 64 + 16);
    bench_close(bench);
}

static void places_are_multiples_of_the_alignment(void **state) {
    static const char lines[] = "in x float[3]\nnode - Exp x -> a\nnode - Exp a -> b\n"
                                "node - Add x b -> y\nout y\n";
    const struct cm_options options = {.memory_alignment = 64};
    struct bench *bench = bench_open_with(lines, &options);
    (void)state;
    assert_int_equal(bench->analysis.liveness->peak_bytes, 36);
    assert_int_equal(bench->analysis.arena_plan->arena_bytes, 3 * 64);
    for (uint32_t id = 0; id < bench->model.n_values; id++)
        assert_int_equal(bench->analysis.arena_plan->offsets[id] % 64, 0);
    bench_close(bench);
    bench = bench_open(lines);
    assert_int_equal(bench->analysis.arena_plan->arena_bytes, 36);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_4_bit_weight_takes_half_a_byte_per_element),
        cmocka_unit_test(shared_weight_counts_once),
        cmocka_unit_test(unread_weight_is_left_out),
        cmocka_unit_test(unread_weight_that_is_a_graph_output_counts),
        cmocka_unit_test(weight_absent_from_the_file_counts),
        cmocka_unit_test(weight_fed_as_an_input_counts_once),
        cmocka_unit_test(places_are_multiples_of_the_alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
