/* SPDX-License-Identifier: Apache-2.0 */
/* Normalizations. MACs 0. FLOPs by the default convention, n = elements of the input:
 *     BatchNormalization                       2 n, in training 5 n
 *     LayerNorm, GroupNorm, InstanceNorm       5 n
 *     LRN, LpNormalization, RMSNormalization   0: DeepSpeed's profiler does not count them
 */
#include <stdio.h>
#include <stdlib.h>

#include "ops/common.h"
#include "ops/onnx/facets.h"

/* Returns the number of channels: dim 1, or 1 for a vector (BatchNormalization-9). */
static int64_t n_channels(const struct op_context *context) {
    int rank = op_rank(context, 0);
    if (rank == 1) return 1;
    return rank < 2 ? DIM_UNKNOWN : op_dim(context, 0, 1);
}

/* Returns true if statistics are per channel; with spatial=0 (before opset 9) per position. */
static bool per_channel(const struct op_context *context) {
    return context->op->since >= 9 || op_attr_int(context, "spatial") != 0;
}

static int64_t n_statistics(const struct op_context *context) {
    int64_t channels = per_channel(context) ? n_channels(context) : DIM_UNKNOWN;
    for (size_t i = 1; i < 5 && !is_known(channels); i++)
        if (op_rank(context, i) == 1) channels = op_dim(context, i, 0);
    return channels;
}

static int infer_batch_norm(struct op_context *context) {
    int64_t channels = n_statistics(context);
    int status = common_check_rank(context, 0, 1);
    for (size_t i = 1; i < 5 && status == CM_OK; i++)
        if (per_channel(context)) status = common_check_length(context, i, channels);
    if (status == CM_OK) status = common_infer_same(context);
    for (size_t i = 1; i < context->n_outputs && status == CM_OK; i++) {
        int rank = per_channel(context) ? 1 : RANK_UNKNOWN;
        status = op_output_dims(context, i, op_dtype(context, 3), rank, &channels);
    }
    return status;
}

/* Returns true in training mode: from opset 14 on if training_mode is set; before if the node
 * outputs statistics, unless is_test is set (before opset 7). */
static bool batch_norm_trains(const struct op_context *context) {
    if (context->op->since >= 14) return op_attr_int(context, "training_mode") != 0;
    if (context->op->since < 7 && op_attr_int(context, "is_test") != 0) return false;
    for (size_t i = 1; i < context->n_outputs; i++)
        if (op_has_output(context, i)) return true;
    return false;
}

static int describe_batch_norm(const struct op_context *context, struct text *out) {
    char rounded[40]; /* momentum of PyTorch is 1 - momentum of ONNX */
    snprintf(rounded, sizeof(rounded), "%.6g", 1 - op_attr_float(context, "momentum"));
    describe_int(out, n_statistics(context));
    (void)describe_float_attr(context, ", eps", "epsilon", out);
    text_append(out, ", momentum=");
    describe_real(out, strtod(rounded, NULL));
    text_append(out, ", affine=True, track_running_stats=True");
    return CM_OK;
}

static int infer_instance_norm(struct op_context *context) {
    int64_t channels = n_channels(context);
    int status = common_check_rank(context, 0, 3);
    for (size_t i = 1; i < 3 && status == CM_OK; i++)
        status = common_check_length(context, i, channels);
    return status < 0 ? status : common_infer_same(context);
}

static int describe_instance_norm(const struct op_context *context, struct text *out) {
    describe_int(out, n_channels(context));
    (void)describe_float_attr(context, ", eps", "epsilon", out);
    text_append(out, ", momentum=0.1, affine=True, track_running_stats=False");
    return CM_OK;
}

/* Scale and bias are per group in opset 18, per channel from opset 21 on. */
static int infer_group_norm(struct op_context *context) {
    int64_t groups = op_attr_int(context, "num_groups");
    int64_t channels = n_channels(context);
    int status = common_check_rank(context, 0, 2);
    if (status < 0) return status;
    if (groups < 1 || (is_known(channels) && channels % groups != 0))
        return op_fail(context, DIAG_ATTRIBUTE, "%s channels do not divide into %lld groups",
                       shape_dim_text(context->arena, channels), (long long)groups);
    int64_t n = context->op->since < 21 ? groups : channels;
    for (size_t i = 1; i < 3 && status == CM_OK; i++)
        status = common_check_length(context, i, n);
    return status < 0 ? status : common_infer_same(context);
}

static int describe_group_norm(const struct op_context *context, struct text *out) {
    describe_int(out, op_attr_int(context, "num_groups"));
    text_append(out, ", ");
    describe_int(out, n_channels(context));
    (void)describe_float_attr(context, ", eps", "epsilon", out);
    text_printf(out, ", affine=%s", op_has_input(context, 1) ? "True" : "False");
    return CM_OK;
}

/* Scale and bias broadcast to the normalized axes. Outputs 1 and 2: mean and inverse standard
 * deviation of each row, with dtype stash_type. */
static int infer_layer_norm(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const enum dtype stash = dtype_from_onnx(op_attr_int(context, "stash_type"));
    int64_t dims[SHAPE_MAX_RANK];
    struct shape normalized = shape_unknown(), both;
    int axis = 0;
    int status = shape_has_rank(x) ? op_axis(context, x->rank, &axis) : CM_OK;
    if (status < 0) return status;
    if (shape_has_rank(x)) normalized = (struct shape){x->rank - axis, &x->dims[axis]};
    for (size_t i = 1; i < context->n_inputs; i++) {
        status = op_broadcast(context, &normalized, op_shape(context, i), &both);
        if (status < 0) return status;
        if (shape_is_known(&normalized) && shape_is_known(&both) &&
            !shape_equal(&normalized, &both))
            return op_fail(context, DIAG_SHAPE, "input %zu has the shape %s, %s is normalized",
                           i, op_shape_text(context, op_shape(context, i)),
                           op_shape_text(context, &normalized));
    }
    for (int i = 0; i < x->rank; i++) dims[i] = i < axis ? x->dims[i] : 1;
    for (size_t i = 1; i < context->n_outputs && status == CM_OK; i++)
        status = op_output_dims(context, i, stash, x->rank, dims);
    return status < 0 ? status : common_infer_same(context);
}

static int describe_layer_norm(const struct op_context *context, struct text *out) {
    int rank = op_rank(context, 0);
    int axis = 0;
    if (rank < 1) return CM_OK;
    int status = op_axis(context, rank, &axis);
    if (status < 0) return status;
    describe_tuple(out, (size_t)(rank - axis), op_shape(context, 0)->dims + axis);
    (void)describe_float_attr(context, ", eps", "epsilon", out);
    text_printf(out, ", elementwise_affine=%s", op_has_input(context, 1) ? "True" : "False");
    return CM_OK;
}

static int infer_along_axis(struct op_context *context) {
    const int rank = op_rank(context, 0);
    int axis = 0;
    int status = rank == RANK_UNKNOWN ? CM_OK : op_axis(context, rank, &axis);
    return status < 0 ? status : common_infer_same(context);
}

static int infer_lrn(struct op_context *context) {
    int status = common_check_rank(context, 0, 2);
    if (status < 0) return status;
    if (op_attr_int(context, "size") < 1)
        return op_fail(context, DIAG_ATTRIBUTE, "size must be >= 1, got %lld",
                       (long long)op_attr_int(context, "size"));
    return common_infer_same(context);
}

static int describe_lrn(const struct op_context *context, struct text *out) {
    describe_int(out, op_attr_int(context, "size"));
    (void)describe_float_attr(context, ", alpha", "alpha", out);
    (void)describe_float_attr(context, ", beta", "beta", out);
    return describe_float_attr(context, ", k", "bias", out);
}

/* Returns the saved bytes of a mean and an inverse standard deviation per row, as float. */
static int64_t two_statistics(int64_t rows) {
    return dtype_bytes(DTYPE_FLOAT, checked_mul(2, rows));
}

/* In inference the running statistics are used: nothing is saved. */
static int64_t batch_statistics(const struct op_context *context) {
    return context->training ? two_statistics(n_statistics(context)) : 0;
}

static int64_t instance_statistics(const struct op_context *context) {
    if (op_rank(context, 0) < 2) return DIM_UNKNOWN;
    return two_statistics(checked_mul(op_dim(context, 0, 0), n_channels(context)));
}

static int64_t group_statistics(const struct op_context *context) {
    if (op_rank(context, 0) < 2) return DIM_UNKNOWN;
    return two_statistics(
        checked_mul(op_dim(context, 0, 0), op_attr_int(context, "num_groups")));
}

static int64_t layer_statistics(const struct op_context *context) {
    return two_statistics(term_rows_before_axis(context));
}

static int64_t rms_statistics(const struct op_context *context) {
    return dtype_bytes(DTYPE_FLOAT, term_rows_before_axis(context));
}

/* Returns the saved bytes of LRN: the divisor of each element. */
static int64_t input_bytes(const struct op_context *context) {
    return dtype_bytes(op_dtype(context, 0), op_elements(context, 0));
}

/* clang-format off */
#define BATCH_NORM(from)                                                                       \
    {                                                                                          \
        SIGNATURE(ONNX, BatchNormalization, from,                                              \
            DEEPSPEED(PLUS(term_batch_norm, "operations: 2 per input element, 5 in training")), \
            EXACT(PLUS(exact_batch_norm, "operations: 2 per input element; in training 7, and 2 per channel")), \
            FVCORE(PLUS(term_batch_norm, "operations: 2 per input element, 5 in training")),   \
            PTFLOPS(.per_input = 2), THOP(.per_input = 4), BOUNDS("d-"),                       \
            ONNX_TOOL(.per_input = 1 + TOOL_SQRT + TOOL_DIV + 1 + 1),                          \
            LOWER(lower_norm, CM_NORM, CM_NORM_BATCH, IMAGES_HERE, NULL)),                     \
        .infer = infer_batch_norm,                                                             \
        .memory = MEMORY_IN_PLACE_UNLESS_TRAINING, .trains = batch_norm_trains,                \
        .param_roles = "xnnss", .module = "BatchNorm{n}d", .describe = describe_batch_norm,    \
        .backward.saved_for_backward = "0134e,0134e,0134e,-",                                  \
        .backward.extra = batch_statistics                                                     \
    }
#define NORM(name, from, infer_fn, letters, class, print, keeps, more, ...)                    \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, __VA_ARGS__), .infer = infer_fn, .param_roles = letters,\
        .module = class, .describe = print,                                                    \
        .backward.saved_for_backward = keeps, .backward.extra = more                           \
    }

static const struct op rows[] = {
    BATCH_NORM(1),
    BATCH_NORM(6),
    BATCH_NORM(7),
    BATCH_NORM(9),
    BATCH_NORM(14),
    SINCE2(NORM, InstanceNormalization, 1, 6, infer_instance_norm, "xnn", "InstanceNorm{n}d",  describe_instance_norm, "01e", instance_statistics,
        DEEPSPEED(.per_input = 5), EXACT(PLUS(exact_instance_norm, "operations: 7 per input element, and 2 per row")),
        FVCORE(.per_input = 5), PTFLOPS(.per_input = 2), THOP(.per_input = 4), ONNX_TOOL(.per_input = 3 + TOOL_DIV),
        LOWER(lower_norm, CM_NORM, CM_NORM_INSTANCE, IMAGES_HERE, NULL), BOUNDS("d-")),
    SINCE2(NORM, GroupNormalization, 18, 21,  infer_group_norm,    "xnn", "GroupNorm",         describe_group_norm,    "01e", group_statistics,
        DEEPSPEED(.per_input = 5), AUTOCAST(FLOAT),
        EXACT(PLUS(exact_group_norm, "operations: 7 per input element, and 2 per row")), FVCORE(.per_input = 5),
        PTFLOPS(.per_input = 2), LOWER(lower_norm, CM_NORM, CM_NORM_GROUP, IMAGES_HERE, NULL), BOUNDS("d-")),
    NORM(LayerNormalization, 17,              infer_layer_norm,    "xnn", "LayerNorm",         describe_layer_norm,    "01e", layer_statistics,
        DEEPSPEED(.per_input = 5), AUTOCAST(FLOAT),
        EXACT(PLUS(exact_layer_norm, "operations: 7 per input element, 1 less without a shift or scale, and 2 per row")),
        FVCORE(.per_input = 5), PTFLOPS(.per_input = 1), THOP(.per_input = 4),
        ONNX_TOOL(.per_input = 7, PLUS(onnx_tool_layer_norm, "operations: 29 per row")),
        LOWER(lower_norm, CM_NORM, CM_NORM_LAYER, IMAGES_NONE, NULL), BOUNDS("d-")),
    NORM(RMSNormalization, 23,                infer_layer_norm,    "xn",  "RMSNorm",           describe_layer_norm,    "01e", rms_statistics,
        AUTOCAST(FLOAT), EXACT(EXACT_RMS_NORM), LOWER(lower_norm, CM_NORM, CM_NORM_RMS, IMAGES_NONE, NULL), BOUNDS("d-")),
    NORM(LRN, 1,                              infer_lrn,           "x",   "LocalResponseNorm", describe_lrn,           "0e",  input_bytes,
        EXACT(PLUS(exact_local_response, "operations: (size + 4) per output element")),
        ONNX_TOOL(PLUS(onnx_tool_local_response, "operations: (size + 37) per output element")),
        LOWER(lower_lrn, CM_NORM, CM_NORM_LRN, IMAGES_HERE, LIMIT_SPATIAL), BOUNDS("d")),
    NORM(LpNormalization, 1,                  infer_along_axis,    "x",   NULL,                NULL,                   "0y",  NULL,
        AUTOCAST(FLOAT), EXACT(PLUS(exact_lp_norm, "operations: 3 per input element, 1 less per row for L1")),
        ONNX_TOOL(.per_input = TOOL_EXP + 1), NO_PRIMITIVE(TWO_PRIMITIVES), BOUNDS("d")),
    NORM(MeanVarianceNormalization, 9,        common_infer_same,   "x",   NULL,                NULL,                   "0y",  NULL,
        AUTOCAST(FLOAT), EXACT(PLUS(exact_mean_variance, "operations: 5 per input element, and 2 per group")),
        LOWER(lower_mean_variance, CM_NORM, CM_NORM_BATCH_TRAINING, IMAGES_HERE, "other axes than all but the channels have no primitive"),
        BOUNDS("d")),
};
/* clang-format on */

OP_FAMILY(norm, .declines = FACETS_RARE);
