/* SPDX-License-Identifier: Apache-2.0 */
/* FLOPs of single nodes by each convention; whole models are tested by CLI cases. */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "ops/flops/conventions.h"
#include "ops/flops/names/convention_names.h"

struct convention_case {
    const char *convention;
    int64_t flops;
    struct op_case node;
};

static void run_case(const struct convention_case *row) {
    struct op_bench *bench = op_bench_open(&row->node);
    const struct convention *convention = convention_find(row->convention);
    assert_non_null(convention);
    assert_int_equal(bench->status, CM_OK);
    int64_t flops =
        convention_all_operations(convention, &bench->context, op_bench_macs(bench));
    if (flops != row->flops) print_error("%s of %s\n", row->convention, row->node.op);
    assert_int_equal(flops, row->flops);
    op_bench_close(bench);
}

#define RUN_CASES(rows)                                                                        \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++) run_case(&(rows)[i])

#define NODE(op_, attrs_, inputs_, outputs_)                                                   \
    { .op = op_, .attrs = attrs_, .inputs = inputs_, .outputs = outputs_ }

static void gives_every_convention_a_table_and_a_description(void **state) {
    size_t n = 0;
    (void)state;
    for (; conventions_at(n); n++) {
        assert_non_null(convention_find(conventions_at(n)->name));
        assert_true(conventions_at(n)->meaning[0] != '\0');
    }
    assert_int_equal(n, 9);
    assert_string_equal(conventions_at(0)->name, "deepspeed");
    assert_null(convention_find("thup"));
    assert_null(convention_find(NULL));
    assert_null(conventions_find(""));
}

/* out 1 * 6 * 4 * 4 = 96, 3 * 3 * 3 = 27 MACs each: 2592 */
static void counts_convolution_macs_and_bias_by_convention(void **state) {
#define CONV                                                                                   \
    NODE("Conv-11", "pads=[1,1,1,1]", "float[1,3,4,4] float[6,3,3,3]! float[6]!",              \
         "float[1,6,4,4]")
    static const struct convention_case rows[] = {
        {"deepspeed", 2 * 2592 + 96, CONV},
        {"exact", 2 * 2592 + 96, CONV},
        {"macs", 2592, CONV},
        {"torch", 2 * 2592, CONV},
        {"fvcore", 2592, CONV},
        {"ptflops", 2592 + 96, CONV},
        {"ptflops-aten", 2592 + 96, CONV},
        {"thop", 2592, CONV},
        {"onnx-tool", 2592 + 96, CONV},
    };
    (void)state;
    RUN_CASES(rows);
}

/* n = 1 * 4 * 3 * 3 = 36 inputs, each 2 * 2 * 2 weights: 288; out 1 * 2 * 6 * 6 = 72 */
static void reproduces_the_transposed_convolution_counts_of_two_tools(void **state) {
#define TRANSPOSED                                                                             \
    NODE("ConvTranspose-11", "strides=[2,2]", "float[1,4,3,3] float[4,2,2,2]!",                \
         "float[1,2,6,6]")
    static const struct convention_case rows[] = {
        {"macs", 288, TRANSPOSED},
        {"fvcore", 288, TRANSPOSED},
        {"ptflops", 288, TRANSPOSED},
        {"thop", 72 * 4 * 4, TRANSPOSED},
        {"onnx-tool", 72 * 2 * 4, TRANSPOSED},
    };
    (void)state;
    RUN_CASES(rows);
}

/* n = 1 * 2 * 4 * 4 = 32 */
static void counts_norms_and_pools_by_convention(void **state) {
#define BATCH_NORM                                                                             \
    NODE("BatchNormalization-9", NULL,                                                         \
         "float[1,2,4,4] float[2]! float[2]! float[2]! float[2]!", "float[1,2,4,4]")
#define LAYER_NORM                                                                             \
    NODE("LayerNormalization-17", NULL, "float[4,8] float[8]! float[8]!", "float[4,8]")
#define MAX_POOL    NODE("MaxPool-12", "kernel_shape=[2,2]", "float[1,2,4,4]", "float[1,2,3,3]")
#define GLOBAL_POOL NODE("GlobalAveragePool-1", NULL, "float[1,2,4,4]", "float[1,2,1,1]")
    static const struct convention_case rows[] = {
        {"exact", 64, BATCH_NORM},
        {"macs", 0, BATCH_NORM},
        {"torch", 0, BATCH_NORM},
        {"fvcore", 64, BATCH_NORM},
        {"ptflops", 64, BATCH_NORM},
        {"ptflops-aten", 0, BATCH_NORM},
        {"thop", 128, BATCH_NORM},
        {"onnx-tool", 31 * 32, BATCH_NORM},
        {"exact", 7 * 32 + 2 * 4, LAYER_NORM},
        {"fvcore", 5 * 32, LAYER_NORM},
        {"ptflops", 32, LAYER_NORM},
        {"thop", 4 * 32, LAYER_NORM},
        {"onnx-tool", 7 * 32 + 29 * 4, LAYER_NORM},
        {"exact", 18 * 3, MAX_POOL},
        {"ptflops", 32, MAX_POOL},
        {"thop", 0, MAX_POOL},
        {"onnx-tool", 18 * 4, MAX_POOL},
        {"exact", 32, GLOBAL_POOL},
        {"fvcore", 32, GLOBAL_POOL},
        {"thop", 34, GLOBAL_POOL},
        {"onnx-tool", 40, GLOBAL_POOL},
    };
    (void)state;
    RUN_CASES(rows);
}

/* Four rows of eight. */
static void counts_softmax_and_activations_by_convention(void **state) {
#define SOFTMAX NODE("Softmax-13", "axis=-1", "float[4,8]", "float[4,8]")
#define GELU    NODE("Gelu-20", NULL, "float[4,8]", "float[4,8]")
#define NO_KEYS                                                                                \
    NODE("Attention-23", NULL, "float[1,2,4,8] float[1,2,0,8] float[1,2,0,8]", "float[1,2,4,8]")
#define TANH NODE("Tanh-13", NULL, "float[4,8]", "float[4,8]")
#define SUM  NODE("Sum-13", NULL, "float[4,8] float[4,8] float[8]", "float[4,8]")
    static const struct convention_case rows[] = {
        {"exact", 5 * 32 - 2 * 4, SOFTMAX},
        {"thop", 3 * 32 - 4, SOFTMAX},
        /* before opset 13, 2 rows of 12 */
        {"exact", 5 * 24 - 2 * 2, NODE("Softmax-11", "axis=1", "float[2,3,4]", "float[2,3,4]")},
        {"exact", 5 * 24 - 2, NODE("LogSoftmax-11", "axis=1", "float[2,3,4]", "float[2,3,4]")},
        {"exact", 24 - 2, NODE("Hardmax-1", "axis=1", "float[2,3,4]", "float[2,3,4]")},
        {"thop", 3 * 24 - 2, NODE("Softmax-1", "axis=1", "float[2,3,4]", "float[2,3,4]")},
        {"exact", 5 * 24 - 2 * 8, NODE("Softmax-13", "axis=1", "float[2,3,4]", "float[2,3,4]")},
        {"ptflops", 32, SOFTMAX},
        {"onnx-tool", 36 * 32, SOFTMAX},
        {"exact", 0, NO_KEYS},
        {"thop", 0, NO_KEYS},
        {"exact", 5 * 32, GELU},
        {"onnx-tool", 34 * 32, GELU},
        {"exact", 32, TANH},
        {"onnx-tool", 76 * 32, TANH},
        {"exact", 64, SUM},
        {"onnx-tool", 64, SUM},
        {"fvcore", 0, SUM},
        {"deepspeed", 0, SUM},
    };
    (void)state;
    RUN_CASES(rows);
}

#define LSTM_2                                                                                 \
    NODE("LSTM-14", "direction=bidirectional",                                                 \
         "float[4,1,6] float[2,20,6] float[2,20,5] float[2,40]", "float[4,2,1,5]")
#define LSTM_BARE                                                                              \
    NODE("LSTM-14", NULL, "float[4,1,6] float[1,20,6] float[1,20,5]", "float[4,1,1,5]")
#define GRU                                                                                    \
    NODE("GRU-14", NULL, "float[4,1,6] float[1,15,6] float[1,15,5] float[1,30]",               \
         "float[4,1,1,5]")
#define GRU_BARE                                                                               \
    NODE("GRU-14", NULL, "float[4,1,6] float[1,15,6] float[1,15,5]", "float[4,1,1,5]")
#define RNN                                                                                    \
    NODE("RNN-14", NULL, "float[4,1,6] float[1,5,6] float[1,5,5] float[1,10]", "float[4,1,1,5]")
#define TWICE(mode)                                                                            \
    NODE("Resize-13", mode, "float[1,3,4,5] - float[4]={1,1,2,2}", "float[1,3,8,10]")
#define INSTANCE_NORM                                                                          \
    NODE("InstanceNormalization-6", NULL, "float[1,3,4,5] float[3]! float[3]!",                \
         "float[1,3,4,5]")
#define AVERAGE                                                                                \
    NODE("AveragePool-11", "kernel_shape=[2,2] strides=[2,2]", "float[1,3,8,8]",               \
         "float[1,3,4,4]")
#define GLOBAL_3 NODE("GlobalAveragePool-1", NULL, "float[1,3,4,4,4]", "float[1,3,1,1,1]")
#define EINSUM                                                                                 \
    NODE("Einsum-12", "equation=bij,bjk->bik", "float[1,3,4] float[1,4,5]", "float[1,3,5]")
#define SPECTRUM    NODE("DFT-20", NULL, "float[1,8,2]", "float[1,8,2]")
#define FRAMES      NODE("STFT-17", NULL, "float[1,128,1] int64[]={8} float[16]", "float[1,15,9,2]")
#define DETERMINANT NODE("Det-11", NULL, "float[2,3,3]", "float[2]")

/* Counts that the tools report for torch.nn modules and functions of these sizes. */
static void reproduces_tool_counts_of_single_modules(void **state) {
    static const struct convention_case rows[] = {
        {"deepspeed", 3920, LSTM_2},
        {"torch", 0, LSTM_2},
        {"fvcore", 0, LSTM_2},
        {"ptflops", 2480, LSTM_2},
        {"ptflops-aten", 0, LSTM_2},
        {"thop", 2400, LSTM_2},
        {"deepspeed", 1800, LSTM_BARE},
        {"ptflops", 1080, LSTM_BARE},
        {"thop", 1040, LSTM_BARE},
        {"deepspeed", 1460, GRU},
        {"fvcore", 0, GRU},
        {"ptflops", 920, GRU},
        {"thop", 920, GRU},
        {"deepspeed", 1340, GRU_BARE},
        {"ptflops", 800, GRU_BARE},
        {"thop", 800, GRU_BARE},
        {"deepspeed", 460, RNN},
        {"ptflops", 280, RNN},
        {"thop", 280, RNN},
        {"deepspeed", 240, TWICE("mode=nearest")},
        {"fvcore", 240, TWICE("mode=nearest")},
        {"thop", 240, TWICE("mode=nearest")},
        {"deepspeed", 240, TWICE("mode=linear")},
        {"fvcore", 960, TWICE("mode=linear")},
        {"thop", 2640, TWICE("mode=linear")},
        {"deepspeed", 240, TWICE("mode=cubic")},
        {"fvcore", 0, TWICE("mode=cubic")},
        {"thop", 62160, TWICE("mode=cubic")},
        {"deepspeed", 300, INSTANCE_NORM},
        {"fvcore", 300, INSTANCE_NORM},
        {"ptflops", 120, INSTANCE_NORM},
        {"thop", 240, INSTANCE_NORM},
        {"deepspeed", 192, AVERAGE},
        {"fvcore", 0, AVERAGE},
        {"thop", 48, AVERAGE},
        {"deepspeed", 192, GLOBAL_3},
        {"fvcore", 0, GLOBAL_3},
        {"thop", 195, GLOBAL_3},
        {"torch", 120, EINSUM},
        {"fvcore", 60, EINSUM},
        {"ptflops", 0, EINSUM},
        {"ptflops-aten", 60, EINSUM},
        {"thop", 0, EINSUM},
        {"torch", 0, SPECTRUM},
        {"fvcore", 0, SPECTRUM},
        {"ptflops", 0, SPECTRUM},
        {"ptflops-aten", 0, SPECTRUM},
        {"thop", 0, SPECTRUM},
        {"torch", 0, FRAMES},
        {"fvcore", 0, FRAMES},
        {"ptflops", 0, FRAMES},
        {"ptflops-aten", 0, FRAMES},
        {"thop", 0, FRAMES},
        {"torch", 0, DETERMINANT},
        {"fvcore", 0, DETERMINANT},
        {"ptflops", 0, DETERMINANT},
        {"ptflops-aten", 0, DETERMINANT},
        {"thop", 0, DETERMINANT},
    };
    (void)state;
    RUN_CASES(rows);
}

/* Computed by hand from the formulas of the ONNX operator definitions. */
static void exact_counts_each_operation_once(void **state) {
    static const struct convention_case rows[] = {
        /* 12 butterflies of 4 multiplications and 6 additions */
        {"exact", 120, SPECTRUM},
        /* 15 frames: 64 MACs, 32 more additions and 16 multiplications by the window each */
        {"exact", 15 * (128 + 32 + 16), FRAMES},
        /* per matrix: 5 MACs, 3 divisions, 2 multiplications along the diagonal */
        {"exact", 2 * 15, DETERMINANT},
        {"exact", 40, NODE("HannWindow-17", NULL, "int64[]={10}", "float[10]")},
        /* each of 18 targets: sign, weight, sum of the mean */
        {"exact", 18 * 3,
         NODE("NegativeLogLikelihoodLoss-13", NULL, "float[3,5,6] int64[3,6] float[5]",
              "float[]")},
        /* each of 3 rows of 5: 4 maxima, 5 differences, 5 exponentials, 4 sums, 1 logarithm, 5
         * differences, and a sign */
        {"exact", 3 * 24 + 3,
         NODE("SoftmaxCrossEntropyLoss-13", "reduction=none", "float[3,5] int64[3]",
              "float[3]")},
        /* half of each head is rotated: two multiplications and an addition per element */
        {"exact", 3 * 96,
         NODE("RotaryEmbedding-23", "rotary_embedding_dim=4",
              "float[2,4,3,8] float[50,2] float[50,2] int64[2,3]", "float[2,4,3,8]")},
        /* 2048 MACs; decay: 2 steps x 2 states of 8 x 16; delta rule: 2 operations x 2 steps x
         * 2 states x 16 values; scale: 2 x 64 */
        {"exact", 4096 + 512 + 128 + 128,
         NODE("LinearAttention-27", "q_num_heads=4 kv_num_heads=2",
              "float[1,2,32] float[1,2,16] float[1,2,32] - float[1,2,2] float[1,2,2]",
              "float[1,2,64] float[1,2,8,16]")},
        {"exact", 336 + 42 + 5 * 42,
         NODE("CausalConvWithState-27", "activation=silu", "float[2,3,7] float[3,1,4] float[3]",
              "float[2,3,7] float[2,3,3]")},
        {"exact", 36, NODE("SwiGLU-28", NULL, "float[2,3] float[2,3]", "float[2,3]")},
        {"exact", 14 * 7,
         NODE("ai.onnx.preview.training:Adam-1", NULL,
              "float[] int64[] float[3] float[4] float[3] float[4] float[3] float[4] float[3] "
              "float[4]",
              "float[3] float[4] float[3] float[4] float[3] float[4]")},
        {"exact", 9 * 3,
         NODE("ai.onnx.preview.training:Momentum-1",
              "alpha=0.9 beta=0.1 mode=nesterov norm_coefficient=0.0",
              "float[] int64[] float[3] float[3] float[3]", "float[3] float[3]")},
        {"exact", 36 + 9,
         NODE("ai.onnx.ml:LinearClassifier-1",
              "coefficients=[1.0,2.0,3.0,4.0,5.0,6.0] intercepts=[1.0,2.0,3.0] "
              "classlabels_ints=[1,2,3]",
              "float[3,2]", "int64[3] float[3,3]")},
        {"exact", 4 * 2,
         NODE("ai.onnx.ml:TreeEnsembleRegressor-1", "n_targets=1 nodes_treeids=[0,0,0,1,1,1]",
              "float[4,2]", "float[4,1]")},
    };
    (void)state;
    RUN_CASES(rows);
}

static void counts_fused_operators_as_their_parts(void **state) {
    static const struct convention_case rows[] = {
        /* scale and softmax of 200 scores in rows of 5: 6 * 200 - 2 * 40; the mask adds 200 */
        {"exact", 2 * 9280 + 1200 - 80 + 200,
         NODE("com.microsoft:Attention-1", "num_heads=4 unidirectional=1",
              "float[2,5,16] float[16,48] float[48]", "float[2,5,16]")},
        {"exact", 2 * 2240 + 6 * 280 - 2 * 40 + 280 + 280,
         NODE("com.microsoft:MultiHeadAttention-1", "num_heads=4",
              "float[2,5,16] float[2,7,16] float[2,7,16] - int32[2,7] float[1,1,5,7]",
              "float[2,5,16]")},
        /* causal by default */
        {"exact", 2 * 3200 + 6 * 200 - 2 * 40 + 200,
         NODE("com.microsoft:GroupQueryAttention-1", "num_heads=4 kv_num_heads=2",
              "float[2,5,32] float[2,5,16] float[2,5,16] - - int32[2] int32[]={5}",
              "float[2,5,32]")},
        /* per element two sums and 7 for the norm; 2 per row */
        {"exact", 9 * 160 + 20,
         NODE("com.microsoft:SkipLayerNormalization-1", NULL,
              "float[2,5,16] float[2,5,16] float[16] float[16] float[16]", "float[2,5,16]")},
        {"exact", 5 * 160 + 20,
         NODE("com.microsoft:SkipSimplifiedLayerNormalization-1", NULL,
              "float[2,5,16] float[2,5,16] float[16]", "float[2,5,16]")},
        {"exact", 4 * 160 + 20,
         NODE("SimplifiedLayerNormalization-1", NULL, "float[2,5,16] float[16]",
              "float[2,5,16]")},
        {"exact", 9 * 160 + 20,
         NODE("com.microsoft:EmbedLayerNormalization-1", NULL,
              "int32[2,5] int32[2,5] float[30,16] float[20,16] float[2,16] float[16] "
              "float[16]",
              "float[2,5,16]")},
        /* SiLU: 5 per element */
        {"exact", 12 * 2048 + 2 * 8,
         NODE("com.microsoft:GroupNorm-1", "groups=4 activation=1",
              "float[2,8,8,16] float[16] float[16]", "float[2,8,8,16]")},
        {"exact", 9 * 160,
         NODE("com.microsoft:FastGelu-1", NULL, "float[2,5,16] float[16]", "float[2,5,16]")},
        {"exact", 6 * 160,
         NODE("com.microsoft:BiasGelu-1", NULL, "float[2,5,16] float[16]", "float[2,5,16]")},
        {"exact", 2 * 2592 + 96 + 96,
         NODE("com.microsoft:FusedConv-1", "activation=Relu strides=[2,2] pads=[1,1,1,1]",
              "float[1,3,8,8] float[6,3,3,3] float[6]", "float[1,6,4,4]")},
        {"exact", 2 * 30720 + 480,
         NODE("com.microsoft:MatMulNBits-1", "K=64 N=48 block_size=32",
              "float[10,64] uint8[48,2,16] float[48,2] - - float[48]", "float[10,48]")},
    };
    (void)state;
    RUN_CASES(rows);
}

static void detects_the_bias_add_of_a_linear_by_its_vector(void **state) {
#define ADDED(inputs_) NODE("Add-14", NULL, inputs_, "float[1,3,8]")
    static const struct convention_case rows[] = {
        {"ptflops", 24, ADDED("float[1,3,8] float[8]!")},
        {"ptflops", 24, ADDED("float[8]! float[1,3,8]")},
        {"ptflops-aten", 24, ADDED("float[1,3,8] float[8]!")},
        {"ptflops", 0, ADDED("float[1,3,8] float[8]")},
        {"ptflops", 0, ADDED("float[1,3,8] float[1,1,8]!")},
        {"ptflops", 0, ADDED("float[1,3,8] float[1,3,8]")},
        {"ptflops", 0, ADDED("float[1,3,8]! float[8]!")},
        {"ptflops", 0, ADDED("float[*] float[8]!")},
        {"ptflops", 0, NODE("Add-14", NULL, "float[8] float[8]!", "float[8]")},
        {"deepspeed", 0, ADDED("float[1,3,8] float[8]!")},
        {"fvcore", 0, ADDED("float[1,3,8] float[8]!")},
        {"thop", 0, ADDED("float[1,3,8] float[8]!")},
    };
    (void)state;
    RUN_CASES(rows);
}

static void keeps_costs_of_unknown_shapes_unknown(void **state) {
#define FREE NODE("Relu-14", NULL, "float[?,8]", "float[?,8]")
    static const struct convention_case rows[] = {
        {"exact", DIM_UNKNOWN, FREE},
        {"ptflops", DIM_UNKNOWN, FREE},
        {"macs", 0, FREE},
        {"fvcore", 0, FREE},
        {"exact", 0, NODE("Softmax-13", NULL, "float[4,0]", "float[4,0]")},
        {"exact", 0, NODE("Relu-14", NULL, "float[0,8]", "float[0,8]")},
    };
    (void)state;
    RUN_CASES(rows);
}

/* Arithmetic that the default convention does not count; n = 2 * 3 * 4 * 4 = 96. */
static void exact_counts_all_arithmetic(void **state) {
    static const struct convention_case rows[] = {
        /* 3 groups of 32, over all axes except the channels */
        {"exact", 5 * 96 + 2 * 3,
         NODE("MeanVarianceNormalization-13", NULL, "float[2,3,4,4]", "float[2,3,4,4]")},
        {"exact", 5 * 96 + 2 * 6,
         NODE("MeanVarianceNormalization-13", "axes=[-1,-2]", "float[2,3,4,4]",
              "float[2,3,4,4]")},
        /* 24 rows of 4: 4 squares, 3 sums, 1 root and 4 divisions each */
        {"exact", 96 + 24 * 3 + 24 + 96,
         NODE("LpNormalization-1", NULL, "float[2,3,4,4]", "float[2,3,4,4]")},
        {"exact", 96 + 24 * 3 + 96,
         NODE("LpNormalization-1", "p=1", "float[2,3,4,4]", "float[2,3,4,4]")},
        {"exact", 24 * 3, NODE("Hardmax-13", NULL, "float[2,3,4,4]", "float[2,3,4,4]")},
        {"exact", 5 * 96 + 5,
         NODE("DynamicQuantizeLinear-11", NULL, "float[2,3,4,4]",
              "uint8[2,3,4,4] float[] uint8[]")},
        /* 30 grid points of 2 coordinates: 2 multiplications and 2 additions each */
        {"exact", 30 * 2 * 4,
         NODE("AffineGrid-20", NULL, "float[1,2,3] int64[4]={1,3,5,6}", "float[1,5,6,2]")},
        /* per output: 4 samples of 7, 3 sums and a division; without sampling_ratio unknown */
        {"exact", 2 * 3 * 5 * 5 * (4 * 7 + 4),
         NODE("RoiAlign-16", "output_height=5 output_width=5 sampling_ratio=2",
              "float[1,3,8,8] float[2,4] int64[2]", "float[2,3,5,5]")},
        {"exact", DIM_UNKNOWN,
         NODE("RoiAlign-16", "output_height=5 output_width=5",
              "float[1,3,8,8] float[2,4] int64[2]", "float[2,3,5,5]")},
        /* 12 rows of 4 in 2 heads; 4 per element for the norm, 6 for a SiLU and its product */
        {"exact", (4 + 6) * 48 + 2 * 12,
         NODE("com.microsoft:GatedRMSNorm-1", NULL, "float[2,3,8] float[4]! float[2,3,8]",
              "float[2,3,8]")},
        {"exact", 3 * 48 + 2 * 12,
         NODE("com.microsoft:BranchwiseRMSNorm-1", "num_branches=2", "float[2,3,8]",
              "float[2,3,8]")},
        {"exact", 2 * 48,
         NODE("com.microsoft:BiasDropout-1", NULL, "float[2,3,8] float[8] float[2,3,8]",
              "float[2,3,8]")},
        {"exact", 5 * 6 + 4 * 6,
         NODE("com.microsoft:LinearAttentionGate-1", NULL,
              "float[1,2,3] float[3] float[3] float[1,2,3]", "float[1,2,3] float[1,2,3]")},
        /* sine and cosine of 40 angles; 160 elements of queries and 80 of keys */
        {"exact", 2 * 40 + 3 * (160 + 80),
         NODE(
             "com.microsoft:GemmaRotaryEmbedding-1", NULL,
             "float[1,5,8] float16[1,4,5,8] float16[1,4,5,8] float16[1,2,5,8] float16[1,2,5,8]",
             "float16[1,4,5,8] float16[1,2,5,8]")},
        {"exact", 7 * 2 * 3 * 4 * 5,
         NODE("com.microsoft:CropAndResize-1", NULL,
              "float[1,3,8,8] float[2,4] int32[2] int32[2]={4,5}", "float[2,3,4,5]")},
    };
    (void)state;
    RUN_CASES(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_every_convention_a_table_and_a_description),
        cmocka_unit_test(counts_convolution_macs_and_bias_by_convention),
        cmocka_unit_test(reproduces_the_transposed_convolution_counts_of_two_tools),
        cmocka_unit_test(counts_norms_and_pools_by_convention),
        cmocka_unit_test(counts_softmax_and_activations_by_convention),
        cmocka_unit_test(reproduces_tool_counts_of_single_modules),
        cmocka_unit_test(exact_counts_each_operation_once),
        cmocka_unit_test(counts_fused_operators_as_their_parts),
        cmocka_unit_test(detects_the_bias_add_of_a_linear_by_its_vector),
        cmocka_unit_test(keeps_costs_of_unknown_shapes_unknown),
        cmocka_unit_test(exact_counts_all_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
