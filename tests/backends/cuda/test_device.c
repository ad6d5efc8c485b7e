/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of opening a device, its facts, and failures. Times are those of the doubles' clock. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

static void reports_why_open_fails(void **state) {
    const struct fixture *f = *state;
    static const struct {
        struct cm_setting setting;
        const char *reason;
    } cases[] = {
        {{"libraries", "lib"}, "libraries must be absolute paths"},
        {{"device", "-1"}, "device must be from 0 to 1024"},
        {{"device", "x"}, "device must be from 0 to 1024"},
        {{"memory", "0"}, "memory must be from 1 to 1152921504606846976"},
        {{"workspace", "1k"}, "workspace must be from 0 to 1152921504606846976"},
        {{"threads", "2"}, "cuda has no option 'threads'"},
        {{"libraries", TEST_CUDA_DOUBLES "/half"},
         "NVIDIA driver (" TEST_CUDA_DOUBLES "/half/libcuda.so.1) has no function 'cuInit': "
         "version too old"},
    };
    for (size_t i = 0; i < N(cases); i++)
        refuses(f, (struct cm_settings){.n = 1, .items = &cases[i].setting}, CM_BACKEND_REFUSED,
                cases[i].reason);
    const struct cm_setting second[] = {doubles, {"device", "1"}};
    refuses(f, (struct cm_settings){.n = 2, .items = second}, CM_BACKEND_REFUSED,
            "device must be below 1, got 1");
}

static void reports_device_failure(void **state) {
    const struct fixture *f = *state;
    const struct cm_settings none = {.n = 0};
    f->seen->fail = "cuInit";
    f->seen->fail_with = CUDA_ERROR_NO_DEVICE;
    refuses(f, none, CM_BACKEND_REFUSED, "no device: cuInit failed with CUDA_ERROR_NO_DEVICE");
    f->seen->fail = "cuDevicePrimaryCtxRetain";
    f->seen->fail_with = CUDA_ERROR_OUT_OF_MEMORY;
    refuses(f, none, CM_BACKEND_NO_MEMORY, "cannot take the device: CUDA_ERROR_OUT_OF_MEMORY");
    f->seen->fail = NULL;
    f->seen->driver_version = 11080;
    refuses(f, none, CM_BACKEND_REFUSED,
            "the driver must support CUDA 12.0 or later, got 11.8");
}

static void reports_facts_of_device(void **state) {
    const struct fixture *f = *state;
    struct cm_device_facts facts;
    struct cm_clocks clocks;
    (void)setenv("NVIDIA_TF32_OVERRIDE", "1", 1);
    f->seen->n_processes = 3;
    f->seen->throttle = 0x24;
    struct cm_device *device = open_device(f);
    f->backend->facts(device, &facts);
    f->backend->clocks(device, &clocks);
    assert_string_equal(facts.name, "a double");
    assert_string_equal(facts.version, "cuDNN 9.1.0, cuBLASLt 13.0.1, CUDA 13.0, driver 580.1");
    assert_string_equal(facts.architecture, "sm_90");
    assert_string_equal(facts.address, "0000:1B:00.0");
    assert_int_equal(facts.cache_bytes, 1 << 20);
    assert_int_equal(facts.n_units, 4);
    assert_int_equal(facts.threads_a_unit, 2048);
    assert_true(fabs(facts.bandwidth - 2 * 3.201e9 * 6144 / 8) < 1); /* an H200's 4.9 TB/s */
    assert_true(fabs(facts.floor - DOUBLE_S) < 1e-9);
    assert_string_equal(facts.warning, "2 other processes compute on the device; "
                                       "NVIDIA_TF32_OVERRIDE=1 is set");
    assert_int_equal(clocks.unit_mhz, 1500);
    assert_int_equal(clocks.unit_most_mhz, 1980);
    assert_int_equal(clocks.memory_mhz, 2600);
    assert_int_equal(clocks.temperature_c, 51);
    assert_true(fabs(clocks.power_w - 345.678) < 1e-6);
    assert_string_equal(clocks.throttle, "power cap, temperature");
    f->backend->close(device);
}

static void runs_nothing_if_opened_for_plans_only(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = NULL;
    struct cm_plan *made = NULL;
    struct cm_reason reason;
    double seconds = 0;
    assert_int_equal(open_with(f, (struct cm_settings){.plan_only = 1}, &device, &reason),
                     CM_BACKEND_OK);
    made = plan(f, device, &relu);
    assert_int_equal(f->seen->n_launches, 0);
    assert_int_equal(f->seen->n_allocations, 0);
    assert_int_equal(f->backend->run(made, 1, CM_COLD, &seconds, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "the backend was opened for plans only");
    f->backend->drop(made);
    f->backend->close(device);
}

struct fault {
    const char *call;
    const char *reason;
};

static void reports_failures_on_open(void **state) {
    const struct fixture *f = *state;
    static const struct fault faults[] = {
        {"cuCtxSetCurrent", "cannot use the device: CUDA_ERROR_INVALID_VALUE"},
        {"cuStreamCreate", "cannot make a stream: CUDA_ERROR_INVALID_VALUE"},
        {"cuEventCreate", "cannot make an event: CUDA_ERROR_INVALID_VALUE"},
        {"cuMemcpyDtoHAsync", "cannot read the clock: CUDA_ERROR_INVALID_VALUE"},
        {"cuLaunchKernel", "cannot launch a kernel: CUDA_ERROR_INVALID_VALUE"},
    };
    f->seen->fail_with = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < N(faults); i++) {
        f->seen->fail = faults[i].call;
        refuses(f, (struct cm_settings){.n = 0}, CM_BACKEND_REFUSED, faults[i].reason);
    }
}

/* A library that cannot be initialized is reported: cuDNN by a warning, cuBLASLt when a plan
 * needs it. */
static void reports_libraries_that_fail_to_initialize(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive gemm = fixture_gemm(CM_F32, 8, 8, 8);
    struct cm_device_facts facts;
    struct cm_plan *made = NULL;
    struct cm_reason reason;
    f->seen->fail_with = 1;
    f->seen->fail = "cudnnCreate";
    struct cm_device *device = open_device(f);
    f->backend->facts(device, &facts);
    assert_string_equal(facts.warning, "cuDNN cannot be initialized: CUDNN_STATUS_DOUBLE");
    f->backend->close(device);
    f->seen->fail = "cublasLtCreate";
    device = open_device(f);
    assert_int_equal(f->backend->plan(device, &gemm, &made, &reason), CM_BACKEND_REFUSED);
    assert_non_null(strstr(reason.text, "cuBLASLt cannot be initialized: status 1"));
    f->backend->close(device);
}

static void planning_without_device_requires_new_cudnn(void **state) {
    const struct fixture *f = *state;
    struct cm_primitive gemm = fixture_gemm(CM_F32, 8, 8, 8);
    const struct cm_settings settings = {.plan_only = 1};
    struct cm_device *device = NULL;
    struct cm_plan *made = NULL;
    struct cm_reason reason;
    f->seen->fail = "cuInit";
    f->seen->fail_with = CUDA_ERROR_NO_DEVICE;
    assert_int_equal(open_with(f, settings, &device, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text,
                        "planning without a device requires cuDNN 9.8 or later, got 9.1.0");
    f->seen->fail = NULL;
    assert_int_equal(open_with(f, settings, &device, &reason), CM_BACKEND_OK);
    const int64_t many[] = {(int64_t)1 << 31, 8, 8};
    for (int i = 0; i < 2; i++) gemm.inputs[i] = fixture_tensor(CM_F32, 3, many);
    gemm.outputs[0] = fixture_tensor(CM_F32, 3, many);
    assert_int_equal(f->backend->plan(device, &gemm, &made, &reason), CM_BACKEND_REFUSED);
    assert_non_null(strstr(reason.text, "the batch must be below 2^31"));
    f->backend->close(device);
}

/* Libraries of CUDA 13, and cuDNN from 9.11 on, have no kernels for Volta. */
static void volta_requires_libraries_of_cuda_12(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive gemm = fixture_gemm(CM_F32, 8, 8, 8);
    struct cm_device_facts facts;
    struct cm_plan *made = NULL;
    struct cm_reason reason;
    f->seen->sm = 70;
    f->seen->cudnn_version = 91900;
    struct cm_device *device = open_device(f);
    f->backend->facts(device, &facts);
    assert_true(facts.floor > 0); /* measuring it requires no compiler */
    assert_non_null(strstr(facts.warning, "sm_70 requires cuDNN 9.10 or earlier, got 9.19.0"));
    assert_int_equal(f->backend->plan(device, &gemm, &made, &reason), CM_BACKEND_REFUSED);
    assert_non_null(strstr(reason.text, "cuBLASLt of CUDA 12"));
    f->backend->close(device);
}

static void warns_of_devices_newer_than_nvrtc(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device_facts facts;
    struct cm_plan_facts how;
    f->seen->sm = 120;
    struct cm_device *device = open_device(f);
    f->backend->facts(device, &facts);
    assert_string_equal(facts.warning, "NVRTC is older than the device: code is for sm_90");
    struct cm_plan *made = plan(f, device, &relu);
    f->backend->plan_facts(made, &how);
    assert_string_equal(how.how.provider, "nvrtc");
    f->backend->drop(made);
    f->backend->close(device);
}

/* If no kernel can be compiled, layers still run, by other providers and without clocks. */
static void warns_of_kernels_that_cannot_be_compiled(void **state) {
    const struct fixture *f = *state;
    struct cm_device_facts facts;
    f->seen->sm = 80;
    f->seen->nvrtc_first = 90;
    struct cm_device *device = open_device(f);
    f->backend->facts(device, &facts);
    assert_string_equal(facts.warning, "NVRTC 13.0 does not compile for sm_80");
    f->backend->close(device);
    f->seen->nvrtc_first = 75;
    f->seen->fail = "cuModuleLoadData";
    f->seen->fail_with = CUDA_ERROR_INVALID_VALUE;
    device = open_device(f);
    f->backend->facts(device, &facts);
    assert_string_equal(facts.warning, "clocks are not measured: cannot load a kernel: "
                                       "CUDA_ERROR_INVALID_VALUE");
    assert_true(facts.floor == 0);
    f->seen->fail = NULL;
    const struct cm_primitive gemm = fixture_gemm(CM_F32, 8, 8, 8);
    struct cm_plan *made = plan(f, device, &gemm);
    assert_true(run(f, made, 1, CM_COLD) > 0);
    f->backend->drop(made);
    f->backend->close(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(reports_why_open_fails),
        CASE(reports_device_failure),
        CASE(reports_facts_of_device),
        CASE(runs_nothing_if_opened_for_plans_only),
        CASE(reports_failures_on_open),
        CASE(reports_libraries_that_fail_to_initialize),
        CASE(planning_without_device_requires_new_cudnn),
        CASE(volta_requires_libraries_of_cuda_12),
        CASE(warns_of_devices_newer_than_nvrtc),
        CASE(warns_of_kernels_that_cannot_be_compiled),
    };
    return cmocka_run_group_tests(tests, harness_make, harness_end);
}
