/* SPDX-License-Identifier: Apache-2.0 */
/* Constant folding of data movement: see remap.h. */
#include "ops/remap.h"

#include "ops/op_context.h"
#include "support/arena.h"

#include "support/banned.h"

int elements_alloc(struct op_context *context, enum dtype dtype, int64_t n,
                   struct elements *ret) {
    const bool real = dtype_is_float(dtype);
    *ret = (struct elements){dtype, n, NULL, NULL};
    if (real)
        ret->reals = arena_array(context->arena, (size_t)n, sizeof *ret->reals);
    else
        ret->ints = arena_array(context->arena, (size_t)n, sizeof *ret->ints);
    return ret->reals || ret->ints ? CM_OK : diag_no_memory(context->diag);
}

int elements_new(struct op_context *context, const struct constant *like, int64_t n,
                 struct elements *ret, bool *ret_possible) {
    *ret_possible = n >= 0 && n <= CONSTANT_MAX_ELEMENTS &&
                    (constant_has_ints(like) || constant_has_reals(like));
    return *ret_possible ? elements_alloc(context, like->dtype, n, ret) : CM_OK;
}

void elements_copy(struct elements *elements, int64_t at, const struct constant *from,
                   int64_t index) {
    BUG_ON(at < 0 || at >= elements->n || index < 0 || index >= from->n_elements);
    if (elements->ints)
        elements->ints[at] = constant_int_at(from, index);
    else
        elements->reals[at] = constant_real_at(from, index);
}

int elements_set(struct op_context *context, size_t slot, const struct elements *elements) {
    const struct shape *shape = op_output_shape(context, slot);
    if (!op_has_output(context, slot)) return CM_OK;
    BUG_ON(shape_elements(shape) != elements->n);
    const struct constant *value =
        elements->ints
            ? constant_ints(context->arena, elements->dtype, shape, elements->ints)
            : constant_reals(context->arena, elements->dtype, shape, elements->reals);
    return op_set_value(context, slot, value);
}

int remap_same(struct op_context *context, size_t slot, const struct constant *from) {
    const struct shape *shape = op_output_shape(context, slot);
    if (!shape_is_known(shape) || shape_elements(shape) != from->n_elements) return 0;
    struct constant *value = arena_copy(context->arena, from, sizeof *from);
    if (value) value->shape = *shape;
    return op_set_value(context, slot, value);
}

int remap_view(struct op_context *context) {
    const struct constant *value = NULL;
    int status = op_value(context, 0, &value);
    return status < 0 || !value ? status : remap_same(context, 0, value);
}

int remap_splat(struct op_context *context, size_t slot, const struct constant *from) {
    const struct shape *shape = op_output_shape(context, slot);
    if (!constant_has_ints(from) && !constant_has_reals(from)) return 0;
    const struct constant *value =
        constant_has_ints(from)
            ? constant_splat_int(context->arena, from->dtype, shape, constant_int_at(from, 0))
            : constant_splat_real(context->arena, from->dtype, shape,
                                  constant_real_at(from, 0));
    return op_set_value(context, slot, value);
}

int remap_fold(struct op_context *context, size_t slot, const struct remap *remap) {
    const struct shape *shape = op_output_shape(context, slot);
    struct elements elements;
    int64_t coords[SHAPE_MAX_RANK] = {0};
    bool possible = false;
    if (!op_has_output(context, slot) || !shape_is_known(shape)) return 0;
    int64_t n = shape_elements(shape);
    if (!is_known(n)) return 0;
    if (remap->from->place == CONSTANT_SPLAT && !remap->fills && remap->from->n_elements > 0)
        return remap_splat(context, slot, remap->from);
    int status = elements_new(context, remap->from, n, &elements, &possible);
    if (status || !possible) return status;
    for (int64_t i = 0; i < n; i++) {
        /* an empty operand has no source elements */
        int64_t index =
            remap->from->n_elements == 0 ? REMAP_FILL : remap->source(remap->context, coords);
        if (index != REMAP_FILL)
            elements_copy(&elements, i, remap->from, index);
        else if (remap->fill)
            elements_copy(&elements, i, remap->fill, 0);
        remap_advance(shape, coords);
    }
    return elements_set(context, slot, &elements);
}

void remap_strides(const struct shape *shape, int64_t *strides) {
    int64_t stride = 1;
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        strides[axis] = stride;
        stride = checked_mul(stride, shape->dims[axis]);
    }
}

void remap_advance(const struct shape *shape, int64_t *coords) {
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        if (++coords[axis] < shape->dims[axis]) return;
        coords[axis] = 0;
    }
}
