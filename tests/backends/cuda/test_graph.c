/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the provider of cuDNN's graphs with a table of functions that only count calls: each
 * descriptor that is created is destroyed, whichever call fails, and hostile primitives are
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cuda/cudnn/graph.h"
#include "backends/cuda/provider.h"
#include "backends/cuda/target.h"
#include "fixture.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Numbers of calls of the double of cuDNN, and which of them fail. */
static struct counts {
    int created, destroyed, calls;
    int fail_at;       /* the call that fails; 0: none */
    int n_engines;     /* engines that the heuristics list */
    int n_refused;     /* the first n_refused plans cannot be finalized */
    int plans;         /* plans finalized so far */
    int64_t workspace; /* of each plan */
    int64_t note;      /* of each engine; -1: none */
    int n_knobs;       /* of each configuration: types 42, 14, 2, .. with the values 1, 2, .. */
    int knob;          /* index of the knob that is read next */
} counts;

static cudnnStatus_t step_on(void) {
    counts.calls++;
    return counts.calls == counts.fail_at ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
}

struct counted {
    cudnnBackendDescriptorType_t type;
};

static cudnnStatus_t create(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *ret) {
    const cudnnStatus_t status = step_on();
    if (status != CUDNN_STATUS_SUCCESS) return status;
    struct counted *made = malloc(sizeof(*made));
    assert_non_null(made);
    made->type = type;
    counts.created++;
    *ret = made;
    return status;
}

static cudnnStatus_t destroy(cudnnBackendDescriptor_t descriptor) {
    counts.destroyed++;
    free(descriptor);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, int64_t n, const void *values) {
    (void)name, (void)type, (void)n;
    assert_non_null(descriptor);
    assert_non_null(values);
    return step_on();
}

static const int32_t knob_types[] = {42, 14, 2};

static cudnnStatus_t get(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, int64_t n, int64_t *ret_n,
                         void *ret) {
    const cudnnStatus_t status = step_on();
    (void)descriptor, (void)type;
    *ret_n = n;
    if (status != CUDNN_STATUS_SUCCESS) return status;
    if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS)
        *ret_n = counts.n_engines;
    else if (name == CUDNN_ATTR_ENGINECFG_KNOB_CHOICES)
        *ret_n = counts.n_knobs;
    else if (name == CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE)
        *(int32_t *)ret = knob_types[counts.knob++ % 3];
    else if (name == CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE)
        *(int64_t *)ret = counts.knob;
    else if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)
        memcpy(ret, &counts.workspace, sizeof(counts.workspace));
    else if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE && counts.note >= 0) {
        const int32_t note = (int32_t)counts.note;
        memcpy(ret, &note, sizeof(note));
        *ret_n = 1;
    } else if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE ||
               name == CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE)
        *ret_n = 0;
    else if (name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX)
        *(int64_t *)ret = counts.plans;
    return status;
}

static cudnnStatus_t finalize(cudnnBackendDescriptor_t descriptor) {
    const struct counted *made = descriptor;
    const cudnnStatus_t status = step_on();
    if (status != CUDNN_STATUS_SUCCESS) return status;
    if (made->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) return status;
    return counts.plans++ < counts.n_refused ? CUDNN_STATUS_NOT_SUPPORTED : status;
}

static const char *error_string(cudnnStatus_t status) {
    return status == CUDNN_STATUS_NOT_SUPPORTED ? "NOT_SUPPORTED" : "?";
}

static void last_error(char *ret, size_t size) {
    (void)snprintf(
        ret, size,
        "{\"engineId\":1}\nWarning: X; Reason: is_NHWC\nWarning: Y; Reason: other\n");
}

static size_t version(void) {
    return 91900;
}

static struct cm_device *begin(void) {
    static const struct counts usual = {.n_engines = 3, .note = -1};
    struct cm_device *device = calloc(1, sizeof(*device));
    struct cm_reason reason = {""};
    assert_non_null(device);
    counts = usual;
    device->options.workspace_bytes = 1024;
    device->options.plan_only = true;
    device->cudnn = (struct cuda_cudnn){
        .cudnnGetVersion = version,
        .cudnnGetErrorString = error_string,
        .cudnnGetLastErrorString = last_error,
        .cudnnBackendCreateDescriptor = create,
        .cudnnBackendDestroyDescriptor = destroy,
        .cudnnBackendSetAttribute = set,
        .cudnnBackendGetAttribute = get,
        .cudnnBackendFinalize = finalize,
    };
    device->has_cudnn.available = true;
    assert_int_equal(target_make(&device->cudnn, NULL, &device->target, &reason),
                     CM_BACKEND_OK);
    return device;
}

static void end(struct cm_device *device) {
    target_drop(&device->target);
    assert_int_equal(counts.created, counts.destroyed);
    free(device);
}

static int make(struct cm_device *device, const struct cm_primitive *primitive, int candidate,
                struct cm_how *ret, struct cm_reason *reason) {
    struct cuda_step step = {.own = NULL};
    const int status = cudnn_graph_provider.make(device, primitive, candidate, &step, reason);
    memset(ret, 0, sizeof(*ret));
    if (status != CM_BACKEND_OK) return status;
    assert_null(step.launch); /* there is no device */
    step.facts(step.own, ret);
    ret->workspace_bytes = step.workspace_bytes;
    ret->plans_tried = step.plans_tried;
    step.drop(step.own);
    return status;
}

static void expect_refused(struct cm_device *device, const struct cm_primitive *primitive,
                           const char *want) {
    struct cm_how how;
    struct cm_reason reason = {""};
    assert_int_equal(make(device, primitive, 0, &how, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, want);
}

static void the_first_engine_that_accepts_is_taken(void **state) {
    (void)state;
    struct cm_device *device = begin();
    struct cm_how how;
    struct cm_reason reason = {""};
    const struct cm_primitive conv = fixture_conv();
    counts.n_refused = 1;
    assert_int_equal(make(device, &conv, 0, &how, &reason), CM_BACKEND_OK);
    assert_int_equal(how.plans_tried, 2);
    assert_string_equal(how.algorithm, "engine 1");
    assert_int_equal(how.tensor_cores, CM_TENSOR_CORES_NO);
    end(device);
}

/* Knobs are listed by type, not in cuDNN's order. */
static void algorithms_have_the_knobs_of_their_engine(void **state) {
    (void)state;
    struct cm_device *device = begin();
    struct cm_how how;
    struct cm_reason reason = {""};
    struct cm_primitive conv = fixture_conv();
    counts.n_knobs = 3;
    assert_int_equal(make(device, &conv, 0, &how, &reason), CM_BACKEND_OK);
    assert_string_equal(how.algorithm, "engine 0, tile 3, stages 2, k42=1");
    end(device);
}

static void counts_accepted_plans_as_candidates(void **state) {
    (void)state;
    struct cm_device *device = begin();
    struct cm_how how;
    struct cm_reason reason = {""};
    struct cm_primitive conv = fixture_conv();
    conv.n_inputs = 2;
    counts.n_refused = 1;
    assert_int_equal(make(device, &conv, 1, &how, &reason), CM_BACKEND_OK);
    assert_int_equal(how.plans_tried, 3);
    counts.plans = 0;
    assert_int_equal(make(device, &conv, 9, &how, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "only 5 plans"); /* two modes of three engines */
    end(device);
}

static void fp32_is_not_rounded_unless_asked(void **state) {
    (void)state;
    struct cm_device *device = begin();
    struct cm_how how;
    struct cm_reason reason = {""};
    const struct cm_primitive conv = fixture_conv();
    counts.note = CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    expect_refused(
        device, &conv,
        "no engine without tensor cores supports it, and fp32 must not be rounded to tf32");
    device->options.precision = CM_PRECISION_TF32;
    assert_int_equal(make(device, &conv, 0, &how, &reason), CM_BACKEND_OK);
    assert_int_equal(how.tensor_cores, CM_TENSOR_CORES_YES);
    const struct cm_primitive relu = fixture_relu(4096);
    assert_int_equal(make(device, &relu, 0, &how, &reason), CM_BACKEND_OK);
    assert_int_equal(how.tensor_cores, CM_TENSOR_CORES_UNKNOWN);
    end(device);
}

static void reports_refusals(void **state) {
    (void)state;
    struct cm_device *device = begin();
    struct cm_primitive conv = fixture_conv();
    counts.workspace = 4096;
    expect_refused(device, &conv,
                   "workspace must be <= 1024 bytes, every plan needs at least 4096");
    counts.n_refused = 1000;
    expect_refused(device, &conv, "no engine supports it: NOT_SUPPORTED, is_NHWC");
    counts.n_engines = 0;
    expect_refused(device, &conv, "no engine supports it");
    counts.fail_at = counts.calls + 2;
    conv.n_inputs = 2;
    expect_refused(device, &conv, "attribute 901: NOT_SUPPORTED, is_NHWC");
    end(device);
}

/* Returns a convolution with two steps: an addition of `other` and a ReLU. */
static struct cm_primitive fused_conv(struct cm_tensor other) {
    struct cm_primitive ret = fixture_conv();
    ret.n_inputs = 4;
    ret.inputs[3] = other;
    ret.n_steps = 2;
    ret.steps[0] = (struct cm_eltwise){.function = CM_ADD, .operand = 3};
    ret.steps[1].function = CM_RELU;
    return ret;
}

static struct cm_primitive causal_attention(void) {
    struct cm_primitive ret;
    memset(&ret, 0, sizeof(ret));
    ret.kind = CM_ATTENTION;
    ret.n_inputs = 3;
    ret.n_outputs = 1;
    ret.causal = CM_CAUSAL_LAST;
    ret.inputs[0] = ret.outputs[0] = fixture_tensor(CM_F16, 4, (const int64_t[]){1, 2, 4, 8});
    ret.inputs[1] = ret.inputs[2] = fixture_tensor(CM_F16, 4, (const int64_t[]){1, 2, 16, 8});
    return ret;
}

/* Whichever call fails, all descriptors are destroyed, and none is used that could not be
 * created. */
static void any_call_may_fail(void **state) {
    (void)state;
    const struct cm_primitive works[] = {
        fixture_conv(), fixture_relu(64), fixture_gemm(CM_F32, 8, 8, 8),
        fused_conv(fixture_conv().outputs[0]), causal_attention()};
    for (size_t i = 0; i < N(works); i++) {
        struct cm_device *device = begin();
        struct cm_how how;
        struct cm_reason reason = {""};
        assert_int_equal(make(device, &works[i], 0, &how, &reason), CM_BACKEND_OK);
        const int n_calls = counts.calls;
        for (int at = 1; at <= n_calls; at++) {
            counts.calls = counts.plans = 0;
            counts.fail_at = at;
            (void)make(device, &works[i], 0, &how, &reason);
        }
        counts.fail_at = 0;
        end(device);
    }
}

static struct cm_primitive eltwise(int32_t function, const struct cm_tensor *a,
                                   const struct cm_tensor *b, const struct cm_tensor *y) {
    struct cm_primitive ret;
    memset(&ret, 0, sizeof(ret));
    ret.kind = CM_ELTWISE;
    ret.n_inputs = b != NULL ? 2 : 1;
    ret.n_outputs = ret.n_steps = 1;
    ret.inputs[0] = *a;
    if (b != NULL) ret.inputs[1] = *b;
    ret.outputs[0] = *y;
    ret.steps[0].function = function;
    ret.steps[0].operand = b != NULL ? 1 : 0;
    return ret;
}

static void hostile_post_ops_are_refused(void **state) {
    (void)state;
    struct cm_device *device = begin();
    const struct cm_tensor deep = fixture_tensor(CM_F32, 5, (const int64_t[]){1, 1, 64, 1, 1});
    const struct cm_tensor row = fixture_tensor(CM_F32, 1, (const int64_t[]){3});
    const struct cm_primitive deeper = fused_conv(deep);
    const struct cm_primitive narrow = fused_conv(row);
    struct cm_primitive conv = fused_conv(fixture_conv().outputs[0]);
    expect_refused(device, &deeper, "the operand of a post-op must broadcast to the result");
    expect_refused(device, &narrow, "the operand of a post-op must broadcast to the result");
    conv.steps[0].operand = 1; /* the filter */
    expect_refused(device, &conv, "function not supported by cuDNN");
    conv.steps[0].operand = 3;
    conv.steps[1].function = CM_ROUND;
    expect_refused(device, &conv, "function not supported by cuDNN");
    conv.steps[1].function = CM_SELECT;
    expect_refused(device, &conv, "function not supported by cuDNN");
    end(device);
}

static void hostile_primitives_are_refused(void **state) {
    (void)state;
    struct cm_device *device = begin();
    const struct cm_tensor empty = fixture_tensor(CM_F32, 2, (const int64_t[]){0, 4});
    const struct cm_tensor deep =
        fixture_tensor(CM_F32, 8, (const int64_t[]){2, 2, 2, 2, 2, 2, 2, 2});
    struct cm_tensor other = deep;
    other.strides[1] = 1;
    other.strides[7] = 64;
    const struct cm_tensor odd = fixture_tensor(CM_U64, 1, (const int64_t[]){4});
    const struct cm_primitive nothing = eltwise(CM_RELU, &empty, NULL, &empty);
    const struct cm_primitive twisted = eltwise(CM_ADD, &deep, &other, &deep);
    const struct cm_primitive unknown = eltwise(CM_RELU, &odd, NULL, &odd);
    const struct cm_primitive round = eltwise(CM_ROUND, &deep, NULL, &deep);
    struct cm_primitive conv = fixture_conv();
    struct cm_primitive gemm = fixture_gemm(CM_F32, 2, 2, 2);
    struct cm_primitive rnn = fixture_conv();
    expect_refused(device, &nothing, "an operand is empty");
    expect_refused(device, &twisted, "the operands must coalesce to three dims in rows");
    expect_refused(device, &unknown, "data type not supported by cuDNN");
    expect_refused(device, &round, "function not supported by cuDNN");
    conv.inputs[2].dims[0] = 3;
    expect_refused(device, &conv, "the bias must have one element per channel");
    conv.inputs[0].rank = conv.inputs[1].rank = conv.outputs[0].rank = 2;
    expect_refused(device, &conv,
                   "no image of 1 to 3 dims, or of an element that cuDNN has not got");
    gemm.inputs[0].rank = 1;
    expect_refused(device, &gemm,
                   "strides or data type of the matrices not supported by cuDNN");
    rnn.kind = CM_RNN;
    expect_refused(device, &rnn, "the cuDNN graph API has no such operation");
    end(device);
}

static struct cm_primitive layer(int32_t kind, int32_t algorithm, int32_t rank,
                                 const int64_t *x, const int64_t *y) {
    struct cm_primitive ret;
    memset(&ret, 0, sizeof(ret));
    ret.kind = kind;
    ret.algorithm = algorithm;
    ret.n_inputs = ret.n_outputs = 1;
    ret.inputs[0] = fixture_tensor(CM_F32, rank, x);
    ret.outputs[0] = fixture_tensor(CM_F32, rank, y);
    ret.groups = 1;
    return ret;
}

static void reports_missing_engine(void **state) {
    (void)state;
    static const int64_t image[] = {2, 4, 8, 8};
    static const int64_t half[] = {2, 4, 4, 4};
    static const int64_t column[] = {2, 1, 8, 8};
    static const int64_t none[] = {2, 0, 8, 8};
    static const int64_t cube[] = {2, 3, 4};
    struct cm_device *device = begin();
    struct cm_primitive pool = layer(CM_POOL, CM_POOL_MAX, 4, image, half);
    pool.window = (struct cm_window){
        .n_spatial = 2, .kernel = {2, 2}, .strides = {2, 2}, .dilations = {2, 2}};
    expect_refused(device, &pool, "cuDNN does not support dilated pools");
    pool.window.n_spatial = 1;
    pool.window.dilations[0] = 1;
    expect_refused(device, &pool, "shape or data type not supported by cuDNN");
    struct cm_primitive norm = layer(CM_NORM, CM_NORM_GROUP, 4, image, image);
    expect_refused(device, &norm, "no cuDNN engine supports this norm");
    norm.algorithm = CM_NORM_INSTANCE;
    norm.n_inputs = 2;
    norm.inputs[1] = fixture_tensor(CM_F32, 1, (const int64_t[]){3});
    expect_refused(device, &norm, "an operand of the norm must have one element per channel");
    const struct cm_primitive reduce = layer(CM_REDUCE, CM_REDUCE_SUM, 4, image, column);
    expect_refused(device, &reduce, "the cuDNN engines reduce trailing dims only");
    const struct cm_primitive nothing = layer(CM_REDUCE, CM_REDUCE_SUM, 4, image, none);
    expect_refused(device, &nothing, "the result is empty");
    struct cm_primitive softmax = layer(CM_SOFTMAX, CM_SOFTMAX_LOG, 4, image, image);
    expect_refused(
        device, &softmax,
        "the cuDNN engines support softmax along the last dim only, without a logarithm");
    struct cm_primitive attention = layer(CM_ATTENTION, 0, 4, image, image);
    attention.n_inputs = 3;
    attention.inputs[1] = attention.inputs[2] = attention.inputs[0];
    attention.n_inputs = 4;
    attention.inputs[3] = fixture_tensor(CM_F32, 2, (const int64_t[]){8, 4});
    expect_refused(device, &attention,
                   "the mask must broadcast to [batch, heads, queries, keys]");
    attention.inputs[3] = fixture_tensor(CM_BOOL, 2, (const int64_t[]){8, 8});
    expect_refused(device, &attention,
                   "the mask must be numbers that are added to the scores, got booleans");
    attention.inputs[0].rank = 3;
    expect_refused(device, &attention, "shape or data type not supported by cuDNN");
    struct cm_primitive select = layer(CM_ELTWISE, 0, 3, cube, cube);
    select.n_steps = 1;
    select.steps[0].function = CM_SELECT;
    expect_refused(device, &select, "a selection must have three operands");
    end(device);
}

static void limits_operations_of_graph(void **state) {
    (void)state;
    struct cm_device *device = begin();
    struct graph graph;
    graph_begin(&graph, &device->cudnn);
    for (int i = 0; i <= GRAPH_MAX_OPERATIONS; i++)
        graph_add(&graph, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "it",
                  &(struct graph_attribute){0});
    assert_int_equal(graph.status, CM_BACKEND_REFUSED);
    assert_string_equal(graph.reason.text, "more than 20 operations");
    graph_end(&graph);
    end(device);
}

/* All engines refuse the matrix product; it is then planned as a 1x1 convolution, unless the
 * first matrix is column-major. */
static void refuses_column_product_as_image(void **state) {
    (void)state;
    struct cm_device *device = begin();
    struct cm_primitive gemm = fixture_gemm(CM_F32, 4, 6, 8);
    struct cm_how how;
    struct cm_reason reason = {""};
    counts.n_refused = 6;
    assert_int_equal(make(device, &gemm, 0, &how, &reason), CM_BACKEND_OK);
    assert_string_equal(how.algorithm, "engine 6, as a 1x1 convolution");
    gemm.inputs[0].strides[0] = 1; /* a is column-major */
    gemm.inputs[0].strides[1] = 4;
    counts.plans = 0;
    expect_refused(device, &gemm, "no engine supports it: NOT_SUPPORTED, is_NHWC");
    end(device);
}

/* Tensors of 2^40 and of 2^59 elements: no product of sizes may overflow 2^63. */
static void accepts_sizes_near_2_63(void **state) {
    (void)state;
    struct cm_device *device = begin();
    struct cm_how how;
    struct cm_reason reason = {""};
    const int64_t sizes[] = {(int64_t)1 << 40, (int64_t)1 << 59};
    for (size_t i = 0; i < N(sizes); i++) {
        const struct cm_tensor x = fixture_tensor(CM_F16, 1, &sizes[i]);
        const struct cm_primitive relu = eltwise(CM_RELU, &x, NULL, &x);
        assert_int_equal(make(device, &relu, 0, &how, &reason), CM_BACKEND_OK);
    }
    end(device);
}

static void accepts_target_name_or_file(void **state) {
    (void)state;
    struct cm_device *device = begin();
    struct cuda_target target;
    struct cm_reason reason = {""};
    assert_string_equal(device->target.name, "NVIDIA H200");
    assert_int_equal(device->target.sm, 90);
    assert_int_equal(target_make(&device->cudnn, "h20", &target, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text,
                        "unknown target 'h20': expected t4, a100-40gb, a100-80gb, a10, "
                        "rtx-3090, l4, l40s, rtx-4090, h100-pcie, h100-sxm, h200, b200, "
                        "rtx-5090, or a .json file");
    assert_int_equal(target_make(&device->cudnn, "/nowhere.json", &target, &reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "device file '/nowhere.json' cannot be read");
    char path[FIXTURE_PATH + 8];
    fixture_write("", path);
    char named[sizeof(path) + 8];
    (void)snprintf(named, sizeof(named), "%s.json", path);
    assert_int_equal(rename(path, named), 0);
    assert_int_equal(target_make(&device->cudnn, named, &target, &reason), CM_BACKEND_REFUSED);
    assert_non_null(strstr(reason.text, "' is not a device description"));
    assert_int_equal(remove(named), 0);
    counts.fail_at = counts.calls + 3;
    assert_int_equal(target_make(&device->cudnn, "t4", &target, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "cuDNN rejects the device description: NOT_SUPPORTED, "
                                     "is_NHWC");
    end(device);
}

static size_t old_version(void) {
    return 90500;
}

static void requires_cudnn_9_8_without_device(void **state) {
    (void)state;
    struct cm_device *device = begin();
    struct cuda_target target;
    struct cm_reason reason = {""};
    device->cudnn.cudnnGetVersion = old_version;
    assert_int_equal(target_make(&device->cudnn, "h200", &target, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text,
                        "planning without a device requires cuDNN 9.8 or later, got 9.5.0");
    end(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_engine_that_accepts_is_taken),
        cmocka_unit_test(algorithms_have_the_knobs_of_their_engine),
        cmocka_unit_test(counts_accepted_plans_as_candidates),
        cmocka_unit_test(fp32_is_not_rounded_unless_asked),
        cmocka_unit_test(reports_refusals),
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(hostile_primitives_are_refused),
        cmocka_unit_test(hostile_post_ops_are_refused),
        cmocka_unit_test(reports_missing_engine),
        cmocka_unit_test(limits_operations_of_graph),
        cmocka_unit_test(refuses_column_product_as_image),
        cmocka_unit_test(accepts_sizes_near_2_63),
        cmocka_unit_test(accepts_target_name_or_file),
        cmocka_unit_test(requires_cudnn_9_8_without_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
