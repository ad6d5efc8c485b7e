/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of ops/contrib/contrib.c. Shapes are those of ONNX Runtime 1.31.1 if it has a kernel. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void counts_biased_gelus(void **state) {
    static const struct op_case rows[] = {
        COSTS("com.microsoft:Gelu-1", NULL, "float[2,5,16]", "float[2,5,16]", OP_NO_MACS, 160),
        COSTS("com.microsoft:QuickGelu-1", NULL, "float[2,5,16]", "float[2,5,16]", OP_NO_MACS,
              OP_NO_FLOPS),
        COSTS("com.microsoft:FastGelu-1", NULL, "float[2,5,16]", "float[2,5,16]", OP_NO_MACS,
              160),
        COSTS("com.microsoft:FastGelu-1", NULL, "float[2,5,16] float[16]", "float[2,5,16]",
              OP_NO_MACS, 160),
        COSTS("com.microsoft:BiasGelu-1", NULL, "float[2,5,16] float[16]", "float[2,5,16]",
              OP_NO_MACS, 160),
        COSTS("com.microsoft:BiasSplitGelu-1", NULL, "float[2,5,16] float[16]", "float[2,5,8]",
              OP_NO_MACS, 80),
        COSTS("com.microsoft:BiasSoftmax-1", "axis=3 is_inner_broadcast=0",
              "float[2,4,5,5] float[2,1,1,5]", "float[2,4,5,5]", OP_NO_MACS, 200),
        REFUSES("com.microsoft:BiasGelu-1", NULL, "float[2,3] float[2,1,3]", "float[*]",
                "bias [2,1,3] does not broadcast to input [2,3]"),
        GIVES("com.microsoft:BiasAdd-1", NULL, "float[2,5,16] float[16] float[2,5,16]",
              "float[2,5,16]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void infers_skip_norms(void **state) {
    static const struct op_case rows[] = {
        COSTS("com.microsoft:SkipLayerNormalization-1", NULL,
              "float[2,5,16] float[2,5,16] float[16] float[16] float[16]",
              "float[2,5,16] - - float[2,5,16]", OP_NO_MACS, 800),
        COSTS("com.microsoft:SkipSimplifiedLayerNormalization-1", NULL,
              "float[2,5,16] float[2,5,16] float[16]", "float[2,5,16] - - float[2,5,16]",
              OP_NO_MACS, OP_NO_FLOPS),
        COSTS("SimplifiedLayerNormalization-1", NULL, "float[2,5,16] float[16]",
              "float[2,5,16] float[2,5,1]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("com.microsoft:EmbedLayerNormalization-1", NULL,
              "int32[2,5] int32[2,5] float[30,16] float[20,16] float[2,16] float[16] float[16] "
              "int32[2,5]",
              "float[2,5,16] int32[2]", OP_NO_MACS, 800),
        COSTS("com.microsoft:GroupNorm-1", "groups=4 activation=1",
              "float[2,8,8,16] float[16] float[16]", "float[2,8,8,16]", OP_NO_MACS, 10240),
        GIVES("com.microsoft:SkipLayerNormalization-1", NULL,
              "float[2,5,16] float[2,5,16] float[16]",
              "float[2,5,16] float[2,5,1] float[2,5,1] float[2,5,16]"),
        GIVES("com.microsoft:SkipGroupNorm-1", "groups=4 activation=0",
              "float[2,8,8,16] float[16] float[16] float[2,16]",
              "float[2,8,8,16] float[2,8,8,16]"),
        GIVES("SimplifiedLayerNormalization-1", "axis=1", "float[2,5,16] float[5,16]",
              "float[2,5,16] float[2,1,1]"),
        REFUSES("com.microsoft:GroupNorm-1", "groups=0 activation=1",
                "float[2,8,8,16] float[16] float[16]", "float[*]",
                "groups must be >= 1, got 0"),
        REFUSES("com.microsoft:EmbedLayerNormalization-1", NULL,
                "int32[2] - float[30,16] float[20,16] - float[16] float[16]", "float[*]",
                "input 0 must have rank 2, got 1"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void infers_quantized_operators_like_float_operators(void **state) {
    static const struct op_case rows[] = {
        COSTS("com.microsoft:QLinearAdd-1", NULL,
              "uint8[2,1,16] float[] uint8[] uint8[5,1] float[] uint8[] float[] uint8[]",
              "uint8[2,5,16]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("com.microsoft:QLinearMul-1", NULL,
              "uint8[2,1,16] float[] uint8[] uint8[5,1] float[] uint8[] float[] uint8[]",
              "uint8[2,5,16]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("com.microsoft:QLinearSigmoid-1", NULL,
              "uint8[2,16] float[] uint8[] float[] uint8[]", "uint8[2,16]", OP_NO_MACS,
              OP_NO_FLOPS),
        COSTS("com.microsoft:QLinearLeakyRelu-1", NULL,
              "uint8[2,16] float[] uint8[] float[] uint8[]", "uint8[2,16]", OP_NO_MACS, 32),
        COSTS("com.microsoft:QLinearSoftmax-1", "opset=13",
              "uint8[2,16] float[] uint8[] float[] uint8[]", "uint8[2,16]", OP_NO_MACS, 32),
        COSTS("com.microsoft:QLinearWhere-1", NULL,
              "bool[2,1] uint8[16] float[] uint8[] uint8[2,16] float[] uint8[] float[] uint8[]",
              "uint8[2,16]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("com.microsoft:QLinearConcat-1", "axis=1",
              "float[] uint8[] uint8[2,3] float[] uint8[] uint8[2,4] float[] uint8[]",
              "uint8[2,7]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("com.microsoft:QLinearGlobalAveragePool-1", NULL,
              "uint8[2,3,8,8] float[] uint8[] float[] uint8[]", "uint8[2,3,1,1]", OP_NO_MACS,
              384),
        COSTS("com.microsoft:QLinearGlobalAveragePool-1", "channels_last=1",
              "uint8[2,8,8,3] float[] uint8[] float[] uint8[]", "uint8[2,1,1,3]", OP_NO_MACS,
              384),
        COSTS("com.microsoft:QLinearAveragePool-1", "kernel_shape=[3,3] strides=[2,2]",
              "uint8[2,3,8,8] float[] uint8[] float[] uint8[]", "uint8[2,3,3,3]", OP_NO_MACS,
              384),
        COSTS("com.microsoft:QLinearAveragePool-1",
              "kernel_shape=[3,3] strides=[2,2] channels_last=1",
              "uint8[2,8,8,3] float[] uint8[] float[] uint8[]", "uint8[2,3,3,3]", OP_NO_MACS,
              384),
        COSTS("com.microsoft:QLinearReduceMean-1", "axes=[2,3] keepdims=0",
              "uint8[2,3,8,8] float[] uint8[] float[] uint8[]", "uint8[2,3]", OP_NO_MACS,
              OP_NO_FLOPS),
        COSTS("com.microsoft:NhwcMaxPool-1", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
              "uint8[2,8,8,3]", "uint8[2,4,4,3]", OP_NO_MACS, 384),
        COSTS("com.microsoft:MulInteger-1", NULL, "uint8[2,3] uint8[] uint8[3] uint8[]",
              "int32[2,3]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("com.microsoft:QuantizeLinear-1", NULL, "float[2,3] float[] uint8[]",
              "uint8[2,3]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("com.microsoft:DequantizeLinear-1", NULL, "uint8[2,3] float[] uint8[]",
              "float[2,3]", OP_NO_MACS, OP_NO_FLOPS),
        REFUSES("com.microsoft:QLinearConcat-1", "axis=1", "float[] uint8[] uint8[2,3] float[]",
                "uint8[*]", "inputs must be scale, zero point and triples, got 4"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_biased_gelus),
        cmocka_unit_test(infers_skip_norms),
        cmocka_unit_test(infers_quantized_operators_like_float_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
