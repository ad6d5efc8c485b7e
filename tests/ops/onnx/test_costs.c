/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of operators, computed by hand: each expected value is the product of the loops in the
 * operator's definition; none is copied from a run. Each operator has at least one row, and one
 * row for each of its modes.
 *
 *     MACs   multiply-accumulates by docs/counting.md
 *     FLOPs  by convention `deepspeed`: 2 per MAC, plus the operations of docs/counting.md
 */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define NONE OP_NO_FLOPS

static void counts_a_kernel_per_output_of_convolutions(void **state) {
    static const struct op_case rows[] = {
        /* each of 64 x 112 x 112 outputs sums 3 channels of 7 x 7 */
        COSTS("Conv-11", "strides=[2,2] pads=[3,3,3,3]", "float[1,3,224,224] float[64,3,7,7]!",
              "float[1,64,112,112]", 64 * 112 * 112 * (3 * 7 * 7),
              2 * 64 * 112 * 112 * (3 * 7 * 7)),
        /* the same for a batch of 2, with one bias addition per output */
        COSTS("Conv-11", "strides=[2,2] pads=[3,3,3,3]",
              "float[2,3,224,224] float[64,3,7,7]! float[64]!", "float[2,64,112,112]",
              2 * 64 * 112 * 112 * 147, 2 * (2 * 64 * 112 * 112 * 147) + 2 * 64 * 112 * 112),
        /* grouped: each filter reads 32 / 4 channels */
        COSTS("Conv-11", "group=4 pads=[1,1,1,1]", "float[1,32,14,14] float[48,8,3,3]!",
              "float[1,48,14,14]", 48 * 14 * 14 * (8 * 9), 2 * 48 * 14 * 14 * (8 * 9)),
        /* depthwise: each filter reads one channel */
        COSTS("Conv-11", "group=32 pads=[1,1,1,1]", "float[1,32,14,14] float[32,1,3,3]!",
              "float[1,32,14,14]", 32 * 14 * 14 * 9, 2 * 32 * 14 * 14 * 9),
        /* dilated: 3 taps span 2 * 2 + 1 = 5 elements, which leaves 16 - 5 + 1 = 12 outputs */
        COSTS("Conv-11", "dilations=[2,2]", "float[1,4,16,16] float[8,4,3,3]!",
              "float[1,8,12,12]", 8 * 12 * 12 * (4 * 9), 2 * 8 * 12 * 12 * (4 * 9)),
        /* 1-D and 3-D */
        COSTS("Conv-11", NULL, "float[32,3,1024] float[64,3,1]!", "float[32,64,1024]",
              32 * 64 * 1024 * 3, 2 * 32 * 64 * 1024 * 3),
        COSTS("Conv-11", "strides=[2,2,2]", "float[1,2,9,9,9] float[4,2,3,3,3]!",
              "float[1,4,4,4,4]", 4 * (4 * 4 * 4) * (2 * 27), 2 * 4 * 64 * 54),
        /* SAME_UPPER: 10 x 10 inputs with stride 2 give 5 x 5 outputs */
        COSTS("Conv-11", "auto_pad=SAME_UPPER strides=[2,2]",
              "float[1,1,10,10] float[1,1,3,3]!", "float[1,1,5,5]", 25 * 9, 2 * 25 * 9),
        COSTS("ConvInteger-10", "group=3", "uint8[1,3,8,8] int8[3,1,3,3]!", "int32[1,3,6,6]",
              3 * 6 * 6 * 9, 2 * 3 * 6 * 6 * 9),
        /* scales and zero points are not MACs */
        COSTS("QLinearConv-10", "pads=[1,1,1,1]",
              "uint8[1,3,8,8] float[] uint8[] int8[6,3,3,3]! float[6] int8[6] float[] uint8[] "
              "int32[6]!",
              "uint8[1,6,8,8]", 6 * 8 * 8 * (3 * 9), 2 * 6 * 8 * 8 * 27 + 6 * 8 * 8),
        /* transposed: each of 8 x 5 x 5 inputs is multiplied by 4 filters of 3 x 3 */
        COSTS("ConvTranspose-11", "strides=[2,2]", "float[1,8,5,5] float[8,4,3,3]!",
              "float[1,4,11,11]", 8 * 5 * 5 * (4 * 9), 2 * 8 * 5 * 5 * (4 * 9)),
        /* in 2 groups: 4 / 2 filters each */
        COSTS("ConvTranspose-11", "strides=[2,2] group=2", "float[1,8,5,5] float[8,2,3,3]!",
              "float[1,4,11,11]", 8 * 5 * 5 * (2 * 9), 2 * 8 * 5 * 5 * (2 * 9)),
        /* the MACs of Conv; the offsets add none */
        COSTS("DeformConv-19", "pads=[1,1,1,1]",
              "float[1,4,6,6] float[8,4,3,3]! float[1,18,6,6] float[8]!", "float[1,8,6,6]",
              8 * 6 * 6 * (4 * 9), 2 * 8 * 6 * 6 * 36 + 8 * 6 * 6),
        COSTS("CausalConvWithState-27", "activation=silu",
              "float[2,3,5] float[3,1,4]! float[3]!", "float[2,3,5] float[2,3,3]",
              2 * 3 * 5 * 4, 2 * 120 + 30 + 30),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void counts_the_summed_axis_per_output_of_products(void **state) {
    static const struct op_case rows[] = {
        /* rows x columns x the summed axis */
        COSTS("MatMul-13", NULL, "float[4,5] float[5,7]", "float[4,7]", 4 * 7 * 5,
              2 * 4 * 7 * 5),
        /* batch dims [2,1] and [3] broadcast to [2,3] */
        COSTS("MatMul-13", NULL, "float[2,1,4,5] float[3,5,7]", "float[2,3,4,7]",
              2 * 3 * 4 * 7 * 5, 2 * 2 * 3 * 4 * 7 * 5),
        /* a vector is one row or one column; two vectors give a dot product */
        COSTS("MatMul-13", NULL, "float[5] float[5,7]", "float[7]", 7 * 5, 2 * 7 * 5),
        COSTS("MatMul-13", NULL, "float[2,4,5] float[5]", "float[2,4]", 2 * 4 * 5,
              2 * 2 * 4 * 5),
        COSTS("MatMul-13", NULL, "float[5] float[5]", "float[]", 5, 2 * 5),
        COSTS("MatMul-13", NULL, "float[4,0] float[0,7]", "float[4,7]", OP_NO_MACS, NONE),
        COSTS("MatMulInteger-10", NULL, "uint8[4,5] int8[5,7]", "int32[4,7]", 4 * 7 * 5, 280),
        COSTS("QLinearMatMul-10", NULL,
              "uint8[2,4,5] float[] uint8[] int8[5,7] float[] int8[] float[] uint8[]",
              "uint8[2,4,7]", 2 * 4 * 7 * 5, 2 * 280),
        /* 32 rows of 1024 to 512 */
        COSTS("Gemm-13", "transB=1", "float[32,1024] float[512,1024]! float[512]!",
              "float[32,512]", 32 * 512 * 1024, 2 * 32 * 512 * 1024),
        COSTS("Gemm-13", "transA=1", "float[1024,32] float[1024,512]!", "float[32,512]",
              32 * 512 * 1024, 2 * 32 * 512 * 1024),
        COSTS("Gemm-13", "transA=1 transB=1", "float[5,4] float[7,5]", "float[4,7]", 4 * 7 * 5,
              2 * 140),
        COSTS("Einsum-12", "equation=bij,bjk->bik", "float[2,3,4] float[2,4,5]", "float[2,3,5]",
              2 * 3 * 4 * 5, 2 * 120),
        /* (A B) C is 2 x 3 x 4 + 2 x 4 x 5; A (B C) would be 3 x 4 x 5 + 2 x 3 x 5 = 90 */
        COSTS("Einsum-12", "equation=ij,jk,kl->il", "float[2,3] float[3,4] float[4,5]",
              "float[2,5]", 2 * 3 * 4 + 2 * 4 * 5, 2 * 64),
        /* 4-bit and 8-bit weights have the same MACs */
        COSTS("com.microsoft:MatMulNBits-1", "K=128 N=256 bits=4 block_size=32",
              "float[1,7,128] uint8[256,4,16]! float[256,4]!", "float[1,7,256]", 7 * 256 * 128,
              2 * 7 * 256 * 128),
        COSTS("com.microsoft:MatMulNBits-1", "K=128 N=256 bits=8 block_size=32",
              "float[1,7,128] uint8[256,4,32]! float[256,4]!", "float[1,7,256]", 7 * 256 * 128,
              2 * 7 * 256 * 128),
        COSTS("com.microsoft:DynamicQuantizeMatMul-1", NULL, "float[2,4,5] int8[5,7]! float[]!",
              "float[2,4,7]", 2 * 4 * 7 * 5, 2 * 280),
        COSTS("com.microsoft:FusedMatMul-1", "transA=1 transB=1", "float[2,5,4] float[2,7,5]",
              "float[2,4,7]", 2 * 4 * 7 * 5, 2 * 280),
        /* elimination of 4 x 4 updates 3 x 3, then 2 x 2, then 1 element: 9 + 4 + 1 */
        COSTS("Det-11", NULL, "float[2,4,4]", "float[2]", 2 * (9 + 4 + 1), 2 * 28),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void counts_gates_and_cells_of_recurrent_layers(void **state) {
    static const struct op_case rows[] = {
        /* 7 steps x 2 sequences x 4 gates of 16 x (8 inputs + 16 states); 2 FLOPs per cell */
        COSTS("LSTM-14", "hidden_size=16", "float[7,2,8] float[1,64,8]! float[1,64,16]!",
              "float[7,1,2,16]", 7 * 2 * (4 * 16) * (8 + 16),
              2 * 7 * 2 * 64 * 24 + 2 * 7 * 2 * 16),
        /* bidirectional, batch first, with biases: 10 FLOPs per cell */
        COSTS("LSTM-14", "hidden_size=16 direction=bidirectional layout=1",
              "float[2,7,8] float[2,64,8]! float[2,64,16]! float[2,128]!", "float[2,7,2,16]",
              2 * (7 * 2 * (4 * 16) * (8 + 16)), 4 * 7 * 2 * 64 * 24 + 10 * 2 * 7 * 2 * 16),
        /* 3 gates; 7 FLOPs per cell with biases */
        COSTS("GRU-14", "hidden_size=16",
              "float[7,2,8] float[1,48,8]! float[1,48,16]! float[1,96]!", "float[7,1,2,16]",
              7 * 2 * (3 * 16) * (8 + 16), 2 * 7 * 2 * 48 * 24 + 7 * 7 * 2 * 16),
        COSTS("RNN-14", "hidden_size=16",
              "float[7,2,8] float[1,16,8]! float[1,16,16]! float[1,32]!", "float[7,1,2,16]",
              7 * 2 * 16 * (8 + 16), 2 * 7 * 2 * 16 * 24 + 7 * 2 * 16),
        COSTS("com.microsoft:DynamicQuantizeLSTM-1", "hidden_size=16",
              "float[7,2,8] int8[1,8,64]! int8[1,16,64]! float[1,128]! - - - - float[1]! "
              "int8[1]! float[1]! int8[1]!",
              "float[7,1,2,16]", 7 * 2 * 64 * 24, 2 * 7 * 2 * 64 * 24 + 10 * 7 * 2 * 16),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void counts_two_products_per_score_of_attention(void **state) {
    static const struct op_case rows[] = {
        /* 2 x 8 heads x 16 queries x 32 keys: 8192 scores; 64 MACs with the key, 64 with the
         * value */
        COSTS("Attention-23", NULL, "float[2,8,16,64] float[2,8,32,64] float[2,8,32,64]",
              "float[2,8,16,64]", 8192 * (64 + 64), 2 * 8192 * 128 + 8192),
        /* sharing key heads does not reduce the MACs */
        COSTS("Attention-23", NULL, "float[2,8,16,64] float[2,2,32,64] float[2,2,32,64]",
              "float[2,8,16,64]", 8192 * 128, 2 * 8192 * 128 + 8192),
        /* values half as wide */
        COSTS("Attention-23", "is_causal=1",
              "float[2,8,16,64] float[2,8,32,64] float[2,8,32,32]", "float[2,8,16,32]",
              8192 * (64 + 32), 2 * 8192 * 96 + 8192),
        /* one new token after 10 cached keys: 4 heads x 11 keys */
        COSTS("Attention-23", "q_num_heads=4 kv_num_heads=2",
              "float[1,1,32] float[1,1,16] float[1,1,16] - float[1,2,10,8] float[1,2,10,8]",
              "float[1,1,32] float[1,2,11,8] float[1,2,11,8]", 4 * 11 * (8 + 8),
              2 * 44 * 16 + 44),
        /* the contrib operator with a past of 6: 2 x 4 heads x 7 keys */
        COSTS(
            "com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
            "float[2,1,32] float[2,1,16] float[2,1,16] float[2,2,6,8] float[2,2,6,8] int32[2] "
            "int32[]={7}",
            "float[2,1,32] float[2,2,7,8] float[2,2,7,8]", 2 * 4 * 7 * (8 + 8),
            2 * 56 * 16 + 56),
        COSTS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
              "float[2,5,16] float[2,7,16] float[2,7,16]", "float[2,5,16]",
              2 * 4 * 5 * 7 * (4 + 4), 2 * 280 * 8 + 280),
        /* projection: 2 x 5 rows by 16 x 48; 2 x 4 x 5 x 5 scores */
        COSTS("com.microsoft:Attention-1", "num_heads=4",
              "float[2,5,16] float[16,48]! float[48]!", "float[2,5,16]",
              2 * 5 * 16 * 48 + 200 * (4 + 4), 2 * (7680 + 1600) + 200),
        /* 4 steps x a state of 4 x 6, which 2 heads read and 2 heads update */
        COSTS("LinearAttention-27", "q_num_heads=2 kv_num_heads=2 update_rule=linear",
              "float[1,4,8] float[1,4,8] float[1,4,12]", "float[1,4,12] float[1,2,4,6]",
              4 * (4 * 6) * (2 + 2), 2 * 384),
        /* 10 tokens x 2 experts x (16 x 24 into the hidden layer + 24 x 16 out of it) */
        COSTS("com.microsoft:MoE-1", "k=2",
              "float[10,16] float[10,8] float[8,24,16]! - float[8,16,24]!", "float[10,16]",
              10 * 2 * 16 * (24 + 24), 2 * 15360),
        COSTS("RotaryEmbedding-23", NULL, "float[1,4,5,8] float[1,5,4] float[1,5,4]",
              "float[1,4,5,8]", OP_NO_MACS, NONE),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

static void counts_butterflies_of_fourier_transforms(void **state) {
    static const struct op_case rows[] = {
        /* 16 points: 4 stages of 8 butterflies of 4 MACs; real input takes half */
        COSTS("DFT-20", NULL, "float[3,16,2]", "float[3,16,2]", 3 * (4 * 8 * 4), 2 * 384),
        COSTS("DFT-20", NULL, "float[3,16,1]", "float[3,16,2]", 3 * (4 * 8 * 4) / 2, 2 * 192),
        /* (64 - 16) / 8 + 1 = 7 frames of 16 real points */
        COSTS("STFT-17", NULL, "float[2,64,1] int64[]={8} float[16]", "float[2,7,9,2]",
              2 * 7 * (4 * 8 * 4) / 2, 2 * 896),
        COSTS("com.microsoft:Rfft-1", NULL, "float[3,16]", "float[3,9,2]", 3 * 64, 2 * 192),
        COSTS("HannWindow-17", NULL, "int64[]={10}", "float[10]", OP_NO_MACS, NONE),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

/* n = 2 x 3 x 8 x 8 = 384 inputs. */
static void counts_flops_per_element_of_other_layers(void **state) {
    static const struct op_case rows[] = {
        COSTS("MaxPool-12", "kernel_shape=[2,2] strides=[2,2]", "float[2,3,8,8]",
              "float[2,3,4,4]", OP_NO_MACS, 384),
        COSTS("AveragePool-11", "kernel_shape=[3,3]", "float[2,3,8,8]", "float[2,3,6,6]",
              OP_NO_MACS, 384),
        COSTS("LpPool-18", "kernel_shape=[2,2]", "float[2,3,8,8]", "float[2,3,7,7]", OP_NO_MACS,
              384),
        COSTS("GlobalAveragePool-1", NULL, "float[2,3,8,8]", "float[2,3,1,1]", OP_NO_MACS, 384),
        COSTS("GlobalMaxPool-1", NULL, "float[2,3,8,8]", "float[2,3,1,1]", OP_NO_MACS, 384),
        /* inference: a scale and a shift; training computes the statistics, too: 5 */
        COSTS("BatchNormalization-15", NULL,
              "float[2,3,8,8] float[3]! float[3]! float[3]! float[3]!", "float[2,3,8,8]",
              OP_NO_MACS, 2 * 384),
        COSTS("BatchNormalization-15", "training_mode=1",
              "float[2,3,8,8] float[3]! float[3]! float[3]! float[3]!",
              "float[2,3,8,8] float[3] float[3]", OP_NO_MACS, 5 * 384),
        COSTS("LayerNormalization-17", NULL, "float[2,3,8,8] float[8]! float[8]!",
              "float[2,3,8,8]", OP_NO_MACS, 5 * 384),
        COSTS("GroupNormalization-21", "num_groups=3", "float[2,3,8,8] float[3]! float[3]!",
              "float[2,3,8,8]", OP_NO_MACS, 5 * 384),
        COSTS("InstanceNormalization-6", NULL, "float[2,3,8,8] float[3]! float[3]!",
              "float[2,3,8,8]", OP_NO_MACS, 5 * 384),
        COSTS("RMSNormalization-23", NULL, "float[2,3,8,8] float[8]!", "float[2,3,8,8]",
              OP_NO_MACS, NONE),
        COSTS("Softmax-13", NULL, "float[2,3,8,8]", "float[2,3,8,8]", OP_NO_MACS, 384),
        COSTS("LogSoftmax-13", NULL, "float[2,3,8,8]", "float[2,3,8,8]", OP_NO_MACS, NONE),
        COSTS("Relu-14", NULL, "float[2,3,8,8]", "float[2,3,8,8]", OP_NO_MACS, 384),
        COSTS("LeakyRelu-16", NULL, "float[2,3,8,8]", "float[2,3,8,8]", OP_NO_MACS, 384),
        COSTS("PRelu-16", NULL, "float[2,3,8,8] float[3,1,1]!", "float[2,3,8,8]", OP_NO_MACS,
              384),
        COSTS("Elu-6", NULL, "float[2,3,8,8]", "float[2,3,8,8]", OP_NO_MACS, 384),
        COSTS("Gelu-20", NULL, "float[2,3,8,8]", "float[2,3,8,8]", OP_NO_MACS, 384),
        COSTS("Swish-24", NULL, "float[2,3,8,8]", "float[2,3,8,8]", OP_NO_MACS, 384),
        COSTS("Sigmoid-13", NULL, "float[2,3,8,8]", "float[2,3,8,8]", OP_NO_MACS, NONE),
        COSTS("Tanh-13", NULL, "float[2,3,8,8]", "float[2,3,8,8]", OP_NO_MACS, NONE),
        COSTS("HardSwish-14", NULL, "float[2,3,8,8]", "float[2,3,8,8]", OP_NO_MACS, NONE),
        COSTS("Clip-13", NULL, "float[2,3,8,8] float[]={0} float[]={6}", "float[2,3,8,8]",
              OP_NO_MACS, NONE),
        /* 1 per output: 2 x 3 x 16 x 24 */
        COSTS("Resize-13", NULL, "float[2,3,8,8] - float[4]={1,1,2,3}", "float[2,3,16,24]",
              OP_NO_MACS, 2 * 3 * 16 * 24),
        COSTS("Resize-13", "mode=cubic", "float[2,3,8,8] - - int64[4]={2,3,4,4}",
              "float[2,3,4,4]", OP_NO_MACS, 2 * 3 * 4 * 4),
        COSTS("Upsample-9", "mode=linear", "float[2,3,8,8] float[4]={1,1,2,2}",
              "float[2,3,16,16]", OP_NO_MACS, 2 * 3 * 16 * 16),
        COSTS("GridSample-16", NULL, "float[2,3,8,8] float[2,5,6,2]", "float[2,3,5,6]",
              OP_NO_MACS, NONE),
        COSTS("com.microsoft:SkipLayerNormalization-1", NULL,
              "float[2,3,64] float[2,3,64] float[64]! float[64]!", "float[2,3,64]", OP_NO_MACS,
              5 * 384),
        COSTS("com.microsoft:FastGelu-1", NULL, "float[2,3,64] float[64]!", "float[2,3,64]",
              OP_NO_MACS, 384),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

/* Operators that the default convention does not count, and those without arithmetic. */
static void default_convention_counts_no_other_flops(void **state) {
    static const struct op_case rows[] = {
        COSTS("Add-14", NULL, "float[2,3] float[3]", "float[2,3]", OP_NO_MACS, NONE),
        COSTS("Mul-14", NULL, "float[2,3] float[3]", "float[2,3]", OP_NO_MACS, NONE),
        COSTS("Div-14", NULL, "float[2,3] float[3]", "float[2,3]", OP_NO_MACS, NONE),
        COSTS("Pow-15", NULL, "float[2,3] float[]", "float[2,3]", OP_NO_MACS, NONE),
        COSTS("Erf-13", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, NONE),
        COSTS("ReduceMean-18", NULL, "float[2,3] int64[1]={1}", "float[2,1]", OP_NO_MACS, NONE),
        COSTS("ReduceSum-13", "keepdims=0", "float[2,3] int64[1]={1}", "float[2]", OP_NO_MACS,
              NONE),
        COSTS("ArgMax-13", NULL, "float[2,3]", "int64[1,3]", OP_NO_MACS, NONE),
        COSTS("QuantizeLinear-13", NULL, "float[2,3] float[] uint8[]", "uint8[2,3]", OP_NO_MACS,
              NONE),
        COSTS("DequantizeLinear-13", NULL, "uint8[2,3] float[] uint8[]", "float[2,3]",
              OP_NO_MACS, NONE),
        COSTS("DynamicQuantizeLinear-11", NULL, "float[2,3]", "uint8[2,3] float[] uint8[]",
              OP_NO_MACS, NONE),
        COSTS("Transpose-13", "perm=[1,0]", "float[2,3]", "float[3,2]", OP_NO_MACS, NONE),
        COSTS("Concat-13", "axis=0", "float[2,3] float[1,3]", "float[3,3]", OP_NO_MACS, NONE),
        COSTS("Gather-13", NULL, "float[100,8]! int64[2,3]", "float[2,3,8]", OP_NO_MACS, NONE),
        COSTS("Cast-13", "to=10", "float[2,3]", "float16[2,3]", OP_NO_MACS, NONE),
        COSTS("TopK-11", NULL, "float[2,9] int64[1]={3}", "float[2,3] int64[2,3]", OP_NO_MACS,
              NONE),
        COSTS("Dropout-13", NULL, "float[2,3]", "float[2,3]", OP_NO_MACS, NONE),
    };
    (void)state;
    RUN_OP_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_a_kernel_per_output_of_convolutions),
        cmocka_unit_test(counts_the_summed_axis_per_output_of_products),
        cmocka_unit_test(counts_gates_and_cells_of_recurrent_layers),
        cmocka_unit_test(counts_two_products_per_score_of_attention),
        cmocka_unit_test(counts_butterflies_of_fourier_transforms),
        cmocka_unit_test(counts_flops_per_element_of_other_layers),
        cmocka_unit_test(default_convention_counts_no_other_flops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
