/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the stop rule and the statistics, with times from a table and a simulated clock. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/plugin/reason.h"
#include "backends/timing.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* A device whose calls take the times of a table, in turn. */
struct device {
    const double *seconds;
    size_t n;
    size_t calls;
    uint32_t executions;
    double clock;
    double overhead; /* seconds per call that the clock includes and the job does not */
    int fail_at;     /* the call that fails; 0: none */
    int status;
};

static int run(void *context, uint32_t n, enum cm_cache cache, double *ret_seconds,
               struct cm_reason *reason) {
    struct device *device = context;
    (void)cache;
    const double seconds = n * device->seconds[device->calls++ % device->n];
    if ((int)device->calls == device->fail_at)
        return reason_fail(reason, device->status, "the device is gone");
    device->executions += n;
    device->clock += seconds + device->overhead;
    *ret_seconds = seconds;
    return CM_BACKEND_OK;
}

static double now(void *context) {
    const struct device *device = context;
    return device->clock;
}

static int time_it(struct device *device, struct cm_timing *ret, uint32_t *flags,
                   struct cm_reason *reason) {
    const struct timing_job job = {run, device};
    const struct timing_clock clock = {now, device};
    *flags = 0;
    return timing_run(&job, &timing_default_policy, &clock, CM_COLD, ret, flags, reason);
}

static struct cm_timing expect_timing(struct device *device, uint32_t want_flags) {
    struct cm_timing timing = {.n_samples = 0};
    struct cm_reason reason = {""};
    uint32_t flags = 0;
    assert_int_equal(time_it(device, &timing, &flags, &reason), CM_BACKEND_OK);
    assert_int_equal(flags, want_flags);
    return timing;
}

static void expect_near(double have, double want) {
    if (fabs(have - want) > 1e-9 * fabs(want)) fail_msg("have %.17g, want %.17g", have, want);
}

/* Expects the quartiles that numpy.quantile computes with method "linear". */
static void interpolates_quartiles_linearly(void **state) {
    (void)state;
    static const struct {
        double sorted[5];
        int32_t n;
        double q1, median, q3;
    } cases[] = {
        {{7}, 1, 7, 7, 7},
        {{1, 2}, 2, 1.25, 1.5, 1.75},
        {{1, 2, 4}, 3, 1.5, 2, 3},
        {{1, 2, 4, 8}, 4, 1.75, 3, 5},
        {{1, 2, 4, 8, 16}, 5, 2, 4, 8},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_timing timing;
        timing_summarize(cases[i].sorted, cases[i].n, &timing);
        expect_near(timing.q1, cases[i].q1);
        expect_near(timing.median, cases[i].median);
        expect_near(timing.q3, cases[i].q3);
        expect_near(timing.min, cases[i].sorted[0]);
        expect_near(timing.max, cases[i].sorted[cases[i].n - 1]);
        assert_int_equal(timing.n_samples, cases[i].n);
    }
}

static void stops_early_if_samples_agree(void **state) {
    (void)state;
    const double steady[] = {2e-3};
    struct device device = {.seconds = steady, .n = 1};
    const struct cm_timing timing = expect_timing(&device, 0);
    assert_int_equal(timing.n_samples, 11);
    assert_int_equal(timing.per_sample, 1);
    expect_near(timing.median, 2e-3);
    expect_near(timing_uncertainty(&timing), 0);
    /* 3 runs of 2 ms warm up for 5 ms */
    assert_int_equal(device.executions, 3 + 11);
}

static void outlier_does_not_move_median(void **state) {
    (void)state;
    double seconds[14];
    for (size_t i = 0; i < N(seconds); i++) seconds[i] = 2e-3;
    seconds[6] = 1e-2;
    struct device device = {.seconds = seconds, .n = N(seconds)};
    const struct cm_timing timing = expect_timing(&device, 0);
    assert_int_equal(timing.n_samples, 11);
    expect_near(timing.median, 2e-3);
    expect_near(timing.max, 1e-2);
}

static void groups_short_executions_in_samples(void **state) {
    (void)state;
    const double steady[] = {1e-5};
    struct device device = {.seconds = steady, .n = 1};
    const struct cm_timing timing = expect_timing(&device, 0);
    assert_in_range(timing.per_sample, 100, 101); /* 1 ms, rounded up */
    expect_near(timing.median, 1e-5);
}

static void caps_executions_per_sample(void **state) {
    (void)state;
    const double steady[] = {1e-9};
    struct device device = {.seconds = steady, .n = 1, .overhead = 1e-5};
    const struct cm_timing timing = expect_timing(&device, 0);
    assert_int_equal(timing.per_sample, 512);
    expect_near(timing.median, 1e-9);
    assert_true(device.clock < 2 * timing_default_policy.limit_s + 0.1);
}

static void uses_the_whole_budget_if_samples_differ(void **state) {
    (void)state;
    const double two[] = {2e-3, 3e-3};
    struct device device = {.seconds = two, .n = 2};
    const struct cm_timing timing = expect_timing(&device, CM_FLAG_UNSTABLE);
    /* 200 ms at 2.5 ms each */
    assert_in_range(timing.n_samples, 79, 81);
    assert_true(timing_uncertainty(&timing) > 0.05);
}

/* 1.57 (4 - 2) / sqrt(16) / 3; without samples it is 0. */
static void uncertainty_is_the_notch_of_a_box_plot(void **state) {
    (void)state;
    const struct cm_timing timing = {.median = 3, .q1 = 2, .q3 = 4, .n_samples = 16};
    const struct cm_timing none = {.n_samples = 0};
    expect_near(timing_uncertainty(&timing), 1.57 * 2 / 4 / 3);
    expect_near(timing_uncertainty(&none), 0);
}

/* With a spread of 4 %, eleven samples determine the median too roughly, forty well enough. */
static void many_samples_reduce_uncertainty(void **state) {
    (void)state;
    const double five[] = {2e-3, 2.04e-3, 2.08e-3, 2.04e-3, 2e-3, 2.08e-3};
    struct device device = {.seconds = five, .n = N(five)};
    const struct cm_timing timing = expect_timing(&device, 0);
    assert_in_range(timing.n_samples, 12, 60);
    assert_true(timing_uncertainty(&timing) <= timing_default_policy.uncertainty);
}

static void stops_at_the_sample_limit(void **state) {
    (void)state;
    const double two[] = {1e-3, 1.2e-3};
    struct timing_policy patient = timing_default_policy;
    struct device device = {.seconds = two, .n = 2};
    const struct timing_job job = {run, &device};
    const struct timing_clock clock = {now, &device};
    struct cm_timing timing = {.n_samples = 0};
    struct cm_reason reason = {""};
    uint32_t flags = 0;
    patient.budget_s = 1e9;
    patient.limit_s = 1e9;
    patient.most_samples = 100000; /* more than TIMING_MAX_SAMPLES */
    assert_int_equal(timing_run(&job, &patient, &clock, CM_WARM, &timing, &flags, &reason),
                     CM_BACKEND_OK);
    assert_int_equal(timing.n_samples, TIMING_MAX_SAMPLES);
}

static void flags_few_samples_of_slow_job(void **state) {
    (void)state;
    const double slow[] = {0.7};
    struct device device = {.seconds = slow, .n = 1};
    const struct cm_timing timing = expect_timing(&device, CM_FLAG_FEW_SAMPLES);
    assert_int_equal(timing.n_samples, 3);
    expect_near(timing.median, 0.7);
    assert_int_equal(device.calls, 6); /* 3 to warm up: 2.1 s */
}

static void runs_very_slow_job_twice(void **state) {
    (void)state;
    const double slow[] = {9.0};
    struct device device = {.seconds = slow, .n = 1};
    const struct cm_timing timing = expect_timing(&device, CM_FLAG_FEW_SAMPLES);
    assert_int_equal(timing.n_samples, 1);
    assert_int_equal(device.calls, 2);
}

static void stops_after_failed_job(void **state) {
    (void)state;
    const double steady[] = {2e-3};
    for (int at = 1; at < 10; at += 4) { /* while warming up, and while sampling */
        struct device device = {
            .seconds = steady, .n = 1, .fail_at = at, .status = CM_BACKEND_BROKEN};
        struct cm_timing timing = {.n_samples = -7};
        struct cm_reason reason = {""};
        uint32_t flags = 0;
        assert_int_equal(time_it(&device, &timing, &flags, &reason), CM_BACKEND_BROKEN);
        assert_string_equal(reason.text, "the device is gone");
        assert_int_equal(timing.n_samples, -7);
    }
}

static void refuses_non_positive_time(void **state) {
    (void)state;
    const double bad[] = {0.0, -1.0, NAN, INFINITY};
    static const char *const reasons[] = {"1 runs took 0 s: the clock must advance",
                                          "1 runs took -1 s: the clock must advance",
                                          "1 runs took nan s: the clock must advance",
                                          "1 runs took inf s: the clock must advance"};
    for (size_t i = 0; i < N(bad); i++) {
        struct device device = {.seconds = &bad[i], .n = 1};
        struct cm_timing timing = {.n_samples = 0};
        struct cm_reason reason = {""};
        uint32_t flags = 0;
        assert_int_equal(time_it(&device, &timing, &flags, &reason), CM_BACKEND_REFUSED);
        assert_string_equal(reason.text, reasons[i]);
    }
}

/* Runs two kernels: the first takes the time in the table, the second a tenth of it. */
static int run_two(void *context, double *ret_seconds, struct cm_reason *reason) {
    const int status = run(context, 1, CM_COLD, &ret_seconds[0], reason);
    ret_seconds[1] = ret_seconds[0] / 10;
    return status;
}

static int time_two(struct device *device, double *ret_medians, struct cm_reason *reason) {
    const struct timing_parts parts = {run_two, device, 2};
    const struct timing_clock clock = {now, device};
    return timing_run_parts(&parts, &timing_default_policy, &clock, ret_medians, reason);
}

static void parts_of_a_job_have_medians(void **state) {
    (void)state;
    const double uneven[] = {1e-3, 3e-3, 2e-3};
    struct device device = {.seconds = uneven, .n = 3};
    struct cm_reason reason = {""};
    double medians[2] = {0};
    assert_int_equal(time_two(&device, medians, &reason), CM_BACKEND_OK);
    assert_int_equal(device.calls, 12); /* the first call is the warm-up */
    expect_near(medians[0], 2e-3);
    expect_near(medians[1], 2e-4);
}

static void parts_of_a_slow_job_run_twice(void **state) {
    (void)state;
    const double slow[] = {9.0};
    struct device device = {.seconds = slow, .n = 1};
    struct cm_reason reason = {""};
    double medians[2] = {0};
    assert_int_equal(time_two(&device, medians, &reason), CM_BACKEND_OK);
    assert_int_equal(device.calls, 2);
    expect_near(medians[1], 0.9);
}

static void refuses_parts_without_a_time(void **state) {
    (void)state;
    const double steady[] = {2e-3};
    const double bad[] = {1e-3, 0};
    double medians[2] = {0};
    for (int at = 1; at < 4; at += 2) {
        struct device device = {
            .seconds = steady, .n = 1, .fail_at = at, .status = CM_BACKEND_BROKEN};
        struct cm_reason reason = {""};
        assert_int_equal(time_two(&device, medians, &reason), CM_BACKEND_BROKEN);
    }
    struct device device = {.seconds = bad, .n = 2};
    struct cm_reason reason = {""};
    assert_int_equal(time_two(&device, medians, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "kernel 0 took 0 s: the clock must advance");
}

static void clock_is_monotonic(void **state) {
    (void)state;
    const struct timing_clock *clock = &timing_monotonic_clock;
    const double first = clock->now(clock->context);
    assert_true(first > 0);
    assert_true(clock->now(clock->context) >= first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpolates_quartiles_linearly),
        cmocka_unit_test(stops_early_if_samples_agree),
        cmocka_unit_test(outlier_does_not_move_median),
        cmocka_unit_test(groups_short_executions_in_samples),
        cmocka_unit_test(caps_executions_per_sample),
        cmocka_unit_test(uses_the_whole_budget_if_samples_differ),
        cmocka_unit_test(uncertainty_is_the_notch_of_a_box_plot),
        cmocka_unit_test(many_samples_reduce_uncertainty),
        cmocka_unit_test(stops_at_the_sample_limit),
        cmocka_unit_test(flags_few_samples_of_slow_job),
        cmocka_unit_test(runs_very_slow_job_twice),
        cmocka_unit_test(stops_after_failed_job),
        cmocka_unit_test(refuses_non_positive_time),
        cmocka_unit_test(parts_of_a_job_have_medians),
        cmocka_unit_test(parts_of_a_slow_job_run_twice),
        cmocka_unit_test(refuses_parts_without_a_time),
        cmocka_unit_test(clock_is_monotonic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
