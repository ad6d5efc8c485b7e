/* SPDX-License-Identifier: Apache-2.0 */
/* Fused and quantized elementwise operators, norms and pools of com.microsoft. FLOPs are those
 * of the plain operators that they replace; quantizing and dequantizing costs none by the
 * default convention. */
#include "ops/contrib/common.h"
#include "ops/onnx/facets.h"
#include "ops/onnx/shared.h"

static int infer_biased(struct op_context *context) {
    int status = common_check_broadcasts(context, "bias");
    return status < 0 ? status : common_infer_same(context);
}

/* [N, S, D] -> [N, S, D / 2]: the first half times the Gelu of the second half. */
static int infer_split_gelu(struct op_context *context) {
    return contrib_output_last(context, 0, op_dtype(context, 0),
                               checked_div_floor(common_last_dim(context, 0), 2));
}

/* Sets the outputs: the normalized sum; the mean and inverse standard deviation of each row,
 * both float; the sum of input, skip and bias. A row spans the axes from `first` on. */
static int output_normalized(struct op_context *context, int64_t first) {
    const struct shape *x = op_shape(context, 0);
    struct shape rows = *x;
    int axis = 0;
    if (shape_has_rank(x)) {
        int status = op_normalize_axis(context, first, x->rank, &axis);
        if (status < 0) return status;
        if (shape_make(context->arena, x->rank, x->dims, &rows) < 0)
            return diag_no_memory(context->diag);
    }
    for (; axis < x->rank; axis++) rows.dims[axis] = 1;
    int status = common_infer_same(context);
    if (status == CM_OK) status = op_output(context, 1, DTYPE_FLOAT, &rows);
    if (status == CM_OK) status = op_output(context, 2, DTYPE_FLOAT, &rows);
    return status < 0 ? status : op_output(context, 3, op_dtype(context, 0), x);
}

static int infer_skip_norm(struct op_context *context) {
    return output_normalized(context, -1);
}

static int infer_simplified_norm(struct op_context *context) {
    return output_normalized(context, op_attr_int(context, "axis"));
}

/* Words [B, S], table [n, hidden] -> [B, S, hidden], row lengths [B], sums [B, S, hidden]. */
static int infer_embedding(struct op_context *context) {
    const int64_t dims[] = {common_dim(context, 0, 2, 0), common_dim(context, 0, 2, 1),
                            common_dim(context, 2, 2, 1)};
    const enum dtype dtype = op_dtype(context, 2);
    int status = common_check_rank_is(context, 0, 2);
    if (status == CM_OK) status = op_output_dims(context, 0, dtype, 3, dims);
    if (status == CM_OK) status = op_output_dims(context, 1, DTYPE_INT32, 1, dims);
    return status < 0 ? status : op_output_dims(context, 2, dtype, 3, dims);
}

static int infer_group_norm(struct op_context *context) {
    const int64_t groups = op_attr_int(context, "groups");
    if (groups < 1)
        return op_fail(context, DIAG_ATTRIBUTE, "groups must be >= 1, got %lld",
                       (long long)groups);
    int status = common_infer_same(context);
    return status < 0 ? status : op_output_like(context, 1, 0); /* SkipGroupNorm: the sum */
}

/* Each quantized operand is three inputs: data, scale, zero point. */
static int infer_quantized_binary(struct op_context *context) {
    struct shape both;
    int status = op_broadcast(context, op_shape(context, 0), op_shape(context, 3), &both);
    return status < 0 ? status : op_output(context, 0, op_dtype(context, 0), &both);
}

static int infer_quantized_where(struct op_context *context) {
    struct shape both, all;
    int status = op_broadcast(context, op_shape(context, 1), op_shape(context, 4), &both);
    if (status < 0) return status;
    status = op_broadcast(context, op_shape(context, 0), &both, &all);
    return status < 0 ? status : op_output(context, 0, op_dtype(context, 1), &all);
}

/* Products of 8-bit integers are int32. */
static int infer_mul_integer(struct op_context *context) {
    struct shape both;
    int status = op_broadcast(context, op_shape(context, 0), op_shape(context, 2), &both);
    return status < 0 ? status : op_output(context, 0, DTYPE_INT32, &both);
}

/* Inputs from 2 on: data, scale, zero point of each part. */
static int infer_quantized_concat(struct op_context *context) {
    const struct shape *first = op_shape(context, 2);
    struct shape all;
    int axis = 0;
    if (context->n_inputs < 5 || (context->n_inputs - 2) % 3 != 0)
        return op_fail(context, DIAG_ARITY,
                       "inputs must be scale, zero point and triples, got %zu",
                       context->n_inputs);
    if (!shape_has_rank(first))
        return op_output_dims(context, 0, op_dtype(context, 1), RANK_UNKNOWN, NULL);
    int status = op_axis(context, first->rank, &axis);
    if (status < 0) return status;
    if (shape_make(context->arena, first->rank, first->dims, &all) < 0)
        return diag_no_memory(context->diag);
    for (size_t i = 5; i < context->n_inputs; i += 3) {
        const struct shape *part = op_shape(context, i);
        const bool fits = part->rank == first->rank;
        checked_add_to(&all.dims[axis], fits ? part->dims[axis] : DIM_UNKNOWN);
    }
    return op_output(context, 0, op_dtype(context, 2), &all);
}

static int infer_global(struct op_context *context) {
    if (op_attr_int(context, "channels_last") == 0) return pool_infer_global(context);
    return contrib_infer_channels_last(context, 0, pool_infer_global);
}

static int infer_average(struct op_context *context) {
    if (op_attr_int(context, "channels_last") == 0) return pool_infer(context);
    return contrib_infer_channels_last(context, 0, pool_infer);
}

static int infer_nhwc_pool(struct op_context *context) {
    return contrib_infer_channels_last(context, 0, pool_infer);
}

/* Sums of 8-bit integers (ReduceSumInteger) have 32 bits. */
static int infer_reduced(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const bool is_sum = text_equal(context->op->type, "ReduceSumInteger");
    enum dtype dtype = op_dtype(context, 0);
    if (is_sum) dtype = dtype == DTYPE_INT8 ? DTYPE_INT32 : DTYPE_UINT32;
    bool gone[SHAPE_MAX_RANK] = {false};
    int64_t dims[SHAPE_MAX_RANK];
    size_t n = 0;
    int rank = 0;
    const int64_t *axes = op_attr_ints(context, "axes", &n);
    if (!shape_has_rank(x)) return op_output_dims(context, 0, dtype, RANK_UNKNOWN, NULL);
    for (size_t i = 0; i < n; i++) {
        int axis = 0;
        int status = op_normalize_axis(context, axes[i], x->rank, &axis);
        if (status < 0) return status;
        gone[axis] = true;
    }
    for (int axis = 0; axis < x->rank; axis++)
        if (!gone[axis] || op_attr_int(context, "keepdims") != 0)
            dims[rank++] = gone[axis] ? 1 : x->dims[axis];
    return op_output_dims(context, 0, dtype, rank, dims);
}

static int infer_quantize(struct op_context *context) {
    const enum dtype dtype = op_has_input(context, 2) ? op_dtype(context, 2) : DTYPE_UINT8;
    return common_infer_same_shape(context, dtype);
}

static int infer_dequantize(struct op_context *context) {
    return common_infer_same_shape(context, op_dtype(context, 1));
}

/* Attributes of SimplifiedLayerNormalization. ONNX Runtime writes this operator into the
 * default domain, which has no schema for it. */
static const struct op_attr simplified_layer_normalization[] = {
    INT_ATTR("axis", -1), FLOAT_ATTR("epsilon", 1e-5F), INT_ATTR("stash_type", 1), {0}};

/* clang-format off */
#define CONTRIB(name, infer_fn, letters, class, ...)                                           \
    {                                                                                          \
        SIGNATURE(CONTRIB, name, 1, __VA_ARGS__), .infer = infer_fn, .param_roles = letters,\
        .module = class, .backward.saved_for_backward = "-"                                    \
    }

static const struct op rows[] = {
    /*      type                              shape rule              roles       module */
    CONTRIB(Gelu,                             common_infer_same,      "x",         "GELU",
        DEEPSPEED(.per_input = 1), EXACT(PLUS(exact_gelu, "operations: 5 per output element, 8 by tanh")),
        PTFLOPS(.per_input = 1), ONNX_TOOL(.per_output = TOOL_EXP + 2), LOWER_ELTWISE(lower_gelu, CM_GELU, NULL)),
    CONTRIB(FastGelu,                         infer_biased,           "xn",        "GELU",
        DEEPSPEED(.per_input = 1), EXACT(PLUS(exact_fast_gelu, "operations: 8 per output element, 9 with a bias")),
        NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(BiasGelu,                         infer_biased,           "xn",        "GELU",
        DEEPSPEED(.per_input = 1), EXACT(.per_output = 6), NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(BiasSplitGelu,                    infer_split_gelu,       "xn",        NULL,
        DEEPSPEED(.per_output = 1), EXACT(.per_input = 1, .per_output = 6), NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(BiasAdd,                          infer_biased,           "xnx",       NULL,
        EXACT(.per_output = 2), NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(BiasSoftmax,                      common_infer_same,      "xm",        "Softmax",
        DEEPSPEED(.per_input = 1), AUTOCAST(FLOAT), NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(SkipLayerNormalization,           infer_skip_norm,        "xxnnn",     "LayerNorm",
        DEEPSPEED(.per_input = 5), AUTOCAST(FLOAT),
        EXACT(PLUS(exact_skip_norm, "sums, 7 per input element, 1 less without a shift, and 2 per row")),
        NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(SkipSimplifiedLayerNormalization, infer_skip_norm,        "xxnn",      "RMSNorm",
        AUTOCAST(FLOAT), EXACT(PLUS(exact_skip_norm, "sums, 4 per input element, and 2 per row")), NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(EmbedLayerNormalization,          infer_embedding,        "iinnnnnii", NULL,
        DEEPSPEED(.per_output = 5), AUTOCAST(FLOAT),
        EXACT(PLUS(exact_embedding_norm, "sums, 7 per output element, and 2 per row")), NO_PRIMITIVE(NO_FUSED),
        LOOKUP(2, 4)),
    CONTRIB(GroupNorm,                        infer_group_norm,       "xnn",       "GroupNorm",
        DEEPSPEED(.per_input = 5), AUTOCAST(FLOAT),
        EXACT(PLUS(exact_contrib_group_norm, "operations: 7 per input element, 5 per SiLU, and 2 per row")),
        NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(SkipGroupNorm,                    infer_group_norm,       "xnnxn",     "GroupNorm",
        DEEPSPEED(.per_input = 5), AUTOCAST(FLOAT),
        EXACT(PLUS(exact_contrib_group_norm, "sums, 7 per input element, 5 per SiLU, and 2 per row")),
        NO_PRIMITIVE(NO_FUSED)),
    CONTRIB(QLinearAdd,                       infer_quantized_binary, "eiieii",    NULL,
        EXACT(.per_output = 1), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_NONE)),
    CONTRIB(QLinearMul,                       infer_quantized_binary, "eiieii",    NULL,
        EXACT(.per_output = 1), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_NONE)),
    CONTRIB(QLinearWhere,                     infer_quantized_where,  "meiieii",   NULL, NO_PRIMITIVE(NO_QUANTIZED)),
    CONTRIB(QLinearSigmoid,                   common_infer_same,      "xi",        "Sigmoid",
        EXACT(.per_output = 4), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_NONE)),
    CONTRIB(QLinearLeakyRelu,                 common_infer_same,      "xi",        "LeakyReLU",
        DEEPSPEED(.per_input = 1), EXACT(.per_output = 2), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_NONE)),
    CONTRIB(QLinearSoftmax,                   common_infer_same,      "xi",        "Softmax",
        DEEPSPEED(.per_input = 1), EXACT(EXACT_SOFTMAX), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_NONE)),
    CONTRIB(QLinearConcat,                    infer_quantized_concat, "x",         NULL, NO_PRIMITIVE(NO_QUANTIZED)),
    CONTRIB(QLinearGlobalAveragePool,         infer_global,           "xi",        "AdaptiveAvgPool{n}d",
        DEEPSPEED(.per_input = 1), EXACT(.per_input = 1), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_NONE)),
    CONTRIB(QLinearAveragePool,               infer_average,          "xi",        "AvgPool{n}d",
        DEEPSPEED(.per_input = 1), EXACT(EXACT_AVERAGE_POOL), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_NONE)),
    CONTRIB(QLinearReduceMean,                infer_reduced,          "xi",        NULL,
        EXACT(.per_input = 1), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_NONE)),
    CONTRIB(ReduceSumInteger,                 infer_reduced,          "x",         NULL,
        EXACT(REDUCTION), NO_PRIMITIVE(NO_QUANTIZED)),
    CONTRIB(NhwcMaxPool,                      infer_nhwc_pool,        "x",         "MaxPool{n}d",
        DEEPSPEED(.per_input = 1), EXACT(EXACT_MAX_POOL), NO_PRIMITIVE(NO_CHANNELS_LAST)),
    CONTRIB(MulInteger,                       infer_mul_integer,      "eiei",      NULL,
        EXACT(.per_output = 1), NO_PRIMITIVE(NO_QUANTIZED)),
    CONTRIB(QuantizeLinear,                   infer_quantize,         "pii",       NULL,
        EXACT(.per_output = 3), ONNX_TOOL(.per_output = 2), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_NONE)), /* quotient, rounding, zero point */
    CONTRIB(DequantizeLinear,                 infer_dequantize,       "pii",       NULL,
        EXACT(.per_output = 2), ONNX_TOOL(.per_output = 2), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_SCALED)), /* zero point, factor */
    {OP_SIGNATURE("", "SimplifiedLayerNormalization", 1, 2, 2, 1, 2, simplified_layer_normalization),
     .facets = &(const struct op_facets){AUTOCAST(FLOAT), EXACT(EXACT_RMS_NORM),
        LOWER(lower_norm, CM_NORM, CM_NORM_RMS, IMAGES_NONE, NULL)},
     .infer = infer_simplified_norm, .param_roles = "xn", .module = "RMSNorm", .backward.saved_for_backward = "-"},
};
/* clang-format on */

OP_FAMILY(contrib, .why_free = "moves or picks elements",
          .declines = FACETS_RARE | FACET_EXACT | FACET_BOUNDS);
