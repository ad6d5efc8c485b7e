/* SPDX-License-Identifier: Apache-2.0 */
/* Propagation of quantization scales: see qdq_propagation.h. Functions for data movement map
 * axes of operand 0 to axes of output 0; functions for products return the summed axes of an
 * operand. */
#include "ops/qdq_propagation.h"

#include "ops/common.h"
#include "ops/integers.h"
#include "ops/op_context.h"
#include "support/text.h"

static const struct op_qdq *qdq_of(const struct op *op) {
    static const struct op_qdq none;
    return op->facets ? &op->facets->qdq : &none;
}

static scale_axes axis_range(int first, int end) {
    scale_axes axes = SCALE_NONE;
    for (int axis = first; axis < end; axis++) axes |= scale_axis(axis);
    return axes;
}

static scale_axes scale_of_operand(const struct op_context *context,
                                   const scale_axes *of_values, size_t i) {
    const uint32_t value = context->node->inputs[i];
    return value == ID_NONE ? SCALE_NONE : of_values[value];
}

/* Sets *ret to the attribute `axis` (default `otherwise`), made non-negative. Returns false if
 * operand 0 does not have this axis. */
static bool get_axis(const struct op_context *context, int64_t otherwise, int *ret) {
    const int rank = op_rank(context, 0);
    const int64_t axis =
        op_has_attr(context, "axis") ? op_attr_int(context, "axis") : otherwise;
    return rank != RANK_UNKNOWN && shape_axis(axis, rank, ret);
}

/* ---- DequantizeLinear ---- */

/* Returns the axes along which the scale of a DequantizeLinear varies: none for one scale,
 * `axis` for a vector; for blocked scales every axis with several blocks. */
static scale_axes scale_of_dequantize(const struct op_context *context) {
    const struct shape *scale = op_shape(context, 1);
    int axis = 0;
    if (op_elements(context, 1) == 1) return SCALED;
    if (!shape_has_rank(scale)) return SCALE_NONE;
    if (scale->rank == 1)
        return get_axis(context, 1, &axis) ? SCALED | scale_axis(axis) : SCALE_NONE;
    scale_axes axes = SCALED;
    for (int i = 0; i < scale->rank; i++)
        if (scale->dims[i] != 1) axes |= scale_axis(i);
    return axes;
}

/* ---- Data movement. The rank of operand 0 is known. ---- */

scale_axes scale_unchanged(const struct op_context *context, scale_axes axes) {
    (void)context;
    return axes;
}

scale_axes scale_along_all_axes(const struct op_context *context, scale_axes axes) {
    (void)context;
    (void)axes;
    return SCALE_ALL_AXES;
}

scale_axes scale_through_transpose(const struct op_context *context, scale_axes axes) {
    size_t n = 0;
    const int64_t *perm = op_attr_ints(context, "perm", &n);
    const int rank = op_rank(context, 0);
    scale_axes moved = SCALE_NONE;
    for (int i = 0; i < rank; i++) {
        const int64_t from = perm ? perm[i] : rank - 1 - i;
        if (axes & scale_axis((int)from)) moved |= scale_axis(i);
    }
    return moved;
}

/* Operand axes align with the last output axes. */
scale_axes scale_through_expand(const struct op_context *context, scale_axes axes) {
    const struct shape *out = op_output_shape(context, 0);
    if (!shape_has_rank(out)) return scale_along_all_axes(context, axes);
    return axes << (out->rank - op_rank(context, 0));
}

/* Consecutive axes begin .. end - 1 of a shape. */
struct group {
    const struct shape *shape;
    int begin, end;
    int64_t elements; /* product of their dims */
};

/* Adds the next axis to the group. Returns false if there is none. */
static bool extend_group(struct group *group) {
    if (group->end == group->shape->rank) return false;
    group->elements = checked_mul(group->elements, group->shape->dims[group->end++]);
    return true;
}

/* A Reshape keeps the row-major order. Splits both shapes into groups of axes with equal
 * products, for example [6,4] to [2,3,4] into 6 = 2 * 3 and 4 = 4: a scale that varies along an
 * axis of a group may vary along every axis of the other group. If no groups have equal
 * products, for example because a dim is unknown or 0, both take all remaining axes. */
scale_axes scale_through_reshape(const struct op_context *context, scale_axes axes) {
    struct group in = {.shape = op_shape(context, 0)};
    struct group out = {.shape = op_output_shape(context, 0)};
    scale_axes moved = SCALE_NONE;
    if (!shape_has_rank(out.shape)) return scale_along_all_axes(context, axes);
    while (in.end < in.shape->rank || out.end < out.shape->rank) {
        in.begin = in.end;
        out.begin = out.end;
        in.elements = out.elements = 1;
        (void)extend_group(&in);
        (void)extend_group(&out);
        while (in.elements > 0 && out.elements > 0 && in.elements != out.elements)
            if (!extend_group(in.elements < out.elements ? &in : &out)) break;
        if (in.elements <= 0 || in.elements != out.elements) {
            in.end = in.shape->rank;
            out.end = out.shape->rank;
        }
        if (axes & axis_range(in.begin, in.end)) moved |= axis_range(out.begin, out.end);
    }
    return moved;
}

/* The gathered axis is replaced by the axes of the indices. */
scale_axes scale_through_gather(const struct op_context *context, scale_axes axes) {
    const int rank = op_rank(context, 1);
    int axis = 0;
    if (rank < 0 || rank > SHAPE_MAX_RANK - 2 || !get_axis(context, 0, &axis))
        return scale_along_all_axes(context, axes);
    const scale_axes before = axes & axis_range(0, axis);
    const scale_axes picked =
        axes & scale_axis(axis) ? axis_range(axis, axis + rank) : SCALE_NONE;
    const scale_axes behind = axes >> axis >> 1;
    return before | picked | behind << axis << rank;
}

/* A scale that varies along the gathered axis may vary along all axes of the output. */
scale_axes scale_through_gather_elements(const struct op_context *context, scale_axes axes) {
    int axis = 0;
    if (!get_axis(context, 0, &axis) || axes & scale_axis(axis))
        return scale_along_all_axes(context, axes);
    return axes;
}

/* Returns true if the padding value is not known to be 0, the only value that every scale can
 * represent. */
bool scale_is_lost_by_pad(const struct op_context *context) {
    if (!text_equal(op_attr_string(context, "mode"), "constant")) return false;
    if (!op_has_input(context, 2)) return op_attr_float(context, "value") != 0;
    const struct constant *value = common_contents(context, 2);
    return !value || value->n_elements != 1 || !constant_has_reals(value) ||
           constant_real_at(value, 0) != 0;
}

static scale_axes scale_of_moved_output(const struct op_context *context,
                                        const scale_axes *of_values, bool same, size_t slot) {
    const struct op_qdq *qdq = qdq_of(context->op);
    if (!qdq->moves || context->n_inputs == 0 || (qdq->is_lost && qdq->is_lost(context)))
        return SCALE_NONE;
    if (!qdq->all_outputs && slot > 0) return SCALE_NONE;
    const scale_axes first = scale_of_operand(context, of_values, 0);
    if (!qdq->joins) {
        if ((first & SCALE_ALL_AXES) == 0) return first;
        if (op_rank(context, 0) == RANK_UNKNOWN) return SCALE_NONE;
        return SCALED | qdq->moves(context, first & SCALE_ALL_AXES);
    }
    /* Concat: if the operands have different scale tensors, the scale also varies along `axis`
     */
    scale_axes all = SCALE_NONE;
    int axis = 0;
    for (size_t i = 0; i < context->n_inputs; i++) {
        const scale_axes given = scale_of_operand(context, of_values, i);
        if (given == SCALE_NONE || !get_axis(context, 1, &axis)) return SCALE_NONE;
        same = same && given == first;
        all |= given;
    }
    return same || context->n_inputs == 1 ? all : all | scale_axis(axis);
}

scale_axes scale_of_output(const struct op_context *context, const scale_axes *of_values,
                           bool same, size_t slot) {
    const struct value_info *output = &context->outputs[slot];
    const struct shape *shape = &output->shape;
    scale_axes axes = SCALE_NONE;
    /* 8-bit floats cannot represent all dequantized integers */
    if (!dtype_is_float(output->dtype) || dtype_bits(output->dtype) < 16) return SCALE_NONE;
    if (shape->rank == SHAPE_MAX_RANK) return SCALE_NONE;
    if (!dtype_is_integer(op_dtype(context, 0)))
        axes = scale_of_moved_output(context, of_values, same, slot);
    else if (integers_are_scaled(context->op))
        axes = scale_of_dequantize(context);
    for (int i = 0; shape_has_rank(shape) && i < shape->rank; i++)
        if (shape->dims[i] == 1) axes &= ~scale_axis(i); /* a scale cannot vary along it */
    return axes;
}

/* ---- Products: the axes of an operand that are summed over. ---- */

static bool has_one_channel_per_group(const struct op_context *context, int channels) {
    const int rank = op_rank(context, 0);
    return rank > channels && op_dim(context, 0, channels) == op_attr_int(context, "group");
}

/* x [n, c, ...], weight [out, c, ...]: all axes but the first are summed over. The channels of
 * x (axis `channels`) are not if the convolution is depthwise. */
static scale_axes conv_sums(const struct op_context *context, size_t operand, int channels) {
    const bool depthwise =
        operand == 0 && channels > 0 && has_one_channel_per_group(context, channels);
    return SCALE_ALL_AXES & ~scale_axis(0) & ~(depthwise ? scale_axis(channels) : SCALE_NONE);
}

scale_axes scale_conv_sums(const struct op_context *context, size_t operand) {
    return conv_sums(context, operand, 1);
}

/* x [n, ..., c] */
scale_axes scale_nhwc_conv_sums(const struct op_context *context, size_t operand) {
    return conv_sums(context, operand, op_rank(context, 0) - 1);
}

/* x [n, c, ...], weight [c, out / groups, ...] */
scale_axes scale_transposed_conv_sums(const struct op_context *context, size_t operand) {
    const int channels = operand == 0 ? 1 : 0;
    const bool depthwise = has_one_channel_per_group(context, 1);
    return SCALE_ALL_AXES & ~scale_axis(1 - channels) &
           ~(depthwise ? scale_axis(channels) : SCALE_NONE);
}

/* x [n, c, step], weight [c, 1, kernel]: depthwise, only the last axis is summed over. */
scale_axes scale_causal_conv_sums(const struct op_context *context, size_t operand) {
    (void)context;
    return SCALE_ALL_AXES & ~axis_range(0, operand == 0 ? 2 : 1);
}

/* Returns the axis K of a matrix product. Operand 0 is [..., M, K], transposed [..., K, M];
 * operand 1 is [..., K, N], transposed [..., N, K]. */
static scale_axes inner_axis(const struct op_context *context, size_t operand,
                             bool transposed) {
    const int rank = op_rank(context, operand);
    if (rank < 1) return SCALE_ALL_AXES;
    return scale_axis(rank == 1 || (operand == 0) != transposed ? rank - 1 : rank - 2);
}

scale_axes scale_matmul_sums(const struct op_context *context, size_t operand) {
    return inner_axis(context, operand, false);
}

scale_axes scale_gemm_sums(const struct op_context *context, size_t operand) {
    const char *transposes = operand == 0 ? "transA" : "transB";
    return inner_axis(context, operand, op_attr_int(context, transposes) != 0);
}

/* transBatch moves the batch axis: assume that every axis may be summed over. */
scale_axes scale_fused_matmul_sums(const struct op_context *context, size_t operand) {
    const char *batch = operand == 0 ? "transBatchA" : "transBatchB";
    return op_attr_int(context, batch) != 0 ? SCALE_ALL_AXES
                                            : scale_gemm_sums(context, operand);
}

bool scale_has_state(const struct op_context *context) {
    return op_has_input(context, 3);
}

bool scale_has_activation(const struct op_context *context) {
    const char *activation = op_attr_string(context, "activation");
    return activation[0] != '\0' && !text_equal(activation, "none");
}

bool scale_always(const struct op_context *context) {
    (void)context;
    return true;
}

bool scale_factors_out(const struct op_context *context, const scale_axes *of_values,
                       bool *ret_rest) {
    *ret_rest = false;
    if (context->n_inputs == 0 || scale_of_operand(context, of_values, 0) == SCALE_NONE)
        return false;
    const struct op_qdq *product = qdq_of(context->op);
    if (!product->sums || (product->is_none && product->is_none(context))) return false;
    const size_t n_factors = product->factors ? product->factors : context->n_inputs;
    bool any = false, all = true; /* besides the factors: any operand; all dequantized */
    if (context->n_inputs < n_factors) return false;
    for (size_t i = 0; i < context->n_inputs; i++) {
        const scale_axes given = scale_of_operand(context, of_values, i);
        if (i >= n_factors) {
            any = any || op_has_input(context, i);
            all = all && (given != SCALE_NONE || !op_has_input(context, i));
            continue;
        }
        if (given == SCALE_NONE) return false;
        const scale_axes varies = given & SCALE_ALL_AXES;
        if (varies && (varies & product->sums(context, i)) != 0) return false;
    }
    *ret_rest = any && all && !(product->does_more && product->does_more(context));
    return true;
}
