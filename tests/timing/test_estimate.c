/* SPDX-License-Identifier: Apache-2.0 */
/* Pass estimate with the times of a table: distinct primitives are measured once and summed. */
#include "passes/modules/modules.h"
#include "timing/estimate.h"
#include "timing/primitives.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "timed_harness.h"
#include "timing/times.h"

static const char two_convolutions[] =
    "in x float[1,4,8,8]\ninit a.weight float[4,4,1,1]\ninit b.weight float[4,4,1,1]\n"
    "node a Conv x a.weight -> p\nnode r Relu p -> q\nnode b Conv q b.weight -> s\n"
    "node t Relu s -> u\nnode f Flatten u -> v\nout v\n";

static void equal_primitives_are_measured_once_and_counted_per_node(void **state) {
    struct bench *bench = timed_open(two_convolutions, "conv: 0.002\neltwise: 0.0005\n");
    (void)state;
    assert_int_equal(bench->timing->primitives->n, 2);
    assert_int_equal(timed_node(bench, "a")->latency_ps, 2000000000);
    assert_int_equal(timed_node(bench, "b")->latency_ps, 2000000000);
    assert_int_equal(timed_node(bench, "t")->latency_ps, 500000000);
    assert_int_equal(timed_node(bench, "f")->latency_ps, 0); /* a view */
    assert_int_equal(bench->timing->times->of_module[0].latency_ps, 5000000000);
    bench_close(bench);
}

static void unknown_times_are_not_in_sums(void **state) {
    struct bench *bench = timed_open(two_convolutions, "conv: crash\neltwise: 0.0005\n");
    (void)state;
    assert_int_equal(timed_node(bench, "a")->latency_ps, DIM_UNKNOWN);
    assert_int_equal(bench->timing->times->of_module[0].latency_ps, 1000000000);
    bench_close(bench);
}

static void node_without_a_primitive_has_a_reason(void **state) {
    struct bench *bench =
        timed_open("in x float[4]\nnode z NonZero x -> y\nout y\n", "conv: 1\n");
    (void)state;
    const struct primitives_table *table = bench->timing->primitives;
    const uint32_t node = bench_node(bench, "z");
    assert_int_equal(table->lowered[node], LOWERED_NOT);
    assert_string_equal(table->why_not[node],
                        "work is data-dependent; no sort or select primitive");
    assert_int_equal(timed_node(bench, "z")->latency_ps, DIM_UNKNOWN);
    bench_close(bench);
}

static void unknown_work_has_no_primitive(void **state) {
    struct bench *bench = timed_open(
        "in x float[4]\nnode z NonZero x -> y\nnode c Cast y -> w to=1\nout w\n", "conv: 1\n");
    (void)state;
    assert_int_equal(bench->timing->primitives->lowered[bench_node(bench, "c")], LOWERED_NOT);
    assert_int_equal(bench->timing->primitives->n, 0);
    bench_close(bench);
}

static void primitive_has_the_work_of_its_node(void **state) {
    struct bench *bench = timed_open(two_convolutions, "conv: 0.002\neltwise: 0.0005\n");
    (void)state;
    const struct cm_primitive *conv = &bench->timing->primitives->items[0];
    assert_int_equal(conv->flops, 2 * 4 * 8 * 8 * 4);
    assert_int_equal(conv->bytes_read, (4 * 8 * 8 + 4 * 4) * 4);
    assert_int_equal(conv->bytes_written, 4 * 8 * 8 * 4);
    bench_close(bench);
}

/* The Gather reads 2 of 1000 rows and the indices, not the whole table. */
static void gather_reads_only_the_selected_rows(void **state) {
    struct bench *bench = timed_open("in i int64[2]\ninit t.weight float[1000,8] =1\n"
                                     "node g Gather t.weight i -> y\nout y\n",
                                     "gather: 1\n");
    (void)state;
    const struct cm_primitive *gather = &bench->timing->primitives->items[0];
    assert_int_equal(bench_costs(bench, "g")->bytes_read, 2 * 8 * 4 + 2 * 8);
    assert_int_equal(gather->bytes_read, 2 * 8 * 4 + 2 * 8);
    assert_int_equal(gather->bytes_written, 2 * 8 * 4);
    bench_close(bench);
}

/* A Loop with five iterations. */
static void time_of_a_body_is_multiplied_by_its_trip_count(void **state) {
    struct bench *bench =
        timed_open("in x float[4]\nconst n int64[] =5\nconst c bool[] =1\n"
                   "body body\nin i int64[]\nin k bool[]\nin h float[4]\n"
                   "node r Relu h -> g\nnode - Identity k -> k2\nout k2\nout g\nclose\n"
                   "node l Loop n c x -> y\nout y\n",
                   "eltwise: 0.001\n");
    (void)state;
    assert_int_equal(timed_node(bench, "r")->latency_ps, 5000000000);
    bench_close(bench);
}

static void no_times_without_a_backend(void **state) {
    struct bench *bench = timed_run(two_convolutions, &(struct cm_options){0});
    (void)state;
    assert_false(bench->timing->estimate->done);
    assert_int_equal(bench->timing->primitives->n, 0);
    assert_null(bench->timing->times->of_node);
    bench_close(bench);
}

static void unusable_backend_is_a_warning(void **state) {
    struct cm_options options = {.memory_alignment = 1, .backend = "fake"};
    struct bench *bench = timed_run(two_convolutions, &options);
    (void)state;
    assert_int_equal(bench->status, CM_OK);
    assert_string_equal(bench_messages(bench),
                        "warning[backend]: backend fake cannot be used: a table is required: "
                        "fake:table=FILE; hint: costmodel backends lists the backends; for a "
                        "device that is not here, see 'costmodel guide another-gpu'");
    assert_string_equal(bench->timing->estimate->problem,
                        "a table is required: fake:table=FILE");
    bench_close(bench);
}

static void picoseconds_are_rounded_and_checked(void **state) {
    (void)state;
    assert_int_equal(estimate_ps(0), 0);
    assert_int_equal(estimate_ps(1.4999e-12), 1);
    assert_int_equal(estimate_ps(1.5e-12), 2);
    assert_int_equal(estimate_ps(76.67e-6), 76670000);
    assert_int_equal(estimate_ps(1e7), DIM_OVERFLOW);
    assert_int_equal(estimate_ps(-1), DIM_OVERFLOW);
}

/* The shares of kernels are their times divided by the sum. */
static void kernels_with_an_infinite_sum_have_no_shares(void **state) {
    struct cm_how how = {.n_kernels = 2};
    (void)state;
    for (int i = 0; i < 2; i++)
        how.kernels[i] = (struct cm_kernel){.name = "k", .seconds = 0.5};
    assert_true(estimate_kernels_sum(&how) > 0);
    for (int i = 0; i < 2; i++) how.kernels[i].seconds = 1e308;
    assert_true(estimate_kernels_sum(&how) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_primitives_are_measured_once_and_counted_per_node),
        cmocka_unit_test(unknown_times_are_not_in_sums),
        cmocka_unit_test(node_without_a_primitive_has_a_reason),
        cmocka_unit_test(unknown_work_has_no_primitive),
        cmocka_unit_test(primitive_has_the_work_of_its_node),
        cmocka_unit_test(gather_reads_only_the_selected_rows),
        cmocka_unit_test(time_of_a_body_is_multiplied_by_its_trip_count),
        cmocka_unit_test(no_times_without_a_backend),
        cmocka_unit_test(unusable_backend_is_a_warning),
        cmocka_unit_test(picoseconds_are_rounded_and_checked),
        cmocka_unit_test(kernels_with_an_infinite_sum_have_no_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
