/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of roofline times, with figures computed by hand. */
#include "fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <cmocka.h>

#include "backends/backend_registry.h"
#include "backends/measure.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static int open_device(const char *name, int32_t precision, struct cm_device **ret,
                       struct cm_reason *reason) {
    const struct cm_setting setting = {"device", name};
    const struct cm_settings settings = {
        .n = name != NULL, .items = &setting, .precision = precision};
    return roofline_backend.open(&settings, ret, reason);
}

static struct cm_measurement estimate(const char *name, int32_t precision,
                                      const struct cm_primitive *primitive) {
    struct cm_measurement measurement;
    struct cm_device *device = NULL;
    struct cm_reason reason = {""};
    assert_int_equal(open_device(name, precision, &device, &reason), CM_BACKEND_OK);
    (void)measure_primitive(&roofline_backend, device, primitive, &timing_default_policy,
                            &measurement);
    roofline_backend.close(device);
    return measurement;
}

static void refuses_plan_of_modelling_backend(void **state) {
    (void)state;
    struct cm_measurement measurement;
    struct cm_device *device = NULL;
    struct cm_reason reason = {""};
    const struct cm_primitive conv = fixture_conv();
    assert_int_equal(open_device("h200", CM_PRECISION_AS_STORED, &device, &reason),
                     CM_BACKEND_OK);
    assert_int_equal(measure_plan(&roofline_backend, device, &conv, &measurement),
                     CM_BACKEND_REFUSED);
    roofline_backend.close(device);
    assert_int_equal(measurement.state, CM_UNSUPPORTED);
    assert_string_equal(measurement.reason.text, "a backend that models has no plans");
}

/* Allows a difference of a thousandth, for launches. */
static void expect_about(double have, double want) {
    if (fabs(have - want) > 1e-3 * want) fail_msg("have %.17g, want about %.17g", have, want);
}

static void expect_near(double have, double want) {
    if (fabs(have - want) > 1e-9 * want) fail_msg("have %.17g, want %.17g", have, want);
}

/* 236 027 904 + 802 816 FLOPs at 67 TFLOP/s; 602 112 + 37 888 bytes in, 3 211 264 out. */
static void bounds_the_first_convolution_of_resnet50(void **state) {
    (void)state;
    const struct cm_primitive conv = fixture_conv();
    const struct cm_measurement fp32 = estimate("h200", CM_PRECISION_AS_STORED, &conv);
    assert_int_equal(fp32.state, CM_MODELLED);
    expect_near(fp32.lower_bound, 236830720 / 67e12);
    assert_true(fp32.cold.median > fp32.lower_bound);
    assert_string_equal(fp32.reason.text, "limited by arithmetic at fp32");
    assert_int_equal(fp32.cold.n_samples, 0); /* nothing ran */
    const struct cm_measurement tf32 = estimate("h200", CM_PRECISION_TF32, &conv);
    assert_string_equal(tf32.how.algorithm, "matrix_tf32");
}

/* Products of 4096^3 are limited by arithmetic on every device, at its rate for the element
 * type. */
static void products_run_at_the_rate_of_their_element(void **state) {
    (void)state;
    static const struct {
        const char *device;
        int32_t element;
        int32_t precision;
        double rate;
        const char *name;
    } cases[] = {
        {"a100-80gb", CM_F64, 0, 19.5e12, "matrix_fp64"},
        {"v100", CM_F64, 0, 7.8e12, "fp64"},
        {"a100-80gb", CM_F32, 0, 19.5e12, "fp32"},
        {"a100-80gb", CM_F32, CM_PRECISION_TF32, 156e12, "matrix_tf32"},
        {"v100", CM_F32, CM_PRECISION_TF32, 15.7e12, "fp32"},
        {"v100", CM_F16, 0, 125e12, "matrix_fp16"},
        {"gtx-1080", CM_F16, 0, 8.873e12, "fp32"},
        {"t4", CM_BF16, 0, 8.1e12, "fp32"},
        {"h100-sxm", CM_F8E4M3, 0, 1978.9e12, "matrix_fp8"},
        {"a100-80gb", CM_F8E5M2, 0, 312e12, "matrix_fp16"},
        {"p40", CM_I8, 0, 47e12, "int8"},
        {"t4", CM_U8, 0, 130e12, "matrix_int8"},
        {"t4", CM_I32, 0, 8.1e12, "fp32"},
        {"mi300x", CM_F32, 0, 163.4e12, "matrix_fp32"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        const struct cm_primitive gemm = fixture_gemm(cases[i].element, 4096, 4096, 4096);
        const struct cm_measurement have = estimate(cases[i].device, cases[i].precision, &gemm);
        char want[CM_REASON_SIZE];
        snprintf(want, sizeof(want), "limited by arithmetic at %s", cases[i].name);
        assert_string_equal(have.reason.text, want);
        expect_near(have.lower_bound, 2.0 * 4096 * 4096 * 4096 / cases[i].rate);
        assert_true(have.cold.median >= have.lower_bound);
        assert_string_equal(have.how.algorithm, cases[i].name);
        assert_int_equal(have.how.tensor_cores, strncmp(cases[i].name, "matrix_", 7) == 0
                                                    ? CM_TENSOR_CORES_YES
                                                    : CM_TENSOR_CORES_NO);
    }
}

static void elementwise_work_uses_vector_rate(void **state) {
    (void)state;
    struct cm_primitive relu = fixture_relu(1 << 20);
    relu.flops = (int64_t)1 << 40; /* 2^20 per element */
    relu.inputs[0].element = CM_BF16;
    expect_about(estimate("h200", 0, &relu).cold.median, (double)((int64_t)1 << 40) / 67e12);
    relu.inputs[0].element = CM_F16;
    expect_about(estimate("h200", 0, &relu).cold.median, (double)((int64_t)1 << 40) / 133.8e12);
    relu.inputs[0].element = CM_F64;
    expect_about(estimate("h200", 0, &relu).cold.median, (double)((int64_t)1 << 40) / 34e12);
}

static void reports_missing_rate(void **state) {
    (void)state;
    const struct cm_primitive gemm = fixture_gemm(CM_F64, 64, 64, 64);
    const struct cm_measurement have = estimate("t4", 0, &gemm);
    assert_int_equal(have.state, CM_UNSUPPORTED);
    assert_string_equal(have.reason.text, "the device has no rate for f64");
}

static void refuses_work_larger_than_memory(void **state) {
    (void)state;
    const struct cm_primitive relu = fixture_relu(1500000000);
    const struct cm_measurement have = estimate("gtx-1080", 0, &relu);
    assert_int_equal(have.state, CM_OUT_OF_MEMORY);
    assert_string_equal(have.reason.text, "needs 12000000000 bytes, the device has 8000000000");
    assert_true(have.cold.median == 0);
}

static void reports_no_time_for_unknown_sizes(void **state) {
    (void)state;
    struct cm_primitive relu = fixture_relu(16);
    relu.flops = INT64_MIN;
    const struct cm_measurement have = estimate("h200", 0, &relu);
    assert_int_equal(have.state, CM_UNSUPPORTED);
    assert_string_equal(have.reason.text, "its FLOPs or bytes are unknown");
}

static struct cm_measurement estimate_by_file(const char *text,
                                              const struct cm_primitive *primitive) {
    char path[FIXTURE_PATH + 8];
    char bare[FIXTURE_PATH];
    fixture_write(text, bare);
    snprintf(path, sizeof(path), "%s.json", bare);
    assert_int_equal(rename(bare, path), 0);
    const struct cm_measurement have = estimate(path, 0, primitive);
    unlink(path);
    return have;
}

/* Estimates the time on a device with 1 TFLOP/s, 100 GB/s that kernels reach fully, and a floor
 * of 2 us. */
static struct cm_measurement estimate_with_floor(const struct cm_primitive *primitive) {
    return estimate_by_file("{\"schema\": \"costmodel/device/1\", \"name\": \"a\","
                            " \"floor\": 2e-6, \"rates\": {\"fp32\": 1e12},"
                            " \"bandwidth\": 1e11, \"calibration\": {\"basis\": \"a test\","
                            " \"compiled\": {\"bandwidth\": 1}}}",
                            primitive);
}

static void refuses_times_above_100_days(void **state) {
    static const char *const texts[] = {
        "{\"schema\": \"costmodel/device/1\", \"name\": \"a\","
        " \"rates\": {\"fp32\": 1e12}, \"bandwidth\": 1e-300}",
        "{\"schema\": \"costmodel/device/1\", \"name\": \"a\","
        " \"rates\": {\"fp32\": 1e-308}, \"bandwidth\": 1e12}",
        "{\"schema\": \"costmodel/device/1\", \"name\": \"a\", \"floor\": 8.64e6,"
        " \"rates\": {\"fp32\": 1e12}, \"bandwidth\": 1e12}",
    };
    (void)state;
    const struct cm_primitive conv = fixture_conv();
    for (size_t i = 0; i < N(texts); i++) {
        const struct cm_measurement have = estimate_by_file(texts[i], &conv);
        assert_int_equal(have.state, CM_UNSUPPORTED);
        assert_string_equal(have.reason.text, "takes more than 100 days");
        assert_true(have.cold.median == 0);
    }
}

static void adds_floor_to_roofline(void **state) {
    (void)state;
    struct cm_primitive relu = fixture_relu(16);
    const struct cm_measurement tiny = estimate_with_floor(&relu);
    expect_near(tiny.cold.median, 2e-6 + 2 * 16 * 4 / 1e11);
    assert_string_equal(tiny.reason.text, "limited by kernel launch");
    relu = fixture_relu(1 << 20);
    const struct cm_measurement large = estimate_with_floor(&relu);
    expect_about(large.cold.median, 2e-6 + 2.0 * (1 << 20) * 4 / 1e11);
    assert_true(large.lower_bound < large.cold.median);
    assert_string_equal(large.reason.text, "limited by memory");
}

static void names_rate_of_memory_bound_layer(void **state) {
    (void)state;
    const struct cm_primitive relu = fixture_relu(1 << 24);
    const struct cm_measurement have = estimate("h200", 0, &relu);
    assert_string_equal(have.reason.text, "limited by memory");
    assert_int_equal(have.limit, CM_LIMIT_MEMORY);
    assert_string_equal(have.how.algorithm, "fp32");
    assert_int_equal(have.how.tensor_cores, CM_TENSOR_CORES_NO);
    struct cm_primitive copy = relu;
    copy.flops = 0;
    const struct cm_measurement idle = estimate("h200", 0, &copy);
    assert_string_equal(idle.how.algorithm, "");
    assert_int_equal(idle.how.tensor_cores, CM_TENSOR_CORES_UNKNOWN);
}

static void requires_device_name(void **state) {
    (void)state;
    struct cm_device *device = NULL;
    struct cm_reason reason = {""};
    assert_int_equal(open_device(NULL, 0, &device, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "a device is required: roofline:device=NAME");
    assert_int_equal(open_device("h2000", 0, &device, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "unknown device 'h2000', did you mean 'h200'?");
    assert_null(device);
}

static void names_the_source_of_device_facts(void **state) {
    (void)state;
    struct cm_device *device = NULL;
    struct cm_device_facts facts;
    struct cm_reason reason = {""};
    assert_int_equal(open_device("k80", 0, &device, &reason), CM_BACKEND_OK);
    roofline_backend.facts(device, &facts);
    roofline_backend.close(device);
    assert_string_equal(facts.name, "NVIDIA Tesla K80 (one of its two GPUs)");
    assert_string_equal(facts.version, "NVIDIA Tesla K80 data sheet, with GPU Boost; ...");
    assert_string_equal(facts.architecture, "sm_37");
    assert_int_equal(facts.n_units, 13);
    assert_int_equal(facts.threads_a_unit, 2048);
    assert_int_equal(facts.has_tensor_cores, 0);
    assert_int_equal(facts.modelled, 1);
    assert_int_equal(facts.n_rates, 2);
    assert_string_equal(facts.rates[0].name, "fp64");
    assert_string_equal(facts.rates[1].name, "fp32");
    assert_true(facts.rates[1].flops_per_s == 4.365e12);
    assert_true(facts.bandwidth == 240e9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_plan_of_modelling_backend),
        cmocka_unit_test(bounds_the_first_convolution_of_resnet50),
        cmocka_unit_test(products_run_at_the_rate_of_their_element),
        cmocka_unit_test(elementwise_work_uses_vector_rate),
        cmocka_unit_test(reports_missing_rate),
        cmocka_unit_test(refuses_work_larger_than_memory),
        cmocka_unit_test(reports_no_time_for_unknown_sizes),
        cmocka_unit_test(refuses_times_above_100_days),
        cmocka_unit_test(adds_floor_to_roofline),
        cmocka_unit_test(names_rate_of_memory_bound_layer),
        cmocka_unit_test(requires_device_name),
        cmocka_unit_test(names_the_source_of_device_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
