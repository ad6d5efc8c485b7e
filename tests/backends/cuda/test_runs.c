/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of plans while they run: operands, sets, graphs, timing and failures. Times are those
 * of the doubles' clock. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#include "backends/measure.h"

/* A set has 64 KiB of input and 64 KiB of output, the cache has 1 MiB: 1 + 3 * 8 sets. */
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
    (void)run(f, made, 30, CM_COLD); /* 25 sets: 15 of them, each twice */
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
    f->backend->drop(made);
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
    made = plan(f, device, &less); /* the next primitive runs */
    f->backend->drop(made);
    f->backend->close(device);
}

/* The set takes more than half of the free memory, but not all of it. */
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
    (void)run(f, made, 4, CM_COLD);
    f->seen->fault_after = 1;
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

/* NVML is read once, right after the cold runs: reasons reported then are flagged. */
static void throttling_is_flagged_with_the_clocks_shown(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = open_device(f);
    struct cm_measurement measured;
    f->seen->throttle = 0x40;
    f->seen->throttle_readings = 1;
    assert_int_equal(
        measure_primitive(f->backend, device, &relu, &timing_default_policy, &measured),
        CM_BACKEND_OK);
    assert_string_equal(measured.clocks.throttle, "temperature");
    assert_int_equal(measured.flags, CM_FLAG_THROTTLED);
    assert_int_equal(measured.clocks.unit_mhz, 1500); /* of the last sample */
    f->seen->throttle = 0x40;
    f->seen->throttle_readings = 0;
    struct cm_plan *made = plan(f, device, &relu);
    struct cm_plan_facts facts;
    (void)run(f, made, 10, CM_COLD);
    f->backend->plan_facts(made, &facts);
    assert_int_equal(facts.flags, 0);
    f->backend->drop(made);
    f->backend->close(device);
}

/* The clock is 345 instead of 1500 MHz for a while: samples are discarded, and other work runs
 * before the next sample. */
static void samples_at_a_low_clock_are_discarded(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &relu);
    struct cm_clocks clocks;
    f->seen->slow_until = f->seen->now + 0.2;
    const size_t replays = f->seen->n_replays;
    (void)run(f, made, 10, CM_COLD);
    assert_true(f->seen->n_replays - replays > 1);
    assert_true(f->seen->now > f->seen->slow_until);
    f->backend->clocks(device, &clocks);
    assert_int_equal(clocks.unit_mhz, 1500);
    assert_string_equal(clocks.throttle, "");
    f->seen->slow_until = f->seen->now + 1e6; /* never ends */
    (void)run(f, made, 10, CM_COLD);
    f->backend->clocks(device, &clocks);
    assert_int_equal(clocks.unit_mhz, 345);
    assert_string_equal(clocks.throttle, "low clock");
    f->backend->drop(made);
    f->backend->close(device);
}

/* Without events in the graph, the time includes the gap from its launch to its first
 * kernel. */
static void events_are_recorded_outside_of_graphs_that_refuse_them(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    f->seen->refuse_external = true;
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &relu);
    struct cm_plan_facts facts;
    assert_true(fabs(run(f, made, 10, CM_COLD) - 10 * DOUBLE_S - DOUBLE_GAP) < 1e-9);
    f->backend->plan_facts(made, &facts);
    assert_int_equal(facts.flags, 0);
    f->backend->drop(made);
    f->backend->close(device);
}

/* 4 MiB of cache and sets of 128 KiB: 97 sets. Single executions must use them all. */
static void single_executions_rotate_all_sets(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    f->seen->cache_bytes = 4 << 20;
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &relu);
    struct cm_plan_facts facts;
    const size_t before = f->seen->n_launches;
    (void)run(f, made, 1, CM_COLD);
    assert_int_equal(f->seen->n_launches - before, 97);
    assert_int_equal(f->seen->launches[before + 96].first,
                     f->seen->launches[before].first + 96 * 131072);
    f->backend->plan_facts(made, &facts);
    assert_int_equal(facts.flags, 0);
    f->backend->drop(made);
    f->backend->close(device);
    const struct cm_setting few[] = {doubles, {"memory", "2097152"}}; /* memory for 16 sets */
    const struct cm_settings settings = {.n = 2, .items = few};
    struct cm_reason reason;
    assert_int_equal(open_with(f, settings, &device, &reason), CM_BACKEND_OK);
    made = plan(f, device, &relu);
    (void)run(f, made, 10, CM_COLD);
    f->backend->plan_facts(made, &facts);
    assert_int_equal(facts.flags, CM_FLAG_NOT_COLD);
    f->backend->drop(made);
    f->backend->close(device);
}

/* Rows have three indices, below 5, 7 and 300, also where the pattern of 1 MiB is repeated. */
static void indices_are_in_the_range_of_their_column(void **state) {
    const struct fixture *f = *state;
    static const int64_t dims[] = {5, 7, 300};
    const int64_t n = 100000;
    struct cm_primitive work =
        works_of(CM_GATHER, 0, fixture_tensor(CM_F32, 3, dims), works_line(CM_F32, n));
    work.n_inputs = 2;
    work.inputs[1] = fixture_tensor(CM_I64, 2, (const int64_t[]){n, 3});
    int64_t most[3] = {0};
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &work);
    const struct double_launch *launch = &f->seen->launches[f->seen->n_launches - 1];
    const int64_t *indices = (const int64_t *)(uintptr_t)launch->accesses[1].at;
    for (int64_t i = 0; i < 3 * n; i++) {
        assert_true(indices[i] >= 0 && indices[i] < dims[i % 3]);
        if (indices[i] > most[i % 3]) most[i % 3] = indices[i];
    }
    for (int i = 0; i < 3; i++) assert_int_equal(most[i], dims[i] - 1);
    f->backend->drop(made);
    f->backend->close(device);
}

/* A network (--end-to-end) runs the algorithms of its layers: here the second algorithm, which
 * launches one kernel instead of two. */
static void networks_run_the_algorithms_of_their_layers(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive gemm = fixture_gemm(CM_F16, 64, 128, 256);
    const struct cm_network_step step = {.primitive = 0,
                                         .inputs = {{.offset = 0}, {.offset = 16384}},
                                         .outputs = {{.offset = 81920}}};
    const struct cm_network network = {.n_primitives = 1,
                                       .n_steps = 1,
                                       .primitives = &gemm,
                                       .steps = &step,
                                       .arena_bytes = 114688};
    struct cm_device *device = NULL;
    struct cm_reason reason;
    assert_int_equal(open_with(f, (struct cm_settings){.autotune = 8}, &device, &reason),
                     CM_BACKEND_OK);
    for (int i = 0; i < 2; i++) { /* first before its layer is planned, then after it */
        struct cm_plan *made = NULL;
        assert_int_equal(f->backend->network(device, &network, &made, &reason), CM_BACKEND_OK);
        const size_t before = f->seen->n_launches;
        (void)run(f, made, 1, CM_WARM);
        assert_int_equal(f->seen->n_launches - before, 1);
        f->backend->drop(made);
        f->backend->drop(plan(f, device, &gemm));
    }
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
    assert_int_equal(launches[1].last, launches[0].last);          /* a: the result of step 0 */
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

struct fault {
    const char *call;
    const char *reason;
};

/* Returns a gather whose indices have a wrong shape: it is timed as a proxy, a copy of 4
 * bytes. */
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
    f->seen->fail_with = 6; /* a status of the libraries, not of the driver */
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
        {"cuEventRecordWithFlags", "cannot record an event: CUDA_ERROR_ILLEGAL_ADDRESS"},
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

/* Work that fails when it runs, after its call, is reported by the planning step it belongs
 * to. */
static void reports_work_that_fails_later(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    static const struct {
        int after;
        const char *reason;
    } cases[] = {
        {1, "cannot fill operands: CUDA_ERROR_ILLEGAL_ADDRESS"},  /* the first input */
        {3, "cannot run it: CUDA_ERROR_ILLEGAL_ADDRESS"},         /* the trial execution */
        {20, "cannot fill operands: CUDA_ERROR_ILLEGAL_ADDRESS"}, /* a copied set */
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_device *device = open_device(f);
        struct cm_plan *made = NULL;
        struct cm_reason reason = {""};
        f->seen->fault_after = cases[i].after;
        assert_int_equal(f->backend->plan(device, &relu, &made, &reason), CM_BACKEND_BROKEN);
        assert_string_equal(reason.text, cases[i].reason);
        f->seen->fault_after = 0;
        f->backend->close(device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(cold_executions_rotate_sets),
        CASE(repeats_sets_evenly),
        CASE(warm_executions_use_one_set),
        CASE(operands_are_random_and_finite),
        CASE(reports_operands_larger_than_device),
        CASE(one_set_may_take_more_than_half),
        CASE(sticky_error_breaks_device),
        CASE(launches_if_capture_fails),
        CASE(throttling_is_flagged_with_the_clocks_shown),
        CASE(samples_at_a_low_clock_are_discarded),
        CASE(events_are_recorded_outside_of_graphs_that_refuse_them),
        CASE(single_executions_rotate_all_sets),
        CASE(indices_are_in_the_range_of_their_column),
        CASE(networks_run_the_algorithms_of_their_layers),
        CASE(copies_bytes_without_nvrtc),
        CASE(networks_run_all_steps_in_order),
        CASE(reports_failures_while_planning),
        CASE(reports_calls_that_break_device),
        CASE(copies_in_order_without_indices),
        CASE(reports_work_that_fails_later),
    };
    return cmocka_run_group_tests(tests, harness_make, harness_end);
}
