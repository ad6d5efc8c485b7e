/* SPDX-License-Identifier: Apache-2.0 */
/* The batch axis of each value, one node at a time: see batch_axis.h. */
#include "passes/batch/batch_axis.h"

#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

static const struct value_info *before(const struct probe *probe, uint32_t value) {
    return &probe->before.table->infos[value];
}

static const struct value_info *after(const struct probe *probe, uint32_t value) {
    return &probe->after.table->infos[value];
}

static bool has_grown(const struct probe *probe, int64_t small, int64_t large) {
    return is_known(small) && is_known(large) && small != large &&
           checked_mul(large, probe->batch) == checked_mul(small, PROBE_BATCH);
}

/* Returns true if at most one axis of each output grew, by the factor of the batch. */
static bool is_linear(const struct probe *probe, const struct node *node) {
    for (size_t i = 0; i < node->n_outputs; i++) {
        if (node->outputs[i] == ID_NONE) continue;
        const struct shape *small = &before(probe, node->outputs[i])->shape;
        const struct shape *large = &after(probe, node->outputs[i])->shape;
        int n_grown = 0;
        if (small->rank != large->rank) return false;
        for (int axis = 0; axis < small->rank; axis++) {
            if (small->dims[axis] == large->dims[axis]) continue;
            if (!has_grown(probe, small->dims[axis], large->dims[axis])) return false;
            n_grown++;
        }
        if (n_grown > 1) return false;
    }
    return true;
}

int batch_axis_grown_axis(const struct probe *probe, uint32_t value) {
    const struct shape *small = &before(probe, value)->shape;
    const struct shape *large = &after(probe, value)->shape;
    if (small->rank != large->rank) return -1;
    for (int axis = 0; axis < small->rank; axis++)
        if (has_grown(probe, small->dims[axis], large->dims[axis])) return axis;
    return -1;
}

/* Returns the number of elements before the batch in row-major order, 0 if unknown. */
static int64_t prefix_of(const struct probe *probe, uint32_t value) {
    const struct batch_place *place = &probe->places[value];
    int64_t prefix =
        checked_mul(shape_product(&before(probe, value)->shape, 0, place->axis), place->outer);
    return is_known(prefix) ? prefix : 0;
}

/* Returns batch_place.outer of a view's output: a view keeps the row-major order. */
static int64_t outer_in_view(const struct probe *probe, const struct node *node,
                             const struct shape *shape, int axis) {
    uint32_t input = node->n_inputs > 0 ? node->inputs[0] : ID_NONE;
    if (input == ID_NONE || probe->places[input].axis < 0) return 0;
    int64_t prefix = prefix_of(probe, input);
    int64_t outside = shape_product(shape, 0, axis);
    return is_known(outside) && outside > 0 && prefix % outside == 0 ? prefix / outside : 0;
}

/* Returns batch_place.outer of other outputs: that of the operand's axis of equal size. Concat
 * and Tile change the size, and may or may not repeat the batch end to end. */
static int64_t outer_inherited(const struct probe *probe, const struct node *node,
                               int64_t size) {
    int64_t outer = 0;
    if (size == probe->batch) return 1;
    for (size_t i = 0; i < node->n_inputs; i++) {
        uint32_t input = node->inputs[i];
        if (input == ID_NONE || probe->places[input].axis < 0) continue;
        const struct batch_place *place = &probe->places[input];
        if (before(probe, input)->shape.dims[place->axis] != size) continue;
        if (outer != 0 && outer != place->outer) return 0;
        outer = place->outer;
    }
    return outer;
}

void batch_axis_place_outputs(struct probe *probe, uint32_t node_id) {
    const struct node *node = &probe->model->nodes[node_id];
    enum op_memory memory = probe->ops[node_id]->memory;
    bool view = memory == MEMORY_VIEW || memory == MEMORY_VIEW_UNLESS_TRAINING;
    for (size_t i = 0; i < node->n_outputs; i++) {
        uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        const struct shape *shape = &before(probe, value)->shape;
        int axis = batch_axis_grown_axis(probe, value);
        struct batch_place place = {.axis = axis, .outer = 0};
        if (axis >= 0 && view) place.outer = outer_in_view(probe, node, shape, axis);
        if (axis >= 0 && !view) place.outer = outer_inherited(probe, node, shape->dims[axis]);
        probe->places[value] = place;
    }
}

bool batch_axis_is_fixed(const struct probe *probe, uint32_t value) {
    const struct constant *small = before(probe, value)->value;
    const struct constant *large = after(probe, value)->value;
    if (small && small == large) return true;
    if (!small || !large || !constant_has_ints(small) || !constant_has_ints(large))
        return false;
    if (small->n_elements != large->n_elements) return false;
    for (int64_t i = 0; i < small->n_elements; i++)
        if (constant_int_at(small, i) != constant_int_at(large, i)) return false;
    return true;
}

/* Returns the operand as a short list of integers, equal at both batches; NULL if it is not. */
static const struct constant *fixed_list(const struct probe *probe, uint32_t value) {
    const struct constant *list = value == ID_NONE ? NULL : before(probe, value)->value;
    if (!list || list->shape.rank != 1 || list->n_elements > SHAPE_MAX_RANK) return NULL;
    if (!batch_axis_is_fixed(probe, value)) return NULL;
    list = constant_loaded(list, &probe->model->reader, probe->arena);
    return list && constant_has_ints(list) ? list : NULL;
}

static bool holds_batch(const struct probe *probe, uint32_t value) {
    return value != ID_NONE && probe->places[value].axis >= 0;
}

/* Returns true if an output grew, or has an unknown shape, or is constant. */
static bool may_hold_batch(const struct probe *probe, const struct node *node) {
    for (size_t i = 0; i < node->n_outputs; i++) {
        uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        const struct value_info *info = before(probe, value);
        if (!value_info_is_complete(info) || info->is_constant) return true;
        if (batch_axis_grown_axis(probe, value) >= 0) return true;
    }
    return false;
}

/*
 * Returns true if the output has the operand's batch axis at the file's size: a Resize to fixed
 * sizes, a Slice of the whole batch. At a batch of 1 a summed axis looks the same; then only a
 * node with a fixed list, or an operand other than the first, is at fault.
 */
static bool cuts_batch(const struct probe *probe, const struct node *node, const struct op *op,
                       size_t slot) {
    const struct shape *in = &before(probe, node->inputs[slot])->shape;
    const struct shape *out = &before(probe, node->outputs[0])->shape;
    int axis = probe->places[node->inputs[slot]].axis;
    if (out->rank != in->rank || out->dims[axis] != in->dims[axis]) return false;
    if (op->algebra == ALGEBRA_REDUCTION) return false; /* its list is one of axes */
    if (probe->batch > 1 || slot > 0) return true;
    for (size_t i = 0; i < node->n_inputs; i++)
        if (fixed_list(probe, node->inputs[i])) return true;
    return false;
}

/* Returns true if a fixed list of indices gathers from the batch; a single index may well mean
 * the first sample. */
static bool picks_batch(const struct probe *probe, const struct node *node, const struct op *op,
                        size_t slot) {
    if (slot != 0 || op_role(op, 0) != 'n' || node->n_inputs < 2 || node->inputs[1] == ID_NONE)
        return false;
    return shape_elements(&before(probe, node->inputs[1])->shape) != 1 &&
           batch_axis_grown_axis(probe, node->inputs[1]) < 0;
}

static const char *objection_to_loss(const struct probe *probe, const struct node *node,
                                     const struct op *op) {
    if (op->memory == MEMORY_SHAPE_ONLY || node->n_outputs == 0 ||
        node->outputs[0] == ID_NONE || may_hold_batch(probe, node))
        return NULL;
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (!holds_batch(probe, node->inputs[i])) continue;
        if (op->cost.macs) return "the batch would be summed over";
        if (cuts_batch(probe, node, op, i))
            return "its output would keep the batch of the file";
        if (picks_batch(probe, node, op, i))
            return "its indices select from the batch of the file";
    }
    return NULL;
}

/*
 * Objects to a Reshape with a fixed target whose operand has an unknown batch place, if the
 * target lists every dim, or has an axis of the batch's size that did not grow.
 */
static const char *objection_to_target(const struct probe *probe, const struct node *node,
                                       const struct op *op, bool in_body) {
    if (op->target != TARGET_DIMS || node->n_inputs < 2 || node->inputs[0] == ID_NONE ||
        node->inputs[1] == ID_NONE || node->n_outputs == 0 || node->outputs[0] == ID_NONE)
        return NULL;
    const struct value_info *data = before(probe, node->inputs[0]);
    const struct batch_place *place = &probe->places[node->inputs[0]];
    bool unplaced = in_body && batch_axis_grown_axis(probe, node->inputs[0]) >= 0;
    bool unknown = !value_info_is_complete(data) && !data->is_constant;
    bool no_outer = place->axis >= 0 && place->outer == 0;
    if (!(unplaced || unknown || no_outer) || !batch_axis_is_fixed(probe, node->inputs[1]))
        return NULL;
    const struct shape *out = &before(probe, node->outputs[0])->shape;
    int grown = batch_axis_grown_axis(probe, node->outputs[0]);
    bool suspect = grown < 0 && shape_is_known(out);
    for (int axis = 0; axis < out->rank && !suspect; axis++)
        suspect = axis != grown && out->dims[axis] == probe->batch;
    return suspect ? "the batch axis of its operand is unknown" : NULL;
}

static const char *objection_to_node(const struct probe *probe, uint32_t node_id,
                                     bool in_body) {
    const struct node *node = &probe->model->nodes[node_id];
    const struct op *op = probe->ops[node_id];
    if (!is_linear(probe, node)) return "its output would not scale with the batch";
    const char *objection = objection_to_loss(probe, node, op);
    if (!objection) objection = objection_to_target(probe, node, op, in_body);
    for (size_t i = 0; i < node->n_attrs && !objection; i++) {
        const struct attr *attr = &node->attrs[i];
        if (attr->kind != ATTR_GRAPH && attr->kind != ATTR_GRAPHS) continue;
        for (size_t k = 0; k < attr->n && !objection; k++) {
            const struct graph *body = &probe->model->graphs[attr->graphs[k]];
            for (size_t m = 0; m < body->n_nodes && !objection; m++) /* depth: see walk.c */
                objection = objection_to_node(probe, body->nodes[m], true);
        }
    }
    return objection;
}

const char *batch_axis_objection(const struct probe *probe, uint32_t node_id) {
    return objection_to_node(probe, node_id, false);
}

size_t batch_axis_candidates(const struct probe *probe, uint32_t node_id,
                             struct batch_candidate out[SHAPE_MAX_RANK]) {
    const struct node *node = &probe->model->nodes[node_id];
    const struct shape *shape = &before(probe, node->outputs[0])->shape;
    int64_t prefix = prefix_of(probe, node->inputs[0]);
    int64_t outside = 1; /* elements of the axes before this one */
    size_t n = 0;
    if (prefix == 0 || !shape_is_known(shape)) return 0;
    for (int axis = 0; axis < shape->rank && outside > 0 && outside <= prefix; axis++) {
        int64_t outer = prefix / outside;
        int64_t dim = shape->dims[axis];
        int64_t unit = checked_mul(outer, probe->batch);
        if (prefix % outside == 0 && is_known(unit) && dim > 0 && dim % unit == 0)
            out[n++] = (struct batch_candidate){axis, outer};
        outside = checked_mul(outside, dim);
        if (!is_known(outside)) break;
    }
    return n;
}

/* Returns the output axis to which the batch axis of an operand broadcasts, or -1. */
static int aligned_axis(const struct probe *probe, const struct node *node) {
    const struct shape *out = &before(probe, node->outputs[0])->shape;
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (!holds_batch(probe, node->inputs[i])) continue;
        const struct shape *in = &before(probe, node->inputs[i])->shape;
        int own = probe->places[node->inputs[i]].axis;
        int axis = out->rank - in->rank + own;
        return axis >= 0 && out->dims[axis] == in->dims[own] ? axis : -1;
    }
    return -1;
}

/* Returns true if the list is the shape, apart from 1s and -1s that the operator fills in. */
static bool lists_dims(const struct constant *list, const struct shape *shape, int axis) {
    if (list->n_elements != shape->rank) return false;
    for (int i = 0; i < shape->rank; i++) {
        int64_t listed = constant_int_at(list, i);
        bool filled_in = i != axis && (listed == 1 || listed == -1);
        if (listed != shape->dims[i] && !filled_in) return false;
    }
    return true;
}

bool batch_axis_listed_dims(const struct probe *probe, uint32_t node_id,
                            struct batch_change *ret) {
    const struct node *node = &probe->model->nodes[node_id];
    if (probe->ops[node_id]->target != TARGET_NONE || node->n_outputs == 0 ||
        node->outputs[0] == ID_NONE || !value_info_is_complete(before(probe, node->outputs[0])))
        return false;
    const struct shape *out = &before(probe, node->outputs[0])->shape;
    int axis = aligned_axis(probe, node);
    for (size_t slot = 0; slot < node->n_inputs && axis >= 0; slot++) {
        const struct constant *list = fixed_list(probe, node->inputs[slot]);
        if (!list || !lists_dims(list, out, axis)) continue;
        *ret = (struct batch_change){.node = node_id,
                                     .slot = (uint32_t)slot,
                                     .is_target = true,
                                     .axis = axis,
                                     .dims = out};
        return true;
    }
    return false;
}

/* Makes a 1-D operand that lists the dims. */
static int make_target(const struct probe *probe, const struct shape *dims,
                       struct value_info *info) {
    struct shape length;
    int64_t rank = dims->rank;
    if (shape_make(probe->arena, 1, &rank, &length) < 0) return CM_NO_MEMORY;
    *info = value_info_tensor(DTYPE_INT64, length);
    info->value = constant_ints(probe->arena, DTYPE_INT64, &length, dims->dims);
    info->is_constant = true;
    return info->value ? CM_OK : CM_NO_MEMORY;
}

/* Gives the operand another shape; keeps its contents if all elements are equal. */
static int scale_operand(const struct probe *probe, const struct shape *shape,
                         struct value_info *info) {
    const struct constant *value = info->value;
    info->shape = *shape;
    info->value = NULL;
    if (!value || value->place != CONSTANT_SPLAT) return CM_OK;
    if (constant_has_ints(value))
        info->value = constant_splat_int(probe->arena, value->dtype, shape, value->ints[0]);
    else if (constant_has_reals(value))
        info->value = constant_splat_real(probe->arena, value->dtype, shape, value->reals[0]);
    else
        return CM_OK;
    return info->value ? CM_OK : CM_NO_MEMORY;
}

int batch_axis_apply(const struct probe *probe, const struct override **overrides,
                     const struct batch_change *change, int64_t batch) {
    const struct node *node = &probe->model->nodes[change->node];
    struct value_info *info = arena_alloc(probe->arena, sizeof(*info));
    struct override *entry = arena_alloc(probe->arena, sizeof(*entry));
    struct shape shape;
    if (!info || !entry) return CM_NO_MEMORY;
    if (shape_make(probe->arena, change->dims->rank, change->dims->dims, &shape) < 0)
        return CM_NO_MEMORY;
    shape.dims[change->axis] =
        checked_mul(change->dims->dims[change->axis] / probe->batch, batch);
    if (change->is_target) {
        if (make_target(probe, &shape, info) < 0) return CM_NO_MEMORY;
    } else {
        *info = *before(probe, node->inputs[change->slot]);
        if (scale_operand(probe, &shape, info) < 0) return CM_NO_MEMORY;
    }
    *entry = (struct override){.node = change->node,
                               .slot = change->slot,
                               .info = info,
                               .next = overrides[change->node]};
    overrides[change->node] = entry;
    return CM_OK;
}
