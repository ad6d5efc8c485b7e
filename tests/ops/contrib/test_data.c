/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of ops/contrib/data.c, elements.c and nchwc.c. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void refuses_invalid_inputs(void **state) {
    static const struct op_case rows[] = {
        REFUSES("com.microsoft:UnfoldTensor-1", "size=0", "float[3,9]", "float[*]",
                "size and step must be >= 1, got 0 and 1"),
        REFUSES("com.microsoft:UnfoldTensor-1", "size=10", "float[3,9]", "float[*]",
                "the axis must have >= 10 elements, got 9"),
        REFUSES("com.microsoft:CropAndResize-1", NULL,
                "float[1,3,8,8] float[2,4] int32[2] int32[3]={4,5,6}", "float[*]",
                "crop_size must have 2 entries, got 3"),
        REFUSES("com.microsoft:NGramHashMapping-1", "max_ngram_size=1 n_head_per_ngram=2",
                "int64[2,5] int64[3] int64[4]", "int64[*]",
                "max_ngram_size must be >= 2 and n_head_per_ngram >= 1, got 1 and 2"),
        REFUSES("com.microsoft:Tokenizer-1", "mark=0", "string[1,1,1]", "string[*]",
                "input 0 must have rank 1 or 2, got 3"),
        REFUSES("com.microsoft:DequantizeBFP-1", "dtype=1",
                "uint8[20] int64[80]=*1 int64[80]=*1", "float[*]",
                "shape must have at most 64 entries, got 80"),
        REFUSES("com.microsoft:DequantizeBFP-1", "dtype=99", "uint8[20] int64[2] int64[2]",
                "float[*]", "attribute 'dtype' must be an element type, got 99"),
        REFUSES("com.microsoft:ComplexMul-1", NULL, "float[3] float[3]", "float[*]",
                "the last dim must be 2 (complex numbers), got [3]"),
        REFUSES("com.microsoft:HyperConnectionPreMix-1", NULL, "float[8] float[4]", "float[*]",
                "the shape must divide into streams, got [8]"),
        REFUSES("com.microsoft:ExpandDims-1", NULL, "float[3] int32[]={2}", "float[*]",
                "axis 2 is out of range for rank 2"),
        REFUSES("com.microsoft.nchwc:Upsample-1", "scales=[1,1,2]", "float[2,32,8,8]",
                "float[*]", "scales must have 4 entries, got 3"),
        REFUSES("com.microsoft.nchwc:Upsample-1", "scales=[1,1,0,2]", "float[2,32,8,8]",
                "float[*]", "the scale of axis 2 must be >= 1, got 0"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void propagates_unknown_dims(void **state) {
    static const struct op_case rows[] = {
        GIVES("com.microsoft:ExpandDims-1", NULL, "float[3,5] int32[]", "float[?,?,?]"),
        GIVES("com.microsoft:ExpandDims-1", NULL, "int64[2]={3,5} int32[]={0}",
              "int64[1,2]={3,5}"),
        GIVES("com.microsoft:TorchEmbedding-1", NULL, "float[10,5] int64[?,3]", "float[?,3,5]"),
        GIVES("com.microsoft:GatherBlockQuantized-1", NULL, "uint8[*] int64[2] float[10,1]",
              "float[*]"),
        GIVES("com.microsoft:UnfoldTensor-1", "size=3", "float[3,?]", "float[3,?,3]"),
        GIVES("com.microsoft:CropAndResize-1", NULL,
              "float[1,3,8,8] float[2,4] int32[2] int32[2]", "float[2,3,?,?]"),
        GIVES("com.microsoft:Tokenizer-1", "mark=0", "string[0]", "string[0]"),
        GIVES("com.microsoft:Range-1", NULL, "int64[]={0} int64[]", "int64[?]"),
        GIVES("com.microsoft:Range-1", NULL, "int64[]={2} int64[]={5}", "int64[3]={2,3,4}"),
        GIVES("com.microsoft:Pad-1", NULL, "float[3,5] int64[1,4]", "float[?,?]"),
        GIVES("com.microsoft:Unique-1", NULL, "float[3]", "float[?] int64[3] int64[?]"),
        GIVES("com.microsoft:EPContext-1", NULL, "float[3]", "?"),
        GIVES("com.microsoft:RelativePositionBias-1", "max_distance=9",
              "float[32,4] int64[1] int64[1]={7}", "float[1,4,?,7]"),
        /* the processor decides the number of channels per block: 16 or 8 */
        GIVES("com.microsoft.nchwc:ReorderInput-1", NULL, "float[2,24,8,8]", "float[2,?,8,8]"),
        GIVES("com.microsoft.nchwc:Conv-1", NULL, "float[2,?,8,8] float[32,24,1,1]",
              "float[2,32,8,8]"),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void counts_hyper_connections(void **state) {
    static const struct op_case rows[] = {
        /* a multiplication and an addition for each of 2 x 3 x 4 x 8 elements */
        COSTS("com.microsoft:EngramGate-1", NULL,
              "float[2,3,4,8] float[2,3,4,8] float[2,3,8] float[4,8] float[4,8]",
              "float[2,3,4,8]", 192, 2 * 192),
        COSTS("com.microsoft:HyperConnectionPreMix-1", NULL, "float[2,3,4,8] float[2,3,4]",
              "float[2,3,8]", 192, 2 * 192),
        COSTS("com.microsoft:HyperConnectionPreMix-1", "num_branches=4", "float[32] float[4]",
              "float[8]", 32, 2 * 32),
        /* per element: 1 MAC for the block's result; a mixing matrix adds 4 for the streams */
        COSTS("com.microsoft:HyperConnectionPostMix-1", NULL,
              "float[2,3,4,8] float[2,3,8] float[2,3,4]", "float[2,3,4,8]", 192, 2 * 192),
        COSTS("com.microsoft:HyperConnectionPostMix-1", "num_branches=4",
              "float[2,3,32] float[2,3,8] float[2,3,4] float[2,3,4,4]", "float[2,3,32]",
              192 * (4 + 1), 2 * 960),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void counts_norms_and_activations_like_onnx_operators(void **state) {
    static const struct op_case rows[] = {
        COSTS("com.microsoft:ScaledSiLU-1", NULL, "float[2,5]", "float[2,5]", OP_NO_MACS, 10),
        COSTS("com.microsoft:QOrderedGelu-1", NULL, "int8[2,5] float[] float[]", "int8[2,5]",
              OP_NO_MACS, 10),
        COSTS("com.microsoft:QOrderedLayerNormalization-1", NULL,
              "int8[2,3,8] float[] float[8] float[8] float[]", "int8[2,3,8]", OP_NO_MACS,
              5 * 48),
        COSTS("com.microsoft:QEmbedLayerNormalization-1", NULL,
              "int32[2,3] - uint8[9,8] uint8[9,8] - uint8[8] uint8[8] - float[] float[] - "
              "float[] float[] uint8[] uint8[] - uint8[] uint8[]",
              "float[2,3,8] int32[2]", OP_NO_MACS, 5 * 48),
        COSTS("com.microsoft:GatedRMSNorm-1", NULL, "float[2,8] float[4] float[2,8]",
              "float[2,8]", OP_NO_MACS, OP_NO_FLOPS),
        COSTS("com.microsoft:MaxpoolWithMask-1", "kernel_shape=[2,2]",
              "float[1,1,4,4] int32[1,1,4,4]", "float[1,1,3,3]", OP_NO_MACS, 16),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void counts_padding_of_blocked_channels(void **state) {
    static const struct op_case rows[] = {
        /* 1024 outputs of 27 MACs; a bias and an activation each */
        COSTS("com.microsoft.nchwc:Conv-1", "pads=[1,1,1,1] strides=[2,2] activation=Relu",
              "float[2,3,8,8] float[32,3,3,3]! float[32]!", "float[2,32,4,4]", 1024 * 27,
              2 * 27648 + 2 * 1024),
        COSTS("com.microsoft.nchwc:Conv-1", "pads=[1,1,1,1] group=32",
              "float[2,32,8,8] float[32,1,3,3]!", "float[2,32,8,8]", 4096 * 9, 2 * 36864),
        COSTS("com.microsoft.nchwc:MaxPool-1", "kernel_shape=[2,2] strides=[2,2]",
              "float[2,32,8,8]", "float[2,32,4,4]", OP_NO_MACS, 4096),
        COSTS("com.microsoft.nchwc:GlobalAveragePool-1", NULL, "float[2,32,8,8]",
              "float[2,32,1,1]", OP_NO_MACS, 4096),
        COSTS("com.microsoft.nchwc:Upsample-1", "scales=[1,1,2,3]", "float[2,32,8,8]",
              "float[2,32,16,24]", OP_NO_MACS, 2 * 32 * 16 * 24),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_invalid_inputs),
        cmocka_unit_test(propagates_unknown_dims),
        cmocka_unit_test(counts_hyper_connections),
        cmocka_unit_test(counts_norms_and_activations_like_onnx_operators),
        cmocka_unit_test(counts_padding_of_blocked_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
