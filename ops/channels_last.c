/* SPDX-License-Identifier: Apache-2.0 */
/* Infers channels-last operators, [N, spatial…, C], by the rules for [N, C, spatial…]. */
#include "ops/channels_last.h"

#include "ops/op_context.h"
#include "support/arena.h"

#include "support/banned.h"

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

int channels_last_infer(struct op_context *context, size_t x,
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
