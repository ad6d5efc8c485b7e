/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering of data movement: strided copies, gathers and scatters by indices. */
#include "ops/lowering/lowering.h"

#include <string.h>

#include "ops/op_context.h"
#include "support/text.h"

/* A copy with the operand's strides in the order of the output axes. */
bool lower_transpose(const struct op_context *context, int32_t which,
                     struct cm_primitive *ret) {
    size_t n = 0;
    const int64_t *order = op_attr_ints(context, "perm", &n);
    struct cm_tensor from;
    (void)which;
    if (!lowering_unary(context, ret)) return false;
    from = ret->inputs[0];
    for (int i = 0; i < from.rank; i++) {
        const int64_t axis = n == (size_t)from.rank ? order[i] : from.rank - 1 - i;
        if (axis < 0 || axis >= from.rank) return false;
        ret->inputs[0].dims[i] = from.dims[axis];
        ret->inputs[0].strides[i] = from.strides[axis];
    }
    return true;
}

/* If a Concat has more than CM_MAX_INPUTS operands, the last input of the primitive represents
 * all remaining operands as one tensor: the same bytes. */
bool lower_concat(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    struct cm_tensor *last = &ret->inputs[CM_MAX_INPUTS - 1], more;
    (void)which;
    if (!lowering_add_output(context, 0, ret)) return false;
    if (!lowering_attr_axis(context, ret->outputs[0].rank, &ret->axis)) return false;
    for (size_t slot = 0; slot < context->n_inputs; slot++) {
        if (ret->n_inputs < CM_MAX_INPUTS) {
            if (!lowering_add_input(context, slot, ret)) return false;
            continue;
        }
        if (!lowering_input(context, slot, &more)) return false;
        checked_add_to(&last->dims[ret->axis], more.dims[ret->axis]);
        lowering_pack(last);
        if (!is_known(last->dims[ret->axis])) return false;
    }
    return true;
}

/* A copy with stride 0 along repeated axes. */
bool lower_expand(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    (void)which;
    if (!lowering_unary(context, ret)) return false;
    const struct cm_tensor from = ret->inputs[0];
    struct cm_tensor *to = &ret->inputs[0];
    const int more = ret->outputs[0].rank - from.rank;
    if (more < 0) return false;
    *to = ret->outputs[0];
    for (int i = 0; i < to->rank; i++) {
        const bool own = i >= more && from.dims[i - more] == to->dims[i];
        to->strides[i] = own ? from.strides[i - more] : 0;
    }
    return true;
}

/* Describes a slice as a strided copy: the result's dims with the operand's strides. Ignores
 * the starts and steps. */
bool lower_slice(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    (void)which;
    if (!lowering_unary(context, ret)) return false;
    if (ret->inputs[0].rank != ret->outputs[0].rank) return false;
    memcpy(ret->inputs[0].dims, ret->outputs[0].dims, sizeof(ret->inputs[0].dims));
    return true;
}

/* A copy of all bytes of the operand: Split (all parts), BitCast. */
bool lower_copy(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    (void)which;
    if (!lowering_add_input(context, 0, ret)) return false;
    ret->outputs[0] = ret->inputs[0];
    ret->n_outputs = 1;
    return true;
}

static bool add_axis(struct cm_tensor *tensor, int64_t dim, int64_t stride) {
    if (tensor->rank == CM_MAX_RANK) return false;
    tensor->dims[tensor->rank] = dim;
    tensor->strides[tensor->rank++] = stride;
    return true;
}

/* A copy of x with additional axes of stride 0 for the repetitions. */
bool lower_tile(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    struct cm_tensor x;
    (void)which;
    if (!lowering_input(context, 0, &x) || !lowering_add_output(context, 0, ret)) return false;
    struct cm_tensor *y = &ret->outputs[0];
    struct cm_tensor *from = &ret->inputs[ret->n_inputs++];
    from->element = x.element;
    if (x.rank != y->rank) return false;
    for (int i = 0; i < x.rank; i++) {
        const int64_t times = x.dims[i] > 0 ? y->dims[i] / x.dims[i] : 1;
        if (times != 1 && !add_axis(from, times, 0)) return false;
        if (!add_axis(from, x.dims[i], x.strides[i])) return false;
    }
    *y = *from;
    lowering_pack(y);
    return true;
}

/* A strided copy of 6 axes; `which`: 0 for DepthToSpace, 1 for SpaceToDepth:
 *     DepthToSpace  x [N, b, b, C, H, W], y [N, C, H, b, W, b]
 *     SpaceToDepth  x [N, C, H, b, W, b], y [N, b, b, C, H, W]
 * The mode CRD has [N, C, b, b, H, W] in place of [N, b, b, C, H, W]. */
bool lower_blocks(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    const int64_t b = op_attr_int(context, "blocksize");
    const bool channels_first = text_equal(op_attr_string(context, "mode"), "CRD");
    struct cm_tensor x, y;
    if (!lowering_input(context, 0, &x) || !lowering_output(context, 0, &y)) return false;
    if (x.rank != 4 || b < 1) return false;
    const int64_t plane = x.strides[1];
    const int64_t row = x.strides[2];
    const int64_t block = channels_first ? plane : checked_mul(y.dims[1], plane);
    const int64_t channel = channels_first ? checked_mul(checked_mul(b, b), plane) : plane;
    const struct cm_tensor to_space = {
        .element = x.element,
        .rank = 6,
        .dims = {x.dims[0], y.dims[1], x.dims[2], b, x.dims[3], b},
        .strides = {x.strides[0], channel, row, checked_mul(b, block), 1, block}};
    const struct cm_tensor to_depth = {
        .element = x.element,
        .rank = 6,
        .dims = {x.dims[0], b, b, x.dims[1], y.dims[2], y.dims[3]},
        .strides = {x.strides[0], row, 1, plane, checked_mul(b, row), b}};
    struct cm_tensor *from = &ret->inputs[0];
    *from = which ? to_depth : to_space;
    if (which && channels_first) {
        lowering_swap(from, 3, 2);
        lowering_swap(from, 2, 1);
    }
    ret->outputs[0] = *from;
    lowering_pack(&ret->outputs[0]);
    ret->n_inputs = ret->n_outputs = 1;
    return true;
}

/* `which`: 1 if operand 1 holds indices (Gather), 0 if the operator has none (Pad, Trilu). */
bool lower_gather(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    if (which == 0) return lowering_unary(context, ret);
    if (!lowering_binary(context, ret)) return false;
    return !op_has_attr(context, "axis") ||
           lowering_attr_axis(context, ret->inputs[0].rank, &ret->axis);
}

bool lower_scatter(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    (void)which;
    for (size_t slot = 0; slot < 3; slot++)
        if (!lowering_add_input(context, slot, ret)) return false;
    if (op_has_attr(context, "axis") &&
        !lowering_attr_axis(context, ret->inputs[0].rank, &ret->axis))
        return false;
    return lowering_add_output(context, 0, ret);
}

/* Operands of the primitive: cache, indices, updates. */
bool lower_tensor_scatter(const struct op_context *context, int32_t which,
                          struct cm_primitive *ret) {
    (void)which;
    return lowering_add_input(context, 0, ret) && lowering_add_input(context, 2, ret) &&
           lowering_add_input(context, 1, ret) && lowering_add_output(context, 0, ret);
}
