/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the oneDNN module, with the library of this machine or of ONEDNN_LIBRARY; without a
 * library, only of the messages. Times are not compared, because the machine may be busy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>

#include <cmocka.h>

#include "backends/backend_registry.h"
#include "backends/plugin/loader.h"
#include "backends/primitive.h"
#include "backends/process/subprocess.h"
#include "fixture.h"
#include "support/arena.h"

#include <oneapi/dnnl/dnnl_types.h>
#include <oneapi/dnnl/dnnl_version.h>

#define TEXT_OF(number)   #number
#define NUMBER_OF(macro)  TEXT_OF(macro)
#define TEST_ONEDNN_MAJOR NUMBER_OF(DNNL_VERSION_MAJOR)
#define N(array)          (sizeof(array) / sizeof((array)[0]))

struct fixture {
    struct arena *arena;
    const struct cm_backend *backend;
    struct subprocess *subprocess; /* NULL: the library is not on this machine */
    struct subprocess_setup setup;
    struct cm_setting settings[4];
    bool has_avx512;
};

/* Asks the library itself, because ONEDNN_MAX_CPU_ISA and its build limit what it uses. */
static bool uses_avx512(const char *library) {
    dnnl_cpu_isa_t (*effective_isa)(void) = NULL;
#if defined(__x86_64__)
    void *loaded = dlopen(library ? library : "libdnnl.so." TEST_ONEDNN_MAJOR, RTLD_NOW);
    void *symbol = loaded != NULL ? dlsym(loaded, "dnnl_get_effective_cpu_isa") : NULL;
    memcpy(&effective_isa, &symbol, sizeof symbol);
#else
    (void)library;
#endif
    return effective_isa != NULL &&
           (effective_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
}

/* Returns a policy with few samples: the tests check what runs, not how long it takes. */
static struct timing_policy hasty(void) {
    struct timing_policy policy = timing_default_policy;
    policy.warm_up_runs = 1;
    policy.warm_up_s = 0;
    policy.sample_s = 1e-5;
    policy.fewest_samples = 2;
    policy.most_samples = 2;
    return policy;
}

static int make(void **state) {
    struct fixture *f = calloc(1, sizeof(*f));
    struct cm_reason reason = {""};
    const char *library = getenv("ONEDNN_LIBRARY");
    if (f == NULL) return 1;
    *state = f;
    f->arena = arena_new("test", 0);
    if (loader_load(TEST_ONEDNN_MODULE, true, &f->backend, &reason) != CM_BACKEND_OK) {
        print_error("%s\n", reason.text);
        return 1;
    }
    f->settings[0] = (struct cm_setting){"threads", "1"};
    /* A small cache, so that a plan takes few megabytes. */
    f->settings[1] = (struct cm_setting){"cache", "65536"};
    f->settings[2] = (struct cm_setting){"memory", "100000000"};
    f->settings[3] = (struct cm_setting){"library", library};
    subprocess_setup_init(&f->setup, f->backend);
    f->setup.policy = hasty();
    f->setup.settings.n = library != NULL ? 4 : 3;
    f->setup.settings.items = f->settings;
    if (subprocess_start(&f->setup, f->arena, &f->subprocess, &reason) != CM_BACKEND_OK)
        print_message("oneDNN is not here: %s\n", reason.text);
    f->has_avx512 = uses_avx512(library);
    return 0;
}

static int end(void **state) {
    struct fixture *f = *state;
    subprocess_stop(f->subprocess);
    arena_free(f->arena);
    free(f);
    return 0;
}

static struct cm_measurement measure(const struct fixture *f,
                                     const struct cm_primitive *primitive) {
    struct cm_measurement measurement;
    if (f->subprocess == NULL) skip();
    subprocess_measure(f->subprocess, primitive, &measurement);
    return measurement;
}

static void expect_state(const struct fixture *f, const struct cm_primitive *primitive,
                         enum cm_measure_state state, const char *reason) {
    const struct cm_measurement got = measure(f, primitive);
    char *text = fixture_print(primitive);
    if (got.state != (int32_t)state || strstr(got.reason.text, reason) == NULL)
        fail_msg("%s: have %s, \"%s\"", text, primitive_state_name(got.state), got.reason.text);
    if (state == CM_MEASURED || state == CM_PROXY) {
        if (!(got.cold.median > 0) || !(got.warm.median > 0) || got.how.algorithm[0] == '\0')
            fail_msg("%s: %g s cold, %g s warm, kernel \"%s\"", text, got.cold.median,
                     got.warm.median, got.how.algorithm);
    }
    free(text);
}

/* Every version of oneDNN has fast kernels for AVX-512. For other processors it may lack one:
 * then the state is `otherwise`, for this reason. */
static void expect_fast(const struct fixture *f, const struct cm_primitive *primitive,
                        enum cm_measure_state otherwise, const char *reason) {
    const struct cm_measurement got = measure(f, primitive);
    const bool is_slow =
        got.state == (int32_t)otherwise && strcmp(got.reason.text, reason) == 0;
    if (f->has_avx512 || !is_slow) expect_state(f, primitive, CM_MEASURED, "");
}

static void reports_why_open_fails(void **state) {
    const struct fixture *f = *state;
    static const struct {
        struct cm_setting setting;
        const char *reason;
    } cases[] = {
        {{"library", "/nonexistent/libdnnl.so"}, "oneDNN cannot be loaded: /nonexistent"},
        {{"library", "libdnnl.so"}, "library must be an absolute path"},
        {{"library", TEST_BINARY_DIR "/modules/costmodel-good.so"},
         "the library has no function 'dnnl_"},
        {{"library", TEST_ONEDNN_STUB},
         "the library is oneDNN 99.1, this module was built for "},
        {{"threads", "0"}, "threads must be from 1 to 4096"},
        {{"threads", "2x"}, "threads must be from 1 to 4096"},
        {{"cache", "0"}, "cache must be from 1 to 1152921504606846976"},
        {{"memory", "1GB"}, "memory must be from 1 to 1152921504606846976"},
        {{"thread", "2"}, "onednn has no option 'thread'"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct subprocess_setup setup = f->setup;
        struct subprocess *subprocess = NULL;
        struct cm_reason reason = {""};
        setup.settings = (struct cm_settings){.n = 1, .items = &cases[i].setting};
        assert_int_equal(subprocess_start(&setup, f->arena, &subprocess, &reason),
                         CM_BACKEND_REFUSED);
        if (strncmp(reason.text, cases[i].reason, strlen(cases[i].reason)) != 0)
            fail_msg("have \"%s\", want \"%s\"", reason.text, cases[i].reason);
    }
}

/* oneDNN would compute in fp32, and the times would be reported as those of tf32. */
static void refuses_tf32(void **state) {
    const struct fixture *f = *state;
    struct subprocess_setup setup = f->setup;
    struct subprocess *subprocess = NULL;
    struct cm_reason reason = {""};
    setup.settings.precision = CM_PRECISION_TF32;
    assert_int_equal(subprocess_start(&setup, f->arena, &subprocess, &reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "precision must not be tf32: processors compute in fp32");
}

static void describes_the_processor(void **state) {
    const struct fixture *f = *state;
    if (f->subprocess == NULL) skip();
    const struct cm_device_facts *facts = subprocess_facts(f->subprocess);
    assert_int_equal(facts->n_units, 1);
    assert_int_equal(facts->modelled, 0);
    assert_non_null(strstr(facts->version, "oneDNN "));
    assert_non_null(strstr(facts->version, ", 1 threads by "));
    assert_int_equal(facts->cache_bytes, 65536);
    assert_true(facts->memory_bytes > facts->cache_bytes);
}

static void takes_the_number_of_threads_from_the_environment(void **state) {
    const struct fixture *f = *state;
    struct subprocess_setup setup = f->setup;
    struct subprocess *subprocess = NULL;
    struct cm_reason reason = {""};
    if (f->subprocess == NULL) skip();
    setup.settings.items++; /* without the setting `threads` */
    setup.settings.n--;
    (void)setenv("OMP_NUM_THREADS", "3", 1);
    const int status = subprocess_start(&setup, f->arena, &subprocess, &reason);
    (void)unsetenv("OMP_NUM_THREADS");
    assert_int_equal(status, CM_BACKEND_OK);
    assert_int_equal(subprocess_facts(subprocess)->n_units, 3);
    subprocess_stop(subprocess);
}

/* A product must run at 1 MFLOP/s to 10 TFLOP/s: the limits are wide because a machine that
 * runs sanitizers may be busy. */
static void rejects_implausible_times(void **state) {
    const struct cm_primitive gemm = fixture_gemm(CM_F32, 256, 256, 256);
    const struct cm_measurement got = measure(*state, &gemm);
    assert_int_equal(got.state, CM_MEASURED);
    assert_true((double)gemm.flops / got.warm.median < 1e13);
    assert_true((double)gemm.flops / got.cold.median > 1e6);
}

static struct cm_primitive conv_of(int32_t kind, int spatial, int64_t groups) {
    struct cm_primitive conv = fixture_conv();
    const int32_t rank = 2 + spatial;
    const bool transposed = kind == CM_DECONV;
    conv.kind = kind;
    conv.groups = groups;
    conv.n_inputs = 2;
    memset(&conv.inputs[2], 0, sizeof(conv.inputs[2]));
    conv.inputs[0] = fixture_tensor(CM_F32, rank, (const int64_t[]){2, 16, 8, 8, 8});
    conv.inputs[1] = fixture_tensor(CM_F32, rank,
                                    transposed ? (const int64_t[]){16, 32 / groups, 3, 3, 3}
                                               : (const int64_t[]){32, 16 / groups, 3, 3, 3});
    conv.outputs[0] = fixture_tensor(CM_F32, rank, (const int64_t[]){2, 32, 8, 8, 8});
    conv.window = (struct cm_window){.n_spatial = spatial};
    for (int i = 0; i < spatial; i++) {
        conv.window.kernel[i] = 3;
        conv.window.strides[i] = 1;
        conv.window.dilations[i] = 1;
        conv.window.pads_begin[i] = 1;
        conv.window.pads_end[i] = 1;
    }
    return conv;
}

static void runs_all_kinds_of_convolutions(void **state) {
    const struct cm_primitive first = fixture_conv();
    expect_state(*state, &first, CM_MEASURED, "");
    for (int spatial = 1; spatial <= 3; spatial++) {
        for (int64_t groups = 1; groups <= 16; groups *= 4) {
            const struct cm_primitive conv = conv_of(CM_CONV, spatial, groups);
            expect_state(*state, &conv, CM_MEASURED, "");
        }
        const struct cm_primitive deconv = conv_of(CM_DECONV, spatial, 1);
        const struct cm_primitive grouped = conv_of(CM_DECONV, spatial, 2);
        expect_state(*state, &deconv, CM_MEASURED, "");
        expect_state(*state, &grouped, CM_MEASURED, "");
    }
}

static void add_step(struct cm_primitive *primitive, int32_t function,
                     const struct cm_tensor *operand) {
    struct cm_eltwise *step = &primitive->steps[primitive->n_steps++];
    step->function = function;
    if (operand == NULL) return;
    step->operand = primitive->n_inputs;
    primitive->inputs[primitive->n_inputs++] = *operand;
}

/* A convolution with residual and ReLU, then also a factor per channel; a matrix product with
 * bias and GELU, then also a residual. */
static void runs_steps_after_products(void **state) {
    static const char no_kernel[] = "oneDNN has no fast kernel with these steps";
    for (int64_t groups = 1; groups <= 16; groups *= 16) {
        struct cm_primitive conv = conv_of(CM_CONV, 2, groups);
        const struct cm_tensor image = conv.outputs[0];
        const struct cm_tensor channel =
            fixture_tensor(CM_F32, 4, (const int64_t[]){1, 32, 1, 1});
        add_step(&conv, CM_ADD, &image);
        add_step(&conv, CM_RELU, NULL);
        expect_fast(*state, &conv, CM_UNSUPPORTED, no_kernel);
        add_step(&conv, CM_MULTIPLY, &channel);
        expect_fast(*state, &conv, CM_UNSUPPORTED, no_kernel);
    }
    struct cm_primitive gemm = fixture_gemm(CM_F32, 32, 64, 48);
    gemm.n_inputs = 2;
    const struct cm_tensor bias =
        fixture_tensor(CM_F32, 1, (const int64_t[]){gemm.outputs[0].dims[1]});
    const struct cm_tensor matrix = gemm.outputs[0];
    gemm.inputs[gemm.n_inputs++] = bias;
    add_step(&gemm, CM_GELU, NULL);
    expect_fast(*state, &gemm, CM_UNSUPPORTED, no_kernel);
    add_step(&gemm, CM_ADD, &matrix);
    expect_fast(*state, &gemm, CM_UNSUPPORTED, no_kernel);
}

/* oneDNN has no cosine, and a proxy for it would not measure the fused primitive. */
static void refuses_steps_that_require_a_proxy(void **state) {
    struct cm_primitive conv = conv_of(CM_CONV, 2, 1);
    add_step(&conv, CM_COS, NULL);
    expect_state(*state, &conv, CM_UNSUPPORTED, "oneDNN does not implement it");
}

static void refuses_mismatched_operands(void **state) {
    struct cm_primitive conv = fixture_conv();
    conv.outputs[0] = fixture_tensor(CM_F32, 4, (const int64_t[]){1, 64, 111, 112});
    expect_state(*state, &conv, CM_UNSUPPORTED, "oneDNN refused it: status 2");
    struct cm_primitive gemm = fixture_gemm(CM_I64, 4, 4, 4);
    expect_state(*state, &gemm, CM_UNSUPPORTED,
                 "oneDNN does not implement it for these operands");
    struct cm_primitive empty = fixture_relu(0);
    expect_state(*state, &empty, CM_UNSUPPORTED, "has no elements");
}

static void reports_operands_larger_than_memory(void **state) {
    const struct cm_primitive relu = fixture_relu(INT64_C(1) << 42);
    expect_state(*state, &relu, CM_OUT_OF_MEMORY,
                 "needs 35184372088832 bytes, the limit is 100000000");
}

static void runs_products_with_broadcast_and_bias(void **state) {
    struct cm_primitive gemm = fixture_gemm(CM_F32, 8, 16, 32);
    gemm.inputs[2] = fixture_tensor(CM_F32, 1, (const int64_t[]){32});
    gemm.n_inputs = 3;
    expect_state(*state, &gemm, CM_MEASURED, "");
    gemm.inputs[0] = fixture_tensor(CM_F32, 3, (const int64_t[]){4, 8, 16});
    gemm.outputs[0] = fixture_tensor(CM_F32, 3, (const int64_t[]){4, 8, 32});
    expect_state(*state, &gemm, CM_MEASURED, "");
    gemm.inputs[1].strides[0] = 1; /* transposed */
    gemm.inputs[1].strides[1] = 16;
    gemm.n_inputs = 2;
    expect_state(*state, &gemm, CM_MEASURED, "");
}

static struct cm_primitive plain_of(int32_t kind, int32_t algorithm, int32_t rank,
                                    const int64_t *dims) {
    struct cm_primitive primitive = fixture_relu(16);
    primitive.kind = kind;
    primitive.algorithm = algorithm;
    primitive.n_steps = 0;
    memset(primitive.steps, 0, sizeof(primitive.steps));
    primitive.inputs[0] = fixture_tensor(CM_F32, rank, dims);
    primitive.outputs[0] = primitive.inputs[0];
    return primitive;
}

static void runs_pooling(void **state) {
    static const int32_t algorithms[] = {CM_POOL_MAX, CM_POOL_AVERAGE, CM_POOL_AVERAGE_PADDING};
    for (size_t i = 0; i < N(algorithms); i++) {
        struct cm_primitive pool =
            plain_of(CM_POOL, algorithms[i], 4, (const int64_t[]){2, 16, 12, 12});
        pool.outputs[0] = fixture_tensor(CM_F32, 4, (const int64_t[]){2, 16, 6, 6});
        pool.window = (struct cm_window){.n_spatial = 2,
                                         .kernel = {3, 3},
                                         .strides = {2, 2},
                                         .dilations = {1, 1},
                                         .pads_begin = {1, 1},
                                         .pads_end = {1, 1}};
        expect_state(*state, &pool, CM_MEASURED, "");
    }
}

/* oneDNN has only reference code for 1-D pools of integers. */
static void notes_reference_implementation(void **state) {
    struct cm_primitive pool = plain_of(CM_POOL, CM_POOL_MAX, 3, (const int64_t[]){2, 16, 12});
    pool.inputs[0].element = CM_I32;
    pool.outputs[0] = fixture_tensor(CM_I32, 3, (const int64_t[]){2, 16, 6});
    pool.window =
        (struct cm_window){.n_spatial = 1, .kernel = {2}, .strides = {2}, .dilations = {1}};
    expect_state(*state, &pool, CM_MEASURED, "ran oneDNN's slow reference implementation");
}

static void runs_normalization(void **state) {
    static const struct {
        int32_t algorithm;
        int32_t axis;
        enum cm_measure_state state;
        const char *reason;
    } cases[] = {
        {CM_NORM_BATCH, 0, CM_MEASURED, ""},
        {CM_NORM_BATCH_TRAINING, 0, CM_MEASURED, ""},
        {CM_NORM_LAYER, 3, CM_MEASURED, ""},
        {CM_NORM_LAYER, 2, CM_MEASURED, ""},
        {CM_NORM_RMS, 3, CM_PROXY, "ran a layer norm of the same rows instead"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_primitive norm =
            plain_of(CM_NORM, cases[i].algorithm, 4, (const int64_t[]){2, 16, 6, 6});
        norm.epsilon = 1e-5;
        norm.axis = cases[i].axis;
        norm.groups = cases[i].algorithm == CM_NORM_GROUP ? 4 : 0;
        expect_state(*state, &norm, cases[i].state, cases[i].reason);
    }
}

static void expect_proxy_or_none(const struct fixture *f, const struct cm_primitive *primitive,
                                 const char *proxy);

/* oneDNN implements these norms from 3.3 on; in older versions a proxy runs. */
static void runs_group_normalization(void **state) {
    for (int32_t algorithm = CM_NORM_INSTANCE; algorithm <= CM_NORM_GROUP; algorithm++) {
        for (int32_t rank = 3; rank <= 4; rank++) {
            struct cm_primitive norm =
                plain_of(CM_NORM, algorithm, rank, (const int64_t[]){2, 16, 6, 6});
            norm.epsilon = 1e-5;
            norm.groups = algorithm == CM_NORM_GROUP ? 4 : 0;
            expect_proxy_or_none(*state, &norm,
                                 "ran a layer norm of the same elements instead");
        }
    }
}

/* [2,16,64] runs as [2,16,1,64], for which oneDNN has fast code. */
static void runs_1d_batch_norm_without_reference_code(void **state) {
    for (int32_t algorithm = CM_NORM_BATCH; algorithm <= CM_NORM_BATCH_TRAINING; algorithm++) {
        struct cm_primitive norm =
            plain_of(CM_NORM, algorithm, 3, (const int64_t[]){2, 16, 64});
        norm.epsilon = 1e-5;
        const struct cm_measurement got = measure(*state, &norm);
        assert_int_equal(got.state, CM_MEASURED);
        assert_null(strstr(got.how.algorithm, "ref:"));
    }
}

/* One window covers the whole input: oneDNN's reduction runs instead of its simple pool. */
static void runs_global_pooling_as_reduction(void **state) {
    struct cm_primitive pool = plain_of(CM_POOL, CM_POOL_MAX, 3, (const int64_t[]){2, 16, 64});
    pool.outputs[0] = fixture_tensor(CM_F32, 3, (const int64_t[]){2, 16, 1});
    pool.window =
        (struct cm_window){.n_spatial = 1, .kernel = {64}, .strides = {64}, .dilations = {1}};
    const struct cm_measurement got = measure(*state, &pool);
    assert_int_equal(got.state, CM_MEASURED);
    assert_null(strstr(got.how.algorithm, "simple"));
}

static void runs_recurrent_layers(void **state) {
    for (int32_t algorithm = CM_RNN_TANH; algorithm <= CM_RNN_GRU; algorithm++) {
        for (int32_t directions = 1; directions <= 2; directions++) {
            struct cm_primitive rnn =
                plain_of(CM_RNN, algorithm, 3, (const int64_t[]){5, 2, 16});
            rnn.hidden = 32;
            rnn.directions = directions;
            rnn.n_inputs = 3;
            rnn.inputs[1] =
                fixture_tensor(CM_F32, 3, (const int64_t[]){directions, 4 * 32, 16});
            rnn.inputs[2] =
                fixture_tensor(CM_F32, 3, (const int64_t[]){directions, 4 * 32, 32});
            rnn.outputs[0] = fixture_tensor(CM_F32, 4, (const int64_t[]){5, directions, 2, 32});
            expect_state(*state, &rnn, CM_MEASURED, "");
        }
    }
}

static void runs_attention_as_two_products_and_a_softmax(void **state) {
    for (int i = 0; i < 8; i++) {
        struct cm_primitive attention =
            plain_of(CM_ATTENTION, CM_ALGORITHM_NONE, 4, (const int64_t[]){2, 4, 16, 8});
        const int64_t groups = (i & 1) != 0 ? 2 : 4;
        attention.n_inputs = (i & 2) != 0 ? 4 : 3;
        attention.causal = (i & 4) != 0;
        attention.inputs[1] = fixture_tensor(CM_F32, 4, (const int64_t[]){2, groups, 24, 8});
        attention.inputs[2] = attention.inputs[1];
        if (attention.n_inputs > 3)
            attention.inputs[3] = fixture_tensor(CM_F32, 3, (const int64_t[]){1, 16, 24});
        const struct cm_measurement got = measure(*state, &attention);
        if (got.state != CM_MEASURED) fail_msg("%s", got.reason.text);
        assert_string_equal(got.how.algorithm, "two matmuls and a softmax");
        assert_int_equal(got.how.n_kernels, i < 2 ? 4 : 5);
    }
}

static void runs_resize(void **state) {
    for (int32_t algorithm = CM_RESAMPLE_NEAREST; algorithm <= CM_RESAMPLE_LINEAR;
         algorithm++) {
        struct cm_primitive resize =
            plain_of(CM_RESAMPLE, algorithm, 4, (const int64_t[]){1, 16, 6, 6});
        resize.outputs[0] = fixture_tensor(CM_F32, 4, (const int64_t[]){1, 16, 12, 12});
        expect_state(*state, &resize, CM_MEASURED, "");
    }
}

/* oneDNN refuses dtypes for which the processor has no instructions; accepted ones have a
 * time. */
static void runs_or_refuses_narrow_elements(void **state) {
    static const struct {
        int32_t from, to;
    } cases[] = {{CM_BF16, CM_BF16}, {CM_BF16, CM_F32}, {CM_F16, CM_F16},
                 {CM_I8, CM_I32},    {CM_I8, CM_F32},   {CM_U8, CM_I32}};
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_primitive gemm = fixture_gemm(cases[i].from, 32, 64, 16);
        struct cm_primitive conv = conv_of(CM_CONV, 2, 1);
        conv.inputs[0].element = gemm.inputs[0].element;
        conv.inputs[1].element = gemm.inputs[1].element;
        /* Only the activations are unsigned. */
        if (cases[i].from == CM_U8) conv.inputs[1].element = CM_I8;
        if (cases[i].from == CM_U8) gemm.inputs[1].element = CM_I8;
        conv.outputs[0].element = cases[i].to;
        gemm.outputs[0].element = cases[i].to;
        const struct cm_primitive *both[] = {&gemm, &conv};
        for (size_t j = 0; j < N(both); j++) {
            const struct cm_measurement got = measure(*state, both[j]);
            const bool refused =
                got.state == CM_UNSUPPORTED &&
                strcmp(got.reason.text, "oneDNN does not implement it for these operands") == 0;
            if (got.state != CM_MEASURED && !refused)
                fail_msg("%s to %s: %s", primitive_element_name(cases[i].from),
                         primitive_element_name(cases[i].to), got.reason.text);
            if (cases[i].from == CM_I8 || cases[i].from == CM_U8)
                assert_int_equal(got.state, CM_MEASURED);
        }
    }
}

/* With channels last, the convolution keeps the strides of the primitive. */
static void runs_channels_last(void **state) {
    const struct fixture *f = *state;
    if (f->subprocess == NULL) skip();
    struct subprocess_setup setup = f->setup;
    struct subprocess *subprocess = NULL;
    struct cm_reason reason = {""};
    struct cm_measurement got;
    setup.settings.layout = CM_LAYOUT_NHWC;
    struct cm_primitive conv = conv_of(CM_CONV, 2, 1);
    memcpy(conv.inputs[0].strides, ((const int64_t[]){1024, 1, 128, 16}), 4 * sizeof(int64_t));
    memcpy(conv.outputs[0].strides, ((const int64_t[]){2048, 1, 256, 32}), 4 * sizeof(int64_t));
    assert_int_equal(subprocess_start(&setup, f->arena, &subprocess, &reason), CM_BACKEND_OK);
    subprocess_measure(subprocess, &conv, &got);
    if (got.state != CM_MEASURED) fail_msg("%s", got.reason.text);
    subprocess_stop(subprocess);
}

/* oneDNN implements selections from 3.7 on; in older versions a copy of the same bytes runs. */
static void times_selections(void **state) {
    struct cm_primitive select =
        plain_of(CM_ELTWISE, CM_ALGORITHM_NONE, 2, (const int64_t[]){64, 32});
    select.n_steps = 1;
    select.steps[0].function = CM_SELECT;
    select.n_inputs = 3;
    select.inputs[1] = select.inputs[0];
    select.inputs[2] = select.inputs[0];
    select.inputs[0].element = CM_BOOL;
    expect_proxy_or_none(*state, &select, "ran a copy of the same bytes instead");
}

/* Expects a measurement or this proxy: whether oneDNN has optimized code depends on its
 * version. */
static void expect_proxy_or_none(const struct fixture *f, const struct cm_primitive *primitive,
                                 const char *proxy) {
    const struct cm_measurement got = measure(f, primitive);
    if (got.state == CM_PROXY)
        assert_string_equal(got.reason.text, proxy);
    else
        assert_int_equal(got.state, CM_MEASURED);
}

static void runs_softmax_and_reductions(void **state) {
    for (int32_t axis = 0; axis < 3; axis++) {
        for (int32_t log = 0; log < 2; log++) {
            struct cm_primitive softmax =
                plain_of(CM_SOFTMAX, CM_SOFTMAX_PLAIN + log, 3, (const int64_t[]){4, 8, 32});
            softmax.axis = axis;
            expect_proxy_or_none(*state, &softmax, "ran a softmax along the last axis instead");
        }
    }
    for (int32_t algorithm = CM_REDUCE_SUM; algorithm <= CM_REDUCE_SUM_SQUARE; algorithm++) {
        struct cm_primitive reduce =
            plain_of(CM_REDUCE, algorithm, 4, (const int64_t[]){2, 16, 6, 6});
        reduce.outputs[0] = fixture_tensor(CM_F32, 4, (const int64_t[]){2, 16, 1, 1});
        expect_proxy_or_none(*state, &reduce, "ran a sum instead");
        reduce.outputs[0] = reduce.inputs[0]; /* nothing to reduce: a copy */
        expect_state(*state, &reduce, CM_MEASURED, "");
    }
}

/* The results are indices, which no reduction of oneDNN computes. */
static void times_arg_extremes_by_proxy(void **state) {
    for (int32_t algorithm = CM_REDUCE_ARG_MAX; algorithm <= CM_REDUCE_ARG_MIN; algorithm++) {
        struct cm_primitive reduce =
            plain_of(CM_REDUCE, algorithm, 2, (const int64_t[]){16, 64});
        reduce.outputs[0] = fixture_tensor(CM_I64, 2, (const int64_t[]){16, 1});
        expect_state(*state, &reduce, CM_PROXY,
                     algorithm == CM_REDUCE_ARG_MAX ? "ran a maximum instead"
                                                    : "ran a minimum instead");
    }
}

/* Every function runs, or a proxy of the same size does. */
static void times_every_elementwise_function(void **state) {
    for (int32_t function = CM_FUNCTION_NONE + 1; function < CM_N_FUNCTIONS; function++) {
        struct cm_primitive primitive = fixture_relu(4096);
        primitive.steps[0].function = function;
        if (function >= CM_FIRST_BINARY) {
            primitive.n_inputs = 2;
            primitive.inputs[1] = primitive.inputs[0];
            primitive.steps[0].operand = 1;
        }
        if (function == CM_CLIP) primitive.steps[0].beta = 6;
        const struct cm_measurement got = measure(*state, &primitive);
        if (got.state != CM_MEASURED && got.state != CM_PROXY)
            fail_msg("%s: %s", primitive_function_name(function), got.reason.text);
        if (got.state == CM_PROXY) assert_true(got.reason.text[0] != '\0');
    }
}

static void accepts_full_second_operand(void **state) {
    const int64_t dims[] = {2, 16, 6, 6};
    struct cm_primitive divide = plain_of(CM_ELTWISE, CM_ALGORITHM_NONE, 4, dims);
    divide.n_steps = 1;
    divide.steps[0] = (struct cm_eltwise){.function = CM_DIVIDE, .operand = 1};
    divide.n_inputs = 2;
    divide.inputs[0] = fixture_tensor(CM_F32, 3, (const int64_t[]){16, 1, 1});
    divide.inputs[1] = fixture_tensor(CM_F32, 4, dims);
    expect_state(*state, &divide, CM_MEASURED, "");
}

static void copies_elements_of_every_type(void **state) {
    static const char because[] = "ran a copy of the same bytes instead";
    for (int32_t element = CM_ELEMENT_NONE + 1; element < CM_N_ELEMENTS; element++) {
        struct cm_primitive copy =
            plain_of(CM_COPY, CM_ALGORITHM_NONE, 3, (const int64_t[]){2, 6, 16});
        copy.inputs[0].element = element;
        copy.outputs[0].element = element;
        memcpy(copy.inputs[0].strides, ((const int64_t[]){96, 1, 6}), 3 * sizeof(int64_t));
        expect_fast(*state, &copy, CM_PROXY, because);
        copy.inputs[0] = fixture_tensor(element, 3, (const int64_t[]){2, 3, 16});
        copy.inputs[1] = copy.inputs[0];
        copy.n_inputs = 2;
        copy.axis = 1;
        expect_fast(*state, &copy, CM_PROXY, because);
    }
}

static void copies_bytes_without_fast_code(void **state) {
    static const char because[] = "ran a copy of the same bytes instead";
    struct cm_primitive gather = fixture_gemm(CM_F32, 64, 8, 8);
    gather.kind = CM_GATHER;
    expect_state(*state, &gather, CM_PROXY, because);
    struct cm_primitive expand =
        plain_of(CM_COPY, CM_ALGORITHM_NONE, 2, (const int64_t[]){16, 64});
    expand.inputs[0].strides[0] = 0;
    expect_state(*state, &expand, CM_PROXY, because);
    struct cm_primitive add = fixture_relu(4096);
    add.inputs[0].element = CM_I64;
    add.outputs[0].element = CM_I64;
    expect_state(*state, &add, CM_PROXY, because);
    struct cm_primitive chain = fixture_relu(4096);
    chain.n_steps = 2;
    chain.steps[1] = chain.steps[0];
    expect_state(*state, &chain, CM_PROXY, because);
}

/* 4096 sets of 128 bytes do not fill a cache of 1 MiB three times; seven sets of 512 KiB do. */
static void flags_not_cold(void **state) {
    struct fixture *f = *state;
    if (f->subprocess == NULL) skip();
    struct subprocess_setup setup = f->setup;
    struct subprocess *subprocess = NULL;
    struct cm_reason reason = {""};
    struct cm_measurement got;
    const struct cm_primitive tiny = fixture_relu(16);
    const struct cm_primitive large = fixture_relu(1 << 16);
    f->settings[1].value = "1048576";
    assert_int_equal(subprocess_start(&setup, f->arena, &subprocess, &reason), CM_BACKEND_OK);
    subprocess_measure(subprocess, &tiny, &got);
    assert_int_equal(got.flags & CM_FLAG_NOT_COLD, CM_FLAG_NOT_COLD);
    subprocess_measure(subprocess, &large, &got);
    assert_int_equal(got.flags & CM_FLAG_NOT_COLD, 0);
    subprocess_stop(subprocess);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_why_open_fails),
        cmocka_unit_test(refuses_tf32),
        cmocka_unit_test(describes_the_processor),
        cmocka_unit_test(takes_the_number_of_threads_from_the_environment),
        cmocka_unit_test(rejects_implausible_times),
        cmocka_unit_test(runs_all_kinds_of_convolutions),
        cmocka_unit_test(runs_steps_after_products),
        cmocka_unit_test(refuses_steps_that_require_a_proxy),
        cmocka_unit_test(refuses_mismatched_operands),
        cmocka_unit_test(reports_operands_larger_than_memory),
        cmocka_unit_test(runs_products_with_broadcast_and_bias),
        cmocka_unit_test(runs_pooling),
        cmocka_unit_test(notes_reference_implementation),
        cmocka_unit_test(runs_normalization),
        cmocka_unit_test(runs_group_normalization),
        cmocka_unit_test(runs_1d_batch_norm_without_reference_code),
        cmocka_unit_test(runs_global_pooling_as_reduction),
        cmocka_unit_test(runs_recurrent_layers),
        cmocka_unit_test(runs_attention_as_two_products_and_a_softmax),
        cmocka_unit_test(runs_resize),
        cmocka_unit_test(runs_or_refuses_narrow_elements),
        cmocka_unit_test(runs_channels_last),
        cmocka_unit_test(times_selections),
        cmocka_unit_test(runs_softmax_and_reductions),
        cmocka_unit_test(times_arg_extremes_by_proxy),
        cmocka_unit_test(times_every_elementwise_function),
        cmocka_unit_test(accepts_full_second_operand),
        cmocka_unit_test(copies_elements_of_every_type),
        cmocka_unit_test(copies_bytes_without_fast_code),
        cmocka_unit_test(flags_not_cold),
    };
    return cmocka_run_group_tests(tests, make, end);
}
