/* SPDX-License-Identifier: Apache-2.0 */
/* Rooflines: the resource that limits a time; expected values are computed by hand. */
#include "passes/modules/modules.h"
#include "timing/estimate.h"
#include "timing/roofline_bounds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "timed_harness.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* A device of 1 TFLOP/s for f32, 1 TB/s and a floor of 1 us. */
static void set_device(const struct timing *timing) {
    timed_estimate(timing)->facts.bandwidth = 1e12;
    timed_estimate(timing)->facts.floor = 1e-6;
}

struct roofline_case {
    const char *name;
    int32_t state;
    int32_t kind;
    int64_t flops;
    int64_t bytes;
    double seconds;
    double blocks; /* blocks_per_unit of its only kernel; 0: no kernel */
    enum limited_by limited_by;
    double roofline;
};

static const struct roofline_case rows[] = {
    /* clang-format off */
    {"copy at 80 %",                CM_MEASURED, CM_COPY,    0,    8000000, 10e-6,  0,   LIMITED_BY_MEMORY,    0.8},
    {"copy at 39 %",                CM_MEASURED, CM_COPY,    0,    3900000, 10e-6,  0,   LIMITED_BY_KERNEL,    0.39},
    {"less than three floors",      CM_MEASURED, CM_COPY,    0,    2900000, 2.9e-6, 0,   LIMITED_BY_LAUNCH,    1},
    {"half-full grid",              CM_MEASURED, CM_COPY,    0,    8000000, 10e-6,  0.5, LIMITED_BY_OCCUPANCY, 0.8},
    {"full grid",                   CM_MEASURED, CM_COPY,    0,    8000000, 10e-6,  1,   LIMITED_BY_MEMORY,    0.8},
    {"product limited by memory",   CM_MEASURED, CM_GEMM,    1000, 8000000, 10e-6,  0,   LIMITED_BY_MEMORY,    -1},
    {"product, peak rate unknown",  CM_MEASURED, CM_GEMM,    1000, 1000000, 10e-6,  0,   LIMITED_BY_UNKNOWN,   -1},
    {"proxy is like a measurement", CM_PROXY,    CM_ELTWISE, 1000, 8000000, 10e-6,  0,   LIMITED_BY_MEMORY,    0.8},
    /* clang-format on */
};

static void time_is_limited_by_the_closest_ceiling(void **state) {
    struct estimate_table estimate = {0};
    const struct timing timing = {.estimate = &estimate};
    (void)state;
    set_device(&timing);
    for (size_t i = 0; i < N(rows); i++) {
        struct cm_primitive primitive;
        struct cm_measurement measurement;
        struct achieved achieved;
        memset(&primitive, 0, sizeof(primitive));
        memset(&measurement, 0, sizeof(measurement));
        primitive.kind = rows[i].kind;
        primitive.inputs[0].element = CM_F32;
        primitive.flops = rows[i].flops;
        primitive.bytes_read = rows[i].bytes;
        measurement.state = rows[i].state;
        measurement.cold.median = rows[i].seconds;
        measurement.how.n_kernels = rows[i].blocks > 0;
        measurement.how.kernels[0].blocks_per_unit = rows[i].blocks;
        roofline_bounds_compute(&timing, &primitive, &measurement, &achieved);
        if (achieved.limited_by != rows[i].limited_by)
            fail_msg("%s: %s", rows[i].name, roofline_bounds_name(achieved.limited_by));
        if (fabs(achieved.roofline - rows[i].roofline) > 1e-9)
            fail_msg("%s: %g", rows[i].name, achieved.roofline);
    }
}

/* Measured 0.5 TB/s and 1 TFLOP/s of f32, instead of the device's 1 TB/s. */
static void measured_ceilings_replace_published_ones(void **state) {
    struct estimate_table estimate = {0};
    const struct timing timing = {.estimate = &estimate};
    struct cm_primitive primitive;
    struct cm_measurement measurement;
    struct achieved achieved;
    (void)state;
    memset(&primitive, 0, sizeof(primitive));
    memset(&measurement, 0, sizeof(measurement));
    set_device(&timing);
    timed_estimate(&timing)->ceilings.copy_bytes_per_s = 5e11;
    timed_estimate(&timing)->ceilings.flops_per_s[CM_F32] = 1e12;
    primitive.kind = CM_GEMM;
    primitive.inputs[0].element = CM_F32;
    primitive.flops = 6000000;
    primitive.bytes_written = 2500000;
    measurement.state = CM_MEASURED;
    measurement.cold.median = 10e-6;
    roofline_bounds_compute(&timing, &primitive, &measurement, &achieved);
    assert_int_equal(achieved.limited_by, LIMITED_BY_COMPUTE);
    assert_true(fabs(achieved.roofline - 0.6) < 1e-9);
    primitive.bytes_written = 3500000;
    roofline_bounds_compute(&timing, &primitive, &measurement, &achieved);
    assert_int_equal(achieved.limited_by, LIMITED_BY_MEMORY);
    assert_true(fabs(achieved.roofline - 0.7) < 1e-9);
}

/* The backend states its lower bound and limit; bytes and FLOPs do not matter. */
static void model_states_its_bound_and_limit(void **state) {
    static const struct {
        int32_t limit;
        enum limited_by want;
    } limits[] = {{CM_LIMIT_COMPUTE, LIMITED_BY_COMPUTE},
                  {CM_LIMIT_MEMORY, LIMITED_BY_MEMORY},
                  {CM_LIMIT_LAUNCH, LIMITED_BY_LAUNCH},
                  {CM_LIMIT_UNKNOWN, LIMITED_BY_UNKNOWN},
                  {99, LIMITED_BY_UNKNOWN},
                  {-1, LIMITED_BY_UNKNOWN}};
    (void)state;
    for (size_t i = 0; i < N(limits); i++) {
        struct estimate_table estimate = {0};
        const struct timing timing = {.estimate = &estimate};
        struct cm_primitive primitive;
        struct cm_measurement measurement;
        struct achieved achieved;
        memset(&primitive, 0, sizeof(primitive));
        memset(&measurement, 0, sizeof(measurement));
        set_device(&timing);
        primitive.bytes_read = 9000000;
        measurement.state = CM_MODELLED;
        measurement.cold.median = 10e-6;
        measurement.lower_bound = 4e-6;
        measurement.limit = limits[i].limit;
        roofline_bounds_compute(&timing, &primitive, &measurement, &achieved);
        assert_int_equal(achieved.limited_by, limits[i].want);
        assert_true(fabs(achieved.roofline - 0.4) < 1e-9);
    }
}

static void no_roofline_without_a_time(void **state) {
    struct estimate_table estimate = {0};
    const struct timing timing = {.estimate = &estimate};
    struct cm_primitive primitive;
    struct cm_measurement measurement;
    struct achieved achieved;
    (void)state;
    memset(&primitive, 0, sizeof(primitive));
    memset(&measurement, 0, sizeof(measurement));
    measurement.state = CM_CRASHED;
    measurement.cold.median = 1;
    roofline_bounds_compute(&timing, &primitive, &measurement, &achieved);
    assert_false(achieved.present);
}

/* Two convolutions in one module, a slow ReLU in another. */
static const char lines[] =
    "in x float[1,4,8,8]\ninit a.weight float[4,4,1,1]\ninit b.weight float[4,4,1,1]\n"
    "at :Net block:Block\nnode a Conv x a.weight -> p\nnode b Conv p b.weight -> q\n"
    "at :Net act:ReLU\nnode r Relu q -> y\nout y\n";

static void module_rates_use_sums_of_its_primitives(void **state) {
    struct bench *bench = timed_open(lines, "conv: 0.002\neltwise: 0.006\n");
    (void)state;
    const struct roofline_bounds_table *table = bench->timing->roofline_bounds;
    const struct cm_module *block = bench_module(bench, "block");
    const struct achieved *of_block =
        &table->of_module[block - bench->analysis.modules->modules];
    const struct achieved *of_root = &table->of_module[0];
    const double bytes = (4 * 8 * 8 + 4 * 4 + 4 * 8 * 8) * 4;
    assert_true(of_block->present);
    assert_true(fabs(of_block->bytes_per_s - bytes / 0.002) < 1);
    assert_true(fabs(of_block->flops_per_s - 2 * 4 * 8 * 8 * 4 / 0.002) < 1);
    assert_true(fabs(of_root->bytes_per_s - (2 * bytes + 2 * 4 * 8 * 8 * 4) / 0.010) < 1);
    bench_close(bench);
}

/* The ReLU takes 60 % of the time. */
static void module_is_limited_by_the_resource_with_most_of_its_time(void **state) {
    struct bench *bench = timed_open(lines, "conv: 0.002\neltwise: 0.006\n");
    (void)state;
    struct timing *timing = bench->timing;
    timed_estimate(timing)->ceilings.floor_s =
        0.001; /* limits the convolutions, not the ReLU */
    timed_estimate(timing)->ceilings.copy_bytes_per_s = 2 * 4 * 8 * 8 * 4 / 0.006;
    timed_again(bench);
    assert_int_equal(timing->roofline_bounds->of_module[0].limited_by, LIMITED_BY_MEMORY);
    assert_int_equal(timing->roofline_bounds->totals[LIMITED_BY_LAUNCH].nodes, 2);
    assert_int_equal(timing->roofline_bounds->totals[LIMITED_BY_LAUNCH].latency_ps, 4000000000);
    assert_int_equal(timing->roofline_bounds->totals[LIMITED_BY_MEMORY].nodes, 1);
    bench_close(bench);
}

static void module_with_two_equal_limits_is_mixed(void **state) {
    struct bench *bench = timed_open(lines, "conv: 0.002\neltwise: 0.004\n");
    (void)state;
    struct timing *timing = bench->timing;
    timed_estimate(timing)->ceilings.floor_s = 0.001;
    timed_estimate(timing)->ceilings.copy_bytes_per_s = 2 * 4 * 8 * 8 * 4 / 0.004;
    timed_again(bench);
    assert_int_equal(timing->roofline_bounds->of_module[0].limited_by, LIMITED_BY_MIXED);
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_limited_by_the_closest_ceiling),
        cmocka_unit_test(measured_ceilings_replace_published_ones),
        cmocka_unit_test(model_states_its_bound_and_limit),
        cmocka_unit_test(no_roofline_without_a_time),
        cmocka_unit_test(module_rates_use_sums_of_its_primitives),
        cmocka_unit_test(module_is_limited_by_the_resource_with_most_of_its_time),
        cmocka_unit_test(module_with_two_equal_limits_is_mixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
