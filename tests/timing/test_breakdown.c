/* SPDX-License-Identifier: Apache-2.0 */
/* Costs by operator, and time by kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "timed_harness.h"

#include "timing/breakdown.h"
#include "timing/estimate.h"
#include "timing/primitives.h"

static const char network[] =
    "in x float[1,4,8,8]\ninit a.weight float[4,4,1,1]\ninit b.weight float[4,4,3,3]\n"
    "node a Conv x a.weight -> p\nnode r Relu p -> q\n"
    "node b Conv q b.weight -> s pads=[1,1,1,1]\nnode t Relu s -> u\n"
    "node f Flatten u -> v\nout v\n";

#define TABLE "conv f32 1x4x8x8 4x4x1x1: 0.002\nconv: 0.006\neltwise: 0.0005\n"

static struct cm_measurement *find(struct bench *bench, const char *node) {
    const uint32_t id = bench_node(bench, node);
    return &bench->timing->estimate->items[bench->timing->primitives->of_node[id]];
}

static void name_kernel(struct cm_measurement *measurement, const char *name, double blocks) {
    struct cm_kernel *kernel = &measurement->how.kernels[0];
    memset(&measurement->how, 0, sizeof(measurement->how));
    memcpy(kernel->name, name, strlen(name));
    kernel->blocks_per_unit = blocks;
    kernel->tensor_cores = CM_TENSOR_CORES_YES;
    measurement->how.n_kernels = 1;
}

static void lists_operators_slowest_first(void **state) {
    struct bench *bench = timed_open(network, TABLE);
    (void)state;
    const struct breakdown_table *table = bench->timing->breakdown;
    assert_int_equal(table->n_operators, 3);
    assert_string_equal(table->operators[0].op, "Conv");
    assert_int_equal(table->operators[0].nodes, 2);
    assert_int_equal(table->operators[0].costs.macs, 64 * 4 * (4 + 36));
    assert_int_equal(table->operators[0].costs.latency_ps, 8000000000);
    assert_string_equal(table->operators[0].states[0].state, "invented");
    assert_int_equal(table->operators[0].states[0].nodes, 2);
    assert_string_equal(table->operators[1].op, "Relu");
    assert_int_equal(table->operators[1].costs.latency_ps, 1000000000);
    assert_string_equal(table->operators[2].states[0].state, "view");
    assert_int_equal(table->operators[2].states[0].nodes, 1);
    bench_close(bench);
}

/* One kernel runs in two layers, for 2 ms and 6 ms; ratios are averages weighted by time. */
static void kernel_of_several_layers_is_one_row(void **state) {
    struct bench *bench = timed_open(network, TABLE);
    (void)state;
    name_kernel(find(bench, "a"), "sgemm", 0.5);
    name_kernel(find(bench, "b"), "sgemm", 3);
    find(bench, "a")->how.kernels[0].theoretical_occupancy = 0.5;
    find(bench, "b")->how.kernels[0].theoretical_occupancy = 0.25;
    timed_again(bench);
    const struct cm_kernel_row *row = &bench->timing->breakdown->kernels[0];
    assert_int_equal(bench->timing->breakdown->n_kernels, 2);
    assert_string_equal(row->name, "sgemm");
    assert_int_equal(row->primitive, CM_NO_INDEX);
    assert_int_equal(row->calls, 2);
    assert_int_equal(row->total_ps, 8000000000);
    assert_int_equal(row->mean_ps, 4000000000);
    assert_int_equal(row->min_ps, 2000000000);
    assert_int_equal(row->max_ps, 6000000000);
    assert_int_equal(row->blocks_per_unit, 2.375 * CM_RATIO_ONE);
    assert_int_equal(row->occupancy, CM_UNKNOWN);
    assert_int_equal(row->theoretical_occupancy, 0.3125 * CM_RATIO_ONE);
    assert_int_equal(row->unit_efficiency, 0.875 * CM_RATIO_ONE); /* average of 0.5, 1 */
    bench_close(bench);
}

/* 4 blocks in 2 ms, unknown in twice 0.5 ms, 1 block in 6 ms. */
static void unknown_ratios_have_no_weight_in_the_mean(void **state) {
    struct bench *bench = timed_open(network, TABLE);
    (void)state;
    name_kernel(find(bench, "a"), "sgemm", 4);
    name_kernel(find(bench, "r"), "sgemm", 0);
    name_kernel(find(bench, "b"), "sgemm", 1);
    timed_again(bench);
    const struct cm_kernel_row *row = &bench->timing->breakdown->kernels[0];
    assert_int_equal(row->total_ps, 9000000000);
    assert_int_equal(row->blocks_per_unit, 1.75 * CM_RATIO_ONE);
    bench_close(bench);
}

static void time_of_several_kernels_is_one_row_of_the_layer(void **state) {
    struct bench *bench = timed_open(network, TABLE);
    (void)state;
    name_kernel(find(bench, "b"), "first", 1);
    find(bench, "b")->how.n_kernels = 2;
    timed_again(bench);
    const struct cm_kernel_row *row = &bench->timing->breakdown->kernels[0];
    const uint32_t b = bench->timing->primitives->of_node[bench_node(bench, "b")];
    assert_int_equal(row->primitive, b);
    assert_int_equal(row->total_ps, 6000000000);
    assert_string_equal(row->name,
                        "conv f32 1x4x8x8 4x4x3x3 -> 1x4x8x8 kernel 3x3 pad 1x1+1x1");
    bench_close(bench);
}

/* Two launches of 1 ms each in one execution of 2 ms. */
static void kernel_called_twice_takes_half_per_call(void **state) {
    struct bench *bench = timed_open(network, TABLE);
    (void)state;
    name_kernel(find(bench, "a"), "twice", 1);
    find(bench, "a")->how.kernels[0].calls = 2;
    timed_again(bench);
    const struct breakdown_table *table = bench->timing->breakdown;
    const struct cm_kernel_row *row = NULL;
    for (size_t i = 0; i < table->n_kernels; i++)
        if (strcmp(table->kernels[i].name, "twice") == 0) row = &table->kernels[i];
    assert_non_null(row);
    assert_int_equal(row->calls, 2);
    assert_int_equal(row->total_ps, 2000000000);
    assert_int_equal(row->mean_ps, 1000000000);
    bench_close(bench);
}

/* Layer a: 2 ms of kernel `first`. Layer b: 6 ms; events recorded 3 ms of `first` and 1 ms of
 * `second`. */
static void time_of_a_layer_is_split_in_proportion_to_its_kernels(void **state) {
    struct bench *bench = timed_open(network, TABLE);
    (void)state;
    name_kernel(find(bench, "a"), "first", 1);
    name_kernel(find(bench, "b"), "first", 1);
    struct cm_how *how = &find(bench, "b")->how;
    how->n_kernels = 2;
    how->kernels[0].seconds = 0.003;
    how->kernels[1] = (struct cm_kernel){.name = "second", .calls = 2, .seconds = 0.001};
    timed_again(bench);
    const struct breakdown_table *table = bench->timing->breakdown;
    assert_int_equal(table->n_kernels, 3); /* the third runs the elementwise nodes */
    assert_string_equal(table->kernels[0].name, "first");
    assert_int_equal(table->kernels[0].primitive, CM_NO_INDEX);
    assert_int_equal(table->kernels[0].total_ps, 6500000000);
    assert_int_equal(table->kernels[0].min_ps, 2000000000);
    assert_int_equal(table->kernels[0].max_ps, 4500000000);
    assert_string_equal(table->kernels[1].name, "second");
    assert_int_equal(table->kernels[1].total_ps, 1500000000);
    assert_int_equal(table->kernels[1].calls, 2);
    assert_int_equal(table->kernels[1].mean_ps, 750000000);
    bench_close(bench);
}

/* A third of 2 ms is not a whole number of picoseconds. */
static void parts_of_a_layer_add_up_to_its_time(void **state) {
    struct bench *bench = timed_open(network, TABLE);
    (void)state;
    struct cm_how *how = &find(bench, "a")->how;
    memset(how, 0, sizeof(*how));
    how->n_kernels = 3;
    for (int i = 0; i < 3; i++) {
        how->kernels[i] = (struct cm_kernel){.calls = 1, .seconds = 0.001};
        how->kernels[i].name[0] = (char)('p' + i);
    }
    timed_again(bench);
    int64_t sum = 0;
    const struct breakdown_table *table = bench->timing->breakdown;
    for (size_t i = 0; i < table->n_kernels; i++)
        if (table->kernels[i].name[1] == '\0') sum += table->kernels[i].total_ps;
    assert_int_equal(sum, 2000000000);
    how->kernels[2].seconds = 0; /* unknown time: the layer is one row */
    timed_again(bench);
    for (size_t i = 0; i < table->n_kernels; i++)
        assert_int_not_equal(table->kernels[i].name[1], '\0');
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_operators_slowest_first),
        cmocka_unit_test(kernel_of_several_layers_is_one_row),
        cmocka_unit_test(unknown_ratios_have_no_weight_in_the_mean),
        cmocka_unit_test(time_of_several_kernels_is_one_row_of_the_layer),
        cmocka_unit_test(kernel_called_twice_takes_half_per_call),
        cmocka_unit_test(time_of_a_layer_is_split_in_proportion_to_its_kernels),
        cmocka_unit_test(parts_of_a_layer_add_up_to_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
