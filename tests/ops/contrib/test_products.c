/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of ops/contrib/products.c. Shapes are those of ONNX Runtime 1.31.1 if it has a kernel.
 */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void counts_transposed_and_fused_products(void **state) {
    static const struct op_case rows[] = {
        /* 2 x 5 x 7 outputs of 16 MACs; with another batch axis of 3, 3 times as many */
        COSTS("com.microsoft:FusedMatMul-1", "transB=1 alpha=0.5",
              "float[2,5,16] float[2,7,16]", "float[2,5,7]", 1120, 2240),
        COSTS("com.microsoft:FusedMatMul-1", "transA=1", "float[2,16,5] float[2,16,7]",
              "float[2,5,7]", 1120, 2240),
        COSTS("com.microsoft:FusedMatMul-1", "transBatchA=1", "float[5,2,16] float[2,16,7]",
              "float[2,5,7]", 1120, 2240),
        COSTS("com.microsoft:FusedMatMul-1", "transBatchA=1", "float[5,2,3,16] float[2,3,16,7]",
              "float[2,3,5,7]", 3360, 6720),
        COSTS("com.microsoft:FusedMatMul-1", "transBatchA=1 transA=1",
              "float[16,2,3,5] float[2,3,16,7]", "float[2,3,5,7]", 3360, 6720),
        COSTS("com.microsoft:FusedGemm-1", "transB=1 activation=Relu",
              "float[5,16] float[7,16] float[7]", "float[5,7]", 560, 1155),
        COSTS("com.microsoft:QGemm-1", NULL,
              "uint8[5,16] float[] uint8[] uint8[16,7] float[] uint8[] int32[7]", "float[5,7]",
              560, 1120),
        COSTS(
            "com.microsoft:QGemm-1", NULL,
            "uint8[5,16] float[] uint8[] uint8[16,7] float[] uint8[] int32[7] float[] uint8[]",
            "uint8[5,7]", 560, 1120),
        COSTS("com.microsoft:FusedMatMulActivation-1", "activation=Relu transB=1",
              "float[2,5,16] float[2,7,16]", "float[2,5,7]", 1120, 2240 + 70),
        GIVES("com.microsoft:TransposeMatMul-1", "transA=1", "float[?,16,5] float[16,7]",
              "float[?,5,7]"),
        REFUSES("com.microsoft:FusedGemm-1", NULL, "float[5,16] float[7,16]", "float[*]",
                "columns of A must equal rows of B, got 16 and 7"),
        REFUSES("com.microsoft:FusedMatMul-1", NULL, "float[5,16] float[7,16]", "float[*]",
                "the inner axes of [5,16] and [7,16] differ: 16 and 7"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void counts_packed_weights(void **state) {
    static const struct op_case rows[] = {
        /* 2 x 5 x 48 outputs of 64 MACs for any number of bits */
        COSTS("com.microsoft:MatMulNBits-1", "K=64 N=48 bits=4 block_size=32",
              "float[2,5,64] uint8[48,2,16] float[48,2]", "float[2,5,48]", 30720, 61440),
        COSTS("com.microsoft:MatMulBnb4-1", "K=64 N=48 block_size=32 quant_type=1",
              "float16[10,64] uint8[1536] float16[96]", "float16[10,48]", 30720, 61440),
        REFUSES("com.microsoft:MatMulNBits-1", "K=64 N=0 block_size=32",
                "float[5,64] uint8[48,1,16] float[48,1]", "float[*]",
                "K and N must be >= 1, got 64 and 0"),
        REFUSES("com.microsoft:MatMulNBits-1", "K=32 N=48 block_size=32",
                "float[5,64] uint8[48,1,16] float[48,1]", "float[*]",
                "the last dim of input 0 must be K = 32, got [5,64]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void counts_integer_products(void **state) {
    static const struct op_case rows[] = {
        COSTS("com.microsoft:MatMulIntegerToFloat-1", NULL,
              "uint8[2,5,16] int8[16,7] float[] float[]", "float[2,5,7]", 1120, 2240),
        COSTS("com.microsoft:DynamicQuantizeMatMul-1", NULL, "float[2,5,16] int8[16,7] float[]",
              "float[2,5,7]", 1120, 2240),
        COSTS("com.microsoft:MatMulInteger16-1", NULL, "int16[5,16] int16[16,7]", "int32[5,7]",
              560, 1120),
        GIVES("com.microsoft:MatMulInteger16-1", NULL, "uint16[5,16] uint16[16,7]",
              "int32[5,7]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void counts_channels_last_convolutions(void **state) {
    static const struct op_case rows[] = {
        /* 96 outputs of 27 MACs; a bias and an activation each */
        COSTS("com.microsoft:FusedConv-1", "activation=Relu strides=[2,2] pads=[1,1,1,1]",
              "float[1,3,8,8] float[6,3,3,3] float[6]", "float[1,6,4,4]", 2592, 5376),
        COSTS("com.microsoft:NhwcFusedConv-1", "activation=Relu strides=[2,2] pads=[1,1,1,1]",
              "float[1,8,8,3] float[6,3,3,3] float[6]", "float[1,4,4,6]", 2592, 5376),
        COSTS("com.microsoft:QLinearConv-1", "channels_last=1 pads=[1,1,1,1]",
              "uint8[1,8,8,3] float[] uint8[] uint8[6,3,3,3] float[] uint8[] float[] uint8[]",
              "uint8[1,8,8,6]", 10368, 20736),
        COSTS("com.microsoft:NhwcConv-1", "group=3", "float[2,8,8,3] float[6,1,3,3] float[6]",
              "float[2,6,6,6]", 3888, 7776 + 432),
        GIVES("com.microsoft:NhwcConv-1", NULL, "float[?,?,8,3] float[6,3,3,3]",
              "float[?,?,6,6]"),
        REFUSES("com.microsoft:NhwcConv-1", NULL, "float[2,8,8,4] float[6,3,3,3]", "float[*]",
                "input has 4 channels, weight expects 3 x 1 groups"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void counts_experts_per_token(void **state) {
    static const struct op_case rows[] = {
        /* 10 tokens x 2 experts x (16 x 24 into the hidden layer + 24 x 16 out of it) */
        COSTS("com.microsoft:MoE-1", "k=2",
              "float[2,5,16] float[10,8] float[8,24,16] - float[8,16,24]", "float[2,5,16]",
              15360, 30720),
        REFUSES("com.microsoft:MoE-1", "k=0",
                "float[2,5,16] float[10,8] float[8,24,16] - float[8,16,24]", "float[*]",
                "k must be >= 1, got 0"),
        /* gated experts have another weight of 16 x 24 */
        COSTS("com.microsoft:MoE-1", "k=2",
              "float[10,16] float[10,8] float[8,24,16] - float[8,16,24] - float[8,24,16]",
              "float[10,16]", 23040, 46080),
        /* 4 bits: two weights per byte */
        COSTS("com.microsoft:QMoE-1", "k=2",
              "float[10,16] float[10,8] uint8[8,24,8] float[8,24] - uint8[8,16,12] float[8,16]",
              "float[10,16]", 15360, 30720),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_transposed_and_fused_products),
        cmocka_unit_test(counts_packed_weights),
        cmocka_unit_test(counts_integer_products),
        cmocka_unit_test(counts_channels_last_convolutions),
        cmocka_unit_test(counts_experts_per_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
