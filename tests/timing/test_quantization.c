/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts on quantized models: the float model that they are compared with, regions, causes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/result.h"
#include "model_harness.h"
#include "timed_harness.h"
#include "timing/quantization.h"
#include "timing/times.h"

/* A convolution and its activation, as floats and between Q and DQ. */
static const char floats[] = "in x float[8,256,56,56]\ninit w float[256,256,1,1]\n"
                             "node c Conv x w -> p\nnode r Relu p -> y\nout y\n";
static const char qdq[] =
    "in x float[8,256,56,56]\ninit s float[]\ninit w int8[256,256,1,1]\n"
    "node q QuantizeLinear x s -> i\nnode d DequantizeLinear i s -> f\n"
    "node e DequantizeLinear w s -> g\nnode c Conv f g -> p\nnode r Relu p -> t\n"
    "node k QuantizeLinear t s -> u\nnode l DequantizeLinear u s -> y\nout y\n";
/* Attention of single operators between two products with weights. */
static const char attention[] =
    "in x float[2,4,512,64]\ninit w.weight float[64,64]\ninit f float[] =1\n"
    "node a MatMul x w.weight -> k\nnode t Transpose k -> kt perm=[0,1,3,2]\n"
    "node m MatMul k kt -> n\nnode d Mul n f -> o\nnode p Softmax o -> r axis=-1\n"
    "node v MatMul r k -> h\nnode z MatMul h w.weight -> y\nout y\n";

static struct bench *run(const char *lines, const char *device, enum cm_runtime runtime,
                         enum cm_precision precision) {
    char backend[64];
    snprintf(backend, sizeof backend, "roofline:device=%s", device);
    const struct cm_options options = {
        .memory_alignment = 1, .backend = backend, .runtime = runtime, .precision = precision};
    struct bench *bench = timed_run(lines, &options);
    assert_int_equal(bench->status, CM_OK);
    assert_int_equal(quantization_find(bench->timing), CM_OK);
    return bench;
}

static int64_t time_of(const char *lines, enum cm_precision precision) {
    struct bench *bench = run(lines, "titan-rtx", CM_RUNTIME_TENSORRT, precision);
    const int64_t time = bench->timing->times->of_module[0].latency_ps;
    assert_null(bench->timing->quantization); /* floats only */
    bench_close(bench);
    return time;
}

static void qdq_file_is_compared_with_its_float_model(void **state) {
    struct bench *bench = run(qdq, "titan-rtx", CM_RUNTIME_TENSORRT, CM_PRECISION_AS_STORED);
    const struct cm_quantization *found = bench->timing->quantization;
    (void)state;
    assert_non_null(found);
    assert_string_equal(found->float_precision, "fp16");
    assert_int_equal(found->float_latency_ps, time_of(floats, CM_PRECISION_FP16));
    assert_true(found->float_latency_ps < time_of(floats, CM_PRECISION_FP32));
    assert_int_equal(found->n_regions, 1);
    assert_string_equal(found->regions[0].state, "int8");
    assert_int_equal(found->regions[0].last, bench_node(bench, "l"));
    /* q reads the input, l writes the output; k is part of the convolution. */
    assert_int_equal(found->conversion_bytes, 2 * (4 + 1) * 8 * 256 * 56 * 56 + 2 * 4);
    assert_int_equal(found->conversion_ps,
                     timed_node(bench, "q")->latency_ps + timed_node(bench, "l")->latency_ps);
    bench_close(bench);
}

/* A float file in int8: the gain is that of two runs, and fp16 is the faster of the floats. */
static void gain_is_the_ratio_of_two_runs(void **state) {
    struct bench *bench = run(floats, "titan-rtx", CM_RUNTIME_TENSORRT, CM_PRECISION_INT8);
    const struct cm_quantization *found = bench->timing->quantization;
    const int64_t fp16 = time_of(floats, CM_PRECISION_FP16);
    const int64_t int8 = bench->timing->times->of_module[0].latency_ps;
    (void)state;
    assert_int_equal(found->float_latency_ps, fp16);
    assert_true(llabs(found->gain - fp16 * CM_RATIO_ONE / int8) <= 1);
    assert_true(found->gain > CM_RATIO_ONE);
    assert_non_null(strstr(found->verdict, "times as fast as fp16"));
    bench_close(bench);
}

/* The longest region in float comes first; the int8 products before and after attention are
 * regions of their own. */
static void attention_is_a_region_in_float(void **state) {
    struct bench *bench = run(attention, "h200", CM_RUNTIME_TENSORRT, CM_PRECISION_INT8);
    const struct cm_quantization *found = bench->timing->quantization;
    size_t n_int8 = 0;
    (void)state;
    assert_int_equal(found->n_regions, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct cm_quantized_region *region = &found->regions[i];
        if (i > 0) assert_true(region[-1].float_latency_ps >= region->float_latency_ps);
        n_int8 += strcmp(region->state, "int8") == 0;
        if (strcmp(region->state, "float") != 0) continue;
        assert_string_equal(region->reason, "attention and recurrences stay in float");
        assert_int_equal(region->last, bench_node(bench, "v"));
    }
    assert_int_equal(n_int8, 2);
    /* The two products with weights quantize 4096 rows of 64 columns. */
    assert_int_equal(found->conversion_bytes, 2 * 3 * 4096 * 64);
    assert_true(found->conversion_ps > 0);
    bench_close(bench);
}

static const char wide_3x3[] = "in x float[1,256,56,56]\ninit w float[256,256,3,3]\n"
                               "node c Conv x w -> y pads=[1,1,1,1]\nout y\n";
static const char relu[] = "in x float[64,1024,1024]\ninit w float[8,8]\nnode r Relu x -> p\n"
                           "node a ReduceMean p -> q axes=[1,2]\nout q\n";
static const char tiny[] =
    "in x float[1,8]\nnode s Softmax x -> p\nnode l LogSoftmax p -> y\nout y\n";
static const char half_quantized[] =
    "in x float[8,4,56,56]\ninit s float[]\ninit w int8[256,4,1,1]\ninit v float[256,256,3,3]\n"
    "node q QuantizeLinear x s -> i\nnode d DequantizeLinear i s -> f\n"
    "node e DequantizeLinear w s -> g\nnode c Conv f g -> p\n"
    "node b Conv p v -> y\nout y\n";
static const char scaled_along_sum[] =
    "in x float[8,4,56,56]\ninit s float[]\ninit z float[256]\ninit w int8[256,4,1,1]\n"
    "init v int8[256,256,3,3]\n"
    "node q QuantizeLinear x s -> i\nnode d DequantizeLinear i s -> f\n"
    "node e DequantizeLinear w s -> g\nnode h DequantizeLinear v z -> k axis=1\n"
    "node c Conv f g -> p\nnode n QuantizeLinear p s -> m\nnode o DequantizeLinear m s -> t\n"
    "node b Conv t k -> y\nout y\n";
/* Quantized between elementwise nodes, which are one kernel in float. */
static const char split[] =
    "in x float[8,4,8,8]\ninit s float[]\ninit w int8[16,4,1,1]\n"
    "node q QuantizeLinear x s -> i\nnode d DequantizeLinear i s -> f\n"
    "node e DequantizeLinear w s -> g\nnode c Conv f g -> p\n"
    "node a Softmax p -> t axis=1\nnode k QuantizeLinear t s -> u\n"
    "node l DequantizeLinear u s -> v\nnode b Softmax v -> h axis=1\n"
    "node j QuantizeLinear h s -> aa\nnode m DequantizeLinear aa s -> bb\n"
    "node n Softmax bb -> y axis=1\nout y\n";

/* Each cause has a model in which it costs most. */
static void verdict_names_what_limits_the_gain(void **state) {
    static const struct {
        const char *lines, *device;
        enum cm_runtime runtime;
        enum cm_precision precision;
        const char *words;
    } cases[] = {
        {floats, "atom-x5-z8350", CM_RUNTIME_NCNN, CM_PRECISION_INT8,
         "because the device has no units for int8."},
        {floats, "jh7110", CM_RUNTIME_NCNN, CM_PRECISION_INT8, "as long as fp32, because"},
        {wide_3x3, "apple-m1", CM_RUNTIME_NCNN, CM_PRECISION_INT8,
         "because 3x3 convolutions gain as much from Winograd's algorithm in float."},
        {relu, "titan-rtx", CM_RUNTIME_TENSORRT, CM_PRECISION_INT8,
         "int8 will not help here: it takes as long as fp16, because int8 only speeds up "
         "products, and memory limits these layers."},
        {tiny, "titan-rtx", CM_RUNTIME_TENSORRT, CM_PRECISION_INT8,
         "the launch of a kernel takes longer than its work."},
        {attention, "h200", CM_RUNTIME_TENSORRT, CM_PRECISION_INT8,
         "converting to int8 takes longer than it saves."},
        {half_quantized, "titan-rtx", CM_RUNTIME_TENSORRT, CM_PRECISION_AS_STORED,
         "because layers that stay in float run in fp32, unless --precision fp16 is given."},
        {half_quantized, "titan-rtx", CM_RUNTIME_TENSORRT, CM_PRECISION_FP16,
         "the file does not quantize both operands of the products."},
        {scaled_along_sum, "titan-rtx", CM_RUNTIME_TENSORRT, CM_PRECISION_FP16,
         "scales that vary along a sum keep the products in float."},
        {split, "titan-rtx", CM_RUNTIME_TENSORRT, CM_PRECISION_FP16,
         "because tensors quantized between layers split kernels that are one in float."},
        {floats, "apple-m1", CM_RUNTIME_NCNN, CM_PRECISION_INT8,
         "because widening, summing and requantizing take what the higher rate saves."},
        {floats, "spacemit-k1", CM_RUNTIME_NCNN, CM_PRECISION_INT8,
         "because the device has no units for int8."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench *bench =
            run(cases[i].lines, cases[i].device, cases[i].runtime, cases[i].precision);
        assert_non_null(bench->timing->quantization);
        if (!strstr(bench->timing->quantization->verdict, cases[i].words))
            fail_msg("case %zu: %s", i, bench->timing->quantization->verdict);
        bench_close(bench);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(qdq_file_is_compared_with_its_float_model),
        cmocka_unit_test(gain_is_the_ratio_of_two_runs),
        cmocka_unit_test(attention_is_a_region_in_float),
        cmocka_unit_test(verdict_names_what_limits_the_gain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
