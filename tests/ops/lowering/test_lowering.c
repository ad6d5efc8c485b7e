/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering of single nodes; each primitive is compared by the text that identifies it. */
#include "ops/lowering/lowering.h"

#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "backends/primitive.h"
#include "support/text.h"

struct lowering_case {
    struct op_case node;
    const char *text; /* text of the primitive; NULL: the node has none */
};

#define LOWERS(op_, attrs_, inputs_, outputs_, text_)                                          \
    { GIVES(op_, attrs_, inputs_, outputs_), text_ }

static void expect(const struct lowering_case *row) {
    struct op_bench *bench = op_bench_open(&row->node);
    struct cm_primitive primitive;
    struct cm_reason reason = {""};
    const char *why = NULL;
    struct text text;
    text_init(&text, bench->arena);
    assert_int_equal(bench->status, CM_OK);
    if (lowering_apply(&bench->context, &primitive, &why)) {
        if (primitive_check(&primitive, &reason) != CM_BACKEND_OK)
            fail_msg("%s: %s", row->node.op, reason.text);
        primitive_print(&primitive, &text);
    }
    const char *have = text.length > 0 ? text_string(&text) : NULL;
    if (!text_equal(have, row->text))
        fail_msg("%s(%s) %s: have \"%s\", want \"%s\"", row->node.op, row->node.inputs,
                 row->node.attrs ? row->node.attrs : "", have ? have : "(none)",
                 row->text ? row->text : "(none)");
    op_bench_close(bench);
}

#define RUN(rows)                                                                              \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++) expect(&(rows)[i])

static void lowers_convolutions(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("Conv-11", "strides=[2,2] pads=[3,3,3,3]",
               "float[1,3,224,224] float[64,3,7,7]! float[64]!", "float[1,64,112,112]",
               "conv f32 1x3x224x224 64x3x7x7 64 -> 1x64x112x112 kernel 7x7 stride 2x2 pad "
               "3x3+3x3"),
        LOWERS("Conv-11", "group=8 dilations=[2]", "float16[2,8,20] float16[8,1,3]!",
               "float16[2,8,16]",
               "conv f16 2x8x20 8x1x3 -> 2x8x16 kernel 3 dilation 2 groups 8"),
        /* SAME_UPPER: 5 windows of 3 with stride 2 need 11 elements; the 11th is padding */
        LOWERS("Conv-11", "auto_pad=SAME_UPPER strides=[2]", "float[1,1,10] float[1,1,3]!",
               "float[1,1,5]", "conv f32 1x1x10 1x1x3 -> 1x1x5 kernel 3 stride 2 pad 0+1"),
        /* kernel 1x1 with stride 2: the last row and column are not read, nothing is padded */
        LOWERS("Conv-11", "strides=[2,2]", "float[1,4,6,6] float[8,4,1,1]!", "float[1,8,3,3]",
               "conv f32 1x4x6x6 8x4x1x1 -> 1x8x3x3 kernel 1x1 stride 2x2"),
        LOWERS("ConvTranspose-11", "strides=[2] output_padding=[1] pads=[1,1]",
               "float[1,8,5] float[8,4,3]!", "float[1,4,10]",
               "deconv f32 1x8x5 8x4x3 -> 1x4x10 kernel 3 stride 2 pad 1+1"),
        /* 2 * stride overflows for a stride of 2^62 */
        LOWERS("ConvTranspose-11", "strides=[4611686018427387904] output_shape=[4]",
               "float[1,1,3] float[1,1,2]!", "float[1,1,4]", NULL),
        LOWERS("Conv-11", NULL, "float[1,1,4,4,4,4] float[1,1,2,2,2,2]!", "float[1,1,3,3,3,3]",
               NULL),
        LOWERS("Conv-11", NULL, "float[?,3,8,8] float[4,3,3,3]!", "float[?,4,6,6]", NULL),
    };
    (void)state;
    RUN(rows);
}

static void lowers_products(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("Gemm-13", "transB=1", "float[32,1024] float[512,1024]! float[512]!",
               "float[32,512]", "gemm f32 32x1024 1024x512/1x1024 512 -> 32x512"),
        LOWERS("Gemm-13", "transA=1", "float[4,2] float[4,3]!", "float[2,3]",
               "gemm f32 2x4/1x2 4x3 -> 2x3"),
        /* one matrix for the whole batch: all rows in one product */
        LOWERS("MatMul-13", NULL, "float[8,197,768] float[768,3072]!", "float[8,197,3072]",
               "gemm f32 1576x768 768x3072 -> 1576x3072"),
        LOWERS("MatMul-13", NULL, "float[2,12,197,64] float[2,12,64,197]",
               "float[2,12,197,197]", "gemm f32 2x12x197x64 2x12x64x197 -> 2x12x197x197"),
        LOWERS("MatMul-13", NULL, "float[5] float[5,3]", "float[3]", "gemm f32 1x5 5x3 -> 1x3"),
        LOWERS("MatMul-13", NULL, "float[2,4,5] float[5]", "float[2,4]",
               "gemm f32 8x5 5x1 -> 8x1"),
        LOWERS("MatMul-13", NULL, "float[5] float[2,5,3]", "float[2,3]",
               "gemm f32 1x5 2x5x3 -> 2x1x3"),
    };
    (void)state;
    RUN(rows);
}

static void lowers_quantized_products(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("QLinearConv-10", "pads=[1,1,1,1]",
               "uint8[1,3,8,8] float[]! uint8[]! int8[4,3,3,3]! float[4]! int8[4]! float[]! "
               "uint8[]! int32[4]!",
               "uint8[1,4,8,8]",
               "conv u8 1x3x8x8 i8 4x3x3x3 i32 4 -> u8 1x4x8x8 kernel 3x3 pad 1x1+1x1"),
        LOWERS("ConvInteger-10", "group=3", "uint8[1,3,8,8] int8[3,1,3,3]! uint8[]!",
               "int32[1,3,6,6]",
               "conv u8 1x3x8x8 i8 3x1x3x3 -> i32 1x3x6x6 kernel 3x3 groups 3"),
        LOWERS("QLinearMatMul-10", NULL,
               "uint8[2,4,5] float[] uint8[] int8[5,3] float[] int8[] float[] uint8[]",
               "uint8[2,4,3]", "gemm u8 8x5 i8 5x3 -> u8 8x3"),
        LOWERS("MatMulInteger-10", NULL, "uint8[4,5] int8[5,3]", "int32[4,3]",
               "gemm u8 4x5 i8 5x3 -> i32 4x3"),
        LOWERS("QuantizeLinear-10", NULL, "float[2,3] float[] uint8[]", "uint8[2,3]",
               "eltwise divide round add cast f32 2x3 scalar u8 scalar -> 2x3"),
        /* one scale per channel: later axes broadcast */
        LOWERS("QuantizeLinear-13", NULL, "float[2,3,4,4] float[3]", "uint8[2,3,4,4]",
               "eltwise divide round cast f32 2x3x4x4 3x1x1 -> u8 2x3x4x4"),
        LOWERS("DequantizeLinear-13", "axis=-1", "int8[2,3] float[3] int8[3]", "float[2,3]",
               "eltwise cast subtract multiply i8 2x3 f32 3 i8 3 -> f32 2x3"),
        LOWERS("DequantizeLinear-21", "axis=0 block_size=2", "int8[4,3] float[2,3]",
               "float[4,3]", NULL),
    };
    (void)state;
    RUN(rows);
}

static void lowers_recurrent_layers(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("LSTM-14", "hidden_size=16", "float[7,2,8] float[1,64,8]! float[1,64,16]!",
               "float[7,1,2,16] float[1,2,16] float[1,2,16]",
               "rnn lstm f32 7x2x8 1x64x8 1x64x16 -> 7x1x2x16 1x2x16 1x2x16 hidden 16"),
        /* bias of rank 2, states of rank 3; the sequence lengths are not an operand of the
         * primitive */
        LOWERS("LSTM-14", "hidden_size=16 direction=bidirectional",
               "float[7,2,8] float[2,64,8]! float[2,64,16]! float[2,128]! int32[2] "
               "float[2,2,16] float[2,2,16]",
               "float[7,2,2,16]",
               "rnn lstm f32 7x2x8 2x64x8 2x64x16 2x128 2x2x16 2x2x16 -> 7x2x2x16 hidden 16 "
               "both directions"),
        /* batch first: the same axes with other strides */
        LOWERS("GRU-14", "hidden_size=4 layout=1", "float[2,7,8] float[1,12,8]! float[1,12,4]!",
               "float[2,7,1,4] float[2,1,4]",
               "rnn gru f32 7x2x8/8x56x1 1x12x8 1x12x4 -> 7x1x2x4/4x4x28x1 1x2x4 hidden 4"),
        /* only the last state is an output; all of them are computed */
        LOWERS("RNN-14", "hidden_size=4 activations=[Relu]",
               "float[7,2,8] float[1,4,8]! float[1,4,4]!", "- float[1,2,4]",
               "rnn relu f32 7x2x8 1x4x8 1x4x4 -> 7x1x2x4 1x2x4 hidden 4"),
        LOWERS("LSTM-14", "hidden_size=4",
               "float[7,2,8] float[1,16,8]! float[1,16,4]! - - - - "
               "float[1,12]!",
               "float[7,1,2,4]", NULL),
        LOWERS("RNN-14", "hidden_size=4 activations=[Sigmoid]",
               "float[7,2,8] float[1,4,8]! float[1,4,4]!", "float[7,1,2,4]", NULL),
    };
    (void)state;
    RUN(rows);
}

static void lowers_attention(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("Attention-23", NULL, "float[2,8,16,64] float[2,2,32,64] float[2,2,32,64]",
               "float[2,8,16,64]", "attention f32 2x8x16x64 2x2x32x64 2x2x32x64 -> 2x8x16x64"),
        /* the heads are adjacent in a row */
        LOWERS("Attention-23", "q_num_heads=4 kv_num_heads=4 is_causal=1",
               "float[2,16,32] float[2,16,32] float[2,16,32]", "float[2,16,32]",
               "attention f32 2x4x16x8/512x8x32x1 2x4x16x8/512x8x32x1 2x4x16x8/512x8x32x1 -> "
               "2x4x16x8/512x8x32x1 causal"),
        /* keys of earlier calls come before those of this one */
        LOWERS("Attention-23", NULL,
               "float[1,2,1,8] float[1,2,1,8] float[1,2,1,8] bool[1,11] float[1,2,10,8] "
               "float[1,2,10,8]",
               "float[1,2,1,8] float[1,2,11,8] float[1,2,11,8]",
               "attention f32 1x2x1x8 1x2x11x8 1x2x11x8 bool 1x11 -> f32 1x2x1x8"),
        /* the first query follows the keys of earlier calls */
        LOWERS("Attention-23", "is_causal=1",
               "float[1,2,4,8] float[1,2,4,8] float[1,2,4,8] - float[1,2,10,8] "
               "float[1,2,10,8]",
               "float[1,2,4,8] float[1,2,14,8] float[1,2,14,8]",
               "attention f32 1x2x4x8 1x2x14x8 1x2x14x8 -> 1x2x4x8 causal-last"),
        /* without a cache, query i sees keys 0 .. i */
        LOWERS("Attention-23", "is_causal=1", "float[1,2,4,8] float[1,2,9,8] float[1,2,9,8]",
               "float[1,2,4,8]", "attention f32 1x2x4x8 1x2x9x8 1x2x9x8 -> 1x2x4x8 causal"),
        /* a single query that follows the keys of earlier calls reads all of them */
        LOWERS("Attention-23", "is_causal=1",
               "float[1,2,1,8] float[1,2,1,8] float[1,2,1,8] - float[1,2,10,8] "
               "float[1,2,10,8]",
               "float[1,2,1,8] float[1,2,11,8] float[1,2,11,8]",
               "attention f32 1x2x1x8 1x2x11x8 1x2x11x8 -> 1x2x1x8"),
        LOWERS("Attention-23", "softcap=2.5", "float[1,2,4,8] float[1,2,4,8] float[1,2,4,8]",
               "float[1,2,4,8]", NULL),
        LOWERS("Attention-25", "left_window_size=3",
               "float[1,2,4,8] float[1,2,4,8] float[1,2,4,8]", "float[1,2,4,8]", NULL),
    };
    (void)state;
    RUN(rows);
}

static void lowers_contrib_attention(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
               "float[2,5,16] float[2,7,16] float[2,7,16]", "float[2,5,16]",
               "attention f32 2x4x5x4/80x4x16x1 2x4x7x4/112x4x16x1 2x4x7x4/112x4x16x1 -> "
               "2x4x5x4/80x4x16x1"),
        LOWERS("com.microsoft:MultiHeadAttention-1", "num_heads=4 unidirectional=1",
               "float[2,5,16] float[2,5,16] float[2,5,16] - - float[1,4,5,5]", "float[2,5,16]",
               "attention f32 2x4x5x4/80x4x16x1 2x4x5x4/80x4x16x1 2x4x5x4/80x4x16x1 1x4x5x5 -> "
               "2x4x5x4/80x4x16x1 causal"),
        /* no primitive: with biases; with a padding mask; with packed keys and values */
        LOWERS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
               "float[2,5,16] float[2,5,16] float[2,5,16] float[48]!", "float[2,5,16]", NULL),
        LOWERS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
               "float[2,5,16] float[2,5,16] float[2,5,16] - int32[2,5]", "float[2,5,16]", NULL),
        LOWERS("com.microsoft:MultiHeadAttention-1", "num_heads=4",
               "float[2,5,16] float[2,7,4,2,4]", "float[2,5,16]", NULL),
        /* two heads share the keys of one; the queries are the last 3 of 8 positions */
        LOWERS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
               "float[1,3,16] float[1,3,8] float[1,3,8] float[1,2,5,4] float[1,2,5,4] int32[1] "
               "int32[1]",
               "float[1,3,16] float[1,2,8,4] float[1,2,8,4]",
               "attention f32 1x4x3x4/48x4x16x1 1x2x8x4 1x2x8x4 -> 1x4x3x4/48x4x16x1 "
               "causal-last"),
        LOWERS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2 do_rotary=1",
               "float[1,3,16] float[1,3,8] float[1,3,8] - - int32[1] int32[1]",
               "float[1,3,16] float[1,2,3,4] float[1,2,3,4]", NULL),
        LOWERS("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2 softcap=2.5",
               "float[1,3,16] float[1,3,8] float[1,3,8] - - int32[1] int32[1]",
               "float[1,3,16] float[1,2,3,4] float[1,2,3,4]", NULL),
    };
    (void)state;
    RUN(rows);
}

static void lowers_einsums_to_products(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("Einsum-12", "equation=bhid,bhjd->bhij", "float[2,8,5,64] float[2,8,7,64]",
               "float[2,8,5,7]", "gemm f32 16x5x64 16x64x7 -> 16x5x7"),
        LOWERS("Einsum-12", "equation=...i,ij->...j", "float[2,3,4] float[4,5]", "float[2,3,5]",
               "gemm f32 6x4 4x5 -> 6x5"),
        LOWERS("Einsum-12", "equation=i,j->ij", "float[3] float[5]", "float[3,5]",
               "gemm f32 3x1 1x5 -> 3x5"),
        LOWERS("Einsum-12", "equation=ij,ij->ij", "float[3,4] float[3,4]", "float[3,4]",
               "eltwise multiply f32 1x12 1x12 -> 1x12"),
        LOWERS("Einsum-12", "equation=ij->ji", "float[3,4]", "float[4,3]",
               "copy f32 4x3/1x4 -> 4x3"),
        LOWERS("Einsum-12", "equation=ij->j", "float[3,4]", "float[4]",
               "reduce sum f32 4x3/1x4 -> 4x1"),
        LOWERS("Einsum-12", "equation=ii->i", "float[3,3]", "float[3]", NULL),
        LOWERS("Einsum-12", "equation=ij,k->k", "float[3,4] float[5]", "float[5]", NULL),
        LOWERS("Einsum-12", "equation=i,i,i->i", "float[3] float[3] float[3]", "float[3]",
               NULL),
        /* j is 1 in one operand, 4 in the other: products do not broadcast a summed axis */
        LOWERS("Einsum-12", "equation=ij,jk->ik", "float[3,1] float[4,5]", "float[3,5]", NULL),
    };
    (void)state;
    RUN(rows);
}

static void lowers_pools_norms_and_reductions(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("MaxPool-12", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
               "float[1,64,112,112]", "float[1,64,56,56]",
               "pool max f32 1x64x112x112 -> 1x64x56x56 kernel 3x3 stride 2x2 pad 1x1+1x1"),
        LOWERS("MaxPool-12", "kernel_shape=[2] strides=[2] ceil_mode=1", "float[1,1,5]",
               "float[1,1,3]", "pool max f32 1x1x5 -> 1x1x3 kernel 2 stride 2 pad 0+1"),
        LOWERS("AveragePool-11", "kernel_shape=[2]", "float[1,1,4]", "float[1,1,3]",
               "pool average f32 1x1x4 -> 1x1x3 kernel 2"),
        LOWERS("AveragePool-11", "kernel_shape=[2] count_include_pad=1", "float[1,1,4]",
               "float[1,1,3]", "pool average-padding f32 1x1x4 -> 1x1x3 kernel 2"),
        LOWERS("GlobalAveragePool-1", NULL, "float[1,2048,7,7]", "float[1,2048,1,1]",
               "pool average f32 1x2048x7x7 -> 1x2048x1x1 kernel 7x7"),
        LOWERS("BatchNormalization-15", NULL,
               "float[1,8,4,4] float[8]! float[8]! float[8]! float[8]!", "float[1,8,4,4]",
               "norm batch f32 1x8x4x4 8 8 8 8 -> 1x8x4x4"),
        LOWERS("SimplifiedLayerNormalization-1", NULL, "float[2,3,4] float[4]!", "float[2,3,4]",
               "norm rms f32 2x3x4 4 -> 2x3x4 axis 2"),
        LOWERS("com.microsoft:Gelu-1", NULL, "float[2,3]", "float[2,3]",
               "eltwise gelu f32 2x3 -> 2x3"),
        LOWERS("LayerNormalization-17", "axis=-2", "float[2,3,4] float[3,4]! float[3,4]!",
               "float[2,3,4]", "norm layer f32 2x3x4 3x4 3x4 -> 2x3x4 axis 1"),
        LOWERS("Softmax-13", NULL, "float[2,3,10]", "float[2,3,10]",
               "softmax plain f32 2x3x10 -> 2x3x10 axis 2"),
        LOWERS("Softmax-1", NULL, "float[2,3,10]", "float[2,3,10]",
               "softmax plain f32 2x30 -> 2x30 axis 1"),
        LOWERS("LogSoftmax-13", "axis=0", "float[2,3]", "float[2,3]",
               "softmax log f32 2x3 -> 2x3"),
        LOWERS("ReduceMean-13", "axes=[2,3] keepdims=0", "float[1,8,7,7]", "float[1,8]",
               "reduce mean f32 1x8x7x7 -> 1x8x1x1"),
        LOWERS("ReduceMax-18", NULL, "float[4,5] int64[1]={-1}", "float[4,1]",
               "reduce max f32 4x5 -> 4x1"),
        LOWERS("ReduceSum-13", NULL, "float[4,5]", "float[1,1]", "reduce sum f32 4x5 -> 1x1"),
        LOWERS("ReduceSum-13", "keepdims=0", "float[5] int64[1]", "float[]", NULL),
        LOWERS("ReduceSum-13", NULL, "complex64[4,5]", "complex64[1,1]", NULL),
        LOWERS("ReduceLogSumExp-13", "axes=[1]", "float[4,5]", "float[4,1]",
               "reduce log-sum-exp f32 4x5 -> 4x1"),
        LOWERS("ArgMax-13", "axis=-1 keepdims=0", "float[4,5]", "int64[4]",
               "reduce arg-max f32 4x5 -> i64 4x1"),
        LOWERS("GroupNormalization-21", "num_groups=4", "float[1,8,4,4] float[8]! float[8]!",
               "float[1,8,4,4]", "norm group f32 1x8x4x4 8 8 -> 1x8x4x4 groups 4"),
        LOWERS("LRN-1", "size=5", "float[1,8,4,4]", "float[1,8,4,4]",
               "norm lrn f32 1x8x4x4 -> 1x8x4x4 kernel 5"),
        LOWERS("MeanVarianceNormalization-9", NULL, "float[1,8,4,4]", "float[1,8,4,4]",
               "norm batch-training f32 1x8x4x4 -> 1x8x4x4"),
        LOWERS("Resize-13", "mode=linear", "float[1,3,8,8] - float[4]={1,1,2,2}",
               "float[1,3,16,16]", "resample linear f32 1x3x8x8 -> 1x3x16x16"),
        LOWERS("Upsample-9", NULL, "float[1,3,8] float[3]={1,1,2}", "float[1,3,16]",
               "resample nearest f32 1x3x8 -> 1x3x16"),
        LOWERS("Resize-13", "mode=cubic", "float[1,3,8,8] - float[4]={1,1,2,2}",
               "float[1,3,16,16]", NULL),
        /* resizing the channel axis is not an image operation */
        LOWERS("Resize-13", NULL, "float[1,3,8,8] - float[4]={1,2,1,1}", "float[1,6,8,8]",
               NULL),
        LOWERS("ReduceSum-13", "noop_with_empty_axes=1", "float[4,5]", "float[4,5]",
               "reduce sum f32 4x5 -> 4x5"),
    };
    (void)state;
    RUN(rows);
}

static void lowers_elementwise_operators(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("Relu-14", NULL, "float[2,3]", "float[2,3]", "eltwise relu f32 2x3 -> 2x3"),
        LOWERS("LeakyRelu-6", "alpha=0.25", "float[2]", "float[2]",
               "eltwise leaky-relu(0.25,0) f32 2 -> 2"),
        LOWERS("Clip-13", NULL, "float[2] float[]={0} float[]={6}", "float[2]",
               "eltwise clip(0,1) f32 2 -> 2"),
        LOWERS("Gelu-20", "approximate=tanh", "float[2]", "float[2]",
               "eltwise gelu-tanh f32 2 -> 2"),
        LOWERS("Add-14", NULL, "float[2,3,4] float[3,1]", "float[2,3,4]",
               "eltwise add f32 2x3x4 3x1 -> 2x3x4"),
        LOWERS("Sum-13", NULL, "float[2] float[2] float[2]", "float[2]",
               "eltwise add add f32 2 2 2 -> 2"),
        LOWERS("Max-13", NULL, "float[2] float[2] float[2] float[2] float[1]", "float[2]",
               "eltwise maximum maximum maximum maximum f32 2 2 2 2 1 -> 2"),
        LOWERS("Min-13", NULL, "float[2]", "float[2]", "copy f32 2 -> 2"),
        LOWERS("Mean-13", NULL, "float[2] float[2] float[2] float[2]", "float[2]",
               "eltwise add add add linear(0.25,0) f32 2 2 2 2 -> 2"),
        LOWERS("Sum-13", NULL, "float[2] float[2] float[2] float[2] float[2] float[2]",
               "float[2]", NULL),
        LOWERS("Celu-12", "alpha=2.0", "float[2]", "float[2]",
               "eltwise linear(0.5,0) elu(1,0) linear(2,0) f32 2 -> 2"),
        LOWERS("Selu-6", "alpha=2.0 gamma=3.0", "float[2]", "float[2]",
               "eltwise elu(2,0) linear(3,0) f32 2 -> 2"),
        LOWERS("Softsign-1", NULL, "float[2]", "float[2]",
               "eltwise abs linear(1,1) reciprocal multiply f32 2 -> 2"),
        LOWERS("ThresholdedRelu-10", "alpha=0.5", "float[2]", "float[2]",
               "eltwise threshold(0.5,0) f32 2 -> 2"),
        LOWERS("com.microsoft:QuickGelu-1", "alpha=1.5", "float[2]", "float[2]",
               "eltwise swish(1.5,0) f32 2 -> 2"),
        LOWERS("SwiGLU-28", "alpha=1.5", "float[2,3] float[2,3]", "float[2,3]",
               "eltwise swish(1.5,0) multiply f32 2x3 2x3 -> 2x3"),
        LOWERS("IsNaN-13", NULL, "float[2]", "bool[2]", "eltwise compare f32 2 -> bool 2"),
        LOWERS("IsInf-10", NULL, "float[2]", "bool[2]", "eltwise abs compare f32 2 -> bool 2"),
        LOWERS("Mod-13", NULL, "int64[4] int64[]", "int64[4]",
               "eltwise modulo i64 4 scalar -> 4"),
        LOWERS("BitShift-11", "direction=LEFT", "uint8[4] uint8[4]", "uint8[4]",
               "eltwise logic u8 4 4 -> 4"),
        LOWERS("Equal-13", NULL, "int64[4] int64[]", "bool[4]",
               "eltwise compare i64 4 scalar -> bool 4"),
        LOWERS("Where-16", NULL, "bool[4] float[4] float[]", "float[4]",
               "eltwise select bool 4 f32 4 scalar -> 4"),
        LOWERS("Cast-13", "to=10", "float[4]", "float16[4]", "eltwise cast f32 4 -> f16 4"),
    };
    (void)state;
    RUN(rows);
}

static void lowers_data_movement(void **state) {
    static const struct lowering_case rows[] = {
        LOWERS("Transpose-13", "perm=[0,2,3,1]", "float[1,64,56,56]", "float[1,56,56,64]",
               "copy f32 1x56x56x64/200704x56x1x3136 -> 1x56x56x64"),
        LOWERS("Transpose-13", NULL, "float[2,3]", "float[3,2]", "copy f32 3x2/1x3 -> 3x2"),
        LOWERS("Concat-13", "axis=-1", "float[2,3] float[2,4]", "float[2,7]",
               "copy f32 2x3 2x4 -> 2x7 axis 1"),
        LOWERS("Expand-13", NULL, "float[3,1] int64[3]={2,3,4}", "float[2,3,4]",
               "copy f32 2x3x4/0x1x0 -> 2x3x4"),
        LOWERS("Slice-13", NULL, "float[4,8] int64[1]={2} int64[1]={6} int64[1]={1}",
               "float[4,4]", "copy f32 4x4/8x1 -> 4x4"),
        LOWERS("Split-13", NULL, "float[4,8] int64[2]={1,3}", "float[1,8] float[3,8]",
               "copy f32 4x8 -> 4x8"),
        LOWERS("Gather-13", "axis=-1", "float[5,7] int64[2]", "float[5,2]",
               "gather f32 5x7 i64 2 -> f32 5x2 axis 1"),
        LOWERS("Pad-13", NULL, "float[3] int64[2]={1,1}", "float[5]", "gather f32 3 -> 5"),
        /* nine operands: the last two are merged into one of 3 + 4 columns */
        LOWERS("Concat-13", "axis=1",
               "float[2,1] float[2,2] float[2,1] float[2,1] float[2,1] float[2,1] float[2,1] "
               "float[2,3] float[2,4]",
               "float[2,15]", "copy f32 2x1 2x2 2x1 2x1 2x1 2x1 2x1 2x7 -> 2x15 axis 1"),
        LOWERS("Tile-13", NULL, "float[2,3] int64[2]={1,4}", "float[2,12]",
               "copy f32 2x4x3/3x0x1 -> 2x4x3"),
        LOWERS("DepthToSpace-13", "blocksize=2", "float[1,8,2,3]", "float[1,2,4,6]",
               "copy f32 1x2x2x2x3x2/48x6x3x24x1x12 -> 1x2x2x2x3x2"),
        LOWERS("DepthToSpace-13", "blocksize=2 mode=CRD", "float[1,8,2,3]", "float[1,2,4,6]",
               "copy f32 1x2x2x2x3x2/48x24x3x12x1x6 -> 1x2x2x2x3x2"),
        LOWERS("SpaceToDepth-13", "blocksize=2", "float[1,2,4,6]", "float[1,8,2,3]",
               "copy f32 1x2x2x2x2x3/48x6x1x24x12x2 -> 1x2x2x2x2x3"),
        LOWERS("Trilu-14", NULL, "float[4,4]", "float[4,4]", "gather f32 4x4 -> 4x4"),
        LOWERS("ScatterND-16", NULL, "float[8,4] int64[2,1] float[2,4]", "float[8,4]",
               "scatter f32 8x4 i64 2x1 f32 2x4 -> 8x4"),
        LOWERS("ScatterElements-16", "axis=1", "float[8,4] int64[8,2] float[8,2]", "float[8,4]",
               "scatter f32 8x4 i64 8x2 f32 8x2 -> 8x4 axis 1"),
        LOWERS("TensorScatter-24", NULL, "float[1,2,8,4] float[1,2,1,4] int64[1]",
               "float[1,2,8,4]", "scatter f32 1x2x8x4 i64 1 f32 1x2x1x4 -> 1x2x8x4"),
        LOWERS("BitCast-26", "to=1", "int32[4]", "float[4]", "copy i32 4 -> 4"),
    };
    (void)state;
    RUN(rows);
}

struct refused {
    struct op_case node;
    const char *why;
};

static void gives_a_reason_for_nodes_without_primitive(void **state) {
    static const struct refused cases[] = {
        {GIVES("TopK-11", NULL, "float[4] int64[1]={2}", "float[2] int64[2]"),
         "work is data-dependent; no sort or select primitive"},
        {GIVES("Conv-11", NULL, "float[?,3,8,8] float[4,3,3,3]!", "float[?,4,6,6]"),
         "its shapes are not known before it runs"},
        {GIVES("Add-14", NULL, "float[1,1,1,1,1,1,1,1,2] float[]", "float[1,1,1,1,1,1,1,1,2]"),
         "a primitive has at most 8 dims"},
        {GIVES("Cast-13", "to=8", "float[4]", "string[4]"), "its elements have no primitive"},
        {GIVES("Sum-13", NULL, "float[2] float[2] float[2] float[2] float[2] float[2]",
               "float[2]"),
         "more than 5 operands, 4 of a mean, have no primitive"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct op_bench *bench = op_bench_open(&cases[i].node);
        struct cm_primitive primitive;
        const char *why = NULL;
        assert_false(lowering_apply(&bench->context, &primitive, &why));
        assert_string_equal(why, cases[i].why);
        op_bench_close(bench);
    }
}

/* In training mode Dropout multiplies by a mask; otherwise it is a view. */
static void lowers_dropout_in_training_to_a_masked_product(void **state) {
    static const struct op_case node =
        GIVES("Dropout-12", NULL, "float[2,3]", "float[2,3] bool[2,3]");
    struct op_bench *bench = op_bench_open(&node);
    struct cm_primitive primitive;
    const char *why = NULL;
    struct text text;
    (void)state;
    text_init(&text, bench->arena);
    assert_true(lowering_apply(&bench->context, &primitive, &why));
    primitive_print(&primitive, &text);
    assert_string_equal(text_string(&text),
                        "eltwise multiply linear(1,0) f32 2x3 bool 2x3 -> f32 2x3");
    op_bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lowers_convolutions),
        cmocka_unit_test(lowers_products),
        cmocka_unit_test(lowers_quantized_products),
        cmocka_unit_test(lowers_recurrent_layers),
        cmocka_unit_test(lowers_attention),
        cmocka_unit_test(lowers_contrib_attention),
        cmocka_unit_test(lowers_einsums_to_products),
        cmocka_unit_test(lowers_pools_norms_and_reductions),
        cmocka_unit_test(lowers_elementwise_operators),
        cmocka_unit_test(lowers_data_movement),
        cmocka_unit_test(gives_a_reason_for_nodes_without_primitive),
        cmocka_unit_test(lowers_dropout_in_training_to_a_masked_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
