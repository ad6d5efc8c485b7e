/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module against doubles of the driver and the libraries: what is called, on which
 * operands, and what becomes of failures. The times are those of the doubles' clock and mean
 * nothing.
 */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <cuda.h>

#include "backends/plugin/loader.h"
#include "double.h"
#include "works.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

struct fixture {
    const struct cm_backend *backend;
    struct double_state *seen;
};

static int make(void **state) {
    struct fixture *f = calloc(1, sizeof(*f));
    struct cm_reason reason = {""};
    if (f == NULL) return 1;
    *state = f;
    if (loader_load(TEST_CUDA_MODULE, true, &f->backend, &reason) != CM_BACKEND_OK) {
        print_error("%s\n", reason.text);
        return 1;
    }
    void *driver = dlopen(TEST_CUDA_DOUBLES "/all/libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (driver == NULL) {
        print_error("%s\n", dlerror());
        return 1;
    }
    f->seen = dlsym(driver, "double_state");
    return f->seen == NULL;
}

static int end(void **state) {
    free(*state);
    return 0;
}

/* Each test begins with a device that is well. */
static int calm(void **state) {
    const struct fixture *f = *state;
    memset(f->seen, 0, sizeof(*f->seen));
    f->seen->memory = (size_t)64 << 20;
    f->seen->driver_version = 13000;
    f->seen->n_devices = 1;
    f->seen->n_processes = 1;
    (void)unsetenv("NVIDIA_TF32_OVERRIDE");
    return 0;
}

/* Nothing is left behind. */
static int clean(void **state) {
    const struct fixture *f = *state;
    if (f->seen->n_objects == 0 && f->seen->n_allocations == 0) return 0;
    print_error("%zu objects and %zu allocations are left\n", f->seen->n_objects,
                f->seen->n_allocations);
    return 1;
}

static const struct cm_setting doubles = {"libraries", TEST_CUDA_DOUBLES "/all"};

static int open_with(const struct fixture *f, struct cm_settings settings,
                     struct cm_device **ret, struct cm_reason *reason) {
    if (settings.items == NULL) {
        settings.items = &doubles;
        settings.n = 1;
    }
    return f->backend->open(&settings, ret, reason);
}

static struct cm_device *open_device(const struct fixture *f) {
    struct cm_device *device = NULL;
    struct cm_reason reason = {""};
    if (open_with(f, (struct cm_settings){.n = 0}, &device, &reason) != CM_BACKEND_OK)
        fail_msg("%s", reason.text);
    return device;
}

static struct cm_plan *plan(const struct fixture *f, struct cm_device *device,
                            const struct cm_primitive *work) {
    struct cm_plan *ret = NULL;
    struct cm_reason reason = {""};
    if (f->backend->plan(device, work, &ret, &reason) != CM_BACKEND_OK)
        fail_msg("%s", reason.text);
    return ret;
}

static double run(const struct fixture *f, struct cm_plan *made, uint32_t n,
                  enum cm_cache cache) {
    double seconds = 0;
    struct cm_reason reason = {""};
    if (f->backend->run(made, n, cache, &seconds, &reason) != CM_BACKEND_OK)
        fail_msg("%s", reason.text);
    return seconds;
}

static void refuses(const struct fixture *f, struct cm_settings settings, int status,
                    const char *why) {
    struct cm_device *device = NULL;
    struct cm_reason reason = {""};
    assert_int_equal(open_with(f, settings, &device, &reason), status);
    assert_string_equal(reason.text, why);
    assert_null(device);
}

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

static void the_device_is_described(void **state) {
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
    assert_true(fabs(clocks.power_w - 123.456) < 1e-6);
    assert_string_equal(clocks.throttle, "power cap, temperature");
    f->backend->close(device);
}

/* 64 KiB in and 64 KiB out against a cache of 1 MiB: 1 + 3 * 8 sets. */
static void cold_executions_rotate_sets(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &relu);
    struct cm_plan_facts facts;
    const size_t before = f->seen->n_launches;
    assert_true(fabs(run(f, made, 10, CM_COLD) - 10 * DOUBLE_S) < 1e-9);
    /* Two graphs of ten: twenty sets, each of which is used once. */
    assert_int_equal(f->seen->n_launches - before, 20);
    for (size_t i = 0; i < 20; i++) {
        const struct double_launch *launch = &f->seen->launches[before + i];
        assert_string_equal(launch->name, "costmodel_eltwise_0");
        assert_true(launch->captured);
        assert_int_equal(launch->first, f->seen->launches[before].first + i * 131072);
        assert_int_equal(launch->last, launch->first + 65536);
        assert_int_equal(launch->first % 256, 0);
    }
    const size_t replays = f->seen->n_replays;
    (void)run(f, made, 10, CM_COLD);
    (void)run(f, made, 10, CM_COLD);
    assert_int_equal(f->seen->n_launches - before, 20); /* nothing is captured again */
    assert_int_equal(f->seen->n_replays - replays, 2);
    f->backend->plan_facts(made, &facts);
    assert_int_equal(facts.state, CM_MEASURED);
    assert_int_equal(facts.flags, 0);
    assert_int_equal(facts.how.n_sets, 25);
    f->backend->drop(made);
    f->backend->close(device);
}

static void repeats_sets_evenly(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &relu);
    const size_t before = f->seen->n_launches;
    (void)run(f, made, 30, CM_COLD); /* 25 sets: twice round 15 of them */
    assert_int_equal(f->seen->n_launches - before, 30);
    for (size_t i = 0; i < 30; i++)
        assert_int_equal(f->seen->launches[before + i].first,
                         f->seen->launches[before].first + i % 15 * 131072);
    f->backend->drop(made);
    f->backend->close(device);
}

static void warm_executions_use_one_set(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &relu);
    const size_t before = f->seen->n_launches;
    (void)run(f, made, 5, CM_WARM);
    assert_int_equal(f->seen->n_launches - before, 5);
    for (size_t i = 1; i < 5; i++)
        assert_int_equal(f->seen->launches[before + i].first, f->seen->launches[before].first);
    f->backend->drop(made);
    f->backend->close(device);
}

static void operands_are_random_and_finite(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &relu);
    const struct double_launch *launch = &f->seen->launches[f->seen->n_launches - 1];
    const float *x = (const float *)(uintptr_t)launch->first;
    const float *of_another = (const float *)(uintptr_t)(launch->first + 131072 * 3);
    double sum = 0;
    for (int i = 0; i < 16384; i++) {
        assert_true(x[i] > 0x1p-7F && x[i] < 0.5F);
        sum += (double)x[i];
    }
    assert_true(fabs(sum / 16384 - 0.2578) < 0.01);
    assert_memory_equal(x, of_another, 65536);
    assert_false(f->seen->unordered);
    f->backend->drop(made);
    f->backend->close(device);
}

static void lists_kernels(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive gemm = fixture_gemm(CM_F16, 64, 128, 256);
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &gemm);
    struct cm_plan_facts facts;
    (void)run(f, made, 4, CM_COLD);
    f->backend->plan_facts(made, &facts);
    assert_string_equal(facts.how.provider, "cublaslt");
    assert_string_equal(facts.how.algorithm,
                        "algorithm 60, tile 1, stages 1, split-k 1, 0.00 waves");
    assert_int_equal(facts.how.tensor_cores, CM_TENSOR_CORES_YES);
    assert_int_equal(facts.how.workspace_bytes, 1 << 20);
    assert_int_equal(facts.how.plans_tried, 1);
    assert_int_equal(facts.how.n_kernels, 1);
    const struct cm_kernel *kernel = &facts.how.kernels[0];
    assert_string_equal(kernel->name, "nvjet_double");
    assert_int_equal(kernel->calls, 2);
    assert_int_equal(kernel->grid[0], 8);
    assert_int_equal(kernel->block[0], 128);
    assert_int_equal(kernel->registers, 40);
    assert_int_equal(kernel->shared_bytes, 1064);
    assert_int_equal(kernel->tensor_cores, CM_TENSOR_CORES_YES);
    assert_string_equal(kernel->rule, "cublaslt flags");
    assert_true(fabs(kernel->blocks_per_unit - 2) < 1e-9);
    assert_true(fabs(kernel->occupancy - 2.0 * 128 / 2048) < 1e-9);
    f->backend->drop(made);
    f->backend->close(device);
}

/* By rows y = a b is by columns y' = b' a': b goes first. */
static void products_give_b_first(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive gemm = fixture_gemm(CM_F32, 64, 128, 256);
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &gemm);
    const struct double_launch *launch = &f->seen->launches[f->seen->n_launches - 1];
    const uint64_t a_bytes = 64 * 128 * 4;
    assert_int_equal(launch->first, launch->last + a_bytes);
    f->backend->drop(made);
    f->backend->close(device);
}

/* Batches [2, 3] of which b has [1, 3]: three at a time, the two one after the other. */
static void batches_without_a_common_stride_are_looped_over(void **state) {
    const struct fixture *f = *state;
    struct cm_primitive gemm = fixture_gemm(CM_F32, 8, 8, 8);
    struct cm_device *device = open_device(f);
    const int64_t whole[] = {2, 3, 8, 8};
    const int64_t once[] = {1, 3, 8, 8};
    gemm.inputs[0] = fixture_tensor(CM_F32, 4, whole);
    gemm.inputs[1] = fixture_tensor(CM_F32, 4, once);
    gemm.outputs[0] = fixture_tensor(CM_F32, 4, whole);
    struct cm_plan *made = plan(f, device, &gemm);
    const size_t before = f->seen->n_launches;
    (void)run(f, made, 1, CM_WARM);
    assert_int_equal(f->seen->n_launches - before, 4); /* two calls of two kernels */
    const struct double_launch *launches = &f->seen->launches[before];
    assert_int_equal(launches[2].first, launches[0].first);               /* b */
    assert_int_equal(launches[2].last, launches[0].last + 3 * 8 * 8 * 4); /* a */
    f->backend->drop(made);
    f->backend->close(device);
}

static void autotune_keeps_the_fastest(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive gemm = fixture_gemm(CM_F16, 64, 128, 256);
    struct cm_device *device = NULL;
    struct cm_reason reason;
    struct cm_plan_facts facts;
    assert_int_equal(open_with(f, (struct cm_settings){.autotune = 8}, &device, &reason),
                     CM_BACKEND_OK);
    struct cm_plan *made = plan(f, device, &gemm);
    f->backend->plan_facts(made, &facts);
    assert_string_equal(facts.how.algorithm,
                        "algorithm 62, tile 1, stages 1, split-k 1, 0.00 waves");
    assert_int_equal(facts.how.plans_tried, 3); /* two, and the first of them again */
    assert_int_equal(facts.how.workspace_bytes, 1 << 10);
    f->backend->drop(made);
    f->backend->close(device);
}

/* Each is captured anew: 5 executions of two kernels, 5 of one, and the one that is kept. */
static void drops_graphs_of_failed_candidate(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive gemm = fixture_gemm(CM_F16, 64, 128, 256);
    struct cm_device *device = NULL;
    struct cm_reason reason;
    size_t captured = 0;
    assert_int_equal(open_with(f, (struct cm_settings){.autotune = 2}, &device, &reason),
                     CM_BACKEND_OK);
    const size_t before = f->seen->n_launches;
    f->seen->fail = "cuGraphLaunch";
    f->seen->fail_with = CUDA_ERROR_INVALID_VALUE;
    struct cm_plan *made = plan(f, device, &gemm);
    for (size_t i = before; i < f->seen->n_launches; i++)
        captured += f->seen->launches[i].captured;
    assert_int_equal(captured, 5 * 2 + 5 + 2);
    f->backend->drop(made);
    f->backend->close(device);
}

static void tries_next_candidate_after_failure(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive gemm = fixture_gemm(CM_F16, 64, 128, 256);
    struct cm_device *device = open_device(f);
    struct cm_plan_facts facts;
    struct cm_plan *made = NULL;
    struct cm_reason reason;
    f->seen->memory = f->seen->n_allocated + 600000; /* not 1 MiB of workspace, but 1 KiB */
    made = plan(f, device, &gemm);
    f->backend->plan_facts(made, &facts);
    assert_string_equal(facts.how.algorithm,
                        "algorithm 62, tile 1, stages 1, split-k 1, 0.00 waves");
    assert_int_equal(facts.how.plans_tried, 2);
    assert_true((facts.flags & CM_FLAG_NOT_COLD) != 0);
    f->backend->drop(made);
    f->seen->memory = (size_t)64 << 20;
    f->seen->fail = "cublasLtMatmul";
    f->seen->fail_with = 13;
    assert_int_equal(f->backend->plan(device, &gemm, &made, &reason), CM_BACKEND_REFUSED);
    assert_non_null(
        strstr(reason.text, "cublaslt: cuBLASLt cannot run the product: status 13"));
    f->seen->loses = true; /* which cuBLASLt has no number for */
    assert_int_equal(f->backend->plan(device, &gemm, &made, &reason), CM_BACKEND_BROKEN);
    assert_string_equal(reason.text, "cannot run it: CUDA_ERROR_ILLEGAL_ADDRESS");
    f->backend->close(device);
}

static void reports_operands_larger_than_device(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu((int64_t)1 << 30);
    struct cm_device *device = open_device(f);
    struct cm_plan *made = NULL;
    struct cm_reason reason;
    assert_int_equal(f->backend->plan(device, &relu, &made, &reason), CM_BACKEND_NO_MEMORY);
    assert_string_equal(reason.text, "needs 8589934592 bytes, more than the device has free");
    const struct cm_primitive less = fixture_relu(1024);
    made = plan(f, device, &less); /* and the next one runs */
    f->backend->drop(made);
    f->backend->close(device);
}

/* More than half of what is free, and less than all of it. */
static void one_set_may_take_more_than_half(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(5 << 20);
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &relu);
    (void)run(f, made, 3, CM_COLD);
    f->backend->drop(made);
    f->backend->close(device);
}

static void sticky_error_breaks_device(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &relu);
    struct cm_reason reason;
    double seconds = 0;
    f->seen->fail = "cuEventSynchronize";
    f->seen->fail_with = CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_int_equal(f->backend->run(made, 4, CM_COLD, &seconds, &reason), CM_BACKEND_BROKEN);
    assert_string_equal(reason.text, "cannot run it: CUDA_ERROR_ILLEGAL_ADDRESS");
    f->backend->drop(made);
    assert_int_equal(f->backend->plan(device, &relu, &made, &reason), CM_BACKEND_BROKEN);
    f->backend->close(device);
}

static void launches_if_capture_fails(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = open_device(f);
    f->seen->refuse_capture = true;
    struct cm_plan *made = plan(f, device, &relu);
    struct cm_plan_facts facts;
    const size_t before = f->seen->n_launches;
    const size_t replays = f->seen->n_replays;
    assert_true(fabs(run(f, made, 10, CM_COLD) - 10 * DOUBLE_S) < 1e-9);
    (void)run(f, made, 10, CM_COLD);
    assert_int_equal(f->seen->n_replays, replays);
    assert_int_equal(f->seen->n_launches - before, 20);
    assert_int_equal(f->seen->launches[before + 10].first,
                     f->seen->launches[before].first + 10 * 131072);
    f->backend->plan_facts(made, &facts);
    assert_int_equal(facts.flags, CM_FLAG_LAUNCHES);
    assert_int_equal(facts.how.n_kernels, 0);
    f->backend->drop(made);
    f->backend->close(device);
}

static void throttling_is_flagged(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &relu);
    struct cm_plan_facts facts;
    f->seen->throttle = 0x40;
    f->backend->plan_facts(made, &facts);
    assert_int_equal(facts.flags, CM_FLAG_THROTTLED);
    f->backend->drop(made);
    f->backend->close(device);
}

/* A primitive without a compiled kernel is timed as a copy, a proxy. */
static void copies_bytes_without_nvrtc(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = open_device(f);
    f->seen->fail = "nvrtcCompileProgram";
    f->seen->fail_with = 6;
    struct cm_plan *made = plan(f, device, &relu);
    struct cm_plan_facts facts;
    f->backend->plan_facts(made, &facts);
    assert_int_equal(facts.state, CM_PROXY);
    assert_string_equal(facts.reason.text, "ran a copy of 65536 bytes instead");
    assert_string_equal(facts.how.provider, "copy proxy");
    assert_string_equal(facts.how.kernels[0].name, "memcpy");
    assert_int_equal(facts.how.kernels[0].tensor_cores, CM_TENSOR_CORES_NO);
    f->backend->drop(made);
    f->backend->close(device);
}

static void reports_all_reasons_of_refusal(void **state) {
    const struct fixture *f = *state;
    struct cm_device *device = open_device(f);
    struct cm_plan *made = NULL;
    struct cm_reason reason;
    struct cm_primitive gemm = fixture_gemm(CM_I64, 8, 8, 8);
    assert_int_equal(f->backend->plan(device, &gemm, &made, &reason), CM_BACKEND_REFUSED);
    assert_non_null(strstr(reason.text, "cublaslt: data types not supported by cuBLASLt"));
    gemm = fixture_gemm(CM_F32, 8, 8, 8);
    gemm.inputs[0].strides[0] = gemm.inputs[0].strides[1] = 3;
    assert_int_equal(f->backend->plan(device, &gemm, &made, &reason), CM_BACKEND_REFUSED);
    assert_non_null(strstr(reason.text, "one stride of each matrix must be 1"));
    f->backend->close(device);
}

static void networks_run_all_steps_in_order(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive works[] = {fixture_relu(1024), fixture_gemm(CM_F32, 32, 32, 32)};
    const struct cm_network_step steps[] = {
        {.primitive = 0, .inputs = {{.offset = 0}}, .outputs = {{.offset = 4096}}},
        {.primitive = 1,
         .inputs = {{.offset = 4096}, {.block = CM_BLOCK_WEIGHTS}},
         .outputs = {{.offset = 0}}},
        {.primitive = 0, .inputs = {{.offset = 0}}, .outputs = {{.offset = 4096}}},
    };
    struct cm_network network = {.n_primitives = 2,
                                 .n_steps = 3,
                                 .primitives = works,
                                 .steps = steps,
                                 .arena_bytes = 8192,
                                 .weight_bytes = 4096};
    struct cm_device *device = open_device(f);
    struct cm_plan *made = NULL;
    struct cm_plan_facts facts;
    struct cm_reason reason;
    assert_int_equal(f->backend->network(device, &network, &made, &reason), CM_BACKEND_OK);
    const size_t before = f->seen->n_launches;
    assert_true(fabs(run(f, made, 2, CM_WARM) - 2 * 4 * DOUBLE_S) < 1e-9);
    const struct double_launch *launches = &f->seen->launches[before];
    assert_int_equal(f->seen->n_launches - before, 8); /* a product has two kernels */
    assert_int_equal(launches[0].last, launches[0].first + 4096);
    assert_string_equal(launches[1].name, "nvjet_double");
    assert_int_equal(launches[1].last, launches[0].last);          /* a: what came before */
    assert_int_equal(launches[1].first, launches[0].first + 8192); /* b: the weights */
    assert_int_equal(launches[3].first, launches[0].first);
    f->backend->plan_facts(made, &facts);
    assert_int_equal(facts.state, CM_MEASURED);
    assert_int_equal(facts.how.n_kernels, 2);
    f->backend->drop(made);
    network.arena_bytes = 4096;
    assert_int_equal(f->backend->network(device, &network, &made, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "step 0 writes outside its block");
    network.n_steps = 0;
    assert_int_equal(f->backend->network(device, &network, &made, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "the network is empty");
    f->backend->close(device);
}

static void plans_only_run_nothing(void **state) {
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
        {"cuLaunchKernel", "cannot launch a kernel: CUDA_ERROR_INVALID_VALUE"},
    };
    f->seen->fail_with = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < N(faults); i++) {
        f->seen->fail = faults[i].call;
        refuses(f, (struct cm_settings){.n = 0}, CM_BACKEND_REFUSED, faults[i].reason);
    }
}

/* Libraries that cannot begin are missed where they are needed. */
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

/* An index of another shape, so that it is a copy: a proxy of four bytes each way. */
static struct cm_primitive odd_gather(void) {
    struct cm_primitive work =
        works_of(CM_GATHER, 0, works_image(CM_F32, 2, 2, 2, 2), works_line(CM_F32, 8));
    work.n_inputs = 2;
    work.inputs[1] = works_line(CM_I64, 3);
    work.bytes_read = work.bytes_written = 4;
    return work;
}

static void says(const struct fixture *f, const struct cm_primitive *work, int status,
                 const struct fault *fault) {
    struct cm_device *device = open_device(f);
    struct cm_plan *made = NULL;
    struct cm_reason reason = {""};
    f->seen->fail = fault->call;
    assert_int_equal(f->backend->plan(device, work, &made, &reason), status);
    if (strstr(reason.text, fault->reason) == NULL) fail_msg("have \"%s\"", reason.text);
    f->backend->close(device);
    f->seen->fail = NULL;
}

static void reports_failures_while_planning(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive gather = odd_gather();
    const struct cm_primitive gemm = fixture_gemm(CM_F32, 8, 8, 8);
    struct cm_primitive none = fixture_relu(1024);
    f->seen->fail_with = CUDA_ERROR_INVALID_VALUE;
    none.bytes_read = none.bytes_written = 0;
    static const struct fault memory[] = {
        {"cuMemAlloc", "cannot allocate memory: CUDA_ERROR_INVALID_VALUE"},
        {"cuMemcpyHtoDAsync", "cannot fill operands: CUDA_ERROR_INVALID_VALUE"},
        {"cuMemcpyDtoDAsync", "copy proxy: cannot copy: CUDA_ERROR_INVALID_VALUE"},
    };
    for (size_t i = 0; i < N(memory); i++) says(f, &gather, CM_BACKEND_REFUSED, &memory[i]);
    f->seen->fail_with = 6; /* of the libraries' own numbers */
    static const struct fault products[] = {
        {"cublasLtMatmulAlgoGetHeuristic", "no algorithm: status 6"},
        {"cublasLtMatrixLayoutCreate", "cuBLASLt cannot describe the product: status 6"},
    };
    for (size_t i = 0; i < N(products); i++) says(f, &gemm, CM_BACKEND_REFUSED, &products[i]);
    static const struct fault kernels[] = {
        {"nvrtcCompileProgram",
         "NVRTC: NVRTC_ERROR_COMPILATION: costmodel.cu(1): error: failure requested"},
        {"nvrtcCreateProgram", "NVRTC: NVRTC_ERROR_COMPILATION"},
        {"cuModuleLoadData", "cannot load a kernel: "},
        {"nvrtcCreateProgram", "copy proxy: nothing to copy"},
    };
    for (size_t i = 0; i < N(kernels); i++) says(f, &none, CM_BACKEND_REFUSED, &kernels[i]);
}

static void reports_calls_that_break_device(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    static const struct fault faults[] = {
        {"cuStreamBeginCapture", "cannot begin a capture: CUDA_ERROR_ILLEGAL_ADDRESS"},
        {"cuStreamEndCapture", "cannot end the capture: CUDA_ERROR_ILLEGAL_ADDRESS"},
        {"cuGraphInstantiateWithFlags", "cannot make a graph: CUDA_ERROR_ILLEGAL_ADDRESS"},
        {"cuGraphUpload", "cannot upload a graph: CUDA_ERROR_ILLEGAL_ADDRESS"},
        {"cuEventRecord", "cannot record an event: CUDA_ERROR_ILLEGAL_ADDRESS"},
        {"cuGraphLaunch", "cannot launch it: CUDA_ERROR_ILLEGAL_ADDRESS"},
        {"cuEventElapsedTime", "cannot read the time: CUDA_ERROR_ILLEGAL_ADDRESS"},
    };
    f->seen->fail_with = CUDA_ERROR_ILLEGAL_ADDRESS;
    for (size_t i = 0; i < N(faults); i++) {
        struct cm_device *device = open_device(f);
        struct cm_plan *made = plan(f, device, &relu);
        struct cm_reason reason;
        double seconds = 0;
        f->seen->fail = faults[i].call;
        assert_int_equal(f->backend->run(made, 4, CM_COLD, &seconds, &reason),
                         CM_BACKEND_BROKEN);
        assert_string_equal(reason.text, faults[i].reason);
        f->seen->fail = NULL;
        f->backend->drop(made);
        f->backend->close(device);
    }
}

static void reports_missing_room_for_workspace(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive gemm = fixture_gemm(CM_F16, 64, 128, 256);
    struct cm_device *device = open_device(f);
    struct cm_plan *made = NULL;
    struct cm_reason reason;
    f->seen->memory = f->seen->n_allocated + 114688;
    assert_int_equal(f->backend->plan(device, &gemm, &made, &reason), CM_BACKEND_NO_MEMORY);
    assert_non_null(
        strstr(reason.text,
               "no room for a workspace of 1048576 bytes beside 114688 bytes of operands"));
    f->backend->close(device);
}

static void without_a_device_only_plans(void **state) {
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

static void copies_in_order_without_indices(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive work = works_of(CM_GATHER, 0, works_image(CM_F32, 1, 8, 4, 4),
                                              works_image(CM_F32, 1, 2, 8, 8));
    const struct cm_network_step steps[] = {{.primitive = 0, .outputs = {{.offset = 512}}},
                                            {.primitive = 1}};
    struct cm_network network = {.n_primitives = 1,
                                 .n_steps = 1,
                                 .primitives = &work,
                                 .steps = steps,
                                 .arena_bytes = 1024};
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &work);
    struct cm_plan_facts facts;
    struct cm_reason reason;
    double seconds = 0;
    f->backend->plan_facts(made, &facts);
    assert_int_equal(facts.state, CM_PROXY);
    assert_string_equal(facts.reason.text,
                        "copied the same number of elements in order instead");
    assert_int_equal(f->backend->run(made, 0, CM_COLD, &seconds, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "no executions");
    f->backend->drop(made);
    assert_int_equal(f->backend->network(device, &network, &made, &reason), CM_BACKEND_OK);
    f->backend->plan_facts(made, &facts);
    assert_string_equal(facts.reason.text, "1 of 1 steps ran as a proxy of the same size");
    f->backend->drop(made);
    network.n_steps = 2;
    assert_int_equal(f->backend->network(device, &network, &made, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "step 1 has no primitive");
    network.arena_bytes = 0;
    assert_int_equal(f->backend->network(device, &network, &made, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "step 0 reads outside its block");
    const struct cm_primitive integers = fixture_gemm(CM_I64, 8, 8, 8);
    network.primitives = &integers;
    assert_int_equal(f->backend->network(device, &network, &made, &reason), CM_BACKEND_REFUSED);
    assert_non_null(strstr(reason.text, "primitive 0: "));
    f->backend->close(device);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, calm, clean)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(reports_why_open_fails),
        CASE(reports_device_failure),
        CASE(the_device_is_described),
        CASE(cold_executions_rotate_sets),
        CASE(repeats_sets_evenly),
        CASE(warm_executions_use_one_set),
        CASE(operands_are_random_and_finite),
        CASE(lists_kernels),
        CASE(products_give_b_first),
        CASE(batches_without_a_common_stride_are_looped_over),
        CASE(autotune_keeps_the_fastest),
        CASE(drops_graphs_of_failed_candidate),
        CASE(tries_next_candidate_after_failure),
        CASE(reports_operands_larger_than_device),
        CASE(one_set_may_take_more_than_half),
        CASE(sticky_error_breaks_device),
        CASE(launches_if_capture_fails),
        CASE(throttling_is_flagged),
        CASE(copies_bytes_without_nvrtc),
        CASE(reports_all_reasons_of_refusal),
        CASE(networks_run_all_steps_in_order),
        CASE(plans_only_run_nothing),
        CASE(reports_failures_on_open),
        CASE(reports_libraries_that_fail_to_initialize),
        CASE(reports_failures_while_planning),
        CASE(reports_calls_that_break_device),
        CASE(reports_missing_room_for_workspace),
        CASE(without_a_device_only_plans),
        CASE(copies_in_order_without_indices),
    };
    return cmocka_run_group_tests(tests, make, end);
}
