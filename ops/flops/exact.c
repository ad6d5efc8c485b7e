/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The convention `exact`: every arithmetic operation on an element once, by the plain formula
 * of the operator. An elementary function (exp, log, erf, tanh, a root, a power) is one
 * operation, as is a comparison that picks a number (Relu, Max); logic, indices, casts and
 * moves are none. An operator that exporters also take apart costs what its parts do.
 */
#include "ops/flops/tables.h"

#include "ops/onnx/attention.h"
#include "ops/op_context.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

/* Scale and shift known beforehand; else mean 1, difference 1, square 1, mean 1, quotient 1,
 * scale 1, shift 1, and epsilon and root a channel. */
static int64_t batch_norm(const struct op_context *context, int64_t macs) {
    (void)macs;
    if (!context->training) return checked_mul(2, op_elements(context, 0));
    int64_t each = checked_mul(7, op_elements(context, 0));
    return checked_add(each, checked_mul(2, op_elements(context, 1)));
}

/* Without scale or shift one less an element. */
static int64_t normalization(const struct op_context *context) {
    return 5 + (op_has_input(context, 1) ? 1 : 0) + (op_has_input(context, 2) ? 1 : 0);
}

/* The same over rows. */
static int64_t layer_norm(const struct op_context *context, int64_t macs) {
    (void)macs;
    const int64_t each = normalization(context);
    int64_t flops = checked_mul(each, op_elements(context, 0));
    return checked_add(flops, checked_mul(2, term_rows_before_axis(context)));
}

/* Square, mean, quotient, scale. */
static int64_t rms_norm(const struct op_context *context, int64_t macs) {
    (void)macs;
    int64_t flops = checked_mul(op_has_input(context, 1) ? 4 : 3, op_elements(context, 0));
    return checked_add(flops, checked_mul(2, term_rows_before_axis(context)));
}

static int64_t instance_norm(const struct op_context *context, int64_t macs) {
    (void)macs;
    if (op_rank(context, 0) < 2) return DIM_UNKNOWN;
    int64_t rows = checked_mul(op_dim(context, 0, 0), op_dim(context, 0, 1));
    return checked_add(checked_mul(7, op_elements(context, 0)), checked_mul(2, rows));
}

static int64_t group_norm(const struct op_context *context, int64_t macs) {
    (void)macs;
    if (op_rank(context, 0) < 2) return DIM_UNKNOWN;
    int64_t rows = checked_mul(op_dim(context, 0, 0), op_attr_int(context, "num_groups"));
    int64_t flops = checked_mul(normalization(context), op_elements(context, 0));
    return checked_add(flops, checked_mul(2, rows));
}

/* Square, size - 1 sums, factor, bias, power, quotient. */
static int64_t local_response(const struct op_context *context, int64_t macs) {
    (void)macs;
    int64_t each = checked_add(op_attr_int(context, "size"), 4);
    return checked_mul(each, op_output_elements(context, 0));
}

/* A row of n: n - 1 comparisons, n differences, n exponentials, n - 1 sums, n quotients. */
static int64_t softmax(const struct op_context *context, int64_t macs) {
    (void)macs;
    int64_t flops = checked_mul(5, op_elements(context, 0));
    return checked_sub(flops, checked_mul(2, term_rows_along_axis(context)));
}

/* Softmax, and for each score its scaling, its mask and its bias, however they are put on. */
static int64_t attention(const struct op_context *context, int64_t macs) {
    (void)macs;
    const int64_t each = 6 + attention_masks(context);
    int64_t flops = checked_mul(each, attention_scores(context));
    if (flops == 0) return 0; /* no keys: rows of nothing */
    return checked_sub(flops, checked_mul(2, attention_rows(context)));
}

/* The quotients are differences, and a row has one logarithm more. */
static int64_t log_softmax(const struct op_context *context, int64_t macs) {
    (void)macs;
    return checked_sub(checked_mul(5, op_elements(context, 0)), term_rows_along_axis(context));
}

/* x/sqrt2, erf, 1 +, x *, 0.5 *; or by tanh: power, two factors, sum, tanh, sum, two factors.
 */
static int64_t gelu(const struct op_context *context, int64_t macs) {
    (void)macs;
    const bool by_tanh = text_equal(op_attr_string(context, "approximate"), "tanh");
    return checked_mul(by_tanh ? 8 : 5, op_output_elements(context, 0));
}

static int64_t max_pool(const struct op_context *context, int64_t macs) {
    (void)macs;
    int64_t joins = checked_sub(term_window(context, SHAPE_MAX_RANK), 1);
    return checked_mul(joins, op_output_elements(context, 0));
}

static int64_t average_pool(const struct op_context *context, int64_t macs) {
    (void)macs;
    return checked_mul(term_window(context, SHAPE_MAX_RANK), op_output_elements(context, 0));
}

/* Of `taps` neighbours along each of the spatial axes: products, and one sum less. */
static int64_t interpolation(const struct op_context *context, int64_t taps) {
    const int spatial = term_spatial(context);
    if (spatial == RANK_UNKNOWN) return DIM_UNKNOWN;
    int64_t neighbours = 1;
    for (int i = 0; i < spatial; i++) neighbours = checked_mul(neighbours, taps);
    int64_t each = checked_sub(checked_mul(2, neighbours), 1);
    return checked_mul(each, op_output_elements(context, 0));
}

static int64_t resize(const struct op_context *context, int64_t macs) {
    (void)macs;
    const char *mode = op_attr_string(context, "mode");
    if (text_equal(mode, "nearest")) return 0;
    const bool cubic = text_equal(mode, "cubic") || text_equal(mode, "bicubic");
    return interpolation(context, cubic ? 4 : 2);
}

static int64_t mean(const struct op_context *context, int64_t macs) {
    return checked_add(term_operands(context, macs), op_output_elements(context, 0));
}

/*
 * A cell, sigmoid at 4: LSTM 4 sums, 12, two tanh, 3 for the state, 1; GRU 3 sums, 8, one tanh,
 * 1 for the reset, 4 for the blend; RNN 1 sum and a tanh. Peepholes: a product and a sum each.
 */
static int64_t recurrence(const struct op_context *context, int64_t macs) {
    const int64_t gates = term_gates(context);
    int64_t each = gates == 4 ? 22 : gates == 3 ? 17 : 2;
    if (op_has_input(context, 3)) each += 2 * gates;
    if (gates == 4 && op_has_input(context, 7)) each += 6;
    return checked_mul(each, term_cells(context, macs));
}

const struct convention_row convention_exact[] = {
    /* products */
    {.op = "Conv", .per_mac = 2, .extra = exact_fused, .extra_description = "biases"},
    {.op = "ConvTranspose", .per_mac = 2, BIASES(2)},
    {.op = "DeformConv", .per_mac = 2, BIASES(3)},
    {.op = "QLinearConv", .per_mac = 2, BIASES(8)},
    {.op = "Gemm", .per_mac = 2, BIASES(2)},
    {.op = "QGemm", .per_mac = 2, BIASES(6)},
    {.op = "LSTM",
     .per_mac = 2,
     .extra = recurrence,
     .extra_description = "for gates, states and biases of the cells"},
    {.op = "GRU",
     .per_mac = 2,
     .extra = recurrence,
     .extra_description = "for gates, states and biases of the cells"},
    {.op = "RNN",
     .per_mac = 2,
     .extra = recurrence,
     .extra_description = "for gates, states and biases of the cells"},
    {.op = "Attention",
     .per_mac = 2,
     .extra = attention,
     .extra_description = "at 6 a score, 1 more for a mask and for a bias, less 2 a row"},
    {.op = "MultiHeadAttention",
     .per_mac = 2,
     .extra = attention,
     .extra_description = "at 6 a score, 1 more for a mask and for a bias, less 2 a row"},
    {.op = "DecoderMaskedMultiHeadAttention",
     .per_mac = 2,
     .extra = attention,
     .extra_description = "at 6 a score, 1 more for a mask and for a bias, less 2 a row"},
    {.op = "GroupQueryAttention",
     .per_mac = 2,
     .extra = attention,
     .extra_description = "at 6 a score, 1 more for a mask and for a bias, less 2 a row"},
    {.op = "PackedAttention",
     .per_mac = 2,
     .extra = attention,
     .extra_description = "at 6 a score, 1 more for a mask and for a bias, less 2 a row"},
    {.op = "PackedMultiHeadAttention",
     .per_mac = 2,
     .extra = attention,
     .extra_description = "at 6 a score, 1 more for a mask and for a bias, less 2 a row"},
    {.op = "QAttention",
     .per_mac = 2,
     .extra = attention,
     .extra_description = "at 6 a score, 1 more for a mask and for a bias, less 2 a row"},
    {.op = "FusedConv",
     .per_mac = 2,
     .extra = exact_fused,
     .extra_description = "biases, sums and activations"},
    {.op = "NhwcFusedConv",
     .per_mac = 2,
     .extra = exact_fused,
     .extra_description = "biases, sums and activations"},
    {.op = "NhwcConv", .per_mac = 2, BIASES(2)},
    {.op = "FusedGemm",
     .per_mac = 2,
     .extra = exact_fused,
     .extra_description = "biases and activations"},
    {.op = "GemmFastGelu",
     .per_mac = 2,
     .per_output = 8,
     .extra = exact_last_bias,
     .extra_description = "biases"},
    {.op = "MatMulNBitsMlp", .per_mac = 2, .per_output = 6}, /* SiLU and a product */
    {.op = "ConvTransposeWithDynamicPads", .per_mac = 2, BIASES(3)},
    {.op = "MatMulNBits",
     .per_mac = 2,
     .extra = exact_last_bias,
     .extra_description = "biases"},
    {.op = "MatMulIntegerToFloat",
     .per_mac = 2,
     .extra = exact_last_bias,
     .extra_description = "biases"},
    {.op = "DynamicQuantizeMatMul",
     .per_mac = 2,
     .extra = exact_last_bias,
     .extra_description = "biases"},
    {.op = "FlexAttention",
     .per_mac = 2,
     .extra = attention,
     .extra_description = "at 6 a score less 2 a row"},
    {.op = "LinearAttention",
     .per_mac = 2,
     .extra = exact_linear_attention,
     .extra_description = "for decay, rates and scale"},
    {.op = "CausalConvWithState",
     .per_mac = 2,
     .extra = exact_causal_convolution,
     .extra_description = "biases, and 5 a SiLU"},
    {.op = "Rfft",
     .per_mac = 2,
     .extra = exact_butterflies,
     .extra_description = "sums in no MAC"},
    {.op = "Irfft",
     .per_mac = 2,
     .extra = exact_butterflies,
     .extra_description = "sums in no MAC"},
    {.op = "DFT",
     .per_mac = 2,
     .extra = exact_butterflies,
     .extra_description = "sums in no MAC"},
    {.op = "STFT",
     .per_mac = 2,
     .extra = exact_frames,
     .extra_description = "sums in no MAC and the window"},
    {.op = "Det",
     .per_mac = 2,
     .extra = exact_determinant,
     .extra_description = "quotients and the diagonal"},
    {.op = "LinearClassifier",
     .per_mac = 2,
     .extra = exact_intercepts,
     .extra_description = "intercepts"},
    {.op = "LinearRegressor",
     .per_mac = 2,
     .extra = exact_intercepts,
     .extra_description = "intercepts"},
    {.op = "TreeEnsemble",
     .extra = exact_tree_votes,
     .extra_description = "trees for each row"},
    {.op = "TreeEnsembleClassifier",
     .extra = exact_tree_votes,
     .extra_description = "trees for each row"},
    {.op = "TreeEnsembleRegressor",
     .extra = exact_tree_votes,
     .extra_description = "trees for each row"},
    /* normalizations */
    {.op = "BatchNormalization",
     .extra = batch_norm,
     .extra_description = "at 2 an input element; in training 7, and 2 a channel"},
    {.op = "LayerNormalization",
     .extra = layer_norm,
     .extra_description =
         "at 7 an input element, 1 less without a shift or scale, and 2 a row"},
    {.op = "RMSNormalization",
     .extra = rms_norm,
     .extra_description = "at 4 an input element, and 2 a row"},
    {.op = "InstanceNormalization",
     .extra = instance_norm,
     .extra_description = "at 7 an input element, and 2 a row"},
    {.op = "GroupNormalization",
     .extra = group_norm,
     .extra_description = "at 7 an input element, and 2 a row"},
    {.op = "SimplifiedLayerNormalization",
     .extra = rms_norm,
     .extra_description = "at 4 an input element, and 2 a row"},
    {.op = "SkipLayerNormalization",
     .extra = exact_skip_norm,
     .extra_description = "sums, 7 an input element, 1 less without a shift, and 2 a row"},
    {.op = "SkipSimplifiedLayerNormalization",
     .extra = exact_skip_norm,
     .extra_description = "sums, 4 an input element, and 2 a row"},
    {.op = "EmbedLayerNormalization",
     .extra = exact_embedding_norm,
     .extra_description = "sums, 7 an output element, and 2 a row"},
    {.op = "GroupNorm",
     .extra = exact_vendor_group_norm,
     .extra_description = "at 7 an input element, 5 a SiLU, and 2 a row"},
    {.op = "SkipGroupNorm",
     .extra = exact_vendor_group_norm,
     .extra_description = "sums, 7 an input element, 5 a SiLU, and 2 a row"},
    {.op = "MeanVarianceNormalization",
     .extra = exact_mean_variance,
     .extra_description = "at 5 an input element, and 2 a group"},
    {.op = "LpNormalization",
     .extra = exact_lp_norm,
     .extra_description = "at 3 an input element, 1 less a row by amounts"},
    {.op = "BranchwiseRMSNorm",
     .extra = exact_branch_norm,
     .extra_description = "at 4 an input element, 1 less without a scale, and 2 a row"},
    {.op = "GatedRMSNorm",
     .extra = exact_gated_norm,
     .extra_description = "at 10 an input element, 1 less by a Sigmoid, and 2 a row"},
    {.op = "LRN",
     .extra = local_response,
     .extra_description = "at size + 4 an output element"},
    {.op = "Softmax",
     .extra = softmax,
     .extra_description = "at 5 an input element less 2 a row"},
    {.op = "LogSoftmax",
     .extra = log_softmax,
     .extra_description = "at 5 an input element less 1 a row"},
    {.op = "QLinearSoftmax",
     .extra = softmax,
     .extra_description = "at 5 an input element less 2 a row"},
    {.op = "Hardmax",
     .extra = exact_hardmax,
     .extra_description = "input elements less 1 a row"},
    /* pools and resizing */
    {.op = "MaxPool",
     .extra = max_pool,
     .extra_description = "at window less 1 an output element"},
    {.op = "AveragePool",
     .extra = average_pool,
     .extra_description = "at window an output element"},
    {.op = "QLinearAveragePool",
     .extra = average_pool,
     .extra_description = "at window an output element"},
    {.op = "MaxpoolWithMask",
     .extra = max_pool,
     .extra_description = "at window less 1 an output element"},
    {.op = "NhwcMaxPool",
     .extra = max_pool,
     .extra_description = "at window less 1 an output element"},
    {.op = "GlobalAveragePool", .per_input = 1},
    {.op = "QLinearGlobalAveragePool", .per_input = 1},
    {.op = "GlobalMaxPool", JOINS},
    {.op = "Resize",
     .extra = resize,
     .extra_description = "at 2 a neighbour less 1, an output element"},
    {.op = "Upsample",
     .extra = resize,
     .extra_description = "at 2 a neighbour less 1, an output element"},
    {.op = "CropAndResize",
     .extra = resize,
     .extra_description = "at 2 a neighbour less 1, an output element"},
    {.op = "RoiAlign",
     .extra = exact_roi_align,
     .extra_description = "at 8 a sample of an output element"},
    {.op = "AffineGrid",
     .extra = exact_affine_grid,
     .extra_description = "at 2 an axis of an output element"},
    {.op = "GridSample",
     .extra = resize,
     .extra_description = "at 2 a neighbour less 1, an output element"},
    /* activations */
    {.op = "Relu", .per_output = 1},
    {.op = "LeakyRelu", .per_output = 2},
    {.op = "PRelu", .per_output = 2},
    {.op = "ThresholdedRelu", .per_output = 1},
    {.op = "Elu", .per_output = 4},
    {.op = "Celu", .per_output = 5},
    {.op = "Selu", .per_output = 5},
    {.op = "Gelu", .extra = gelu, .extra_description = "at 5 an output element, 8 by tanh"},
    {.op = "Sigmoid", .per_output = 4},
    {.op = "Swish", .per_output = 5},
    {.op = "HardSigmoid", .per_output = 4},
    {.op = "HardSwish", .per_output = 5},
    {.op = "Mish", .per_output = 5},
    {.op = "QuickGelu", .per_output = 6},
    {.op = "FastGelu",
     .extra = exact_fast_gelu,
     .extra_description = "at 8 an output element, 9 with a bias"},
    {.op = "BiasGelu", .per_output = 6},
    {.op = "ScaledSiLU", .per_output = 6},
    {.op = "QOrderedGelu", .per_output = 5},
    {.op = "GatedAdd", .per_output = 2},
    {.op = "BiasDropout",
     .extra = exact_bias_dropout,
     .extra_description = "biases and what is added"},
    {.op = "BitmaskBiasDropout",
     .extra = exact_bias_dropout,
     .extra_description = "biases and what is added"},
    {.op = "LinearAttentionGate",
     .extra = exact_gates,
     .extra_description = "at 5 a decay and 4 a rate"},
    {.op = "GemmaRotaryEmbedding",
     .extra = exact_gemma_rotary,
     .extra_description = "at 2 an angle and 3 a turned element"},
    {.op = "ComplexMul", .per_output = 3}, /* two products and a sum for either part */
    {.op = "ComplexMulConj", .per_output = 3},
    {.op = "MRotaryEmbedding",
     .extra = exact_rotary,
     .extra_description = "at 3 a turned element"},
    {.op = "BiasSplitGelu", .per_input = 1, .per_output = 6},
    {.op = "QLinearSigmoid", .per_output = 4},
    {.op = "QLinearLeakyRelu", .per_output = 2},
    {.op = "QLinearAdd", .per_output = 1},
    {.op = "QLinearMul", .per_output = 1},
    {.op = "MulInteger", .per_output = 1},
    {.op = "BiasAdd", .per_output = 2},
    {.op = "SwiGLU", .per_output = 6},
    {.op = "RotaryEmbedding",
     .extra = exact_rotary,
     .extra_description = "at 3 a turned element"},
    {.op = "Softplus", .per_output = 3},
    {.op = "Softsign", .per_output = 3},
    {.op = "Clip", .per_output = 2},
    {.op = "Shrink", .per_output = 2},
    /* elementwise */
    {.op = "Add", .per_output = 1},
    {.op = "Sub", .per_output = 1},
    {.op = "Mul", .per_output = 1},
    {.op = "Div", .per_output = 1},
    {.op = "Mod", .per_output = 1},
    {.op = "Pow", .per_output = 1},
    {.op = "Neg", .per_output = 1},
    {.op = "Abs", .per_output = 1},
    {.op = "Sign", .per_output = 1},
    {.op = "Ceil", .per_output = 1},
    {.op = "Floor", .per_output = 1},
    {.op = "Round", .per_output = 1},
    {.op = "Reciprocal", .per_output = 1},
    {.op = "Sqrt", .per_output = 1},
    {.op = "Exp", .per_output = 1},
    {.op = "Log", .per_output = 1},
    {.op = "Erf", .per_output = 1},
    {.op = "Sin", .per_output = 1},
    {.op = "Cos", .per_output = 1},
    {.op = "Tan", .per_output = 1},
    {.op = "Asin", .per_output = 1},
    {.op = "Acos", .per_output = 1},
    {.op = "Atan", .per_output = 1},
    {.op = "Sinh", .per_output = 1},
    {.op = "Cosh", .per_output = 1},
    {.op = "Tanh", .per_output = 1},
    {.op = "Asinh", .per_output = 1},
    {.op = "Acosh", .per_output = 1},
    {.op = "Atanh", .per_output = 1},
    {.op = "Sum", OPERANDS},
    {.op = "Max", OPERANDS},
    {.op = "Min", OPERANDS},
    {.op = "Mean", .extra = mean, .extra_description = "at operands an output element"},
    {.op = "CumSum", .per_output = 1},
    {.op = "CumProd", .per_output = 1},
    {.op = "Col2Im", .per_input = 1},
    {.op = "HannWindow", .per_output = 4}, /* angle, cosine, factor, difference */
    {.op = "HammingWindow", .per_output = 4},
    {.op = "BlackmanWindow",
     .per_output = 8}, /* two angles and cosines with factors, two sums */
    {.op = "Normalizer", .per_output = 3},
    {.op = "Scaler", .per_output = 2},
    {.op = "QuantizeLinear", .per_output = 3},   /* quotient, rounding, zero point */
    {.op = "DequantizeLinear", .per_output = 2}, /* zero point, factor */
    {.op = "DynamicQuantizeLinear",
     .extra = exact_dynamic_scale,
     .extra_description = "at 5 an input element, and 5"},
    {.op = "QuantizeWithOrder", .per_output = 2}, /* quotient, rounding */
    {.op = "DequantizeWithOrder", .per_output = 1},
    {.op = "DynamicTimeWarping", .per_input = 3}, /* the least of three, a sum */
    /* losses and optimizers */
    {.op = "NegativeLogLikelihoodLoss",
     .extra = exact_likelihood,
     .extra_description =
         "at 2 a target, 1 more for weights, 1 less where nothing is put together"},
    {.op = "SoftmaxCrossEntropyLoss",
     .extra = exact_cross_entropy,
     .extra_description = "at 5 a score, and the likelihood of the targets"},
    {.op = "Adagrad", .extra = exact_adagrad, .extra_description = "at 9 a number that moves"},
    {.op = "Adam", .extra = exact_adam, .extra_description = "at 14 a number that moves"},
    {.op = "Momentum",
     .extra = exact_momentum,
     .extra_description = "at 7 a number that moves"},
    /* reductions */
    {.op = "ReduceSum", JOINS},
    {.op = "ReduceProd", JOINS},
    {.op = "ReduceMax", JOINS},
    {.op = "ReduceMin", JOINS},
    {.op = "ReduceMean", .per_input = 1},
    {.op = "QLinearReduceMean", .per_input = 1},
    {.op = "ReduceSumInteger", JOINS},
    {.op = "ReduceL1", .per_input = 1, JOINS},
    {.op = "ReduceL2", .per_input = 2},
    {.op = "ReduceSumSquare", .per_input = 1, JOINS},
    {.op = "ReduceLogSum", .per_input = 1},
    {.op = "ReduceLogSumExp", .per_input = 2},
    {.op = "ArgMax", JOINS},
    {.op = "ArgMin", JOINS},
    {.op = NULL},
};
