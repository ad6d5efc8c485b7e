/* SPDX-License-Identifier: Apache-2.0 */
/* The batch axis of each value, one node at a time: see batch_axis.h. */
#include "passes/batch/batch_axis.h"

#include "passes/walk/context.h"
#include "support/arena.h"
#include "support/diag.h"

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

int batch_axis_power(const struct probe *probe, uint32_t value) {
    const struct shape *small = &before(probe, value)->shape;
    const struct shape *large = &after(probe, value)->shape;
    int power = 0;
    if (small->rank != large->rank) return -1;
    for (int axis = 0; axis < small->rank; axis++) {
        if (small->dims[axis] == large->dims[axis]) continue;
        if (!has_grown(probe, small->dims[axis], large->dims[axis])) return -1;
        power++;
    }
    return power;
}

/* Returns the largest power of the batch that the size of an output may have. It is 1; if
 * squares are accepted, 2 for a product of two batched operands and results computed from it.
 */
static int allowed_power(const struct probe *probe, const struct node *node,
                         const struct op *op) {
    int n_batched = 0;
    if (!probe->squares) return 1;
    for (size_t i = 0; i < node->n_inputs; i++) {
        const int power =
            node->inputs[i] == ID_NONE ? 0 : batch_axis_power(probe, node->inputs[i]);
        if (power > 1) return 2;
        if (power == 1 && op_role(op, i) == 'W') return 1; /* each sample would need its own */
        n_batched += power == 1;
    }
    return op->cost.macs && n_batched > 1 ? 2 : 1;
}

static const char *objection_to_power(const struct probe *probe, const struct node *node,
                                      const struct op *op) {
    for (size_t i = 0; i < node->n_outputs; i++) {
        const uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        const int power = batch_axis_power(probe, value);
        if (before(probe, value)->shape.rank != after(probe, value)->shape.rank)
            return "the rank of its output would change with the batch";
        if (power < 0) return "its output would not scale with the batch";
        if (power > allowed_power(probe, node, op))
            return "its output would scale with the square of the batch";
    }
    return NULL;
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
    const struct batch_location *place = &probe->places[value];
    int64_t prefix =
        checked_mul(shape_product(&before(probe, value)->shape, 0, place->axis), place->outer);
    return is_known(prefix) ? prefix : 0;
}

/* Returns batch_location.outer of a view's output: a view keeps the row-major order. */
static int64_t outer_in_view(const struct probe *probe, const struct node *node,
                             const struct shape *shape, int axis) {
    uint32_t input = node->n_inputs > 0 ? node->inputs[0] : ID_NONE;
    if (input == ID_NONE || probe->places[input].axis < 0) return 0;
    int64_t prefix = prefix_of(probe, input);
    int64_t outside = shape_product(shape, 0, axis);
    if (shape->dims[axis] == probe->batch) return 1;
    return is_known(outside) && outside > 0 && prefix % outside == 0 ? prefix / outside : 0;
}

/* Returns batch_location.outer of an output that is not a view: the `outer` of the operands
 * whose batch axis has the same size. Returns 0 (unknown) if they disagree or no operand has
 * this size, as after a Concat or Tile. */
static int64_t outer_inherited(const struct probe *probe, const struct node *node,
                               int64_t size) {
    int64_t outer = 0;
    if (size == probe->batch) return 1;
    for (size_t i = 0; i < node->n_inputs; i++) {
        uint32_t input = node->inputs[i];
        if (input == ID_NONE || probe->places[input].axis < 0) continue;
        const struct batch_location *place = &probe->places[input];
        if (before(probe, input)->shape.dims[place->axis] != size) continue;
        if (outer != 0 && outer != place->outer) return 0;
        outer = place->outer;
    }
    return outer;
}

void batch_axis_locate_outputs(struct probe *probe, uint32_t node_id) {
    const struct node *node = &probe->model->nodes[node_id];
    enum op_memory memory = probe->ops[node_id]->memory;
    bool view = memory == MEMORY_VIEW || memory == MEMORY_VIEW_UNLESS_TRAINING;
    for (size_t i = 0; i < node->n_outputs; i++) {
        uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        const struct shape *shape = &before(probe, value)->shape;
        int axis = batch_axis_grown_axis(probe, value);
        struct batch_location place = {.axis = axis, .outer = 0};
        if (axis >= 0 && view) place.outer = outer_in_view(probe, node, shape, axis);
        if (axis >= 0 && !view) place.outer = outer_inherited(probe, node, shape->dims[axis]);
        if (batch_axis_power(probe, value) > 1) place.outer = 0;
        probe->places[value] = place;
    }
}

bool batch_axis_is_fixed(const struct probe *probe, uint32_t value) {
    const struct constant *small = before(probe, value)->value;
    return small && constant_equal(small, after(probe, value)->value);
}

const struct constant *batch_axis_fixed_list(const struct probe *probe, uint32_t value) {
    const struct constant *list = value == ID_NONE ? NULL : before(probe, value)->value;
    if (!list || list->shape.rank != 1 || list->n_elements > SHAPE_MAX_RANK) return NULL;
    if (!batch_axis_is_fixed(probe, value)) return NULL;
    list = constant_loaded(list, &probe->model->reader, probe->arena);
    return list && constant_has_ints(list) ? list : NULL;
}

static bool holds_batch(const struct probe *probe, uint32_t value) {
    return value != ID_NONE && batch_axis_grown_axis(probe, value) >= 0;
}

/* Returns true if the operator gathers elements of operand 0 by the indices of operand 1. */
static bool gathers(const struct node *node, const struct op *op) {
    return op_role(op, 0) == 'n' && node->n_inputs > 1 && node->inputs[1] != ID_NONE;
}

/* Returns why a gather from the batch cannot be right, or NULL. In the body of a Loop over
 * samples, gathering one sample is right. Elsewhere, a fixed index may select the first sample;
 * but at a batch of 1 it may also come from an unrolled loop over samples. */
static const char *objection_to_gather(const struct probe *probe, const struct node *node,
                                       bool per_sample) {
    const struct value_info *index = after(probe, node->inputs[1]);
    if (shape_elements(&index->shape) != 1)
        return "its indices select from the batch of the file";
    if (per_sample && !index->value) return NULL;
    if (probe->batch > 1 && index->value) {
        const struct value *data = &probe->model->values[node->inputs[0]];
        size_t n_gathers = 0;
        for (uint32_t i = 0; i < data->n_uses; i++)
            n_gathers +=
                data->uses[i].slot == 0 && gathers(&probe->model->nodes[data->uses[i].node],
                                                   probe->ops[data->uses[i].node]);
        return n_gathers == 1 ? NULL : "its index selects one of several samples";
    }
    return index->value ? "its index selects one sample, or each sample of a batch of 1"
                        : "its index selects samples, but not each of the batch once";
}

/* Returns why an output without the batch cannot be right, or NULL. */
static const char *objection_to_lost_batch(const struct probe *probe, const struct node *node,
                                           const struct op *op, bool per_sample) {
    if (op->memory == MEMORY_SHAPE_ONLY || op->memory == MEMORY_CONTROL ||
        op->algebra == ALGEBRA_REDUCTION || node->n_outputs == 0 || node->outputs[0] == ID_NONE)
        return NULL;
    for (size_t i = 0; i < node->n_outputs; i++) {
        const uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        const struct value_info *info = before(probe, value);
        /* this output holds or may hold the batch */
        if (!value_info_is_complete(info) || info->value || holds_batch(probe, value))
            return NULL;
    }
    const struct shape *out = &before(probe, node->outputs[0])->shape;
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (!holds_batch(probe, node->inputs[i])) continue;
        if (op->cost.macs) return "the batch would be summed over";
        if (i == 0 && gathers(node, op)) return objection_to_gather(probe, node, per_sample);
        if (out->rank == 0) continue; /* a training loss */
        /* a Resize to fixed sizes and a Slice of the whole batch keep the size */
        const struct shape *in = &before(probe, node->inputs[i])->shape;
        const int axis = batch_axis_grown_axis(probe, node->inputs[i]);
        return out->rank == in->rank && out->dims[axis] == in->dims[axis]
                   ? "its output would keep the batch of the file"
                   : "its output would not hold the batch";
    }
    return NULL;
}

/*
 * Returns why a Reshape with a fixed target cannot be right, or NULL. It cannot if the place of
 * the batch in the operand is unknown, and either no axis of the output grew, or an axis of the
 * batch's size did not grow.
 */
static const char *objection_to_target(const struct probe *probe, const struct node *node,
                                       const struct op *op, bool in_body) {
    if (op->target != TARGET_DIMS || node->n_inputs < 2 || node->inputs[0] == ID_NONE ||
        node->inputs[1] == ID_NONE || node->n_outputs == 0 || node->outputs[0] == ID_NONE)
        return NULL;
    const struct value_info *data = before(probe, node->inputs[0]);
    const struct batch_location *place = &probe->places[node->inputs[0]];
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

static const char *objection_to_node(const struct probe *probe, uint32_t node_id, bool in_body,
                                     bool per_sample, uint32_t *ret_node);

/* Returns why the body of a Loop, Scan or If cannot be right, or NULL. A Loop whose trip count
 * scales with the batch is a loop over samples. */
static const char *objection_to_body(const struct probe *probe, uint32_t graph, bool outer,
                                     uint32_t *ret_node) {
    const struct graph *body = &probe->model->graphs[graph];
    const struct node *owner = &probe->model->nodes[body->owner];
    const int64_t small = probe->before.table->runs[graph];
    const int64_t large = probe->after.table->runs[graph];
    const bool per_sample = has_grown(probe, small, large);
    const char *objection = NULL;
    *ret_node = body->owner;
    if (small != large && !per_sample) return "its trip count would not scale with the batch";
    for (uint32_t slot = 0; slot < owner->n_inputs && owner->n_inputs == body->n_inputs;
         slot++) {
        const int axis = batch_axis_grown_axis(probe, body->inputs[slot]);
        if (axis < 0 || owner->inputs[slot] == ID_NONE) continue;
        const struct override *override = probe->overrides[body->owner];
        while (override && override->slot != slot) override = override->next;
        const struct shape *shape =
            override ? &override->info->shape : &after(probe, owner->inputs[slot])->shape;
        const struct shape *inside = &after(probe, body->inputs[slot])->shape;
        if (shape->rank == inside->rank && shape->dims[axis] != inside->dims[axis])
            return "a state would hold the batch from the second iteration on";
    }
    for (size_t i = 0; i < body->n_nodes && !objection; i++) /* walk.c limits the depth */
        objection =
            objection_to_node(probe, body->nodes[i], true, per_sample || outer, ret_node);
    return objection;
}

static const char *objection_to_node(const struct probe *probe, uint32_t node_id, bool in_body,
                                     bool per_sample, uint32_t *ret_node) {
    const struct node *node = &probe->model->nodes[node_id];
    const struct op *op = probe->ops[node_id];
    const char *objection = NULL;
    if (op->memory != MEMORY_CONTROL) objection = objection_to_power(probe, node, op);
    if (!objection && per_sample && op->cost.macs && node->n_outputs > 0 &&
        holds_batch(probe, node->outputs[0]))
        objection = "it would process the whole batch for each sample";
    if (!objection) objection = objection_to_lost_batch(probe, node, op, per_sample);
    if (!objection) objection = objection_to_target(probe, node, op, in_body);
    if (objection) *ret_node = node_id;
    for (size_t i = 0; i < node->n_attrs && !objection; i++) {
        const struct attr *attr = &node->attrs[i];
        if (attr->kind != ATTR_GRAPH && attr->kind != ATTR_GRAPHS) continue;
        for (size_t k = 0; k < attr->n && !objection; k++)
            objection = objection_to_body(probe, attr->graphs[k], per_sample, ret_node);
    }
    if (objection || op->memory != MEMORY_CONTROL) return objection;
    *ret_node = node_id;
    return objection_to_power(probe, node, op);
}

const char *batch_axis_objection(const struct probe *probe, uint32_t node_id,
                                 uint32_t *ret_node) {
    return objection_to_node(probe, node_id, false, false, ret_node);
}

/* Returns true if the shapes are equal without their unit axes (dims of 1): a Transpose that
 * moves only unit axes is the same as a Reshape. */
static bool moves_unit_axes(const struct shape *from, const struct shape *to) {
    int i = 0;
    int k = 0;
    for (;;) {
        while (i < from->rank && from->dims[i] == 1) i++;
        while (k < to->rank && to->dims[k] == 1) k++;
        if (i == from->rank || k == to->rank) return i == from->rank && k == to->rank;
        if (from->dims[i++] != to->dims[k++]) return false;
    }
}

size_t batch_axis_locations_in(const struct probe *probe, const struct shape *shape,
                               int64_t prefix, struct batch_location out[SHAPE_MAX_RANK]) {
    int64_t outside = 1; /* elements of the axes before this one */
    size_t n = 0;
    for (int axis = 0; axis < shape->rank && outside > 0 && outside <= prefix; axis++) {
        int64_t outer = prefix / outside;
        int64_t dim = shape->dims[axis];
        int64_t unit = checked_mul(outer, probe->batch);
        if (prefix % outside == 0 && is_known(unit) && dim > 0 && dim % unit == 0)
            out[n++] = (struct batch_location){axis, outer};
        outside = checked_mul(outside, dim);
        if (!is_known(outside)) break;
    }
    return n;
}

size_t batch_axis_candidates(const struct probe *probe, uint32_t node_id,
                             struct batch_location out[SHAPE_MAX_RANK]) {
    const struct node *node = &probe->model->nodes[node_id];
    const struct shape *shape = &before(probe, node->outputs[0])->shape;
    int64_t prefix = prefix_of(probe, node->inputs[0]);
    if (prefix == 0 || !shape_is_known(shape)) return 0;
    size_t n = batch_axis_locations_in(probe, shape, prefix, out);
    /* at a batch of 1, a Transpose that was written as a Reshape may have moved the batch to
     * any unit axis, unless one of them is a candidate already */
    if (!probe->unlikely || probe->batch != 1 ||
        !moves_unit_axes(&before(probe, node->inputs[0])->shape, shape))
        return n;
    for (size_t i = 0; i < n; i++)
        if (shape->dims[out[i].axis] == 1) return n;
    for (int axis = 0; axis < shape->rank; axis++)
        if (shape->dims[axis] == 1) out[n++] = (struct batch_location){axis, 1};
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

int batch_axis_grown_list(const struct probe *probe, uint32_t node_id, struct shape *ret) {
    const struct node *node = &probe->model->nodes[node_id];
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        if (node->inputs[slot] == ID_NONE) continue;
        const struct constant *small = before(probe, node->inputs[slot])->value;
        const struct constant *large = after(probe, node->inputs[slot])->value;
        if (!small || !large || !constant_has_ints(small) || !constant_has_ints(large) ||
            small->shape.rank != 1 || small->n_elements > SHAPE_MAX_RANK ||
            small->n_elements != large->n_elements)
            continue;
        for (int64_t i = 0; i < small->n_elements; i++) {
            if (!has_grown(probe, constant_int_at(small, i), constant_int_at(large, i)))
                continue;
            if (shape_make(probe->arena, (int)small->n_elements, NULL, ret) < 0) return -1;
            for (int k = 0; k < ret->rank; k++) ret->dims[k] = constant_int_at(small, k);
            return (int)i;
        }
    }
    return -1;
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
        const struct constant *list = batch_axis_fixed_list(probe, node->inputs[slot]);
        bool lists_dims = list && list->n_elements == out->rank;
        for (int i = 0; i < out->rank && lists_dims; i++) {
            const int64_t listed = constant_int_at(list, i);
            /* the operator replaces 1 and -1 */
            const bool filled_in = i != axis && (listed == 1 || listed == -1);
            lists_dims = listed == out->dims[i] || filled_in;
        }
        if (!lists_dims) continue;
        *ret = (struct batch_change){.node = node_id,
                                     .slot = (uint32_t)slot,
                                     .is_target = true,
                                     .axis = axis,
                                     .dims = out};
        return true;
    }
    return false;
}

/* Sets the shape of the operand. Keeps its contents only if all elements are equal. */
static int scale_operand(const struct probe *probe, const struct shape *shape,
                         struct value_info *info) {
    const struct constant *value = info->value;
    info->shape = *shape;
    info->value = NULL;
    info->is_data_missing = false;
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
    if (change->is_target) { /* a 1-D operand that lists the dims */
        const int64_t rank = shape.rank;
        struct shape length;
        if (shape_make(probe->arena, 1, &rank, &length) < 0) return CM_NO_MEMORY;
        *info = value_info_tensor(DTYPE_INT64, length);
        info->value = constant_ints(probe->arena, DTYPE_INT64, &length, shape.dims);
        info->is_constant = true;
        if (!info->value) return CM_NO_MEMORY;
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

void batch_axis_push(struct arena *arena, struct change_list *list,
                     const struct batch_change *change) {
    struct batch_change *items =
        arena_grow(arena, list->items, list->n, &list->capacity, sizeof *items);
    if (!items) return;
    list->items = items;
    list->items[list->n++] = *change;
}
