/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of matrix products by cuBLASLt. Times are those of the doubles' clock. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#include <cublasLt.h>

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
                        "algorithm 60, tile 128x64, stages 64x4, split-k 1, 0.00 waves");
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
    assert_true(fabs(kernel->theoretical_occupancy - 1) < 1e-9);
    f->backend->drop(made);
    f->backend->close(device);
}

/* The row-major product y = a b is the column-major product y' = b' a', with b as first
 * operand. */
static void passes_b_as_first_operand(void **state) {
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

/* Batches [2, 3], but [1, 3] of b: two calls with three batches each. */
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
                        "algorithm 62, tile 128x64, stages 64x4, split-k 1, 0.00 waves");
    assert_int_equal(facts.how.plans_tried, 3); /* two, and the first of them again */
    assert_int_equal(facts.how.workspace_bytes, 1 << 10);
    f->backend->drop(made);
    f->backend->close(device);
}

/* Each candidate is captured again: 5 executions of the first, with two kernels, 5 of the
 * second, with one, and one of the first, which is kept. */
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
    f->seen->memory = f->seen->n_allocated + 600000; /* fits 1 KiB of workspace, not 1 MiB */
    made = plan(f, device, &gemm);
    f->backend->plan_facts(made, &facts);
    assert_string_equal(facts.how.algorithm,
                        "algorithm 62, tile 128x64, stages 64x4, split-k 1, 0.00 waves");
    assert_int_equal(facts.how.plans_tried, 2);
    assert_true((facts.flags & CM_FLAG_NOT_COLD) != 0);
    f->backend->drop(made);
    f->seen->memory = (size_t)64 << 20;
    f->seen->fail = "cublasLtMatmul";
    f->seen->fail_with = 13;
    assert_int_equal(f->backend->plan(device, &gemm, &made, &reason), CM_BACKEND_REFUSED);
    assert_non_null(
        strstr(reason.text, "cublaslt: cuBLASLt cannot run the product: status 13"));
    f->seen->loses = true; /* cuBLASLt has no status for it */
    assert_int_equal(f->backend->plan(device, &gemm, &made, &reason), CM_BACKEND_BROKEN);
    assert_string_equal(reason.text, "cannot run it: CUDA_ERROR_ILLEGAL_ADDRESS");
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
    gemm = fixture_gemm(CM_F32, 8, 8, 8);
    gemm.n_steps = 1;
    gemm.steps[0].function = CM_SIGMOID;
    assert_int_equal(f->backend->plan(device, &gemm, &made, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "cublaslt: no epilogue for these post-ops; "
                                     "cudnn graph: no engine supports it");
    f->backend->close(device);
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

/* Batches of 3: a [3, 4, 8] contiguous, b shared, y [3, 4, 16] with rows 20 apart. */
static void batches_read_and_write_their_operands(void **state) {
    const struct fixture *f = *state;
    struct cm_primitive gemm = fixture_gemm(CM_F32, 4, 8, 16);
    struct cm_device *device = open_device(f);
    gemm.inputs[0] = fixture_tensor(CM_F32, 3, (const int64_t[]){3, 4, 8});
    gemm.outputs[0] = fixture_tensor(CM_F32, 3, (const int64_t[]){3, 4, 16});
    gemm.outputs[0].strides[0] = 80;
    gemm.outputs[0].strides[1] = 20;
    struct cm_plan *made = plan(f, device, &gemm);
    const struct double_launch *launch = &f->seen->launches[f->seen->n_launches - 1];
    assert_string_equal(launch->name, "nvjet_double");
    assert_int_equal(launch->accesses[0].bytes, 8 * 16 * 4);                 /* b */
    assert_int_equal(launch->accesses[1].bytes, 3 * 4 * 8 * 4);              /* a */
    assert_int_equal(launch->accesses[2].bytes, (2 * 80 + 3 * 20 + 16) * 4); /* y */
    assert_true(launch->accesses[2].writes);
    f->backend->drop(made);
    f->backend->close(device);
}

/* alpha is 1; beta is 0, or 1 if a matrix is added; both have the scale type. */
static void products_are_not_scaled(void **state) {
    const struct fixture *f = *state;
    static const int32_t elements[] = {CM_F64, CM_F32, CM_F16};
    struct cm_device *device = open_device(f);
    for (size_t i = 0; i < N(elements); i++) {
        struct cm_primitive gemm = fixture_gemm(elements[i], 64, 128, 256);
        for (int adds = 0; adds < 2; adds++) {
            gemm.n_inputs = 2 + adds;
            gemm.inputs[2] = gemm.outputs[0];
            struct cm_plan *made = plan(f, device, &gemm);
            const struct double_launch *launch = &f->seen->launches[f->seen->n_launches - 1];
            assert_string_equal(launch->name, "nvjet_double");
            assert_true(launch->alpha == 1 && launch->beta == adds);
            f->backend->drop(made);
        }
    }
    f->backend->close(device);
}

/* 8-bit products require both operands to be contiguous along k. */
static void narrow_products_run_by_cublaslt(void **state) {
    const struct fixture *f = *state;
    static const struct {
        int32_t element, result;
    } cases[] = {{CM_I8, CM_I32}, {CM_I8, CM_I8}, {CM_F8E4M3, CM_F16}, {CM_F8E4M3, CM_F32}};
    struct cm_device *device = open_device(f);
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_primitive gemm = fixture_gemm(cases[i].element, 64, 128, 256);
        struct cm_plan_facts facts;
        gemm.outputs[0].element = cases[i].result;
        struct cm_plan *made = plan(f, device, &gemm);
        const struct double_launch *launch = &f->seen->launches[f->seen->n_launches - 1];
        f->backend->plan_facts(made, &facts);
        assert_string_equal(facts.how.provider, "cublaslt");
        assert_int_equal(launch->accesses[0].bytes, 128 * 256);
        assert_int_equal(launch->accesses[1].bytes, 64 * 128);
        assert_true(launch->alpha == 1);
        f->backend->drop(made);
    }
    f->backend->close(device);
}

/* int8 with 32-bit sums, and fp8 with fp32 results: cuBLASLt has no epilogue for their bias. */
static void adds_biases_without_epilogue_in_another_kernel(void **state) {
    const struct fixture *f = *state;
    static const struct {
        int32_t element, result;
    } cases[] = {{CM_I8, CM_I32}, {CM_F8E4M3, CM_F32}};
    struct cm_device *device = open_device(f);
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_primitive gemm = fixture_gemm(cases[i].element, 64, 128, 256);
        struct cm_plan_facts facts;
        gemm.outputs[0].element = cases[i].result;
        gemm.n_inputs = 3;
        gemm.inputs[2] = works_line(cases[i].result, 256);
        struct cm_plan *made = plan(f, device, &gemm);
        const struct double_launch *add = &f->seen->launches[f->seen->n_launches - 1];
        f->backend->plan_facts(made, &facts);
        assert_string_equal(facts.how.provider, "cublaslt");
        assert_non_null(strstr(facts.how.algorithm, ", unfused addend"));
        assert_string_equal(add->name, "costmodel_eltwise_0");
        assert_int_equal(add->accesses[0].at, add->accesses[2].at); /* y, in place */
        assert_int_equal(add->accesses[1].at, add->accesses[0].at - 256 * 4);
        assert_int_equal(facts.how.n_kernels, 2);
        f->backend->drop(made);
    }
    f->backend->close(device);
}

/* cuBLASLt has an epilogue for one function; a graph of cuDNN applies any chain. */
static void post_ops_of_products_are_epilogues_or_graphs(void **state) {
    const struct fixture *f = *state;
    static const struct {
        int32_t functions[2];
        bool bias;
        const char *provider;
        int epilogue;
    } cases[] = {
        {{CM_RELU, 0}, false, "cublaslt", CUBLASLT_EPILOGUE_RELU},
        {{CM_RELU, 0}, true, "cublaslt", CUBLASLT_EPILOGUE_RELU_BIAS},
        {{CM_GELU_TANH, 0}, false, "cublaslt", CUBLASLT_EPILOGUE_GELU},
        {{CM_GELU_TANH, 0}, true, "cublaslt", CUBLASLT_EPILOGUE_GELU_BIAS},
        {{CM_GELU, 0}, true, "cudnn graph", 0},
        {{CM_RELU, CM_SIGMOID}, true, "cudnn graph", 0},
    };
    struct cm_device *device = open_device(f);
    f->seen->n_engines = 1;
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_primitive gemm = fixture_gemm(CM_F16, 64, 128, 256);
        struct cm_plan_facts facts;
        gemm.n_inputs = cases[i].bias ? 3 : 2;
        gemm.inputs[2] = works_line(CM_F16, 256);
        gemm.n_steps = cases[i].functions[1] != 0 ? 2 : 1;
        for (int k = 0; k < gemm.n_steps; k++) gemm.steps[k].function = cases[i].functions[k];
        struct cm_plan *made = plan(f, device, &gemm);
        const struct double_launch *launch = &f->seen->launches[f->seen->n_launches - 1];
        size_t read = 0;
        f->backend->plan_facts(made, &facts);
        assert_string_equal(facts.how.provider, cases[i].provider);
        assert_int_equal(launch->epilogue, cases[i].epilogue);
        for (int k = 0; k < launch->n_accesses; k++)
            read += launch->accesses[k].writes ? 0 : launch->accesses[k].bytes;
        assert_int_equal(read, 2 * (64 * 128 + 128 * 256 + (cases[i].bias ? 256 : 0)));
        f->backend->drop(made);
    }
    f->backend->close(device);
}

/* Matrix a of the second call is 210 bytes after that of the first: it is aligned to 2 bytes
 * only. */
static void looped_products_promise_the_alignment_they_have(void **state) {
    const struct fixture *f = *state;
    struct cm_primitive gemm = fixture_gemm(CM_F16, 5, 7, 8);
    struct cm_plan_facts facts;
    struct cm_device *device = open_device(f);
    gemm.inputs[0] = fixture_tensor(CM_F16, 4, (const int64_t[]){2, 3, 5, 7});
    gemm.inputs[1] = fixture_tensor(CM_F16, 4, (const int64_t[]){1, 3, 7, 8});
    gemm.outputs[0] = fixture_tensor(CM_F16, 4, (const int64_t[]){2, 3, 5, 8});
    struct cm_plan *made = plan(f, device, &gemm);
    f->backend->plan_facts(made, &facts);
    assert_string_equal(facts.how.provider, "cublaslt");
    f->backend->drop(made);
    f->backend->close(device);
}

/* An autotuned layer runs by the fastest provider, not by the first that has a plan. */
static void autotune_compares_providers(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive relu = fixture_relu(16384);
    struct cm_device *device = NULL;
    struct cm_plan_facts facts;
    struct cm_reason reason;
    f->seen->n_engines = 1;
    f->seen->cudnn_launches = 3;
    assert_int_equal(open_with(f, (struct cm_settings){.autotune = 2}, &device, &reason),
                     CM_BACKEND_OK);
    struct cm_plan *made = plan(f, device, &relu);
    f->backend->plan_facts(made, &facts);
    assert_string_equal(facts.how.provider, "nvrtc");
    f->backend->drop(made);
    f->backend->close(device);
}

/* A library that allocates at each launch invalidates the capture. */
static void capture_invalidated_by_a_library_is_not_used(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive gemm = fixture_gemm(CM_F32, 64, 128, 256);
    struct cm_device *device = open_device(f);
    f->seen->library_allocates = true;
    struct cm_plan *made = plan(f, device, &gemm);
    struct cm_plan_facts facts;
    const size_t replays = f->seen->n_replays;
    (void)run(f, made, 4, CM_COLD);
    f->backend->plan_facts(made, &facts);
    assert_int_equal(f->seen->n_replays, replays);
    assert_true((facts.flags & CM_FLAG_LAUNCHES) != 0);
    f->backend->drop(made);
    f->backend->close(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(lists_kernels),
        CASE(passes_b_as_first_operand),
        CASE(batches_without_a_common_stride_are_looped_over),
        CASE(autotune_keeps_the_fastest),
        CASE(drops_graphs_of_failed_candidate),
        CASE(tries_next_candidate_after_failure),
        CASE(reports_all_reasons_of_refusal),
        CASE(reports_missing_room_for_workspace),
        CASE(batches_read_and_write_their_operands),
        CASE(products_are_not_scaled),
        CASE(narrow_products_run_by_cublaslt),
        CASE(capture_invalidated_by_a_library_is_not_used),
        CASE(adds_biases_without_epilogue_in_another_kernel),
        CASE(post_ops_of_products_are_epilogues_or_graphs),
        CASE(looped_products_promise_the_alignment_they_have),
        CASE(autotune_compares_providers),
    };
    return cmocka_run_group_tests(tests, harness_make, harness_end);
}
