/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of a network with known operands: two convolutions with a ReLU between them, in each
 * layout. Plain loops, which do not depend on the layout, compute the expected results. The
 * test is built from the module's sources, because the interface of backends does not expose
 * operands.
 */
#include "backends/onednn/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#define CHANNELS 16
#define SIDE     6
#define PIXELS   (SIDE * SIDE)
#define N_VALUES (CHANNELS * PIXELS)
#define N_WEIGHT (CHANNELS * CHANNELS * 9)
#define BYTES(n) (((int64_t)(n)*4 + 255) / 256 * 256)

static int make(void **state) {
    static struct onednn lib;
    struct cm_reason reason = {""};
    *state = NULL;
    (void)setenv("OMP_NUM_THREADS", "1", 1);
    if (api_load(getenv("ONEDNN_LIBRARY"), &lib.api, &reason) != CM_BACKEND_OK) {
        print_message("oneDNN is not here: %s\n", reason.text);
        return 0;
    }
    if (lib.api.dnnl_engine_create(&lib.engine, dnnl_cpu, 0) != dnnl_success) return 1;
    if (lib.api.dnnl_stream_create(&lib.stream, lib.engine, dnnl_stream_default_flags) !=
        dnnl_success)
        return 1;
    *state = &lib;
    return 0;
}

static int end(void **state) {
    const struct onednn *lib = *state;
    if (lib == NULL) return 0;
    (void)lib->api.dnnl_stream_destroy(lib->stream);
    (void)lib->api.dnnl_engine_destroy(lib->engine);
    return 0;
}

/* Fills in numbers of both signs, so that the ReLU changes some of them. */
static void number(float *values, int n, int from) {
    for (int i = 0; i < n; i++) values[i] = (float)((i * 7 + from) % 11 - 5) / 8;
}

static void fill(void *context, const struct cm_network *network, char *arena, char *weights) {
    (void)context;
    float values[N_WEIGHT];
    memset(arena, 0, (size_t)network->arena_bytes);
    number(values, N_VALUES, 1);
    memcpy(arena, values, N_VALUES * sizeof(float));
    for (int i = 0; i < 2; i++) {
        char *at = weights + (size_t)i * (size_t)(BYTES(N_WEIGHT) + BYTES(CHANNELS));
        number(values, N_WEIGHT, 3 + i);
        memcpy(at, values, N_WEIGHT * sizeof(float));
        number(values, CHANNELS, 5 + i);
        memcpy(at + BYTES(N_WEIGHT), values, CHANNELS * sizeof(float));
    }
}

static float tap(const float *x, int channel, int row, int column) {
    if (row < 0 || row >= SIDE || column < 0 || column >= SIDE) return 0;
    return x[channel * PIXELS + row * SIDE + column];
}

static void convolve(const float *x, int which, float *y) {
    float weights[N_WEIGHT];
    float bias[CHANNELS];
    number(weights, N_WEIGHT, 3 + which);
    number(bias, CHANNELS, 5 + which);
    for (int i = 0; i < N_VALUES; i++) {
        const int out = i / PIXELS;
        const int row = i / SIDE % SIDE;
        const int column = i % SIDE;
        float sum = bias[out];
        for (int k = 0; k < CHANNELS * 9; k++)
            sum += weights[out * CHANNELS * 9 + k] *
                   tap(x, k / 9, row + k / 3 % 3 - 1, column + k % 3 - 1);
        y[i] = sum;
    }
}

static struct cm_tensor image(bool last) {
    struct cm_tensor tensor =
        fixture_tensor(CM_F32, 4, (const int64_t[]){1, CHANNELS, SIDE, SIDE});
    const int64_t strides[] = {N_VALUES, 1, CHANNELS * SIDE, CHANNELS};
    if (last) memcpy(tensor.strides, strides, sizeof(strides));
    return tensor;
}

static struct cm_primitive conv_on(bool last) {
    struct cm_primitive conv = fixture_conv();
    conv.inputs[0] = image(last);
    conv.inputs[1] = fixture_tensor(CM_F32, 4, (const int64_t[]){CHANNELS, CHANNELS, 3, 3});
    conv.inputs[2] = fixture_tensor(CM_F32, 1, (const int64_t[]){CHANNELS});
    conv.outputs[0] = image(last);
    conv.window = (struct cm_window){.n_spatial = 2,
                                     .kernel = {3, 3},
                                     .strides = {1, 1},
                                     .dilations = {1, 1},
                                     .pads_begin = {1, 1},
                                     .pads_end = {1, 1}};
    return conv;
}

static struct cm_place at(int32_t block, int64_t offset) {
    return (struct cm_place){.block = block, .offset = offset};
}

static struct cm_network_step conv_step(int which, int64_t from, int64_t to) {
    const int64_t weights = which * (BYTES(N_WEIGHT) + BYTES(CHANNELS));
    return (struct cm_network_step){.primitive = 0,
                                    .inputs = {at(CM_BLOCK_ARENA, from),
                                               at(CM_BLOCK_WEIGHTS, weights),
                                               at(CM_BLOCK_WEIGHTS, weights + BYTES(N_WEIGHT))},
                                    .outputs = {at(CM_BLOCK_ARENA, to)}};
}

struct example {
    struct cm_primitive primitives[2];
    struct cm_network_step steps[3];
    struct cm_network network;
};

/* x is at offset 0 and its convolution after x; the ReLU is in-place, and the second
 * convolution writes to offset 0. */
static void make_example(bool last, struct example *ret) {
    memset(ret, 0, sizeof(*ret));
    ret->primitives[0] = conv_on(last);
    ret->primitives[1] = fixture_relu(N_VALUES);
    ret->primitives[1].inputs[0] = image(last);
    ret->primitives[1].outputs[0] = image(last);
    ret->steps[0] = conv_step(0, 0, BYTES(N_VALUES));
    ret->steps[1] = (struct cm_network_step){.primitive = 1,
                                             .inputs = {at(CM_BLOCK_ARENA, BYTES(N_VALUES))},
                                             .outputs = {at(CM_BLOCK_ARENA, BYTES(N_VALUES))}};
    ret->steps[2] = conv_step(1, BYTES(N_VALUES), 0);
    ret->network = (struct cm_network){.n_primitives = 2,
                                       .n_steps = 3,
                                       .primitives = ret->primitives,
                                       .steps = ret->steps,
                                       .arena_bytes = 2 * BYTES(N_VALUES),
                                       .weight_bytes = 2 * (BYTES(N_WEIGHT) + BYTES(CHANNELS))};
}

static const struct plan_limits limits = {.cache_bytes = 65536, .memory_bytes = 100000000};

static void expect_numbers(const struct cm_plan *plan, bool last) {
    float x[N_VALUES];
    float y[N_VALUES];
    const float *got = plan->blocks[NETWORK_ARENA];
    float plain[N_VALUES];
    number(x, N_VALUES, 1);
    for (int i = 0; last && i < N_VALUES; i++) plain[i] = x[i % PIXELS * CHANNELS + i / PIXELS];
    convolve(last ? plain : x, 0, y);
    for (int i = 0; i < N_VALUES; i++) y[i] = y[i] > 0 ? y[i] : 0;
    convolve(y, 1, x);
    for (int i = 0; i < N_VALUES; i++) {
        const float have = got[last ? i % PIXELS * CHANNELS + i / PIXELS : i];
        if (fabsf(have - x[i]) > 1e-4F * (1 + fabsf(x[i])))
            fail_msg("element %d: have %g, want %g", i, (double)have, (double)x[i]);
    }
}

static void passes_outputs_to_the_next_step(void **state) {
    if (*state == NULL) skip();
    const struct network_filling filling = {fill, NULL};
    for (int i = 0; i < 3; i++) {
        const bool last = i == 2;
        struct example example;
        struct cm_plan *plan = NULL;
        struct cm_reason reason = {""};
        struct cm_plan_facts facts;
        double seconds = 0;
        make_example(last, &example);
        if (network_make(*state, &example.network, i > 0, &limits, &filling, &plan, &reason) !=
            CM_BACKEND_OK)
            fail_msg("%s", reason.text);
        plan_facts(plan, &facts);
        assert_int_equal(facts.state, CM_MEASURED);
        /* Runs once, because the network overwrites its input. */
        assert_int_equal(plan_run_n(plan, 1, CM_WARM, &seconds, &reason), CM_BACKEND_OK);
        assert_true(seconds > 0);
        expect_numbers(plan, last);
        plan_drop(plan);
    }
}

static void random_operands_stay_in_range(void **state) {
    if (*state == NULL) skip();
    struct example example;
    struct cm_plan *plan = NULL;
    struct cm_reason reason = {""};
    double seconds = 0;
    make_example(false, &example);
    assert_int_equal(
        network_make(*state, &example.network, false, &limits, NULL, &plan, &reason),
        CM_BACKEND_OK);
    assert_int_equal(plan_run(plan, 20, CM_WARM, &seconds, &reason), CM_BACKEND_OK);
    const float *arena = plan->blocks[NETWORK_ARENA];
    for (int i = 0; i < N_VALUES; i++)
        if (!(arena[i] > 1e-3F) || !(arena[i] < 1e3F)) fail_msg("%g", (double)arena[i]);
    plan_drop(plan);
}

static void refuses_inconsistent_network(void **state) {
    if (*state == NULL) skip();
    struct example example;
    struct cm_plan *plan = NULL;
    struct cm_reason reason = {""};
    make_example(false, &example);
    example.network.arena_bytes = BYTES(N_VALUES);
    assert_int_equal(
        network_make(*state, &example.network, false, &limits, NULL, &plan, &reason),
        CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "an operand of the network is outside its block");
    make_example(false, &example);
    example.steps[1].primitive = 2;
    assert_int_equal(
        network_make(*state, &example.network, false, &limits, NULL, &plan, &reason),
        CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "step 1 of the network has no primitive");
    make_example(false, &example);
    example.network.n_steps = 0;
    assert_int_equal(
        network_make(*state, &example.network, false, &limits, NULL, &plan, &reason),
        CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "the network has no steps");
    make_example(false, &example);
    example.network.weight_bytes = INT64_C(1) << 40;
    assert_int_equal(
        network_make(*state, &example.network, false, &limits, NULL, &plan, &reason),
        CM_BACKEND_NO_MEMORY);
    assert_non_null(strstr(reason.text, ", the limit is 100000000"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_outputs_to_the_next_step),
        cmocka_unit_test(random_operands_stay_in_range),
        cmocka_unit_test(refuses_inconsistent_network),
    };
    return cmocka_run_group_tests(tests, make, end);
}
