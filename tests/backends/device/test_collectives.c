/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the times of collectives, compared with published measurements. */
#include "backends/device/collectives.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/arena.h"

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

static struct device_model find(const char *name, struct arena *arena) {
    struct device_model model;
    struct cm_reason reason = {""};
    if (device_find(name, arena, &model, &reason) != CM_BACKEND_OK)
        fail_msg("%s: %s", name, reason.text);
    return model;
}

static struct device_collective_time time_of(const char *name, enum device_collective op,
                                             int gpus, double bytes, struct arena *arena) {
    const struct device_model model = find(name, arena);
    struct device_collective_time ret;
    assert_true(device_collective_time(&model, op, gpus, bytes, &ret));
    return ret;
}

#define MIB 1048576.0

/* NCCL 2.27 (GB200: 2.23), microseconds, by AIConfigurator; the MI300X: bus bandwidth of 4 GB
 * by Machine Learning Engineering. */
static void agrees_with_measured_collectives(void **state) {
    static const struct {
        const char *device;
        enum device_collective op;
        int gpus;
        double bytes;
        double us;
    } rows[] = {
        {"h100-sxm", DEVICE_ALL_REDUCE, 8, MIB / 64, 16.69},
        {"h100-sxm", DEVICE_ALL_REDUCE, 4, 256 * MIB, 1189.4},
        {"h100-sxm", DEVICE_ALL_REDUCE, 8, 256 * MIB, 1087.61},
        {"h100-sxm", DEVICE_ALL_GATHER, 2, 16 * MIB, 56.26},
        {"h100-sxm", DEVICE_REDUCE_SCATTER, 4, 16 * MIB, 59.13},
        {"h100-sxm", DEVICE_ALL_TO_ALL, 8, 256 * MIB, 763.52},
        {"a100-80gb", DEVICE_ALL_REDUCE, 8, 16 * MIB, 216.5},
        {"a100-80gb", DEVICE_ALL_TO_ALL, 2, MIB / 64, 12.48},
        {"l40s", DEVICE_ALL_REDUCE, 2, 16 * MIB, 850.4},
        {"l40s", DEVICE_ALL_REDUCE, 4, 256 * MIB, 78355.0},
        {"l40s", DEVICE_REDUCE_SCATTER, 8, 16 * MIB, 9471.7},
        {"gb200", DEVICE_ALL_REDUCE, 4, 256 * MIB, 657.46},
        {"gb200", DEVICE_ALL_GATHER, 4, MIB, 15.36},
        {"mi300x", DEVICE_ALL_REDUCE, 8, 4e9, 2.0 * 7 / 8 * 4e9 / 312.912e9 * 1e6},
        {"mi300x", DEVICE_ALL_REDUCE, 2, 4e9, 4e9 / 47.671e9 * 1e6},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct device_collective_time got =
            time_of(rows[i].device, rows[i].op, rows[i].gpus, rows[i].bytes, *state);
        const double ratio = got.expected / (rows[i].us * 1e-6);
        if (!(ratio > 0.7 && ratio < 1.3) || got.bound > rows[i].us * 1e-6)
            fail_msg("row %d: expected / measured is %g, the bound %g us", (int)i, ratio,
                     got.bound * 1e6);
    }
}

/* DeepEP on H100: hidden size 7168, 8 of 256 experts on at most 4 nodes. */
static void agrees_with_measured_expert_exchanges(void **state) {
    static const struct {
        int nodes;
        double tokens;
        double dispatch_us, combine_us;
    } rows[] = {
        {1, 96, 45.36, 77.43},       {1, 32768, 3871.29, 6824.92}, {2, 4096, 843.5, 2099.0},
        {2, 131072, 24976.0, 58308}, {4, 512, 281.93, 540.9},      {4, 16384, 6960, 13578},
        {8, 65536, 98468, 195253},
    };
    const struct device_model model = find("h100-sxm", *state);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct device_exchange exchange = {.nodes = rows[i].nodes,
                                           .gpus = 8,
                                           .tokens = rows[i].tokens,
                                           .token_bytes = 7168 + 56 * 4,
                                           .experts = 256,
                                           .top_k = 8,
                                           .node_limit = 4};
        struct device_collective_time dispatch;
        struct device_collective_time combine;
        assert_true(device_exchange_time(&model, &exchange, &dispatch));
        exchange.token_bytes = 2 * 7168;
        exchange.combine = true;
        assert_true(device_exchange_time(&model, &exchange, &combine));
        const double first = dispatch.expected / (rows[i].dispatch_us * 1e-6);
        const double second = combine.expected / (rows[i].combine_us * 1e-6);
        if (!(first > 0.7 && first < 1.3 && second > 0.7 && second < 1.3))
            fail_msg("row %d: expected / measured is %g and %g", (int)i, first, second);
        assert_true(dispatch.bound < rows[i].dispatch_us * 1e-6);
        assert_true(combine.bound < rows[i].combine_us * 1e-6);
    }
}

static void counts_wire_bytes(void **state) {
    static const double want[DEVICE_N_COLLECTIVES] = {
        [DEVICE_ALL_REDUCE] = 1500, [DEVICE_ALL_GATHER] = 750, [DEVICE_REDUCE_SCATTER] = 750,
        [DEVICE_ALL_TO_ALL] = 750,  [DEVICE_SEND] = 1000,
    };
    for (int op = 0; op < DEVICE_N_COLLECTIVES; op++) {
        const enum device_collective collective = (enum device_collective)op;
        const struct device_collective_time got =
            time_of("a100-80gb", collective, 4, 1000, *state);
        assert_true(got.wire_bytes == want[op]);
        assert_true(got.bound == want[op] / 300e9);
        assert_true(got.expected > got.bound);
        assert_int_equal(device_collective_find(device_collective_name(collective)), op);
    }
    assert_int_equal(device_collective_find("broadcast"), DEVICE_N_COLLECTIVES);
}

/* NVSwitch sums: each GPU sends its buffer once. */
static void sums_in_switch(void **state) {
    const struct device_collective_time h100 =
        time_of("h100-sxm", DEVICE_ALL_REDUCE, 8, 1000, *state);
    assert_true(h100.wire_bytes == 1000);
}

static void one_gpu_takes_no_time(void **state) {
    const struct device_collective_time got =
        time_of("h100-sxm", DEVICE_ALL_REDUCE, 1, 1000, *state);
    assert_true(got.expected == 0 && got.bound == 0 && got.wire_bytes == 0);
}

static void no_bytes_take_a_launch(void **state) {
    const struct device_collective_time got = time_of("h100-sxm", DEVICE_SEND, 2, 0, *state);
    assert_true(got.bound == 0);
    assert_true(got.expected == find("h100-sxm", *state).link.launch);
}

/* With k = 1, a token goes to one of G nodes, and there to one of 8 GPUs. */
static void one_expert_is_on_one_node(void **state) {
    const struct device_model model = find("h100-sxm", *state);
    const struct device_exchange exchange = {
        .nodes = 4, .gpus = 8, .tokens = 100, .token_bytes = 10, .experts = 64, .top_k = 1};
    struct device_collective_time got;
    assert_true(device_exchange_time(&model, &exchange, &got));
    assert_true(fabs(got.network_bytes - 750) < 1e-6);
    assert_true(fabs(got.wire_bytes - 875) < 1e-6);
}

/* A token goes to all four GPUs: to one other node, and on each of both to one other GPU. */
static void all_experts_are_on_all_gpus(void **state) {
    const struct device_model model = find("h100-sxm", *state);
    struct device_exchange exchange = {
        .nodes = 2, .gpus = 2, .tokens = 100, .token_bytes = 10, .experts = 4, .top_k = 9};
    struct device_collective_time got;
    assert_true(device_exchange_time(&model, &exchange, &got));
    assert_true(got.network_bytes == 1000 && got.wire_bytes == 2000);
    exchange.nodes = exchange.gpus = 1;
    assert_true(device_exchange_time(&model, &exchange, &got));
    assert_true(got.expected == 0 && got.wire_bytes == 0);
}

static void uses_host_link_without_link(void **state) {
    struct device_model model = find("l4", *state);
    struct device_collective_time got;
    const struct device_exchange exchange = {
        .nodes = 2, .gpus = 8, .tokens = 1, .token_bytes = 1, .experts = 16, .top_k = 1};
    assert_true(device_collective_time(&model, DEVICE_SEND, 2, 32e9, &got));
    assert_true(got.bound == 1);
    assert_false(device_exchange_time(&model, &exchange, &got)); /* no network */
    model.host_link = 0;
    assert_false(device_collective_time(&model, DEVICE_SEND, 2, 1, &got));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_measured_collectives),
        cmocka_unit_test(agrees_with_measured_expert_exchanges),
        cmocka_unit_test(counts_wire_bytes),
        cmocka_unit_test(sums_in_switch),
        cmocka_unit_test(one_gpu_takes_no_time),
        cmocka_unit_test(no_bytes_take_a_launch),
        cmocka_unit_test(one_expert_is_on_one_node),
        cmocka_unit_test(all_experts_are_on_all_gpus),
        cmocka_unit_test(uses_host_link_without_link),
    };
    return cmocka_run_group_tests(tests, make, end);
}
