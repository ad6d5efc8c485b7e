/* SPDX-License-Identifier: Apache-2.0 */
/* Where the batch lies, one node at a time: see probe.h. */
#include "passes/probe.h"

#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

static const struct fact *before(const struct probe *probe, uint32_t value) {
    return &probe->before.table->facts[value];
}

static const struct fact *after(const struct probe *probe, uint32_t value) {
    return &probe->after.table->facts[value];
}

/* ---- growth ----------------------------------------------------------------------------- */

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

bool probe_is_linear(const struct probe *probe, uint32_t node_id) {
    const struct node *node = &probe->model->nodes[node_id];
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE && !value_is_linear(probe, node->outputs[i]))
            return false;
    return true;
}

int probe_grown_axis(const struct probe *probe, uint32_t value) {
    const struct shape *small = &before(probe, value)->shape;
    const struct shape *large = &after(probe, value)->shape;
    if (small->rank != large->rank) return -1;
    for (int axis = 0; axis < small->rank; axis++)
        if (has_grown(probe, small->dims[axis], large->dims[axis])) return axis;
    return -1;
}

/* ---- places ----------------------------------------------------------------------------- */

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

/* Other operators keep an axis whole: the outer factor of the operand's axis of equal size. */
static int64_t outer_inherited(const struct probe *probe, const struct node *node,
                               int64_t size) {
    int64_t outer = 0;
    bool all_one = true;
    for (size_t i = 0; i < node->n_inputs; i++) {
        uint32_t input = node->inputs[i];
        if (input == ID_NONE || probe->places[input].axis < 0) continue;
        const struct batch_place *place = &probe->places[input];
        all_one = all_one && place->outer == 1;
        if (before(probe, input)->shape.dims[place->axis] != size) continue;
        if (outer != 0 && outer != place->outer) return 0;
        outer = place->outer;
    }
    return outer == 0 && all_one ? 1 : outer;
}

void probe_place_outputs(struct probe *probe, uint32_t node_id) {
    const struct node *node = &probe->model->nodes[node_id];
    enum op_memory memory = probe->ops[node_id]->memory;
    bool view = memory == MEMORY_VIEW || memory == MEMORY_VIEW_UNLESS_TRAINING;
    for (size_t i = 0; i < node->n_outputs; i++) {
        uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        const struct shape *shape = &before(probe, value)->shape;
        int axis = probe_grown_axis(probe, value);
        struct batch_place place = {.axis = axis, .outer = 0};
        if (axis >= 0 && view) place.outer = outer_in_view(probe, node, shape, axis);
        if (axis >= 0 && !view) place.outer = outer_inherited(probe, node, shape->dims[axis]);
        probe->places[value] = place;
    }
}

/* ---- targets ---------------------------------------------------------------------------- */

size_t probe_candidates(const struct probe *probe, uint32_t node_id,
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

/* ---- changes ---------------------------------------------------------------------------- */

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
                        struct fact *fact) {
    struct shape length;
    int64_t rank = dims->rank;
    if (shape_make(probe->arena, 1, &rank, &length) < 0) return CM_NO_MEMORY;
    *fact = fact_tensor(DTYPE_INT64, length);
    fact->value = constant_ints(probe->arena, DTYPE_INT64, &length, dims->dims);
    fact->is_constant = true;
    return fact->value ? CM_OK : CM_NO_MEMORY;
}

int probe_apply(const struct probe *probe, const struct override **overrides,
                const struct batch_change *change, int64_t batch) {
    const struct node *node = &probe->model->nodes[change->node];
    struct fact *fact = arena_alloc(probe->arena, sizeof(*fact));
    struct override *entry = arena_alloc(probe->arena, sizeof(*entry));
    struct shape shape;
    if (!fact || !entry) return CM_NO_MEMORY;
    if (scaled_shape(probe, change, batch, &shape) < 0) return CM_NO_MEMORY;
    if (change->is_target) {
        if (spell_target(probe, &shape, fact) < 0) return CM_NO_MEMORY;
    } else {
        *fact = *before(probe, node->inputs[change->slot]);
        fact->shape = shape;
        fact->value = NULL;
    }
    *entry = (struct override){.node = change->node,
                               .slot = change->slot,
                               .fact = fact,
                               .next = overrides[change->node]};
    overrides[change->node] = entry;
    return CM_OK;
}
