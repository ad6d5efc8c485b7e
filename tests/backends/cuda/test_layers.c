/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of layers that cuDNN runs: plans of the graph API, and the legacy calls. */
#include "harness.h"

#include <stdlib.h>

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

/* Returns the only launch of one warm execution. */
static struct double_launch run_once(const struct fixture *f, struct cm_device *device,
                                     const struct cm_primitive *work, const char *provider) {
    struct cm_plan *made = plan(f, device, work);
    struct cm_plan_facts facts;
    const size_t before = f->seen->n_launches;
    (void)run(f, made, 1, CM_WARM);
    f->backend->plan_facts(made, &facts);
    assert_string_equal(facts.how.provider, provider);
    assert_int_equal(facts.flags & CM_FLAG_LAUNCHES, 0);
    assert_int_equal(f->seen->n_launches - before, 1);
    const struct double_launch ret = f->seen->launches[before];
    assert_true(ret.captured);
    if (strcmp(provider, "cudnn legacy") == 0) /* fp32 is never rounded; other types may be */
        assert_int_equal(facts.how.tensor_cores, work->inputs[0].element == CM_F32
                                                     ? CM_TENSOR_CORES_NO
                                                     : CM_TENSOR_CORES_UNKNOWN);
    f->backend->drop(made);
    return ret;
}

static void expect_access(const struct double_access *access, uint64_t at, size_t bytes,
                          bool writes) {
    assert_int_equal(access->at, at);
    assert_int_equal(access->bytes, bytes);
    assert_int_equal(access->writes, writes);
}

/* x [1, 3, 224, 224], w [64, 3, 7, 7], bias [64], y [1, 64, 112, 112]. */
static void convolutions_read_and_write_their_operands(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive conv = fixture_conv();
    f->seen->n_engines = 2;
    struct cm_device *device = open_device(f);
    const struct double_launch launch = run_once(f, device, &conv, "cudnn graph");
    const uint64_t x = launch.accesses[0].at;
    const size_t x_bytes = 3 * 224 * 224 * 4;
    const size_t w_bytes = 64 * 3 * 7 * 7 * 4;
    assert_int_equal(launch.n_accesses, 5); /* the fifth is the workspace */
    expect_access(&launch.accesses[0], x, x_bytes, false);
    expect_access(&launch.accesses[1], x + x_bytes, w_bytes, false);
    expect_access(&launch.accesses[2], x + x_bytes + w_bytes, 64 * 4, false);
    expect_access(&launch.accesses[3], x + x_bytes + w_bytes + 256, 64 * 112 * 112 * 4, true);
    assert_int_equal(launch.accesses[4].bytes, 4096);
    f->backend->close(device);
}

/* One graph: int8 x and w, fp32 bias, int8 y; the scale is a value in host memory. */
static void int8_convolutions_are_requantized(void **state) {
    const struct fixture *f = *state;
    struct cm_primitive conv =
        works_of(CM_CONV, 0, works_image(CM_I8, 2, 32, 8, 8), works_image(CM_I8, 2, 64, 8, 8));
    struct cm_plan_facts facts;
    conv.groups = 1;
    conv.inputs[1] = works_image(CM_I8, 64, 32, 1, 1);
    conv.inputs[2] = works_line(CM_F32, 64);
    conv.window = (struct cm_window){
        .n_spatial = 2, .kernel = {1, 1}, .strides = {1, 1}, .dilations = {1, 1}};
    f->seen->n_engines = 1;
    struct cm_device *device = open_device(f);
    for (int bias = 0; bias < 2; bias++) {
        conv.n_inputs = 2 + bias;
        const struct double_launch launch = run_once(f, device, &conv, "cudnn graph");
        assert_int_equal(launch.n_accesses, 4 + bias);
        size_t written = 0;
        for (int i = 0; i < launch.n_accesses - 1; i++) /* the last is the workspace */
            written += launch.accesses[i].writes ? launch.accesses[i].bytes : 0;
        assert_int_equal(written, 2 * 64 * 64);
        struct cm_plan *made = plan(f, device, &conv);
        f->backend->plan_facts(made, &facts);
        assert_string_equal(facts.how.algorithm, "engine 70, requantizes to int8");
        f->backend->drop(made);
    }
    f->backend->close(device);
}

/* x [2, 16, 8, 8], w [32, 16, 1, 1], bias [32], residual and y [2, 32, 8, 8]; steps: add,
 * relu. */
static struct cm_primitive block(void) {
    struct cm_primitive ret = works_of(CM_CONV, 0, works_image(CM_F32, 2, 16, 8, 8),
                                       works_image(CM_F32, 2, 32, 8, 8));
    ret.groups = 1;
    ret.n_inputs = 4;
    ret.inputs[1] = works_image(CM_F32, 32, 16, 1, 1);
    ret.inputs[2] = works_line(CM_F32, 32);
    ret.inputs[3] = ret.outputs[0];
    ret.window = (struct cm_window){
        .n_spatial = 2, .kernel = {1, 1}, .strides = {1, 1}, .dilations = {1, 1}};
    ret.n_steps = 2;
    ret.steps[0] = (struct cm_eltwise){.function = CM_ADD, .operand = 3};
    ret.steps[1] = (struct cm_eltwise){.function = CM_RELU};
    return ret;
}

#define X_BYTES ((size_t)2 * 16 * 64 * 4)
#define W_BYTES ((size_t)32 * 16 * 4)
#define Y_BYTES ((size_t)2 * 32 * 64 * 4)

static void convolution_bias_residual_and_relu_are_one_plan(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive conv = block();
    struct cm_plan_facts facts;
    f->seen->n_engines = 2;
    struct cm_device *device = open_device(f);
    const struct double_launch launch = run_once(f, device, &conv, "cudnn graph");
    const uint64_t x = launch.accesses[0].at;
    const uint64_t bias = x + X_BYTES + W_BYTES;
    const uint64_t residual = bias + 256;
    assert_int_equal(launch.n_accesses, 6); /* the sixth is the workspace */
    expect_access(&launch.accesses[0], x, X_BYTES, false);
    expect_access(&launch.accesses[1], x + X_BYTES, W_BYTES, false);
    expect_access(&launch.accesses[2], residual, Y_BYTES, false);
    expect_access(&launch.accesses[3], bias, 32 * 4, false);
    expect_access(&launch.accesses[4], residual + Y_BYTES, Y_BYTES, true);
    struct cm_plan *made = plan(f, device, &conv);
    f->backend->plan_facts(made, &facts);
    assert_int_equal(facts.state, CM_MEASURED);
    assert_string_equal(facts.how.algorithm, "engine 70");
    assert_string_equal(facts.reason.text, "");
    f->backend->drop(made);
    f->backend->close(device);
}

/* The second kernel reads y, which the convolution wrote, and writes it in place. */
static void runs_post_ops_without_engine_as_second_kernel(void **state) {
    const struct fixture *f = *state;
    static const struct {
        int max_operations;
        const char *algorithm;
        size_t first, second; /* bytes that each kernel reads */
    } cases[] = {
        {2, "engine 70, unfused post-ops", X_BYTES + W_BYTES + 128, 2 * Y_BYTES},
        {3, "engine 70, unfused post-ops", X_BYTES + W_BYTES + 128, 2 * Y_BYTES},
        {4, "engine 70", X_BYTES + W_BYTES + 128 + Y_BYTES, 0},
    };
    const struct cm_primitive conv = block();
    f->seen->n_engines = 1;
    struct cm_device *device = open_device(f);
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_plan_facts facts;
        f->seen->max_operations = cases[i].max_operations;
        struct cm_plan *made = plan(f, device, &conv);
        const size_t before = f->seen->n_launches;
        (void)run(f, made, 1, CM_WARM);
        f->backend->plan_facts(made, &facts);
        assert_string_equal(facts.how.provider, "cudnn graph");
        assert_string_equal(facts.how.algorithm, cases[i].algorithm);
        assert_int_equal(f->seen->n_launches - before, cases[i].second > 0 ? 2 : 1);
        uint64_t written = 0;
        for (size_t k = before; k < f->seen->n_launches; k++) {
            const struct double_launch *launch = &f->seen->launches[k];
            size_t read = 0;
            for (int a = 0; a < launch->n_accesses - 1; a++) { /* the last is the workspace */
                const struct double_access *access = &launch->accesses[a];
                read += access->writes ? 0 : access->bytes;
                if (access->writes && written != 0) assert_int_equal(access->at, written);
                if (access->writes) written = access->at;
            }
            assert_int_equal(read, k == before ? cases[i].first : cases[i].second);
        }
        if (cases[i].second > 0)
            assert_string_equal(facts.reason.text,
                                "the preferred graph is refused: no engine supports it");
        f->backend->drop(made);
    }
    f->seen->max_operations = 1; /* too few even for two elementwise operations */
    struct cm_plan *made = NULL;
    struct cm_reason reason = {""};
    assert_int_equal(f->backend->plan(device, &conv, &made, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "cudnn graph: no engine supports it");
    f->backend->close(device);
}

/* The functions of a chain share one graph; constants such as alpha stay in host memory. */
static void elementwise_chains_run_as_one_graph(void **state) {
    const struct fixture *f = *state;
    struct cm_primitive chain = fixture_relu(4096);
    f->seen->n_engines = 1;
    struct cm_device *device = open_device(f);
    chain.n_steps = 2;
    chain.steps[1].function = CM_LINEAR;
    chain.steps[1].alpha = 2;
    const struct double_launch launch = run_once(f, device, &chain, "cudnn graph");
    assert_int_equal(launch.accesses[0].bytes, 4096 * 4);
    assert_int_equal(launch.accesses[1].bytes, 4096 * 4);
    f->backend->close(device);
}

/* q [2, 4, 16, 8]; k and v [2, 2, 32, 8], each shared by two heads. */
static struct cm_primitive attention(void) {
    struct cm_primitive ret = {.kind = CM_ATTENTION, .n_inputs = 3, .n_outputs = 1};
    ret.inputs[0] = ret.outputs[0] = works_image(CM_F16, 2, 4, 16, 8);
    ret.inputs[1] = ret.inputs[2] = works_image(CM_F16, 2, 2, 32, 8);
    return ret;
}

/* One graph; scale, -inf and the position of the diagonal stay in host memory. */
static void attention_reads_its_mask(void **state) {
    const struct fixture *f = *state;
    struct cm_primitive work = attention();
    const size_t q_bytes = (size_t)2 * 4 * 16 * 8 * 2;
    const size_t k_bytes = (size_t)2 * 2 * 32 * 8 * 2;
    f->seen->n_engines = 1;
    struct cm_device *device = open_device(f);
    struct double_launch launch = run_once(f, device, &work, "cudnn graph");
    assert_int_equal(launch.n_accesses, 5); /* the fifth is the workspace */
    work.causal = CM_CAUSAL_LAST;
    launch = run_once(f, device, &work, "cudnn graph");
    assert_int_equal(launch.n_accesses, 5);
    work.causal = CM_CAUSAL_FIRST;
    work.n_inputs = 4;
    work.inputs[3] = fixture_tensor(CM_F16, 2, DIMS(16, 32));
    launch = run_once(f, device, &work, "cudnn graph");
    const uint64_t q = launch.accesses[0].at;
    assert_int_equal(launch.n_accesses, 6);
    expect_access(&launch.accesses[0], q, q_bytes, false);
    expect_access(&launch.accesses[1], q + q_bytes, k_bytes, false);
    expect_access(&launch.accesses[2], q + q_bytes + 2 * k_bytes, 16 * 32 * 2, false);
    expect_access(&launch.accesses[3], q + q_bytes + k_bytes, k_bytes, false);
    expect_access(&launch.accesses[4], q + q_bytes + 2 * k_bytes + 1024, q_bytes, true);
    f->backend->close(device);
}

static void failed_plans_are_not_measured(void **state) {
    const struct fixture *f = *state;
    const struct cm_primitive conv = fixture_conv();
    struct cm_plan *made = NULL;
    struct cm_reason reason;
    f->seen->n_engines = 1;
    struct cm_device *device = open_device(f);
    f->seen->fail = "cudnnBackendExecute";
    f->seen->fail_with = 5000;
    assert_int_equal(f->backend->plan(device, &conv, &made, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text,
                        "cudnn graph: cuDNN cannot execute the plan: CUDNN_STATUS_DOUBLE");
    f->backend->close(device);
}

static void lrn_uses_the_legacy_call(void **state) {
    const struct fixture *f = *state;
    struct cm_primitive lrn = works_of(CM_NORM, CM_NORM_LRN, works_image(CM_F32, 2, 8, 4, 4),
                                       works_image(CM_F32, 2, 8, 4, 4));
    lrn.window.kernel[0] = 5;
    struct cm_device *device = open_device(f);
    const struct double_launch launch = run_once(f, device, &lrn, "cudnn legacy");
    expect_access(&launch.accesses[0], launch.first, 1024, false);
    expect_access(&launch.accesses[1], launch.first + 1024, 1024, true);
    f->backend->close(device);
}

/* LSTM of 6 steps, batch 4, 16 inputs, hidden size 32. */
static struct cm_primitive lstm(int32_t element, int64_t directions) {
    struct cm_primitive ret = {.kind = CM_RNN,
                               .algorithm = CM_RNN_LSTM,
                               .n_inputs = 4,
                               .n_outputs = 1,
                               .hidden = 32,
                               .directions = (int32_t)directions};
    ret.inputs[0] = fixture_tensor(element, 3, DIMS(6, 4, 16));
    ret.inputs[1] = fixture_tensor(element, 3, DIMS(directions, 128, 16));
    ret.inputs[2] = fixture_tensor(element, 3, DIMS(directions, 128, 32));
    ret.inputs[3] = fixture_tensor(element, 2, DIMS(directions, 256));
    ret.outputs[0] = fixture_tensor(element, 4, DIMS(6, directions, 4, 32));
    return ret;
}

/* cuDNN reads the weights of all four gates, for inputs and states, and two biases. */
static void recurrent_layers_read_random_weights(void **state) {
    const struct fixture *f = *state;
    static const struct {
        int32_t element;
        int64_t directions;
        size_t bytes;
    } cases[] = {{CM_F32, 1, 4}, {CM_F32, 2, 4}, {CM_F16, 2, 2}, {CM_F64, 1, 8}};
    struct cm_device *device = open_device(f);
    for (size_t i = 0; i < N(cases); i++) {
        const size_t directions = (size_t)cases[i].directions;
        const size_t bytes = cases[i].bytes;
        const struct cm_primitive work = lstm(cases[i].element, cases[i].directions);
        const struct double_launch launch = run_once(f, device, &work, "cudnn legacy");
        assert_int_equal(launch.accesses[0].bytes, 6 * 4 * 16 * bytes);
        expect_access(&launch.accesses[1], launch.last, 6 * 4 * directions * 32 * bytes, true);
        assert_int_equal(launch.accesses[2].bytes, directions * 4 * 32 * (16 + 32 + 2) * bytes);
        assert_false(launch.accesses[2].writes);
    }
    f->backend->close(device);
}

/* cuDNN writes the states of all steps to the workspace: the operand holds only the last
 * one. */
static void the_last_state_is_taken_from_the_workspace(void **state) {
    const struct fixture *f = *state;
    struct cm_primitive work = lstm(CM_F32, 1);
    struct cm_device *device = open_device(f);
    work.outputs[0] = fixture_tensor(CM_F32, 3, DIMS(1, 4, 32));
    const struct double_launch launch = run_once(f, device, &work, "cudnn legacy");
    assert_int_equal(launch.accesses[1].bytes, 6 * 4 * 32 * 4);
    assert_int_equal(launch.accesses[3].at, launch.accesses[1].at + 6 * 4 * 32 * 4);
    f->backend->close(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(convolutions_read_and_write_their_operands),
        CASE(int8_convolutions_are_requantized),
        CASE(convolution_bias_residual_and_relu_are_one_plan),
        CASE(runs_post_ops_without_engine_as_second_kernel),
        CASE(elementwise_chains_run_as_one_graph),
        CASE(attention_reads_its_mask),
        CASE(failed_plans_are_not_measured),
        CASE(lrn_uses_the_legacy_call),
        CASE(recurrent_layers_read_random_weights),
        CASE(the_last_state_is_taken_from_the_workspace),
    };
    return cmocka_run_group_tests(tests, harness_make, harness_end);
}
