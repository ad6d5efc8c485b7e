/* SPDX-License-Identifier: Apache-2.0 */
/* Scales of dequantized integers: see scales.h. Two tables: what moves elements, and where it
 * puts an axis; what multiplies, and over which axes of its operands it sums. */
#include "ops/qdq_propagation.h"

#include "ops/common.h"
#include "ops/integers.h"
#include "ops/op_context.h"
#include "support/text.h"

#include "support/banned.h"

static const struct op_qdq *qdq_of(const struct op *op) {
    static const struct op_qdq none;
    return op->facets ? &op->facets->qdq : &none;
}

/* Those from `first` on, up to `end`. */
static scale_axes bits(int first, int end) {
    scale_axes axes = SCALE_NONE;
    for (int axis = first; axis < end; axis++) axes |= scale_axis(axis);
    return axes;
}

static scale_axes of_operand(const struct op_context *context, const scale_axes *of_values,
                             size_t i) {
    const uint32_t value = context->node->inputs[i];
    return value == ID_NONE ? SCALE_NONE : of_values[value];
}

/* Attribute `axis` of the node, of its operand 0; false: that has no such axis. */
static bool get_axis(const struct op_context *context, int64_t otherwise, int *ret) {
    const int rank = op_rank(context, 0);
    const int64_t axis =
        op_has_attr(context, "axis") ? op_attr_int(context, "axis") : otherwise;
    if (rank == RANK_UNKNOWN || axis < -rank || axis >= rank) return false;
    *ret = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

/* ---- what dequantizes ---- */

/* One scale; one for each place along an axis; one for each block, along all axes that have
 * several. */
static scale_axes made(const struct op_context *context) {
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

/* ---- what moves elements: an operand of known rank, whose scale changes along some axes ----
 */

scale_axes scale_stays(const struct op_context *context, scale_axes axes) {
    (void)context;
    return axes;
}

scale_axes scale_everywhere(const struct op_context *context, scale_axes axes) {
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

/* Axes are those of the output from the last one on. */
scale_axes scale_through_expand(const struct op_context *context, scale_axes axes) {
    const struct shape *out = op_output_shape(context, 0);
    if (!shape_has_rank(out)) return scale_everywhere(context, axes);
    return axes << (out->rank - op_rank(context, 0));
}

/* Axes of a shape, one behind another, and how many places they have. */
struct group {
    const struct shape *shape;
    int begin, end;
    int64_t places;
};

/* Takes the next axis in; false: there is none. */
static bool widen(struct group *group) {
    if (group->end == group->shape->rank) return false;
    group->places = checked_mul(group->places, group->shape->dims[group->end++]);
    return true;
}

static void start_behind(struct group *group) {
    group->begin = group->end;
    group->places = 1;
    (void)widen(group);
}

/* Extends both groups until they have the same number of elements. If a dim is unknown or 0,
 * takes all remaining dims. */
static void level(struct group *in, struct group *out) {
    while (in->places > 0 && out->places > 0 && in->places != out->places)
        if (!widen(in->places < out->places ? in : out)) break;
    if (in->places > 0 && in->places == out->places) return;
    in->end = in->shape->rank;
    out->end = out->shape->rank;
}

/* The same elements in the same order: what changes along an axis of a group may change along
 * all that become of it. */
scale_axes scale_through_reshape(const struct op_context *context, scale_axes axes) {
    struct group in = {.shape = op_shape(context, 0)};
    struct group out = {.shape = op_output_shape(context, 0)};
    scale_axes moved = SCALE_NONE;
    if (!shape_has_rank(out.shape)) return scale_everywhere(context, axes);
    while (in.end < in.shape->rank || out.end < out.shape->rank) {
        start_behind(&in);
        start_behind(&out);
        level(&in, &out);
        if (axes & bits(in.begin, in.end)) moved |= bits(out.begin, out.end);
    }
    return moved;
}

/* The axis becomes those of the indices. */
scale_axes scale_through_gather(const struct op_context *context, scale_axes axes) {
    const int rank = op_rank(context, 1);
    int axis = 0;
    if (rank < 0 || rank > SHAPE_MAX_RANK - 2 || !get_axis(context, 0, &axis))
        return scale_everywhere(context, axes);
    const scale_axes before = axes & bits(0, axis);
    const scale_axes picked = axes & scale_axis(axis) ? bits(axis, axis + rank) : SCALE_NONE;
    const scale_axes behind = axes >> axis >> 1;
    return before | picked | behind << axis << rank;
}

/* The source of an element depends on all indices. */
scale_axes scale_through_gather_elements(const struct op_context *context, scale_axes axes) {
    int axis = 0;
    if (!get_axis(context, 0, &axis) || axes & scale_axis(axis))
        return scale_everywhere(context, axes);
    return axes;
}

/* Returns true if the padding value may not be representable with the scale. */
bool scale_is_lost_by_pad(const struct op_context *context) {
    if (!text_equal(op_attr_string(context, "mode"), "constant")) return false;
    if (!op_has_input(context, 2)) return op_attr_float(context, "value") != 0;
    const struct constant *value = op_input(context, 2)->value;
    return !value || value->n_elements != 1 || !constant_has_reals(value) ||
           constant_real_at(value, 0) != 0;
}

/* Parts that have scales of their own have one for each place along the axis that joins them.
 */
static scale_axes joined(const struct op_context *context, const scale_axes *of_values,
                         bool same) {
    scale_axes all = SCALE_NONE;
    int axis = 0;
    for (size_t i = 0; i < context->n_inputs; i++) {
        const scale_axes given = of_operand(context, of_values, i);
        if (given == SCALE_NONE || !get_axis(context, 1, &axis)) return SCALE_NONE;
        same = same && given == of_operand(context, of_values, 0);
        all |= given;
    }
    return same || context->n_inputs == 1 ? all : all | scale_axis(axis);
}

static scale_axes moved(const struct op_context *context, const scale_axes *of_values,
                        bool same, size_t slot) {
    const struct op_qdq *qdq = qdq_of(context->op);
    if (!qdq->moves || context->n_inputs == 0 || (qdq->is_lost && qdq->is_lost(context)))
        return SCALE_NONE;
    if (!qdq->all_outputs && slot > 0) return SCALE_NONE;
    if (qdq->joins) return joined(context, of_values, same);
    const scale_axes given = of_operand(context, of_values, 0);
    if ((given & SCALE_ALL_AXES) == 0) return given;
    if (op_rank(context, 0) == RANK_UNKNOWN) return SCALE_NONE;
    return SCALED | qdq->moves(context, given & SCALE_ALL_AXES);
}

/* Along an axis of one place nothing changes. */
static scale_axes without_single(const struct shape *shape, scale_axes axes) {
    for (int i = 0; shape_has_rank(shape) && i < shape->rank; i++)
        if (shape->dims[i] == 1) axes &= ~scale_axis(i);
    return axes;
}

scale_axes scale_of_output(const struct op_context *context, const scale_axes *of_values,
                           bool same, size_t slot) {
    const struct value_info *output = &context->outputs[slot];
    /* floats of 16 bits and more represent what was dequantized, those of 8 do not */
    if (!dtype_is_float(output->dtype) || dtype_bits(output->dtype) < 16) return SCALE_NONE;
    if (output->shape.rank == SHAPE_MAX_RANK) return SCALE_NONE;
    if (!dtype_is_integer(op_dtype(context, 0)))
        return without_single(&output->shape, moved(context, of_values, same, slot));
    if (!integers_are_scaled(context->op)) return SCALE_NONE;
    return without_single(&output->shape, made(context));
}

/* ---- what multiplies: the axes of an operand that are summed ---- */

static bool has_one_channel_a_group(const struct op_context *context, int channels) {
    const int rank = op_rank(context, 0);
    return rank > channels && op_dim(context, 0, channels) == op_attr_int(context, "group");
}

/* [n, c, ...] and [out, c, ...] */
scale_axes scale_conv_sums(const struct op_context *context, size_t operand) {
    const bool apart = operand == 0 && has_one_channel_a_group(context, 1);
    return SCALE_ALL_AXES & ~scale_axis(0) & ~(apart ? scale_axis(1) : SCALE_NONE);
}

/* [n, ..., c] */
scale_axes scale_nhwc_conv_sums(const struct op_context *context, size_t operand) {
    const int last = op_rank(context, 0) - 1;
    const bool apart = operand == 0 && last > 0 && has_one_channel_a_group(context, last);
    return SCALE_ALL_AXES & ~scale_axis(0) & ~(apart ? scale_axis(last) : SCALE_NONE);
}

/* [n, c, ...] and [c, out of a group, ...] */
scale_axes scale_transposed_conv_sums(const struct op_context *context, size_t operand) {
    const int channels = operand == 0 ? 1 : 0;
    const bool apart = has_one_channel_a_group(context, 1);
    return SCALE_ALL_AXES & ~scale_axis(1 - channels) &
           ~(apart ? scale_axis(channels) : SCALE_NONE);
}

/* [n, c, step] and [c, 1, kernel]: each channel has a kernel of its own. */
scale_axes scale_causal_conv_sums(const struct op_context *context, size_t operand) {
    (void)context;
    return SCALE_ALL_AXES & ~bits(0, operand == 0 ? 2 : 1);
}

/* The last axis or, of operand 1 and turned once, the one before. */
static scale_axes inner_axis(const struct op_context *context, size_t operand, bool turned) {
    const int rank = op_rank(context, operand);
    if (rank < 1) return SCALE_ALL_AXES;
    return scale_axis(rank == 1 || (operand == 0) != turned ? rank - 1 : rank - 2);
}

scale_axes scale_matmul_sums(const struct op_context *context, size_t operand) {
    return inner_axis(context, operand, false);
}

scale_axes scale_gemm_sums(const struct op_context *context, size_t operand) {
    const char *turns = operand == 0 ? "transA" : "transB";
    return inner_axis(context, operand, op_attr_int(context, turns) != 0);
}

/* Of one whose batch stands elsewhere, any may be. */
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

/* Whether the operands from `first` on are dequantized, and there are any. */
static bool all_dequantized(const struct op_context *context, const scale_axes *of_values,
                            size_t first) {
    bool any = false;
    for (size_t i = first; i < context->n_inputs; i++) {
        if (!op_has_input(context, i)) continue;
        if (of_operand(context, of_values, i) == SCALE_NONE) return false;
        any = true;
    }
    return any;
}

bool scale_comes_out(const struct op_context *context, const scale_axes *of_values,
                     bool *ret_rest) {
    *ret_rest = false;
    if (context->n_inputs == 0 || of_operand(context, of_values, 0) == SCALE_NONE) return false;
    const struct op_qdq *product = qdq_of(context->op);
    if (!product->sums || (product->is_none && product->is_none(context))) return false;
    const size_t n_factors = product->factors ? product->factors : context->n_inputs;
    if (context->n_inputs < n_factors) return false;
    for (size_t i = 0; i < n_factors; i++) {
        const scale_axes given = of_operand(context, of_values, i);
        if (given == SCALE_NONE) return false;
        const scale_axes varies = given & SCALE_ALL_AXES;
        if (varies && (varies & product->sums(context, i)) != 0) return false;
    }
    *ret_rest = all_dequantized(context, of_values, n_factors) &&
                !(product->does_more && product->does_more(context));
    return true;
}
