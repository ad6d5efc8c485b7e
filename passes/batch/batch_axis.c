/* SPDX-License-Identifier: Apache-2.0 */
/* The batch axis of each value, one node at a time: see rebatch.h. */
#include "passes/batch/rebatch.h"

static bool has_grown(const struct search *search, int64_t small, int64_t large) {
    return is_known(small) && is_known(large) && small != large &&
           checked_mul(large, search->batch) == checked_mul(small, PROBE_BATCH);
}

int batch_axis_power(const struct search *search, uint32_t value) {
    const struct shape *small = &before(search, value)->shape;
    const struct shape *large = &after(search, value)->shape;
    int power = 0;
    if (small->rank != large->rank) return -1;
    for (int axis = 0; axis < small->rank; axis++) {
        if (small->dims[axis] == large->dims[axis]) continue;
        if (!has_grown(search, small->dims[axis], large->dims[axis])) return -1;
        power++;
    }
    return power;
}

int batch_axis_of(const struct search *search, uint32_t value) {
    if (value == ID_NONE) return -1;
    const struct shape *small = &before(search, value)->shape;
    const struct shape *large = &after(search, value)->shape;
    if (small->rank != large->rank) return -1;
    for (int axis = 0; axis < small->rank; axis++)
        if (has_grown(search, small->dims[axis], large->dims[axis])) return axis;
    return -1;
}

static bool holds_batch(const struct search *search, uint32_t value) {
    return batch_axis_of(search, value) >= 0;
}

/* --- Places. --- */

int64_t batch_axis_prefix(const struct search *search, uint32_t value) {
    const struct batch_location *place = &search->places[value];
    const int64_t outside = shape_product(&before(search, value)->shape, 0, place->axis);
    const int64_t prefix = checked_mul(outside, place->outer);
    return is_known(prefix) ? prefix : 0;
}

int64_t batch_axis_outer(const struct shape *shape, int axis, int64_t prefix) {
    const int64_t outside = shape_product(shape, 0, axis);
    return is_known(outside) && outside > 0 && prefix % outside == 0 ? prefix / outside : 0;
}

/* Returns batch_location.outer of an output. A view keeps the row-major order. Other operators
 * keep the `outer` of the operands whose batch axis has the same size; it is 0 (unknown) if
 * they disagree or no operand has this size, as after a Concat or Tile. */
static int64_t outer_of(const struct search *search, uint32_t node_id,
                        const struct shape *shape, int axis) {
    const struct node *node = &search->model->nodes[node_id];
    const enum op_memory memory = search->ops[node_id]->memory;
    const bool is_view = memory == MEMORY_VIEW || memory == MEMORY_VIEW_UNLESS_TRAINING;
    int64_t outer = 0;
    if (shape->dims[axis] == search->batch) return 1;
    for (size_t i = 0; i < node->n_inputs; i++) {
        const uint32_t input = node->inputs[i];
        if (input == ID_NONE || search->places[input].axis < 0) continue;
        if (is_view) return batch_axis_outer(shape, axis, batch_axis_prefix(search, input));
        const struct batch_location *place = &search->places[input];
        if (before(search, input)->shape.dims[place->axis] != shape->dims[axis]) continue;
        if (outer != 0 && outer != place->outer) return 0;
        outer = place->outer;
    }
    return outer;
}

void batch_axis_locate_outputs(const struct search *search, uint32_t node_id) {
    const struct node *node = &search->model->nodes[node_id];
    for (size_t i = 0; i < node->n_outputs; i++) {
        const uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        const int axis = batch_axis_of(search, value);
        const bool is_placed = axis >= 0 && batch_axis_power(search, value) == 1;
        search->places[value] = (struct batch_location){
            axis,
            is_placed ? outer_of(search, node_id, &before(search, value)->shape, axis) : 0};
    }
}

size_t batch_axis_places(const struct search *search, const struct shape *shape, int64_t prefix,
                         struct batch_location out[SHAPE_MAX_RANK]) {
    size_t n = 0;
    for (int bare = 1; bare >= 0 && (n == 0 || search->unlikely); bare--)
        for (int axis = 0; axis < shape->rank; axis++) {
            const int64_t outer = batch_axis_outer(shape, axis, prefix);
            const int64_t dim = shape->dims[axis];
            const int64_t unit = checked_mul(outer, search->batch);
            if (unit > 0 && dim > 0 && dim % unit == 0 && (dim == search->batch) == (bare == 1))
                out[n++] = (struct batch_location){axis, outer};
        }
    return n;
}

size_t batch_axis_places_after(const struct search *search, const struct node *node,
                               struct batch_location out[SHAPE_MAX_RANK]) {
    const struct shape *shape = &before(search, node->outputs[0])->shape;
    const int64_t prefix = batch_axis_prefix(search, node->inputs[0]);
    if (prefix == 0 || !shape_is_known(shape)) return 0;
    size_t n = batch_axis_places(search, shape, prefix, out);
    /* at a batch of 1, a Transpose that was written as a Reshape may have moved the batch to
     * any unit axis, unless one of them is listed already */
    if (!search->unlikely || search->batch != 1 || (n > 0 && shape->dims[out[0].axis] == 1) ||
        !shape_equal_but_units(&before(search, node->inputs[0])->shape, shape))
        return n;
    for (int axis = 0; axis < shape->rank; axis++)
        if (shape->dims[axis] == 1) out[n++] = (struct batch_location){axis, 1};
    return n;
}

bool batch_axis_is_reshape(const struct search *search, uint32_t node_id) {
    const struct node *node = &search->model->nodes[node_id];
    return search->ops[node_id]->target == TARGET_DIMS && node->n_inputs >= 2 &&
           node->inputs[0] != ID_NONE && node->inputs[1] != ID_NONE && node->n_outputs > 0 &&
           node->outputs[0] != ID_NONE;
}

const struct constant *batch_axis_fixed_list(const struct search *search, uint32_t value) {
    const struct constant *list = value == ID_NONE ? NULL : before(search, value)->value;
    if (!list || list->shape.rank != 1 || list->n_elements > SHAPE_MAX_RANK ||
        !constant_equal(list, after(search, value)->value))
        return NULL;
    list = constant_loaded(list, &search->model->reader, search->arena);
    return list && constant_has_ints(list) ? list : NULL;
}

/* --- Objections. --- */

/* Returns the largest power of the batch that the size of an output may have. It is 1; if
 * squares are accepted, 2 for a product of two batched operands and results of it. */
static int allowed_power(const struct search *search, const struct node *node,
                         const struct op *op) {
    int n_batched = 0;
    if (!search->squares) return 1;
    for (size_t i = 0; i < node->n_inputs; i++) {
        const int power =
            node->inputs[i] == ID_NONE ? 0 : batch_axis_power(search, node->inputs[i]);
        if (power > 1) return 2;
        if (power == 1 && op_role(op, i) == 'W') return 1; /* each sample would need its own */
        n_batched += power == 1;
    }
    return op->cost.macs && n_batched > 1 ? 2 : 1;
}

static const char *objection_to_power(const struct search *search, const struct node *node,
                                      const struct op *op) {
    for (size_t i = 0; i < node->n_outputs; i++) {
        const uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        const int power = batch_axis_power(search, value);
        if (before(search, value)->shape.rank != after(search, value)->shape.rank)
            return "the rank of its output would change with the batch";
        if (power < 0) return "its output would not scale with the batch";
        if (power > allowed_power(search, node, op))
            return "its output would scale with the square of the batch";
    }
    return NULL;
}

/* Returns true if the operator gathers elements of operand 0 by the indices of operand 1. */
static bool gathers(const struct node *node, const struct op *op) {
    return op_looks_up(op) && node->n_inputs > 1 && node->inputs[1] != ID_NONE;
}

/* Returns why a gather from the batch cannot be right, or NULL. In the body of a Loop over
 * samples, gathering one sample is right. Elsewhere, a fixed index may select the first sample;
 * but at a batch of 1 it may also come from an unrolled loop over samples. */
static const char *objection_to_gather(const struct search *search, const struct node *node,
                                       bool per_sample) {
    const struct value_info *index = after(search, node->inputs[1]);
    const struct value *data = &search->model->values[node->inputs[0]];
    size_t n_gathers = 0;
    if (shape_elements(&index->shape) != 1)
        return "its indices select from the batch of the file";
    if (!index->value)
        return per_sample ? NULL : "its index selects samples, but not each of the batch once";
    if (search->batch == 1)
        return "its index selects one sample, or each sample of a batch of 1";
    for (uint32_t i = 0; i < data->n_uses; i++)
        n_gathers +=
            data->uses[i].slot == 0 &&
            gathers(&search->model->nodes[data->uses[i].node], search->ops[data->uses[i].node]);
    return n_gathers == 1 ? NULL : "its index selects one of several samples";
}

/* Returns why an output without the batch cannot be right, or NULL. */
static const char *objection_to_lost_batch(const struct search *search, const struct node *node,
                                           const struct op *op, bool per_sample) {
    if (op->memory == MEMORY_SHAPE_ONLY || op->memory == MEMORY_CONTROL ||
        op->algebra == ALGEBRA_REDUCTION || node->n_outputs == 0 || node->outputs[0] == ID_NONE)
        return NULL;
    for (size_t i = 0; i < node->n_outputs; i++) {
        const uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        const struct value_info *info = before(search, value);
        /* this output holds or may hold the batch */
        if (!value_info_is_complete(info) || info->value || holds_batch(search, value))
            return NULL;
    }
    const struct shape *out = &before(search, node->outputs[0])->shape;
    for (size_t i = 0; i < node->n_inputs; i++) {
        const int axis = batch_axis_of(search, node->inputs[i]);
        if (axis < 0) continue;
        if (op->cost.macs) return "the batch would be summed over";
        if (i == 0 && gathers(node, op)) return objection_to_gather(search, node, per_sample);
        if (out->rank == 0) continue; /* a training loss */
        /* a Resize to fixed sizes and a Slice of the whole batch keep the size */
        const struct shape *in = &before(search, node->inputs[i])->shape;
        return out->rank == in->rank && out->dims[axis] == in->dims[axis]
                   ? "its output would keep the batch of the file"
                   : "its output would not hold the batch";
    }
    return NULL;
}

/* Returns why a Reshape with a fixed target cannot be right, or NULL. It cannot if the place of
 * the batch in the operand is unknown, and either no axis of the output grew, or an axis of the
 * batch's size did not grow. */
static const char *objection_to_target(const struct search *search, uint32_t node_id,
                                       bool in_body) {
    const struct node *node = &search->model->nodes[node_id];
    if (!batch_axis_is_reshape(search, node_id) ||
        !batch_axis_fixed_list(search, node->inputs[1]))
        return NULL;
    const struct value_info *data = before(search, node->inputs[0]);
    const struct batch_location *place = &search->places[node->inputs[0]];
    const bool is_unknown =
        in_body ? holds_batch(search, node->inputs[0]) : place->axis >= 0 && place->outer == 0;
    if (!is_unknown && (value_info_is_complete(data) || data->is_constant)) return NULL;
    const struct shape *out = &before(search, node->outputs[0])->shape;
    const int grown = batch_axis_of(search, node->outputs[0]);
    bool is_suspect = grown < 0 && shape_is_known(out);
    for (int axis = 0; axis < out->rank; axis++)
        is_suspect = is_suspect || (axis != grown && out->dims[axis] == search->batch);
    return is_suspect ? "the batch axis of its operand is unknown" : NULL;
}

static const char *objection_to_node(const struct search *search, uint32_t node_id,
                                     bool in_body, bool per_sample, uint32_t *ret_node);

/* Returns why the body of a Loop, Scan or If cannot be right, or NULL. A Loop whose trip count
 * scales with the batch is a loop over samples. */
static const char *objection_to_body(const struct search *search, uint32_t graph, bool outer,
                                     uint32_t *ret_node) {
    const struct graph *body = &search->model->graphs[graph];
    const struct node *owner = &search->model->nodes[body->owner];
    const int64_t small = search->before.runs[graph];
    const int64_t large = search->after.runs[graph];
    const bool per_sample = has_grown(search, small, large);
    const char *objection = NULL;
    *ret_node = body->owner;
    if (small != large && !per_sample) return "its trip count would not scale with the batch";
    for (uint32_t slot = 0; slot < owner->n_inputs && owner->n_inputs == body->n_inputs;
         slot++) {
        const int axis = batch_axis_of(search, body->inputs[slot]);
        if (axis < 0 || owner->inputs[slot] == ID_NONE) continue;
        const struct override *override = search->overrides[body->owner];
        while (override && override->slot != slot) override = override->next;
        const struct shape *shape =
            override ? &override->info->shape : &after(search, owner->inputs[slot])->shape;
        const struct shape *inside = &after(search, body->inputs[slot])->shape;
        if (shape->rank == inside->rank && shape->dims[axis] != inside->dims[axis])
            return "a state would hold the batch from the second iteration on";
    }
    for (size_t i = 0; i < body->n_nodes && !objection; i++) /* walk.c limits the depth */
        objection =
            objection_to_node(search, body->nodes[i], true, per_sample || outer, ret_node);
    return objection;
}

/* Returns why a product in a body cannot be right, or NULL. */
static const char *objection_to_product(const struct search *search, const struct node *node,
                                        bool per_sample) {
    const bool is_batched = node->n_outputs > 0 && holds_batch(search, node->outputs[0]);
    if (per_sample && is_batched) return "it would process the whole batch for each sample";
    return per_sample || is_batched ? NULL : "it may or may not run for each sample";
}

static const char *objection_to_node(const struct search *search, uint32_t node_id,
                                     bool in_body, bool per_sample, uint32_t *ret_node) {
    const struct node *node = &search->model->nodes[node_id];
    const struct op *op = search->ops[node_id];
    const bool is_control = op->memory == MEMORY_CONTROL;
    const char *objection = is_control ? NULL : objection_to_power(search, node, op);
    if (!objection) objection = objection_to_lost_batch(search, node, op, per_sample);
    if (!objection) objection = objection_to_target(search, node_id, in_body);
    if (!objection && in_body && op->cost.macs)
        objection = objection_to_product(search, node, per_sample);
    if (objection) *ret_node = node_id;
    for (size_t i = 0; i < node->n_attrs && !objection; i++) {
        const struct attr *attr = &node->attrs[i];
        if (attr->kind != ATTR_GRAPH && attr->kind != ATTR_GRAPHS) continue;
        for (size_t k = 0; k < attr->n && !objection; k++)
            objection = objection_to_body(search, attr->graphs[k], per_sample, ret_node);
    }
    if (objection || !is_control) return objection;
    *ret_node = node_id;
    return objection_to_power(search, node, op);
}

const char *batch_axis_objection(const struct search *search, uint32_t node_id,
                                 uint32_t *ret_node) {
    return objection_to_node(search, node_id, false, false, ret_node);
}
