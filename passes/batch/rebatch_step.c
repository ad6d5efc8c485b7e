/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step of the search: a node is walked as it stands; where the batch may lie in several
 * places of its target a choice is made; where it does not fit, an operand that holds the old
 * batch is mended.
 */
#include <string.h>

#include "passes/batch/rebatch_search.h"
#include "support/arena.h"

#include "support/banned.h"

static int add_change(struct search *search, const struct batch_change *change) {
    struct change_list *list = &search->changes;
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        struct batch_change *items = arena_array(search->probe.arena, capacity, sizeof(*items));
        if (!items) return CM_NO_MEMORY;
        if (list->n) memcpy(items, list->items, list->n * sizeof(*items));
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->n++] = *change;
    return batch_axis_apply(&search->probe, search->probe.overrides, change, PROBE_BATCH);
}

static int add_choice(struct search *search, const struct choice *choice) {
    if (search->n_choices == search->choices_capacity) {
        size_t capacity = search->choices_capacity ? 2 * search->choices_capacity : 16;
        struct choice *items = arena_array(search->probe.arena, capacity, sizeof(*items));
        if (!items) return CM_NO_MEMORY;
        if (search->n_choices)
            memcpy(items, search->choices, search->n_choices * sizeof(*items));
        search->choices = items;
        search->choices_capacity = capacity;
    }
    search->choices[search->n_choices] = *choice;
    search->choices[search->n_choices++].budget = search->probe.after.budget;
    return CM_OK;
}

void step_undo(struct search *search, size_t n) {
    while (search->changes.n > n)
        search->probe.overrides[search->changes.items[--search->changes.n].node] = NULL;
}

/* Walks the node at the probe's batch: CM_OK, CONTRADICTION with a message, CM_NO_MEMORY. */
static int try_node(struct search *search, uint32_t node) {
    int status = walk_node(&search->probe.after, node);
    if (status == CM_NO_MEMORY) return status;
    search->misfit = status < 0;
    const char *objection = status < 0 ? NULL : batch_axis_objection(&search->probe, node);
    if (objection) status = diag_error(search->sink, DIAG_BATCH, "%s", objection);
    return status < 0 ? CONTRADICTION : CM_OK;
}

static int take(struct search *search, uint32_t node_id,
                const struct batch_candidate *candidate) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    const struct batch_change change = {
        .node = node_id,
        .slot = 1,
        .is_target = true,
        .axis = candidate->axis,
        .dims = &search_fact_before(search, node->outputs[0])->shape,
    };
    if (add_change(search, &change) < 0) return CM_NO_MEMORY;
    return try_node(search, node_id);
}

static bool is_bare(const struct search *search, const struct shape *dims,
                    const struct batch_candidate *candidate) {
    return candidate->outer == 1 && dims->dims[candidate->axis] == search->probe.batch;
}

/* Whether the operand has an axis of the batch's size wherever one could hold it: then they are
 * the same axes, and the batch stays on its own. */
static bool keeps_axes(const struct search *search, const struct node *node,
                       const struct choice *choice) {
    const struct shape *in = &search_fact_before(search, node->inputs[0])->shape;
    for (size_t i = 0; i < choice->n; i++) {
        int axis = choice->alternatives[i].axis;
        if (axis >= in->rank || in->dims[axis] != search->probe.batch) return false;
    }
    return choice->alternatives[0].axis == search->probe.places[node->inputs[0]].axis;
}

/*
 * An axis of the batch's own size is likelier than any other: where there are such, only they
 * stay, the operand's own axis first. Returns how many they are.
 */
static size_t prefer_bare(const struct search *search, const struct node *node,
                          struct choice *choice) {
    const struct shape *dims = &search_fact_before(search, node->outputs[0])->shape;
    struct batch_candidate *places = choice->alternatives;
    int own_axis = search->probe.places[node->inputs[0]].axis;
    size_t n = 0;
    for (size_t i = 0; i < choice->n; i++)
        if (is_bare(search, dims, &places[i])) places[n++] = places[i];
    for (size_t i = 1; i < n; i++) {
        if (places[i].axis != own_axis) continue;
        struct batch_candidate first = places[0];
        places[0] = places[i];
        places[i] = first;
    }
    if (n == 0) return 0;
    choice->n = n;
    if (keeps_axes(search, node, choice)) choice->n = 1;
    return choice->n;
}

static bool has_axis(const struct choice *choice, int axis) {
    for (size_t i = 0; i < choice->n; i++)
        if (choice->alternatives[i].axis == axis) return true;
    return false;
}

static bool has_axis_before(const struct choice *choice, int axis) {
    for (size_t i = 0; i < choice->n; i++)
        if (choice->alternatives[i].axis < axis) return true;
    return false;
}

/*
 * A node with a target whose operand holds the batch; `status` is that of walking it as it is.
 * A target that fits as it is stays: one that moved with the batch, or a -1 that took the batch
 * up, unless an axis of the batch's own size stands there or before.
 */
static int place_target(struct search *search, size_t step, int status) {
    uint32_t node_id = search_node_at(search, step);
    const struct node *node = &search->analysis->model->nodes[node_id];
    struct choice choice = {.step = step, .n_changes = search->changes.n};
    choice.n = batch_axis_candidates(&search->probe, node_id, choice.alternatives);
    if (choice.n == 0) return status;
    int axis = status == CM_OK ? batch_axis_grown_axis(&search->probe, node->outputs[0]) : -1;
    bool fits = has_axis(&choice, axis);
    if (fits && !batch_axis_stands(&search->probe, node->inputs[1])) return CM_OK;
    size_t n_bare = prefer_bare(search, node, &choice);
    if (fits && n_bare == 0) return CM_OK;
    if (fits && has_axis(&choice, axis) && !has_axis_before(&choice, axis)) return CM_OK;
    if (choice.n == 1) return take(search, node_id, &choice.alternatives[0]);
    if (add_choice(search, &choice) < 0) return CM_NO_MEMORY;
    return take(search, node_id, &choice.alternatives[0]);
}

static bool has_placed_target(const struct search *search, uint32_t node_id) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    return search->probe.ops[node_id]->target == TARGET_DIMS && node->n_inputs > 1 &&
           node->inputs[0] != ID_NONE && node->inputs[1] != ID_NONE && node->n_outputs > 0 &&
           node->outputs[0] != ID_NONE && search->probe.places[node->inputs[0]].axis >= 0;
}

/* Whether only a learned tensor stands there: it has no batch, whatever its dims. */
static bool is_weight_slot(char role, const struct value_info *info) {
    return strchr("Wns", role) || (role == 'w' && info->is_weight && info->shape.rank <= 2);
}

/* The operand's shape when it is a constant without the batch; else NULL. A list of one number
 * is none: the 1 of its shape says nothing. */
static const struct shape *stale_operand(const struct search *search, uint32_t node_id,
                                         size_t slot) {
    const struct op *op = search->probe.ops[node_id];
    uint32_t value = search->analysis->model->nodes[node_id].inputs[slot];
    if (value == ID_NONE || search->probe.places[value].axis >= 0) return NULL;
    const struct value_info *info = search_fact_before(search, value);
    if (!info->is_constant || !value_info_is_complete(info)) return NULL;
    if (info->value && info->shape.rank == 1 && info->shape.dims[0] == 1) return NULL;
    return is_weight_slot(op_role(op, slot), info) ? NULL : &info->shape;
}

/* Shape, at the file's batch, and axis of the operand that holds the batch; NULL: none does. */
static const struct shape *batch_operand(const struct search *search, const struct node *node,
                                         int *ret_axis) {
    for (size_t i = 0; i < node->n_inputs; i++) {
        uint32_t value = node->inputs[i];
        if (value == ID_NONE || search->probe.places[value].axis < 0) continue;
        *ret_axis = search->probe.places[value].axis;
        return &search_fact_before(search, value)->shape;
    }
    return NULL;
}

/* Changes every constant operand that is `size` long on the axis where the batch lies in
 * `partner`, counted from the front or the back. */
static int change_aligned(struct search *search, uint32_t node_id, const struct shape *partner,
                          int axis, int64_t size, bool from_back) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        const struct shape *shape = stale_operand(search, node_id, slot);
        if (!shape) continue;
        int own = from_back ? shape->rank - (partner->rank - axis) : axis;
        if (own < 0 || own >= shape->rank || shape->dims[own] != size) continue;
        const struct batch_change change = {
            .node = node_id, .slot = (uint32_t)slot, .axis = own, .dims = shape};
        if (add_change(search, &change) < 0) return CM_NO_MEMORY;
    }
    return CM_OK;
}

/* A node that does not fit: perhaps an operand lists the dims of its output. */
static int mend_list(struct search *search, uint32_t node_id) {
    struct batch_change change;
    size_t n_changes = search->changes.n;
    if (!batch_axis_listed_dims(&search->probe, node_id, &change)) return CONTRADICTION;
    if (add_change(search, &change) < 0) return CM_NO_MEMORY;
    int status = try_node(search, node_id);
    if (status == CONTRADICTION) step_undo(search, n_changes);
    return status;
}

/* Or a constant operand has the old batch on the batch's axis; what the batch shares its axis
 * with stands there too where the operator wants both as long. */
static int mend_constants(struct search *search, uint32_t node_id, bool misfit) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    size_t n_changes = search->changes.n;
    int axis = -1;
    const struct shape *partner = batch_operand(search, node, &axis);
    if (!partner) return CONTRADICTION;
    const int64_t size = misfit ? partner->dims[axis] : search->probe.batch;
    for (int from_back = 0; from_back < 2; from_back++) {
        int status = change_aligned(search, node_id, partner, axis, size, from_back);
        if (status < 0) return status;
        status = search->changes.n > n_changes ? try_node(search, node_id) : CONTRADICTION;
        if (status != CONTRADICTION) return status;
        step_undo(search, n_changes);
    }
    return CONTRADICTION;
}

int step_fresh_sink(struct search *search) {
    cm_diagnostics_free(search->sink);
    search->sink = cm_diagnostics_new();
    search->probe.after.diag = search->sink;
    return search->sink ? CM_OK : CM_NO_MEMORY;
}

/* The choice whose alternative is in force at this step, or NULL. */
static struct choice *choice_at(struct search *search, size_t step) {
    if (search->n_choices == 0) return NULL;
    struct choice *last = &search->choices[search->n_choices - 1];
    return last->step == step ? last : NULL;
}

int step_advance(struct search *search, size_t step) {
    uint32_t node = search_node_at(search, step);
    const struct choice *choice = choice_at(search, step);
    if (cm_diagnostics_count(search->sink) > 0 && step_fresh_sink(search) < 0)
        return CM_NO_MEMORY;
    int status = choice ? take(search, node, &choice->alternatives[choice->taken])
                        : try_node(search, node);
    if (!choice && status != CM_NO_MEMORY && has_placed_target(search, node))
        status = place_target(search, step, status);
    const bool misfit = search->misfit;
    if (status == CONTRADICTION && !choice_at(search, step)) status = mend_list(search, node);
    if (status == CONTRADICTION && !choice_at(search, step))
        status = mend_constants(search, node, misfit);
    if (status == CM_OK) batch_axis_place_outputs(&search->probe, node);
    return status;
}
