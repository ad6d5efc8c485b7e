/* SPDX-License-Identifier: Apache-2.0 */
/* [N, spatial…, C] seen as [N, C, spatial…]: see channels_last.h. */
#include "ops/channels_last.h"

#include "ops/op_context.h"
#include "support/arena.h"

#include "support/banned.h"

/* Takes axis `from` out and puts it back at `to`. */
static int move_axis(struct rule *rule, const struct shape *shape, int from, int to,
                     struct shape *ret) {
    struct shape moved;
    if (shape_make(rule->arena, shape->rank, shape->dims, &moved) < 0)
        return diag_no_memory(rule->diag);
    const int step = from < to ? 1 : -1;
    for (int axis = from; axis != to; axis += step) moved.dims[axis] = shape->dims[axis + step];
    moved.dims[to] = shape->dims[from];
    *ret = moved;
    return CM_OK;
}

int channels_last_infer(struct rule *rule, size_t x, int (*infer)(struct rule *rule)) {
    const struct shape *data = rule_shape(rule, x);
    const struct fact **inputs = arena_array(rule->arena, rule->n_inputs, sizeof *inputs);
    struct fact first = *rule_input(rule, x);
    struct rule seen = *rule;
    if (data->rank < 2) return infer(rule);
    if (!inputs) return diag_no_memory(rule->diag);
    for (size_t i = 0; i < rule->n_inputs; i++) inputs[i] = rule->inputs[i];
    int status = move_axis(rule, data, data->rank - 1, 1, &first.shape);
    if (status < 0) return status;
    inputs[x] = &first;
    seen.inputs = inputs;
    status = infer(&seen);
    if (status < 0 || !rule_has_output(rule, 0)) return status;
    struct shape *out = &rule->outputs[0].shape;
    return out->rank < 2 ? CM_OK : move_axis(rule, out, 1, out->rank - 1, out);
}
