/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of pass advice, just inside and just outside its condition. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "timed_harness.h"

#include "passes/modules/modules.h"
#include "passes/summary/memory_required.h"
#include "timing/advice.h"
#include "timing/estimate.h"
#include "timing/primitives.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* A convolution of 64 channels, an activation, a Transpose and a product. */
static const char network[] =
    "in x float[8,64,16,16]\ninit a.weight float[64,64,3,3]\ninit b.weight float[64,64]\n"
    "at :Net conv:Conv2d\nnode c Conv x a.weight -> p pads=[1,1,1,1]\n"
    "at :Net act:ReLU\nnode r Relu p -> q\n"
    "at :Net\nnode t Transpose q -> s perm=[0,2,3,1]\n"
    "at :Net fc:Linear\nnode m MatMul s b.weight -> y\nout y\n";

#define TABLE "conv: 0.004\neltwise: 0.001\ncopy: 0.0001\ngemm: 0.004\n"

#define IMAGE_BYTES ((double)8 * 64 * 16 * 16 * 4)

/* Sets a state in which no rule fires: tensor cores are used, the device is full, launches take
 * no time. */
static void no_rule_fires(const struct timing *timing) {
    memset(&timed_estimate(timing)->ceilings, 0, sizeof(timing->estimate->ceilings));
    memset(&timed_estimate(timing)->facts, 0, sizeof(timing->estimate->facts));
    timed_estimate(timing)->ceilings.copy_bytes_per_s = 1e9;
    timed_estimate(timing)->ceilings.flops_per_s[CM_F32] = 1e9;
    for (size_t i = 0; i < timing->primitives->n; i++) {
        struct cm_how *how = &timed_estimate(timing)->items[i].how;
        memset(how, 0, sizeof(*how));
        how->tensor_cores = CM_TENSOR_CORES_YES;
        how->n_kernels = 1;
        how->kernels[0].blocks_per_unit = 4;
        timed_estimate(timing)->items[i].state = CM_MEASURED;
    }
}

static struct cm_measurement *find(struct bench *bench, const char *node) {
    const uint32_t id = bench_node(bench, node);
    return &bench->timing->estimate->items[bench->timing->primitives->of_node[id]];
}

static struct cm_primitive *work(struct bench *bench, const char *node) {
    const uint32_t id = bench_node(bench, node);
    return &bench->timing->primitives->items[bench->timing->primitives->of_node[id]];
}

static void no_change(struct bench *bench) {
    (void)bench;
}

static void conv_without_tensor_cores(struct bench *bench) {
    timed_estimate(bench->timing)->facts.has_tensor_cores = 1;
    find(bench, "c")->how.tensor_cores = CM_TENSOR_CORES_NO;
}

static void device_without_tensor_cores(struct bench *bench) {
    find(bench, "c")->how.tensor_cores = CM_TENSOR_CORES_NO;
}

static void transposing_workspace(struct bench *bench) {
    find(bench, "c")->how.workspace_bytes = (int64_t)(2 * IMAGE_BYTES) + 64 * 64 * 9 * 4;
}

static void small_workspace(struct bench *bench) {
    find(bench, "c")->how.workspace_bytes = (int64_t)IMAGE_BYTES;
}

static void channels_last(struct bench *bench) {
    transposing_workspace(bench);
    work(bench, "c")->inputs[0].strides[1] = 1;
}

/* The workspace is as large as the images: both are empty. */
static void empty_images(struct bench *bench) {
    work(bench, "c")->inputs[0].dims[0] = work(bench, "c")->outputs[0].dims[0] = 0;
}

static void half_of_12(struct bench *bench) {
    timed_estimate(bench->timing)->facts.has_tensor_cores = 1;
    work(bench, "m")->inputs[0].element = CM_F16;
    work(bench, "m")->inputs[1].dims[1] = 12;
}

static void half_of_16(struct bench *bench) {
    half_of_12(bench);
    work(bench, "m")->inputs[1].dims[1] = 16;
}

static void bytes_of_24(struct bench *bench) {
    half_of_12(bench);
    work(bench, "m")->inputs[0].element = CM_I8;
    work(bench, "m")->inputs[1].dims[1] = 24;
}

static void single_of_12(struct bench *bench) {
    half_of_12(bench);
    work(bench, "m")->inputs[0].element = CM_F32;
}

/* 1.05 MB in 1 ms: memory bound at 1 GB/s. */
static void relu_by_memory(struct bench *bench) {
    timed_estimate(bench->timing)->ceilings.copy_bytes_per_s = 2 * IMAGE_BYTES / 0.001;
}

static void relu_by_latency(struct bench *bench) {
    timed_estimate(bench->timing)->ceilings.copy_bytes_per_s = 100 * IMAGE_BYTES / 0.001;
}

static void half_a_grid(struct bench *bench) {
    find(bench, "c")->how.kernels[0].blocks_per_unit = 0.25;
}

static void half_a_grid_of_little(struct bench *bench) {
    find(bench, "t")->how.kernels[0].blocks_per_unit = 0.25;
}

static void launch_of_what_is_needed(struct bench *bench) {
    timed_estimate(bench->timing)->ceilings.floor_s = 0.0015;
}

static void most_is_launch(struct bench *bench) {
    launch_of_what_is_needed(bench);
    timed_estimate(bench->timing)->ceilings.copy_bytes_per_s = 1e12;
    timed_estimate(bench->timing)->ceilings.flops_per_s[CM_F32] = 1e12;
}

static void little_is_launch(struct bench *bench) {
    timed_estimate(bench->timing)->ceilings.floor_s = 0.0003; /* exceeds the transpose only */
}

static void full_memory(struct bench *bench) {
    timed_estimate(bench->timing)->facts.memory_bytes =
        bench->analysis.memory_required->required_bytes * 100 / 91;
}

static void roomy_memory(struct bench *bench) {
    timed_estimate(bench->timing)->facts.memory_bytes =
        bench->analysis.memory_required->required_bytes * 100 / 89;
}

static void slow_copy(struct bench *bench) {
    find(bench, "t")->cold.median = 0.0011;
}

static void quick_copy(struct bench *bench) {
    find(bench, "t")->cold.median = 0.0009;
}

/* 9.1 ms of layers in a network of 20 ms. */
static void idle_half(struct bench *bench) {
    static const bool all[8] = {true, true, true, true, true, true, true, true};
    struct network_time *whole = &timed_estimate(bench->timing)->network;
    whole->included = all;
    whole->measurement.state = CM_MEASURED;
    whole->measurement.warm.median = 0.020;
    whole->sum_warm_ps = 9100000000;
}

static void busy(struct bench *bench) {
    idle_half(bench);
    timed_estimate(bench->timing)->network.measurement.warm.median = 0.018;
}

struct row {
    const char *context;
    void (*change)(struct bench *bench);
    const char *nodes; /* nodes of the advice; NULL: the rule must not fire */
    double gain_ms;    /* negative: unknown */
};

static const struct row rows[] = {
    {"R1", idle_half, "crtm", -1},
    {"R1", busy, NULL, 0},
    {"R2", conv_without_tensor_cores, "c", 2.803968}, /* 4 ms, 1,196,032 bytes at 1 GB/s */
    {"R2", device_without_tensor_cores, NULL, 0},
    {"R2", no_change, NULL, 0},
    {"R3", transposing_workspace, "c", 2.097152}, /* 4 images at 1 GB/s */
    {"R3", small_workspace, NULL, 0},
    {"R3", channels_last, NULL, 0},
    {"R3", empty_images, NULL, 0},
    {"R4", half_of_12, "m", -1}, /* no rate of f16 is known */
    {"R4", bytes_of_24, "m", -1},
    {"R4", half_of_16, NULL, 0},
    {"R4", single_of_12, NULL, 0},
    {"R5", relu_by_memory, "r", 1},
    {"R5", relu_by_latency, NULL, 0},
    {"R6", half_a_grid, "c", 3},
    {"R6", half_a_grid_of_little, NULL, 0},
    {"R7", most_is_launch, "crtm", 8.93013},   /* all but 0.17 ms of arithmetic and copying */
    {"R7", launch_of_what_is_needed, NULL, 0}, /* the gain is 0 */
    {"R7", little_is_launch, NULL, 0},
    {"R8", full_memory, "c", -1},
    {"R8", roomy_memory, NULL, 0},
    {"R9", slow_copy, "t", 1.1},
    {"R9", quick_copy, NULL, 0},
};

static const struct cm_advice *advice_of(const struct bench *bench, const char *context) {
    const struct advice_table *table = bench->timing->advice;
    for (size_t i = 0; i < table->n; i++)
        if (strcmp(table->items[i].rule, context) == 0) return &table->items[i];
    return NULL;
}

static void expect_nodes(const struct bench *bench, size_t row,
                         const struct cm_advice *advice) {
    assert_int_equal(advice->n_nodes, strlen(rows[row].nodes));
    for (size_t i = 0; i < advice->n_nodes; i++) {
        const char name[] = {rows[row].nodes[i], '\0'};
        if (advice->nodes[i] != bench_node(bench, name)) fail_msg("row %zu: not %s", row, name);
    }
}

static void rule_fires_only_if_its_condition_holds(void **state) {
    (void)state;
    for (size_t i = 0; i < N(rows); i++) {
        struct bench *bench = timed_open(network, TABLE);
        no_rule_fires(bench->timing);
        rows[i].change(bench);
        timed_again(bench);
        const struct cm_advice *advice = advice_of(bench, rows[i].context);
        if ((advice != NULL) != (rows[i].nodes != NULL))
            fail_msg("row %zu, %s: %s", i, rows[i].context, advice ? advice->text : "silent");
        if (advice) {
            expect_nodes(bench, i, advice);
            const double gain =
                advice->gain_ps == DIM_UNKNOWN ? -1 : (double)advice->gain_ps / 1e9;
            if (fabs(gain - rows[i].gain_ms) > 1e-3) fail_msg("row %zu: %g ms", i, gain);
        }
        bench_close(bench);
    }
}

static void gives_no_advice_without_times(void **state) {
    struct bench *bench = timed_run(network, &(struct cm_options){0});
    (void)state;
    assert_int_equal(bench->timing->advice->n, 0);
    bench_close(bench);
}

/* Both rules could save most of the time of the convolution. */
static void a_gain_is_part_of_what_earlier_rules_leave(void **state) {
    struct bench *bench = timed_open(network, TABLE);
    (void)state;
    no_rule_fires(bench->timing);
    conv_without_tensor_cores(bench);
    half_a_grid(bench);
    timed_again(bench);
    const struct advice_table *table = bench->timing->advice;
    assert_string_equal(table->items[0].rule, "R6");
    assert_int_equal(table->items[0].gain_ps, 3000000000);
    assert_null(advice_of(bench, "R2")); /* 1 ms is left, and moving the bytes takes 1.2 ms */
    bench_close(bench);
}

static void text_names_share_and_remedy(void **state) {
    struct bench *bench = timed_open(network, TABLE);
    (void)state;
    no_rule_fires(bench->timing);
    half_a_grid(bench);
    timed_again(bench);
    const struct cm_advice *advice = advice_of(bench, "R6");
    assert_non_null(advice);
    assert_string_equal(advice->text,
                        "1 node (43.96% of latency) with fewer blocks than the device has "
                        "multiprocessors, part of which is idle: take a larger batch, or an "
                        "algorithm that splits the sum (split-K).");
    assert_int_equal(advice->n_modules, 1);
    assert_string_equal(bench->analysis.modules->modules[advice->modules[0]].path, "conv");
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_fires_only_if_its_condition_holds),
        cmocka_unit_test(gives_no_advice_without_times),
        cmocka_unit_test(a_gain_is_part_of_what_earlier_rules_leave),
        cmocka_unit_test(text_names_share_and_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
