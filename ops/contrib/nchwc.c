/* SPDX-License-Identifier: Apache-2.0 */
/* com.microsoft.nchwc, which ONNX Runtime writes at its highest optimization level for CPUs:
 * channels in blocks of 8 or 16 (depending on the CPU), padded with zeros. Dims are [N, padded
 * channels, spatial…]; costs include the padding, as the weights are padded too. */
#include "ops/contrib/common.h"
#include "ops/onnx/facets.h"
#include "ops/onnx/shared.h"

/* Multiples of this number of channels need no padding, whatever the block size is. */
#define LARGEST_BLOCK 16

static int64_t padded(int64_t channels) {
    return is_known(channels) && channels % LARGEST_BLOCK == 0 ? channels : DIM_UNKNOWN;
}

/* Reorders [N, channels, …] or, with channels_last, [N, …, channels] to or from blocks. */
static int infer_reorder(struct op_context *context) {
    const bool into_blocks = text_equal(context->op->type, "ReorderInput");
    const struct shape *x = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    int status = common_check_rank(context, 0, 3);
    if (status < 0 || !shape_has_rank(x))
        return status < 0 ? status : common_infer_unknown_rank(context);
    const int channels = op_attr_int(context, "channels_last") != 0 ? x->rank - 1 : 1;
    const int from = into_blocks ? channels : 1;
    const int to = into_blocks ? 1 : channels;
    for (int axis = 0, next = 0; axis < x->rank; axis++) {
        if (next == from) next++;
        if (axis != to) dims[axis] = x->dims[next++];
    }
    dims[to] = into_blocks ? padded(x->dims[from]) : op_attr_int(context, "channels");
    return op_output_dims(context, 0, op_dtype(context, 0), x->rank, dims);
}

static int infer_conv(struct op_context *context) {
    return convolution_infer(context, op_dtype(context, 0));
}

/* `scales`: integer factors, one per axis. */
static int infer_upsample(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    size_t n = 0;
    const int64_t *scales = op_attr_ints(context, "scales", &n);
    if (!shape_has_rank(x)) return common_infer_unknown_rank(context);
    if (n != 0 && n != (size_t)x->rank)
        return op_fail(context, DIAG_ATTRIBUTE, "scales must have %d entries, got %zu", x->rank,
                       n);
    for (int axis = 0; axis < x->rank; axis++) {
        if (n > 0 && scales[axis] < 1)
            return op_fail(context, DIAG_ATTRIBUTE,
                           "the scale of axis %d must be >= 1, got %lld", axis,
                           (long long)scales[axis]);
        dims[axis] = n > 0 ? checked_mul(x->dims[axis], scales[axis]) : x->dims[axis];
    }
    return op_output_dims(context, 0, op_dtype(context, 0), x->rank, dims);
}

/* clang-format off */
#define NCHWC(name, infer_fn, letters, class, ...)                                             \
    SIGNATURE(NCHWC, name, 1, __VA_ARGS__), .infer = infer_fn, .param_roles = letters, .module = class,\
    .backward.saved_for_backward = "-"

static const struct op rows[] = {
    {NCHWC(ReorderInput,  infer_reorder, "p", NULL, NO_PRIMITIVE(NO_BLOCKED_LAYOUT))},
    {NCHWC(ReorderOutput, infer_reorder, "p", NULL, NO_PRIMITIVE(NO_BLOCKED_LAYOUT))},
    {NCHWC(Conv, infer_conv, "xWWx", "Conv{n}d",
        DEEPSPEED(EXACT_FUSED), EXACT(PLUS(exact_fused, "biases")), PTFLOPS(.per_mac = 1, BIASES),
        PTFLOPS_ATEN(.per_mac = 1, BIASES), ONNX_TOOL(.per_mac = 1, BIASES), NO_PRIMITIVE(NO_BLOCKED_LAYOUT),
        MULTIPLIES(2, scale_conv_sums)), .weight = 1, .bias = 2,
     .cost = {convolution_macs, "out x input channels of a group x kernel"}},
    {NCHWC(MaxPool,           pool_infer,     "x", "MaxPool{n}d",
        DEEPSPEED(.per_input = 1), EXACT(EXACT_MAX_POOL), PTFLOPS(.per_input = 1), ONNX_TOOL(ONNX_TOOL_POOL),
        NO_PRIMITIVE(NO_BLOCKED_LAYOUT))},
    {NCHWC(AveragePool,       pool_infer,     "x", "AvgPool{n}d",
        DEEPSPEED(.per_input = 1), EXACT(EXACT_AVERAGE_POOL), PTFLOPS(.per_input = 1), THOP(.per_output = 1),
        ONNX_TOOL(ONNX_TOOL_POOL), NO_PRIMITIVE(NO_BLOCKED_LAYOUT))},
    {NCHWC(GlobalMaxPool,     pool_infer_global, "x", "AdaptiveMaxPool{n}d",
        DEEPSPEED(.per_input = 1), EXACT(REDUCTION), PTFLOPS(.per_input = 1), NO_PRIMITIVE(NO_BLOCKED_LAYOUT))},
    {NCHWC(GlobalAveragePool, pool_infer_global, "x", "AdaptiveAvgPool{n}d",
        DEEPSPEED(.per_input = 1), EXACT(.per_input = 1), FVCORE(PLUS(fvcore_planar_input, "input elements of an image")),
        PTFLOPS(.per_input = 1), THOP(.per_input = 1, .per_output = 1), ONNX_TOOL(.per_input = 1, .per_output = TOOL_DIV),
        NO_PRIMITIVE(NO_BLOCKED_LAYOUT))},
    {NCHWC(Upsample,          infer_upsample, "x", "Upsample",
        DEEPSPEED(.per_output = 1), AUTOCAST(FLOAT), EXACT(EXACT_RESIZE), FVCORE(FVCORE_RESIZE), PTFLOPS(.per_output = 1),
        THOP(THOP_RESIZE), ONNX_TOOL(ONNX_TOOL_RESIZE), NO_PRIMITIVE(NO_BLOCKED_LAYOUT), INTEGERS(INTEGERS_NONE))},
};
/* clang-format on */

OP_FAMILY(contrib_nchwc, .why_free = "moves elements",
          .declines = FACETS_RARE | FACET_EXACT | FACET_BOUNDS);
