/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of ops/contrib/products.c with block-quantized or several weights, and distances. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void counts_macs_of_the_plain_product(void **state) {
    static const struct op_case rows[] = {
        /* 3 x 7 outputs of 5 MACs; a GELU each */
        COSTS("com.microsoft:GemmFastGelu-1", NULL, "float[3,5] float[5,7]! float[7]!",
              "float[3,7]", 3 * 7 * 5, 2 * 105 + 21),
        COSTS("com.microsoft:GemmFloat8-1", "transB=1 dtype=10",
              "float8e4m3fn[3,5] float8e4m3fn[7,5]", "float16[3,7]", 3 * 7 * 5, 2 * 105),
        COSTS("com.microsoft:GemmFloat8-1", "transA=1", "float16[5,3] float16[5,7]",
              "float[3,7]", 3 * 7 * 5, 2 * 105),
        /* 2 x 3 rows, 128 inputs, 7 outputs */
        COSTS("com.microsoft:MatMulBlockQuantizedFp8Weight-1", NULL,
              "float16[2,3,128] float8e4m3fn[7,128]! float[7,1]!", "float16[2,3,7]",
              6 * 128 * 7, 2 * 5376),
        /* two numbers per byte: 64 bytes hold 128 */
        COSTS("com.microsoft:MatMulBlockQuantizedFp4Weight-1", NULL,
              "float16[2,3,128] uint8[7,64]! uint8[7,8]! float[]!", "float16[2,3,7]",
              6 * 128 * 7, 2 * 5376),
        COSTS("com.microsoft:MatMulFpQ4-1", NULL, "float[2,32] uint8[336]! int64[2]={32,16}!",
              "float[2,16]", 2 * 32 * 16, 2 * 1024),
        /* two weights of 32 x 16; one gate operation per output */
        COSTS("com.microsoft:MatMulNBitsMlp-1", "K=32 N=16 block_size=32 activation=silu",
              "float[2,3,32] - - uint8[16,1,16]! float[16]! - uint8[16,1,16]! float[16]!",
              "float[2,3,16]", 6 * 32 * (16 + 16), 2 * 6144 + 6 * 16),
        /* 16 + 8 + 8 columns */
        COSTS("com.microsoft:MatMulNBitsQkv-1", "K=32 Nq=16 Nkv=8 block_size=32",
              "float[2,3,32] - float[32] uint8[16,1,16]! float[16]! - uint8[8,1,16]! float[8]! "
              "- uint8[8,1,16]! float[8]!",
              "float[2,3,16] float[2,3,8] float[2,3,8]", 6 * 32 * (16 + 8 + 8), 2 * 6144),
        COSTS("com.microsoft:QOrderedMatMul-1", "order_A=1 order_B=0 order_Y=1",
              "int8[1,3,16] float[] int8[16,32]! float[] float[]", "int8[1,3,32]", 3 * 32 * 16,
              2 * 1536),
        COSTS("com.microsoft:SparseToDenseMatMul-1", "transB=1", "float[3,4] float[5,4]",
              "float[3,5]", 3 * 5 * 4, 2 * 60),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void counts_macs_of_distances_inverses_and_gates(void **state) {
    static const struct op_case rows[] = {
        COSTS("com.microsoft:CDist-1", NULL, "float[3,4] float[5,4]", "float[3,5]", 3 * 5 * 4,
              2 * 60),
        /* m^3 MACs per matrix: m^3 / 3 to eliminate, 2 m^3 / 3 to solve */
        COSTS("com.microsoft:Inverse-1", NULL, "float[2,3,3]", "float[2,3,3]", 2 * 3 * 3 * 3,
              2 * 54),
        /* 5 queries x 2 heads, each a vector of 4 times [4, 6] */
        COSTS("com.microsoft:GatedRelativePositionBias-1", "num_heads=2",
              "float[1,5,8] float[8] float[1,2,5,5] float[4,6] float[6] float[1,2,1,1]",
              "float[1,2,5,5]", 5 * 2 * 4 * 6, 2 * 240),
        GIVES("com.microsoft:GatedRelativePositionBias-1", "num_heads=2",
              "float[7,8] float[8] float[1,2,5,5] float[4,6] float[6] float[1,2,1,1] "
              "int32[2,5]",
              "float[2,2,5,5]"),
        /* 4 words of 10 letters: 8 windows of 3 letters x 5 columns per word, 6 filters */
        COSTS("com.microsoft:WordConvEmbedding-1", NULL,
              "int32[4,10] float[6,1,3,5] float[6] float[20,5]", "float[4,6]",
              4 * 6 * 8 * (3 * 5), 2 * 2880),
        COSTS("com.microsoft:WordConvEmbedding-1", NULL,
              "int32[4,2] float[6,1,3,5] float[6] float[20,5]", "float[4,6]", OP_NO_MACS,
              OP_NO_FLOPS),
        /* each of 50 inputs is multiplied by 3 x 9 weights; 300 outputs with a bias */
        COSTS("com.microsoft:ConvTransposeWithDynamicPads-1", "strides=[2,2]",
              "float[1,2,5,5] float[2,3,3,3] int64[4]={0,0,1,1} float[3]", "float[1,3,10,10]",
              2 * 5 * 5 * 3 * 9, 2 * 1350 + 300),
        GIVES("com.microsoft:ConvTransposeWithDynamicPads-1", NULL,
              "float[1,2,5,5] float[2,3,3,3] int64[4]", "float[1,3,?,?]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void propagates_unknown_dims(void **state) {
    static const struct op_case rows[] = {
        GIVES("com.microsoft:MatMulFpQ4-1", NULL, "float[2,32] uint8[336] int64[2]",
              "float[2,?]"),
        GIVES("com.microsoft:MatMulBlockQuantizedFp8Weight-1", NULL,
              "float16[?,128] float8e4m3fn[7,128] float[7,1]", "float16[?,7]"),
        GIVES("com.microsoft:GemmFloat8-1", NULL, "float[?,5] float[*]", "float[?,?]"),
        GIVES("com.microsoft:CDist-1", NULL, "float[*] float[5,4]", "float[?,5]"),
        COSTS("com.microsoft:CDist-1", NULL, "float[0,4] float[5,4]", "float[0,5]", OP_NO_MACS,
              OP_NO_FLOPS),
        REFUSES("com.microsoft:MatMulNBitsMlp-1", "K=32 N=16 block_size=32 activation=silu",
                "float[2,31] - - uint8[16,1,16] float[16] - uint8[16,1,16] float[16]",
                "float[*]", "columns of input 0 must equal rows of the weight, got 31 and 32"),
        REFUSES("com.microsoft:MatMulFpQ4-1", NULL, "float[2,32] uint8[336] int64[2]={32,-16}",
                "float[*]", "dims of the weight must be >= 0, got 32 and -16"),
        REFUSES("com.microsoft:GemmFloat8-1", NULL, "float[3,5] float[7,5]", "float[*]",
                "columns of A must equal rows of B, got 5 and 7"),
        REFUSES("com.microsoft:GemmFloat8-1", "dtype=99", "float[3,5] float[5,7]", "float[*]",
                "attribute 'dtype' must be an element type, got 99"),
        REFUSES("com.microsoft:ConvTransposeWithDynamicPads-1", NULL,
                "float[1,2,5,5] float[2,3,3,3] int64[2]={0,0}", "float[*]",
                "pads must have 4 entries, got 2"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_macs_of_the_plain_product),
        cmocka_unit_test(counts_macs_of_distances_inverses_and_gates),
        cmocka_unit_test(propagates_unknown_dims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
