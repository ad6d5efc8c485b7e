/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the expected time and the lower bound of one kernel: formulas with hand-computed
 * numbers, and relations that hold for any efficiencies. */
#include "backends/device/kernel_time.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* 10 TFLOP/s of fp32, 100 of fp16 on matrix units, 1 TB/s, 100 units, 1 MB of cache. */
static struct device_model device(void) {
    struct device_model model = {.bandwidth = 1e12, .n_units = 100, .cache_bytes = 1000000};
    model.rates[RATE_FP32] = 1e13;
    model.rates[RATE_MATRIX_FP16] = 1e14;
    return model;
}

static struct device_efficiency efficiency_of(const struct device_model *model) {
    return device_calibration_find(model, CM_RUNTIME_TORCH_COMPILE, WIDTH_FP32).efficiency;
}

static struct kernel_time time_of(const struct cm_primitive *primitive) {
    const struct device_model model = device();
    const struct device_efficiency efficiency = efficiency_of(&model);
    return kernel_time(&model, &efficiency, primitive, CM_PRECISION_AS_STORED);
}

static void expect_near(double have, double want) {
    if (fabs(have - want) > 1e-9 * want) fail_msg("have %.17g, want %.17g", have, want);
}

/* x [1,c,56,56] -> [1,k,56,56]; the bytes read are those of x, without the weights. */
static struct cm_primitive convolution(int64_t channels, int64_t filters, int64_t groups,
                                       int64_t kernel) {
    struct cm_primitive conv = fixture_conv();
    conv.inputs[0] = fixture_tensor(CM_F32, 4, (const int64_t[]){1, channels, 56, 56});
    conv.inputs[1] = fixture_tensor(
        CM_F32, 4, (const int64_t[]){filters, channels / groups, kernel, kernel});
    conv.n_inputs = 2;
    conv.outputs[0] = fixture_tensor(CM_F32, 4, (const int64_t[]){1, filters, 56, 56});
    conv.window = (struct cm_window){
        .n_spatial = 2, .kernel = {kernel, kernel}, .strides = {1, 1}, .dilations = {1, 1}};
    conv.groups = groups;
    conv.flops = 2 * 56 * 56 * filters * (channels / groups) * kernel * kernel;
    conv.bytes_read = 4 * 56 * 56 * channels;
    conv.bytes_written = 4 * 56 * 56 * filters;
    return conv;
}

static void lower_bound_is_the_larger_of_arithmetic_and_memory(void **state) {
    (void)state;
    struct cm_primitive gemm = fixture_gemm(CM_F32, 4096, 4096, 4096);
    expect_near(time_of(&gemm).lower_bound, 2.0 * 4096 * 4096 * 4096 / 1e13);
    gemm = fixture_gemm(CM_F32, 1, 4096, 4096); /* all but 1 MB */
    expect_near(time_of(&gemm).lower_bound,
                ((double)gemm.bytes_read + (double)gemm.bytes_written - 1e6) / 1e12);
    struct cm_primitive relu = fixture_relu(1 << 24);
    relu.fusion = (struct cm_fusion){.in_graph = 1}; /* without compulsory traffic */
    assert_true(time_of(&relu).lower_bound == 0);
    relu.fusion.compulsory_bytes = 3000000;
    expect_near(time_of(&relu).lower_bound, 2e6 / 1e12);
    relu.fusion.group_bytes = 10000000; /* other nodes of the kernel move 7 MB */
    expect_near(time_of(&relu).lower_bound, 0.3 * 9e6 / 1e12);
}

/* 1000 x 1000: each tile shape of the libraries covers at least the matrix, in whole waves. */
static void parts_explain_the_expected_time(void **state) {
    const struct cm_primitive gemm = fixture_gemm(CM_F32, 1000, 4096, 1000);
    const struct kernel_time time = time_of(&gemm);
    const struct kernel_tiles *tiles = &time.arithmetic;
    (void)state;
    expect_near(tiles->n_tiles, ceil(1000 / tiles->m) * ceil(1000 / tiles->n) * tiles->splits);
    expect_near(tiles->waves, ceil(tiles->n_tiles / 100));
    expect_near(time.rate_share, (double)gemm.flops / (tiles->seconds * 1e13));
    expect_near(time.memory_bytes + time.cache_bytes,
                (double)gemm.bytes_read + (double)gemm.bytes_written);
    assert_true(time.expected <= tiles->seconds + time.memory + time.launch);
    assert_int_equal(time.limit, CM_LIMIT_COMPUTE);
    expect_near(time.without, time.memory + time.launch);
    assert_int_equal(time.next, CM_LIMIT_MEMORY);
}

/* Without arithmetic that matters: without its bytes a ReLU takes a launch. */
static void without_its_bytes_a_kernel_is_limited_by_launch(void **state) {
    const struct cm_primitive relu = fixture_relu(1 << 24);
    const struct kernel_time time = time_of(&relu);
    (void)state;
    assert_int_equal(time.limit, CM_LIMIT_MEMORY);
    assert_true(time.arithmetic.m == 0 && time.launches == 1);
    expect_near(time.without, time.arithmetic.seconds + time.launch);
    assert_int_equal(time.next, CM_LIMIT_LAUNCH);
}

static void excludes_cached_bytes_from_the_bound(void **state) {
    (void)state;
    struct cm_primitive relu = fixture_relu(1000);
    assert_true(time_of(&relu).lower_bound == 0);
}

/* F(6x6, 3x3) and F(4x4, 5x5) on vector units, F(4x4, 3x3) on matrix units. */
static void winograd_divides_the_bound_of_square_kernels(void **state) {
    static const struct {
        enum cm_element element;
        int64_t kernel, stride, dilation;
        double rate;
    } cases[] = {
        {CM_F32, 3, 1, 1, 1e13 * 324 / 64},
        {CM_F32, 5, 1, 1, 1e13 * 400 / 64},
        {CM_F32, 9, 1, 1, 1e13},
        {CM_F32, 1, 1, 1, 1e13},
        {CM_F32, 3, 2, 1, 1e13},
        {CM_F32, 3, 1, 2, 1e13},
        {CM_F16, 3, 1, 1, 1e14 * 144 / 36},
        {CM_F16, 1, 1, 1, 1e14},
    };
    (void)state;
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_primitive conv = convolution(512, 512, 1, cases[i].kernel);
        conv.inputs[0].element = (int32_t)cases[i].element;
        conv.window.strides[1] = cases[i].stride;
        conv.window.dilations[0] = cases[i].dilation;
        conv.bytes_read = conv.bytes_written = 0;
        expect_near(time_of(&conv).lower_bound, (double)conv.flops / cases[i].rate);
    }
    struct cm_primitive wide = convolution(512, 512, 1, 3); /* 1x3: no library has a kernel */
    wide.window.kernel[0] = 1;
    expect_near(time_of(&wide).lower_bound, (double)wide.flops / 1e13);
}

/* Boards run above the clock of the rates. */
static void clock_headroom_divides_the_arithmetic_of_the_bound(void **state) {
    const struct cm_primitive gemm = fixture_gemm(CM_F32, 4096, 4096, 4096);
    struct device_model model = device();
    const struct device_efficiency efficiency = efficiency_of(&model);
    (void)state;
    const struct kernel_time published = kernel_time(&model, &efficiency, &gemm, 0);
    model.clock_headroom = 1.25;
    const struct kernel_time faster = kernel_time(&model, &efficiency, &gemm, 0);
    expect_near(faster.lower_bound, published.lower_bound / 1.25);
    expect_near(faster.expected, published.expected);
}

/* A window of 1x1 and stride 2 reads a quarter of the image, one of 3x3 all of it. */
static void pixels_between_windows_are_not_read(void **state) {
    struct cm_primitive conv = convolution(1024, 8, 1, 1);
    (void)state;
    conv.window.strides[0] = conv.window.strides[1] = 2;
    conv.outputs[0].dims[2] = conv.outputs[0].dims[3] = 28;
    conv.flops /= 4;
    conv.bytes_written /= 4;
    expect_near(time_of(&conv).lower_bound,
                ((double)conv.bytes_read / 4 + (double)conv.bytes_written - 1e6) / 1e12);
    conv.window.kernel[0] = conv.window.kernel[1] = 3;
    expect_near(time_of(&conv).lower_bound,
                ((double)conv.bytes_read + (double)conv.bytes_written - 1e6) / 1e12);
}

/* A device whose tensor cores compute tf32 at the rate of fp32, as the RTX 4090. */
static void tf32_takes_the_faster_kernel_of_tf32_and_fp32(void **state) {
    (void)state;
    struct device_model model = device();
    struct device_efficiency usual = efficiency_of(&model);
    struct device_efficiency *efficiency = &usual;
    const struct cm_primitive conv = convolution(256, 256, 1, 3);
    efficiency->winograd = 1;
    const double fp32 = kernel_time(&model, efficiency, &conv, CM_PRECISION_TF32).expected;
    model.rates[RATE_MATRIX_TF32] = model.rates[RATE_FP32];
    efficiency->winograd = 2;
    struct kernel_time tf32 = kernel_time(&model, efficiency, &conv, CM_PRECISION_TF32);
    assert_int_equal(tf32.rate, RATE_FP32);
    assert_true(tf32.expected < fp32);
    model.rates[RATE_MATRIX_TF32] *= 8;
    const double slower = tf32.expected;
    tf32 = kernel_time(&model, efficiency, &conv, CM_PRECISION_TF32);
    assert_int_equal(tf32.rate, RATE_MATRIX_TF32);
    assert_true(tf32.expected < slower);
}

/* Libraries of GPUs sum products of fp16 in fp32, those of ARM in fp16. */
static void products_of_fp16_take_the_rate_of_the_sums(void **state) {
    (void)state;
    struct device_model model = {.bandwidth = 1e12};
    const struct cm_primitive gemm = fixture_gemm(CM_F16, 64, 64, 64);
    model.rates[RATE_FP32] = 1e13;
    model.rates[RATE_FP16] = 2e13;
    assert_int_equal(kernel_rate(&model, &gemm, 0), RATE_FP32);
    model.architecture = "sm_60";
    assert_int_equal(kernel_rate(&model, &gemm, 0), RATE_FP32);
    model.architecture = "aarch64";
    assert_int_equal(kernel_rate(&model, &gemm, 0), RATE_FP16);
}

/* The seconds of arithmetic of an int8 convolution, on a device with this rate of int8 relative
 * to that of fp32, and without launches and traffic. */
static double int8_seconds(const char *architecture, double rate, int64_t kernel) {
    struct device_model model = device();
    model.architecture = architecture;
    model.rates[RATE_INT8] = rate * model.rates[RATE_FP32];
    struct device_efficiency efficiency = efficiency_of(&model);
    struct cm_primitive conv = convolution(1024, 1024, 1, kernel);
    conv.inputs[0].element = CM_I8;
    conv.bytes_read = conv.bytes_written = 0;
    efficiency.convolution = 1;
    efficiency.winograd = 2;
    efficiency.tile_seconds = efficiency.launch = 0;
    efficiency.cache_bandwidth = 1e30;
    return kernel_time(&model, &efficiency, &conv, 0).expected;
}

static void processors_reach_a_share_of_the_rate_of_int8(void **state) {
    const double gpu = int8_seconds("sm_70", 2, 1);
    (void)state;
    expect_near(int8_seconds("aarch64", 2, 1), 2 * gpu);
    expect_near(int8_seconds("x86_64", 2, 1), 2 * gpu);
    expect_near(int8_seconds("riscv64", 2, 1), 8 * gpu); /* no kernels for int8 */
}

/* Winograd's algorithm halves the multiplications, on integers of 16 bits: at twice the rate of
 * fp32, if that of int8 is not less. */
static void int8_convolutions_use_winograd_in_16_bits(void **state) {
    (void)state;
    for (double rate = 1; rate <= 2; rate++)
        expect_near(int8_seconds("aarch64", rate, 3), 9 * int8_seconds("aarch64", rate, 1) / 2);
    expect_near(int8_seconds("aarch64", 3, 3), 9 * int8_seconds("aarch64", 2, 1) / 2);
    expect_near(int8_seconds("aarch64", 8, 3), 9 * int8_seconds("aarch64", 8, 1));
}

/* Holds for the default efficiencies, and for efficiencies that exceed the peak rates. */
static void expected_time_is_never_below_the_bound(void **state) {
    (void)state;
    const struct cm_primitive cases[] = {
        fixture_conv(),
        fixture_relu(1),
        fixture_relu(1 << 26),
        fixture_gemm(CM_F32, 1, 1, 1),
        fixture_gemm(CM_F16, 4096, 4096, 4096),
        fixture_gemm(CM_F32, 1, 65536, 64),
        convolution(256, 256, 1, 3),
        convolution(256, 256, 8, 3),
        convolution(256, 256, 256, 3),
    };
    struct device_model model = device();
    for (double factor = 1; factor < 1000; factor *= 10) {
        struct device_efficiency efficiency = efficiency_of(&model);
        efficiency.product *= factor;
        efficiency.convolution *= factor;
        efficiency.bandwidth *= factor;
        efficiency.launch /= factor;
        for (size_t i = 0; i < N(cases); i++) {
            const struct kernel_time time =
                kernel_time(&model, &efficiency, &cases[i], CM_PRECISION_AS_STORED);
            assert_true(time.lower_bound >= 0 && isfinite(time.expected));
            assert_true(time.lower_bound <= time.expected);
        }
    }
}

static void time_increases_with_size(void **state) {
    double last = 0;
    (void)state;
    for (int64_t size = 64; size <= 8192; size *= 2) {
        const struct cm_primitive gemm = fixture_gemm(CM_F16, size, size, size);
        const double seconds = time_of(&gemm).expected;
        assert_true(seconds >= last);
        last = seconds;
    }
    last = 0;
    for (int64_t n = 1; n <= 1 << 26; n *= 2) {
        const struct cm_primitive relu = fixture_relu(n);
        const double seconds = time_of(&relu).expected;
        assert_true(seconds > last);
        last = seconds;
    }
}

/* A partial tile takes as long as a full one, and a wave that leaves units idle as long as a
 * full one. */
static void products_run_in_whole_tiles_and_waves(void **state) {
    (void)state;
    struct cm_primitive gemm = fixture_gemm(CM_F16, 8192, 4096, 8192);
    struct cm_primitive padded = fixture_gemm(CM_F16, 8192 - 31, 4096, 8192 - 31);
    padded.bytes_read = gemm.bytes_read;
    padded.bytes_written = gemm.bytes_written;
    expect_near(time_of(&padded).expected, time_of(&gemm).expected);
    struct device_model model = device();
    const struct device_efficiency efficiency = efficiency_of(&model);
    gemm = fixture_gemm(CM_F16, 1024, 64, 1024);
    const double some = kernel_time(&model, &efficiency, &gemm, 0).expected;
    model.n_units = 10000; /* each at a hundredth of the rate: no more tiles than before */
    const double many = kernel_time(&model, &efficiency, &gemm, 0).expected;
    assert_true(many > some);
}

/* q [64,12,queries,columns], 256 keys */
static struct cm_primitive attention(int64_t queries, int64_t columns) {
    struct cm_primitive primitive = fixture_gemm(CM_F32, 1, 1, 1);
    primitive.kind = CM_ATTENTION;
    primitive.n_inputs = 3;
    primitive.inputs[0] =
        fixture_tensor(CM_F32, 4, (const int64_t[]){64, 12, queries, columns});
    primitive.inputs[1] = fixture_tensor(CM_F32, 4, (const int64_t[]){64, 12, 256, columns});
    primitive.inputs[2] = primitive.inputs[1];
    primitive.outputs[0] = primitive.inputs[0];
    primitive.flops = 4 * 64 * 12 * queries * 256 * columns;
    return primitive;
}

static void attention_rounds_queries_and_columns_up_to_64(void **state) {
    const struct cm_primitive whole = attention(256, 64);
    const struct cm_primitive narrow = attention(256, 32);
    const struct cm_primitive few = attention(197, 64);
    (void)state;
    expect_near(time_of(&narrow).expected, time_of(&whole).expected);
    expect_near(time_of(&few).expected, time_of(&whole).expected);
}

/* 4 queries and 8 keys: masks leave 10 of 32 scores if both start at position 0, and 26 if the
 * queries are the last. A mask of its own for each head is a bias. */
static void masked_scores_are_not_in_the_bound(void **state) {
    static const struct {
        int32_t causal;
        int64_t queries, keys, mask[4];
        double share;
    } cases[] = {
        {CM_CAUSAL_NONE, 4, 8, {0}, 1},
        {CM_CAUSAL_FIRST, 4, 8, {0}, 10.0 / 32},
        {CM_CAUSAL_LAST, 4, 8, {0}, 26.0 / 32},
        {CM_CAUSAL_FIRST, 8, 4, {0}, 26.0 / 32},
        {CM_CAUSAL_LAST, 8, 4, {0}, 10.0 / 32},
        {CM_CAUSAL_NONE, 4, 8, {64, 1, 4, 8}, 26.0 / 32},
        {CM_CAUSAL_NONE, 4, 8, {1, 12, 4, 8}, 1},
        {CM_CAUSAL_NONE, 4, 8, {64, 1, 1, 8}, 1},
        {CM_CAUSAL_LAST, 1, 8, {0}, 1},
    };
    (void)state;
    for (size_t i = 0; i < N(cases); i++) {
        struct cm_primitive primitive = attention(cases[i].queries, 64);
        primitive.inputs[1].dims[2] = cases[i].keys;
        primitive.causal = cases[i].causal;
        if (cases[i].mask[0] > 0)
            primitive.inputs[primitive.n_inputs++] = fixture_tensor(CM_F32, 4, cases[i].mask);
        expect_near(time_of(&primitive).lower_bound,
                    (double)primitive.flops * cases[i].share / 1e13);
    }
    struct cm_primitive product = fixture_gemm(CM_F32, 4096, 4096, 4096);
    product.causal = CM_CAUSAL_FIRST;
    expect_near(time_of(&product).lower_bound, 4096.0 * 4096 * 4096 / 1e13);
}

/* Groups of 8 channels have dedicated kernels; groups of 24 channels are padded. */
static void grouped_convolutions_are_padded(void **state) {
    (void)state;
    const struct cm_primitive narrow = convolution(1024, 1024, 128, 3);
    const struct cm_primitive odd = convolution(1032, 1032, 43, 3);
    const struct device_model model = device();
    const struct device_efficiency usual = efficiency_of(&model);
    const struct device_efficiency *efficiency = &usual;
    const double rate_narrow = (double)narrow.flops / time_of(&narrow).expected;
    const double rate_odd = (double)odd.flops / time_of(&odd).expected;
    assert_true(efficiency->group_tile > 24);
    assert_true(rate_odd < rate_narrow);
}

static void depthwise_convolutions_are_limited_by_memory(void **state) {
    (void)state;
    struct cm_primitive conv = convolution(4096, 4096, 4096, 3);
    const struct kernel_time time = time_of(&conv);
    assert_int_equal(time.limit, CM_LIMIT_MEMORY);
    const struct device_model model = device();
    const double bytes = (double)conv.bytes_read + (double)conv.bytes_written;
    assert_true(time.expected >= bytes / (1e12 * efficiency_of(&model).depthwise));
}

static void adds_one_launch_per_kernel(void **state) {
    (void)state;
    const struct device_model model = device();
    const double launch = efficiency_of(&model).launch;
    struct cm_primitive relu = fixture_relu(1 << 20);
    const double alone = time_of(&relu).expected;
    relu.fusion = (struct cm_fusion){.in_graph = 1, .no_launch = 1};
    expect_near(alone - time_of(&relu).expected, launch);
    relu.fusion = (struct cm_fusion){.in_graph = 1, .extra_kernels = 2};
    expect_near(time_of(&relu).expected - alone, 2 * launch);
}

/* The `floor` of a device file is used instead of the modelled launch. */
static void floor_replaces_the_launch(void **state) {
    (void)state;
    struct device_model model = device();
    const struct device_efficiency efficiency = efficiency_of(&model);
    const struct cm_primitive relu = fixture_relu(1);
    model.floor = 1e-3;
    const struct kernel_time time = kernel_time(&model, &efficiency, &relu, 0);
    assert_true(time.expected >= 1e-3 && time.expected < 1.001e-3);
    assert_int_equal(time.limit, CM_LIMIT_LAUNCH);
}

static void gradients_of_products_take_a_share_of_the_rate(void **state) {
    (void)state;
    const struct device_model model = device();
    const struct device_efficiency usual = efficiency_of(&model);
    const struct device_efficiency *efficiency = &usual;
    struct cm_primitive gemm = fixture_gemm(CM_F32, 4096, 4096, 4096);
    const double forward = time_of(&gemm).expected - efficiency->launch;
    for (int gradient = CM_GRADIENT_DATA; gradient <= CM_GRADIENT_WEIGHT; gradient++) {
        gemm.fusion.gradient = gradient;
        expect_near(time_of(&gemm).expected - efficiency->launch,
                    forward / efficiency->gradient);
    }
    struct cm_primitive depthwise = convolution(4096, 4096, 4096, 3);
    const double before = time_of(&depthwise).expected - efficiency->launch;
    depthwise.fusion.gradient = CM_GRADIENT_DATA;
    expect_near(time_of(&depthwise).expected - efficiency->launch,
                before / efficiency->grouped_gradient);
}

static void gradients_of_products_have_their_own_shape(void **state) {
    (void)state;
    struct cm_primitive gemm = fixture_gemm(CM_F32, 1 << 20, 32, 32);
    gemm.bytes_read = gemm.bytes_written = 0;
    const double wide = time_of(&gemm).expected;
    gemm.fusion.gradient = CM_GRADIENT_WEIGHT; /* 32 x 32 sums of 2^20 terms on 100 units */
    assert_true(time_of(&gemm).expected > 2 * wide);
    expect_near(time_of(&gemm).lower_bound, 2.0 * (1 << 20) * 32 * 32 / 1e13);
}

/* Computing the statistics of the batch reads the operand a second time: 3 passes instead of
 * 2. */
static void norms_in_training_read_twice(void **state) {
    (void)state;
    struct cm_primitive norm = fixture_relu(1 << 24);
    norm.kind = CM_NORM;
    norm.algorithm = CM_NORM_BATCH;
    const double inference = time_of(&norm).expected;
    norm.algorithm = CM_NORM_BATCH_TRAINING;
    const double training = time_of(&norm).expected;
    assert_true(training > 1.4 * inference && training < 1.6 * inference);
    norm.fusion.gradient = CM_GRADIENT_DATA; /* its bytes include both passes */
    assert_true(time_of(&norm).expected < training);
}

/* The second pass of 64 MiB finds 1 MB in the cache, as does the first; backward reads the
 * gradient of the result twice too. */
static void norms_in_training_have_a_second_pass_in_the_bound(void **state) {
    struct cm_primitive norm = fixture_relu(1 << 24);
    const double bytes = 4 << 24;
    (void)state;
    norm.kind = CM_NORM;
    norm.algorithm = CM_NORM_BATCH;
    norm.fusion = (struct cm_fusion){.in_graph = 1, .compulsory_bytes = 2 * (4 << 24)};
    expect_near(time_of(&norm).lower_bound, (2 * bytes - 1e6) / 1e12);
    norm.algorithm = CM_NORM_BATCH_TRAINING;
    expect_near(time_of(&norm).lower_bound, (3 * bytes - 2e6) / 1e12);
    norm.fusion.gradient = CM_GRADIENT_DATA;
    expect_near(time_of(&norm).lower_bound, (4 * bytes - 2e6) / 1e12);
    norm.fusion.compulsory_bytes = 0; /* part of another kernel */
    assert_true(time_of(&norm).lower_bound == 0);
}

/* Whatever their order in the file; int8 is nearer to fp16 than to fp32. */
static void an_unmeasured_width_takes_the_nearest(void **state) {
    struct device_calibration rows[] = {
        {.runtime = CM_RUNTIME_TENSORRT, .width = WIDTH_INT8, .efficiency.host = 4},
        {.runtime = CM_RUNTIME_TORCH_COMPILE, .width = WIDTH_FP32, .efficiency.host = 1},
        {.runtime = CM_RUNTIME_TORCH_COMPILE, .width = WIDTH_FP16, .efficiency.host = 2},
        {.runtime = CM_RUNTIME_TORCH_COMPILE, .width = WIDTH_TF32, .efficiency.host = 3},
    };
    struct device_model model = device();
    (void)state;
    for (size_t first = 0; first < N(rows); first++) {
        const struct device_calibration row = rows[0];
        memmove(rows, rows + 1, sizeof(rows) - sizeof(row));
        rows[N(rows) - 1] = row;
        model.n_calibrations = N(rows);
        model.calibrations = rows;
        const struct device_calibration found =
            device_calibration_find(&model, CM_RUNTIME_TORCH_COMPILE, WIDTH_INT8);
        expect_near(found.efficiency.host, 2);
        assert_int_equal(found.fit.match, CM_CALIBRATION_WIDTH);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lower_bound_is_the_larger_of_arithmetic_and_memory),
        cmocka_unit_test(parts_explain_the_expected_time),
        cmocka_unit_test(without_its_bytes_a_kernel_is_limited_by_launch),
        cmocka_unit_test(excludes_cached_bytes_from_the_bound),
        cmocka_unit_test(winograd_divides_the_bound_of_square_kernels),
        cmocka_unit_test(clock_headroom_divides_the_arithmetic_of_the_bound),
        cmocka_unit_test(pixels_between_windows_are_not_read),
        cmocka_unit_test(tf32_takes_the_faster_kernel_of_tf32_and_fp32),
        cmocka_unit_test(products_of_fp16_take_the_rate_of_the_sums),
        cmocka_unit_test(processors_reach_a_share_of_the_rate_of_int8),
        cmocka_unit_test(int8_convolutions_use_winograd_in_16_bits),
        cmocka_unit_test(expected_time_is_never_below_the_bound),
        cmocka_unit_test(time_increases_with_size),
        cmocka_unit_test(products_run_in_whole_tiles_and_waves),
        cmocka_unit_test(attention_rounds_queries_and_columns_up_to_64),
        cmocka_unit_test(masked_scores_are_not_in_the_bound),
        cmocka_unit_test(grouped_convolutions_are_padded),
        cmocka_unit_test(depthwise_convolutions_are_limited_by_memory),
        cmocka_unit_test(adds_one_launch_per_kernel),
        cmocka_unit_test(floor_replaces_the_launch),
        cmocka_unit_test(gradients_of_products_take_a_share_of_the_rate),
        cmocka_unit_test(gradients_of_products_have_their_own_shape),
        cmocka_unit_test(norms_in_training_read_twice),
        cmocka_unit_test(norms_in_training_have_a_second_pass_in_the_bound),
        cmocka_unit_test(an_unmeasured_width_takes_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
