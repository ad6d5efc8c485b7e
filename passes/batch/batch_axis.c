/* SPDX-License-Identifier: Apache-2.0 */
/* Where the batch lies, one node at a time: see probe.h. */
#include "passes/batch/batch_axis.h"

#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

static const struct value_info *before(const struct probe *probe, uint32_t value) {
    return &probe->before.table->facts[value];
}

static const struct value_info *after(const struct probe *probe, uint32_t value) {
    return &probe->after.table->facts[value];
}

static bool has_grown(const struct probe *probe, int64_t small, int64_t large) {
    return is_known(small) && is_known(large) && small != large &&
           checked_mul(large, probe->batch) == checked_mul(small, PROBE_BATCH);
}

static bool value_is_linear(const struct probe *probe, uint32_t value) {
    const struct shape *small = &before(probe, value)->shape;
    const struct shape *large = &after(probe, value)->shape;
    int grown = 0;
    if (small->rank != large->rank) return false;
    for (int axis = 0; axis < small->rank; axis++) {
        if (small->dims[axis] == large->dims[axis]) continue;
        if (!has_grown(probe, small->dims[axis], large->dims[axis])) return false;
        grown++;
    }
    return grown <= 1;
}

static bool is_linear(const struct probe *probe, const struct node *node) {
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE && !value_is_linear(probe, node->outputs[i]))
            return false;
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

/* Elements before the batch in row-major order; 0 where it cannot be told. */
static int64_t prefix_of(const struct probe *probe, uint32_t value) {
    const struct batch_place *place = &probe->places[value];
    int64_t prefix =
        checked_mul(shape_product(&before(probe, value)->shape, 0, place->axis), place->outer);
    return is_known(prefix) ? prefix : 0;
}

/* A view keeps the order of the elements, and so the batch's place in it. */
static int64_t outer_in_view(const struct probe *probe, const struct node *node,
                             const struct shape *shape, int axis) {
    uint32_t input = node->n_inputs > 0 ? node->inputs[0] : ID_NONE;
    if (input == ID_NONE || probe->places[input].axis < 0) return 0;
    int64_t prefix = prefix_of(probe, input);
    int64_t outside = shape_product(shape, 0, axis);
    return is_known(outside) && outside > 0 && prefix % outside == 0 ? prefix / outside : 0;
}

/*
 * Other operators keep an axis whole: the outer factor of the operand's axis of equal size. An
 * axis that became longer or shorter may have been laid end to end (Concat, Tile) or not.
 */
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

bool batch_axis_stands(const struct probe *probe, uint32_t value) {
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

/* An operand that is one short list of integers, the same at both batches; NULL: it is not. */
static const struct constant *standing_list(const struct probe *probe, uint32_t value) {
    const struct constant *list = value == ID_NONE ? NULL : before(probe, value)->value;
    if (!list || list->shape.rank != 1 || list->n_elements > SHAPE_MAX_RANK) return NULL;
    if (!batch_axis_stands(probe, value)) return NULL;
    list = constant_loaded(list, &probe->model->reader, probe->arena);
    return list && constant_has_ints(list) ? list : NULL;
}

static bool has_list(const struct probe *probe, const struct node *node) {
    for (size_t i = 0; i < node->n_inputs; i++)
        if (standing_list(probe, node->inputs[i])) return true;
    return false;
}

static bool holds_batch(const struct probe *probe, uint32_t value) {
    return value != ID_NONE && probe->places[value].axis >= 0;
}

/* Whether some output grew, or cannot be seen to have lost anything. */
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
 * Whether the output still has the operand's batch axis, but of the file's size: a Resize to
 * baked sizes, a Slice of all of the batch. Of a batch of 1 an axis that was summed up looks
 * the same; then only a list that may have spelled it is to blame, or an operand beside it.
 */
static bool cuts_batch(const struct probe *probe, const struct node *node, const struct op *op,
                       size_t slot) {
    const struct shape *in = &before(probe, node->inputs[slot])->shape;
    const struct shape *out = &before(probe, node->outputs[0])->shape;
    int axis = probe->places[node->inputs[slot]].axis;
    if (out->rank != in->rank || out->dims[axis] != in->dims[axis]) return false;
    if (op->algebra == ALGEBRA_REDUCTION) return false; /* its list is one of axes */
    return probe->batch > 1 || slot > 0 || has_list(probe, node);
}

/* Whether elements of the batch would be picked by a list of indices that was baked in; by one
 * index a model may well pick its first sample. */
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
        if (cuts_batch(probe, node, op, i)) return "its output would keep the file's own batch";
        if (picks_batch(probe, node, op, i)) return "it would pick from the file's own batch";
    }
    return NULL;
}

/* Whether the target of a Reshape stands, and no place tells what it does to the batch. */
static bool hides_batch(const struct probe *probe, const struct node *node, const struct op *op,
                        bool in_body) {
    if (op->target != TARGET_DIMS || node->n_inputs < 2 || node->inputs[0] == ID_NONE ||
        node->inputs[1] == ID_NONE || node->n_outputs == 0 || node->outputs[0] == ID_NONE)
        return false;
    const struct value_info *data = before(probe, node->inputs[0]);
    const struct batch_place *place = &probe->places[node->inputs[0]];
    bool unplaced = in_body && batch_axis_grown_axis(probe, node->inputs[0]) >= 0;
    bool unknown = !value_info_is_complete(data) && !data->is_constant;
    bool untold = place->axis >= 0 && place->outer == 0;
    return (unplaced || unknown || untold) && batch_axis_stands(probe, node->inputs[1]);
}

/*
 * Where the batch hides, a target that spells every dim may be at fault, and so may one with an
 * axis of the batch's size that did not grow.
 */
static const char *objection_to_target(const struct probe *probe, const struct node *node,
                                       const struct op *op, bool in_body) {
    if (!hides_batch(probe, node, op, in_body)) return NULL;
    const struct shape *out = &before(probe, node->outputs[0])->shape;
    int grown = batch_axis_grown_axis(probe, node->outputs[0]);
    bool suspect = grown < 0 && shape_is_known(out);
    for (int axis = 0; axis < out->rank && !suspect; axis++)
        suspect = axis != grown && out->dims[axis] == probe->batch;
    return suspect ? "it cannot be told where its operand holds the batch" : NULL;
}

static const char *objection_in_graph(const struct probe *probe, uint32_t graph_id);

static const char *objection_in_bodies(const struct probe *probe, const struct node *node) {
    const char *objection = NULL;
    for (size_t i = 0; i < node->n_attrs && !objection; i++) {
        const struct attr *attr = &node->attrs[i];
        if (attr->kind != ATTR_GRAPH && attr->kind != ATTR_GRAPHS) continue;
        for (size_t k = 0; k < attr->n && !objection; k++)
            objection = objection_in_graph(probe, attr->graphs[k]);
    }
    return objection;
}

static const char *objection_to_node(const struct probe *probe, uint32_t node_id,
                                     bool in_body) {
    const struct node *node = &probe->model->nodes[node_id];
    const struct op *op = probe->ops[node_id];
    if (!is_linear(probe, node)) return "its output would not grow with the batch alone";
    const char *objection = objection_to_loss(probe, node, op);
    if (!objection) objection = objection_to_target(probe, node, op, in_body);
    return objection ? objection : objection_in_bodies(probe, node);
}

/* Recurses no deeper than the walks went, which have a cap. */
static const char *objection_in_graph(const struct probe *probe, uint32_t graph_id) {
    const struct graph *graph = &probe->model->graphs[graph_id];
    const char *objection = NULL;
    for (size_t i = 0; i < graph->n_nodes && !objection; i++)
        objection = objection_to_node(probe, graph->nodes[i], true);
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

/* Axis of the output on which a batch operand's own axis lies, counted from the back; -1. */
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

/* Whether the list is the shape, but for the 1s and -1s that the operator fills in. */
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
        const struct constant *list = standing_list(probe, node->inputs[slot]);
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

static int scaled_shape(const struct probe *probe, const struct batch_change *change,
                        int64_t batch, struct shape *ret) {
    if (shape_make(probe->arena, change->dims->rank, change->dims->dims, ret) < 0)
        return CM_NO_MEMORY;
    int64_t old = change->dims->dims[change->axis];
    ret->dims[change->axis] = checked_mul(old / probe->batch, batch);
    return CM_OK;
}

/* The operand as a vector that spells the whole shape. */
static int spell_target(const struct probe *probe, const struct shape *dims,
                        struct value_info *info) {
    struct shape length;
    int64_t rank = dims->rank;
    if (shape_make(probe->arena, 1, &rank, &length) < 0) return CM_NO_MEMORY;
    *info = value_info_tensor(DTYPE_INT64, length);
    info->value = constant_ints(probe->arena, DTYPE_INT64, &length, dims->dims);
    info->is_constant = true;
    return info->value ? CM_OK : CM_NO_MEMORY;
}

/* The operand under its other shape: its contents are known where all elements are the same. */
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
    if (scaled_shape(probe, change, batch, &shape) < 0) return CM_NO_MEMORY;
    if (change->is_target) {
        if (spell_target(probe, &shape, info) < 0) return CM_NO_MEMORY;
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
