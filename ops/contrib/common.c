/* SPDX-License-Identifier: Apache-2.0 */
/* See common.h. */
#include "ops/contrib/common.h"

#include "support/arena.h"

int64_t contrib_rows(const struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    return x->rank < 1 ? DIM_UNKNOWN : shape_product(x, 0, x->rank - 1);
}

int contrib_output_last(struct op_context *context, size_t i, enum dtype dtype, int64_t n) {
    int status = common_check_rank(context, 0, 1);
    if (status < 0) return status;
    return common_output_resized(context, i, dtype, op_rank(context, 0) - 1, n);
}

bool contrib_flag(const struct op_context *context, size_t i) {
    const struct constant *flag = common_contents(context, i);
    return flag && constant_has_ints(flag) && flag->n_elements > 0 &&
           constant_int_at(flag, 0) != 0;
}

int contrib_check_heads(const struct op_context *context, int64_t heads, int64_t kv_heads) {
    if (heads >= 1 && kv_heads >= 1 && heads % kv_heads == 0) return CM_OK;
    return op_fail(context, DIAG_ATTRIBUTE,
                   "query heads must be a multiple of key heads, got %lld and %lld",
                   (long long)heads, (long long)kv_heads);
}

/* Moves axis `from` to position `to`: [N, H, W, C] from 3 to 1 is [N, C, H, W]. */
static int move_axis(struct op_context *context, const struct shape *shape, int from, int to,
                     struct shape *ret) {
    struct shape moved;
    if (shape_make(context->arena, shape->rank, shape->dims, &moved) < 0)
        return diag_no_memory(context->diag);
    const int step = from < to ? 1 : -1;
    for (int axis = from; axis != to; axis += step) moved.dims[axis] = shape->dims[axis + step];
    moved.dims[to] = shape->dims[from];
    *ret = moved;
    return CM_OK;
}

int contrib_infer_channels_last(struct op_context *context, size_t x,
                                int (*infer)(struct op_context *context)) {
    const struct shape *data = op_shape(context, x);
    const struct value_info **inputs =
        arena_array(context->arena, context->n_inputs, sizeof *inputs);
    struct value_info first = *op_input(context, x);
    struct op_context seen = *context;
    if (data->rank < 2) return infer(context);
    if (!inputs) return diag_no_memory(context->diag);
    for (size_t i = 0; i < context->n_inputs; i++) inputs[i] = context->inputs[i];
    int status = move_axis(context, data, data->rank - 1, 1, &first.shape);
    if (status < 0) return status;
    inputs[x] = &first;
    seen.inputs = inputs;
    status = infer(&seen);
    if (status < 0 || !op_has_output(context, 0)) return status;
    struct shape *out = &context->outputs[0].shape;
    return out->rank < 2 ? CM_OK : move_axis(context, out, 1, out->rank - 1, out);
}
