/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the times of kernels, for layers that run several. Times are those of the doubles'
 * clock: each launch takes DOUBLE_S. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#include "backends/cuda/device.h"
#include "backends/measure.h"

/* Returns an int8 product with a bias: its kernel is launched twice, that of the addition
 * once. */
static struct cm_primitive product_and_addition(void) {
    struct cm_primitive gemm = fixture_gemm(CM_I8, 64, 128, 256);
    gemm.outputs[0].element = CM_I32;
    gemm.n_inputs = 3;
    gemm.inputs[2] = works_line(CM_I32, 256);
    return gemm;
}

static int measure(const struct fixture *f, struct cm_device *device,
                   const struct cm_primitive *primitive, struct cm_measurement *ret) {
    return measure_primitive(f->backend, device, primitive, &timing_default_policy, ret);
}

/* Expects a time of the layer, but no times of its kernels. */
static void expect_no_kernel_times(const struct fixture *f, struct cm_device *device) {
    const struct cm_primitive work = product_and_addition();
    struct cm_measurement measured;
    assert_int_equal(measure(f, device, &work, &measured), CM_BACKEND_OK);
    assert_int_equal(measured.state, CM_MEASURED);
    assert_true(fabs(measured.cold.median - 3 * DOUBLE_S) < 1e-9);
    assert_int_equal(measured.flags & CM_FLAG_LOST, 0);
    assert_int_equal(measured.how.n_kernels, 2);
    assert_true(measured.how.kernels[0].seconds == 0 && measured.how.kernels[1].seconds == 0);
}

static void times_of_kernels_in_a_chain_add_up_to_the_layer(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive work = product_and_addition();
    struct cm_device *device = open_device(f);
    struct cm_measurement measured;
    assert_int_equal(measure(f, device, &work, &measured), CM_BACKEND_OK);
    const struct cm_kernel *kernels = measured.how.kernels;
    assert_int_equal(measured.state, CM_MEASURED);
    assert_int_equal(measured.how.n_kernels, 2);
    assert_string_equal(kernels[0].name, "nvjet_double");
    assert_int_equal(kernels[0].calls, 2);
    assert_true(fabs(kernels[0].seconds - 2 * DOUBLE_S) < 1e-9);
    assert_string_equal(kernels[1].name, "costmodel_eltwise_0");
    assert_true(fabs(kernels[1].seconds - DOUBLE_S) < 1e-9);
    assert_true(fabs(measured.cold.median - 3 * DOUBLE_S) < 1e-9);
    f->backend->close(device);
}

/* One graph contains an execution on each set; it is captured only once. */
static void kernels_are_timed_on_all_sets_in_turn(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive work = product_and_addition();
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &work);
    struct cm_plan_facts facts;
    struct cm_reason reason;
    double seconds[CM_MAX_KERNELS];
    f->backend->plan_facts(made, &facts);
    const size_t before = f->seen->n_launches;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(f->backend->run_kernels(made, seconds, &reason), CM_BACKEND_OK);
        assert_true(fabs(seconds[0] - 2 * DOUBLE_S) < 1e-9);
        assert_int_equal(f->seen->n_launches - before, 3 * facts.how.n_sets);
    }
    assert_true(facts.how.n_sets > 1);
    const struct double_launch *launches = &f->seen->launches[before];
    const uint64_t set = launches[3].first - launches[0].first;
    assert_true(set >= 64 * 128 + 128 * 256 + 256 * 4 + 64 * 256 * 4);
    for (int i = 0; i < facts.how.n_sets; i++)
        assert_int_equal(launches[3 * i].first, launches[0].first + (uint64_t)i * set);
    f->backend->drop(made);
    f->backend->close(device);
}

static void kernels_of_a_branching_graph_have_no_times(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive work = product_and_addition();
    struct cm_device *device = open_device(f);
    struct cm_reason reason;
    double seconds[CM_MAX_KERNELS];
    f->seen->branches = true;
    expect_no_kernel_times(f, device);
    struct cm_plan *made = plan(f, device, &work);
    assert_int_equal(f->backend->run_kernels(made, seconds, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "the graph is not a chain of the kernels of the layer");
    f->backend->drop(made);
    f->backend->close(device);
}

static void kernels_have_no_times_if_the_driver_lacks_a_function(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive work = product_and_addition();
    struct cm_device *device = open_device(f);
    const struct cuda_driver whole = device->driver;
    struct cm_reason reason;
    double seconds[CM_MAX_KERNELS];
    for (int i = 0; i < 5; i++) {
        struct cuda_driver *driver = &device->driver;
        *driver = whole;
        if (i == 0) driver->cuGraphGetRootNodes = NULL;
        if (i == 1) driver->cuGraphNodeGetDependentNodes = NULL;
        if (i == 2) driver->cuGraphAddEventRecordNode = NULL;
        if (i == 3) driver->cuGraphAddDependencies = NULL;
        if (i == 4) driver->cuGraphRemoveDependencies = NULL;
        expect_no_kernel_times(f, device);
        struct cm_plan *made = plan(f, device, &work);
        assert_int_equal(f->backend->run_kernels(made, seconds, &reason), CM_BACKEND_REFUSED);
        assert_string_equal(reason.text, "the driver cannot change graphs");
        f->backend->drop(made);
    }
    device->driver = whole;
    f->backend->close(device);
}

/* 918 is CUDA_ERROR_LOSSY_QUERY: the kernels overlap by programmatic launch. */
static void failure_of_the_second_graph_keeps_the_time_of_the_layer(void **state) {
    const struct fixture *f = *state;
    static const struct {
        const char *call;
        CUresult result;
    } cases[] = {{"cuGraphGetRootNodes", CUDA_ERROR_INVALID_VALUE},
                 {"cuGraphNodeGetDependentNodes", (CUresult)918},
                 {"cuGraphAddEventRecordNode", CUDA_ERROR_OUT_OF_MEMORY},
                 {"cuGraphRemoveDependencies", CUDA_ERROR_NOT_SUPPORTED},
                 {"cuGraphAddDependencies", CUDA_ERROR_INVALID_VALUE}};
    struct cm_device *device = open_device(f);
    for (size_t i = 0; i < N(cases); i++) {
        f->seen->fail = cases[i].call;
        f->seen->fail_with = (int)cases[i].result;
        expect_no_kernel_times(f, device);
    }
    f->backend->close(device);
}

/* After each failure the next try can succeed, and no object is left. */
static void any_call_of_the_second_graph_may_fail(void **state) {
    const struct fixture *f = *state;
    static const struct {
        const char *call;
        const char *reason;
    } cases[] = {
        {"cuStreamBeginCapture", "cannot begin a capture: CUDA_ERROR_INVALID_VALUE"},
        {"cublasLtMatmul", "cuBLASLt cannot run the product: status 1"},
        {"cuStreamEndCapture", "cannot end the capture: CUDA_ERROR_INVALID_VALUE"},
        {"cuGraphGetRootNodes", "cannot read a graph: CUDA_ERROR_INVALID_VALUE"},
        {"cuEventCreate", "cannot create an event: CUDA_ERROR_INVALID_VALUE"},
        {"cuGraphAddEventRecordNode",
         "cannot insert an event into a graph: CUDA_ERROR_INVALID_VALUE"},
        {"cuGraphRemoveDependencies",
         "cannot insert an event into a graph: CUDA_ERROR_INVALID_VALUE"},
        {"cuGraphAddDependencies",
         "cannot insert an event into a graph: CUDA_ERROR_INVALID_VALUE"},
        {"cuGraphInstantiateWithFlags", "cannot make a graph: CUDA_ERROR_INVALID_VALUE"},
        {"cuGraphUpload", "cannot upload a graph: CUDA_ERROR_INVALID_VALUE"},
        {"cuGraphLaunch", "cannot launch it: CUDA_ERROR_INVALID_VALUE"},
        {"cuStreamSynchronize", "cannot run it: CUDA_ERROR_INVALID_VALUE"},
        {"cuEventElapsedTime", "cannot read the time: CUDA_ERROR_INVALID_VALUE"},
    };
    const struct cm_primitive work = product_and_addition();
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &work);
    struct cm_reason reason;
    double seconds[CM_MAX_KERNELS];
    for (size_t i = 0; i < N(cases); i++) {
        f->seen->fail = cases[i].call;
        f->seen->fail_with = CUDA_ERROR_INVALID_VALUE;
        assert_int_equal(f->backend->run_kernels(made, seconds, &reason), CM_BACKEND_REFUSED);
        assert_string_equal(reason.text, cases[i].reason);
        f->seen->fail = NULL;
    }
    assert_int_equal(f->backend->run_kernels(made, seconds, &reason), CM_BACKEND_OK);
    assert_true(fabs(seconds[0] + seconds[1] - 3 * DOUBLE_S) < 1e-9);
    f->backend->drop(made);
    f->backend->close(device);
}

static void the_only_kernel_of_a_layer_is_not_timed_again(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = open_device(f);
    struct cm_measurement measured;
    f->seen->fail = "cuGraphAddEventRecordNode";
    f->seen->fail_with = CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_int_equal(measure(f, device, &relu, &measured), CM_BACKEND_OK);
    assert_int_equal(measured.how.n_kernels, 1);
    assert_true(measured.how.kernels[0].seconds == 0);
    f->backend->close(device);
}

static void refuses_to_time_many_kernels_or_launches(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive conv = fixture_conv();
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_reason reason;
    double seconds[CM_MAX_KERNELS];
    f->seen->n_engines = 1;
    f->seen->cudnn_launches = 257;
    struct cm_device *device = open_device(f);
    struct cm_plan *made = plan(f, device, &conv);
    assert_int_equal(f->backend->run_kernels(made, seconds, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "257 kernels run, at most 256 are timed one by one");
    f->backend->drop(made);
    f->seen->n_engines = 0;
    f->seen->refuse_capture = true;
    made = plan(f, device, &relu);
    assert_int_equal(f->backend->run_kernels(made, seconds, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "kernels are timed only in the graph of a primitive");
    f->backend->drop(made);
    f->backend->close(device);
}

/* The plan of a lost device is not dropped, because the process ends; the test drops it. */
static const struct cm_backend *real;
static struct cm_plan *kept;

static int keep_plan(struct cm_device *device, const struct cm_primitive *primitive,
                     struct cm_plan **ret, struct cm_reason *reason) {
    const int status = real->plan(device, primitive, ret, reason);
    kept = *ret;
    return status;
}

static void device_lost_by_the_second_graph_keeps_the_time_of_the_layer(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive work = product_and_addition();
    struct cm_device *device = open_device(f);
    struct cm_measurement measured;
    struct cm_backend backend = *f->backend;
    real = f->backend;
    backend.plan = keep_plan;
    f->seen->fail = "cuGraphAddDependencies";
    f->seen->fail_with = CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_int_equal(
        measure_primitive(&backend, device, &work, &timing_default_policy, &measured),
        CM_BACKEND_BROKEN);
    assert_int_equal(measured.state, CM_MEASURED);
    assert_true(fabs(measured.cold.median - 3 * DOUBLE_S) < 1e-9);
    assert_int_equal(measured.flags & CM_FLAG_LOST, CM_FLAG_LOST);
    assert_true(measured.how.kernels[0].seconds == 0);
    f->backend->drop(kept);
    f->backend->close(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(times_of_kernels_in_a_chain_add_up_to_the_layer),
        CASE(kernels_are_timed_on_all_sets_in_turn),
        CASE(kernels_of_a_branching_graph_have_no_times),
        CASE(kernels_have_no_times_if_the_driver_lacks_a_function),
        CASE(failure_of_the_second_graph_keeps_the_time_of_the_layer),
        CASE(any_call_of_the_second_graph_may_fail),
        CASE(the_only_kernel_of_a_layer_is_not_timed_again),
        CASE(refuses_to_time_many_kernels_or_launches),
        CASE(device_lost_by_the_second_graph_keeps_the_time_of_the_layer),
    };
    return cmocka_run_group_tests(tests, harness_make, harness_end);
}
