/* SPDX-License-Identifier: Apache-2.0 */
/* One step of the search for stale constants: see rebatch.h. */
#include "passes/batch/rebatch.h"

#include <string.h>

#include "passes/walk/context.h"
#include "support/arena.h"

/* ALL_OPERANDS: scale all operands together. Each operand alone is tried too if a node has at
 * most MAX_SINGLE. */
#define ALL_OPERANDS SIZE_MAX
#define MAX_SINGLE   8

void rebatch_add_change(struct search *search, const struct batch_change *change) {
    if (batch_axis_apply(&search->probe, search->probe.overrides, change, PROBE_BATCH) == CM_OK)
        batch_axis_push(search->probe.arena, &search->changes, change);
}

void rebatch_undo_changes(struct search *search, size_t n) {
    while (search->changes.n > n) {
        const uint32_t node = search->changes.items[--search->changes.n].node;
        search->probe.overrides[node] = search->probe.overrides[node]->next;
    }
}

/* Walks the node at PROBE_BATCH. Returns the same statuses as rebatch_step. */
static int try_node(struct search *search, uint32_t node) {
    const bool is_first = cm_diagnostics_count(search->sink) == 0;
    uint32_t at_fault = node;
    int status = walk_node(&search->probe.after, node);
    if (status == CM_NO_MEMORY) return status;
    search->misfit = status < 0;
    const char *objection =
        status < 0 ? NULL : batch_axis_objection(&search->probe, node, &at_fault);
    if (objection) status = diag_error(search->sink, DIAG_BATCH, "%s", objection);
    if (is_first) search->at_fault = at_fault;
    return status < 0 ? CONTRADICTION : CM_OK;
}

/* Changes the node's target to hold the batch at the candidate's place, then walks the node. */
static int apply_candidate(struct search *search, uint32_t node_id,
                           const struct batch_location *candidate) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    const struct batch_change change = {
        .node = node_id,
        .slot = 1,
        .is_target = true,
        .axis = candidate->axis,
        .dims = &before(search, node->outputs[0])->shape,
    };
    rebatch_add_change(search, &change);
    return try_node(search, node_id);
}

/* Returns true if the operand has the batch's size on every alternative axis, as the output
 * has, and holds the batch on the first. Then the target probably keeps these axes, and the
 * batch stays on its axis. */
static bool keeps_axes(const struct search *search, const struct node *node,
                       const struct choice *choice) {
    const struct shape *in = &before(search, node->inputs[0])->shape;
    for (size_t i = 0; i < choice->n; i++) {
        int axis = choice->alternatives[i].axis;
        if (axis >= in->rank || in->dims[axis] != search->probe.batch) return false;
    }
    return choice->alternatives[0].axis == search->probe.places[node->inputs[0]].axis;
}

static void swap_places(struct batch_location *a, struct batch_location *b) {
    const struct batch_location first = *a;
    *a = *b;
    *b = first;
}

/*
 * Puts the axes of exactly the batch's size first, as the likeliest ones, and among these the
 * batch axis of the operand. Drops all other axes, unless probe.unlikely is set. Returns the
 * number of axes of the batch's size.
 */
static size_t prefer_batch_sized(const struct search *search, const struct node *node,
                                 struct choice *choice) {
    const struct shape *dims = &before(search, node->outputs[0])->shape;
    struct batch_location *places = choice->alternatives;
    int own_axis = search->probe.places[node->inputs[0]].axis;
    size_t n = 0;
    for (size_t i = 0; i < choice->n; i++)
        if (places[i].outer == 1 && dims->dims[places[i].axis] == search->probe.batch)
            swap_places(&places[n++], &places[i]);
    for (size_t i = 1; i < n; i++)
        if (places[i].axis == own_axis) swap_places(&places[0], &places[i]);
    if (n == 0) return 0;
    if (!search->probe.unlikely) choice->n = n;
    if (!search->probe.unlikely && keeps_axes(search, node, choice)) choice->n = 1;
    return n;
}

static bool has_axis(const struct choice *choice, int axis) {
    for (size_t i = 0; i < choice->n; i++)
        if (choice->alternatives[i].axis == axis) return true;
    return false;
}

/*
 * Places the batch in a node's target that lists the output's dims, if the node's operand holds
 * the batch. `status` is the result of walking the node unchanged. A target that fits unchanged
 * (its elements scaled with the batch, or a -1 became the batch) is kept, unless an axis of
 * exactly the batch's size precedes the axis that grew.
 */
static int place_target(struct search *search, size_t step, int status) {
    uint32_t node_id = node_at(search, step);
    const struct node *node = &search->analysis->model->nodes[node_id];
    struct choice choice = {.step = step, .n_changes = search->changes.n};
    if (search->probe.ops[node_id]->target != TARGET_DIMS || node->n_inputs < 2 ||
        node->inputs[0] == ID_NONE || node->inputs[1] == ID_NONE || node->n_outputs == 0 ||
        node->outputs[0] == ID_NONE || search->probe.places[node->inputs[0]].axis < 0)
        return status;
    choice.n = batch_axis_candidates(&search->probe, node_id, choice.alternatives);
    if (choice.n == 0) return status;
    int axis = status == CM_OK ? batch_axis_grown_axis(&search->probe, node->outputs[0]) : -1;
    bool fits = has_axis(&choice, axis);
    if (fits && !batch_axis_is_fixed(&search->probe, node->inputs[1])) return CM_OK;
    size_t n_bare = prefer_batch_sized(search, node, &choice);
    if (fits && n_bare == 0) return CM_OK;
    /* keep a target that fits if no possible axis precedes the axis that grew */
    if (fits && has_axis(&choice, axis)) {
        bool is_first = true;
        for (size_t i = 0; i < choice.n; i++)
            is_first = is_first && choice.alternatives[i].axis >= axis;
        if (is_first) return CM_OK;
    }
    if (choice.n > 1) {
        struct choice *choices =
            arena_grow(search->probe.arena, search->choices, search->n_choices,
                       &search->choices_capacity, sizeof *choices);
        if (!choices) return CM_NO_MEMORY;
        choice.budget = search->probe.after.budget;
        choices[search->n_choices++] = choice;
        search->choices = choices;
    }
    return apply_candidate(search, node_id, &choice.alternatives[0]);
}

static bool has_square_operand(const struct search *search, uint32_t node_id) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    for (size_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != ID_NONE && batch_axis_power(&search->probe, node->inputs[i]) > 1)
            return true;
    return false;
}

/* Returns the operand's shape if it does not hold the batch but may need to, else NULL. Lists
 * of one number do not count, because their dim of 1 is not a batch, except the targets of a
 * loss of a product of the batch with itself. */
static const struct shape *stale_operand(const struct search *search, uint32_t node_id,
                                         size_t slot) {
    const struct op *op = search->probe.ops[node_id];
    uint32_t value = search->analysis->model->nodes[node_id].inputs[slot];
    if (value == ID_NONE || search->probe.places[value].axis >= 0) return NULL;
    const struct value_info *info = before(search, value);
    if (!value_info_is_complete(info)) return NULL;
    if (!info->is_constant && !search->probe.unlikely) return NULL;
    const bool is_stored = info->value || info->is_data_missing;
    if (is_stored && info->shape.rank == 1 && info->shape.dims[0] == 1 &&
        !has_square_operand(search, node_id))
        return NULL;
    /* learned tensors have no batch axis */
    const char role = op_role(op, slot);
    const bool learned =
        strchr("Wns", role) || (role == 'w' && info->is_weight && info->shape.rank <= 2);
    return learned ? NULL : &info->shape;
}

/* Scales each constant operand whose dim is `size` on the batch axis of `partner`. The axis is
 * counted from the front, or if `from_back` from the back. `is_index`: scales only integer
 * operands. `only`: the slot of the one operand to scale, or ALL_OPERANDS. */
static void change_aligned(struct search *search, uint32_t node_id, const struct shape *partner,
                           int axis, int64_t size, bool from_back, bool is_index, size_t only) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        if (only != ALL_OPERANDS && slot != only) continue;
        const struct shape *shape = stale_operand(search, node_id, slot);
        if (!shape ||
            (is_index && !dtype_is_integer(before(search, node->inputs[slot])->dtype)))
            continue;
        int own = from_back ? shape->rank - (partner->rank - axis) : axis;
        if (own < 0 || own >= shape->rank || shape->dims[own] != size) continue;
        const struct batch_change change = {
            .node = node_id, .slot = (uint32_t)slot, .axis = own, .dims = shape};
        rebatch_add_change(search, &change);
    }
}

/* Repairs a node that does not fit, if an operand lists the dims of its output. */
static int repair_list(struct search *search, uint32_t node_id) {
    struct batch_change change;
    size_t n_changes = search->changes.n;
    if (!batch_axis_listed_dims(&search->probe, node_id, &change)) return CONTRADICTION;
    rebatch_add_change(search, &change);
    int status = try_node(search, node_id);
    if (status == CONTRADICTION) rebatch_undo_changes(search, n_changes);
    return status;
}

/* Returns true if the batch axis of the output is longer than that of the partner: a Concat
 * adds rows to the batch, and the file does not show if an export at batch N adds N times as
 * many. */
static bool adds_rows(const struct search *search, uint32_t node_id, int64_t length) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    const uint32_t value = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
    const int axis = value == ID_NONE ? -1 : batch_axis_grown_axis(&search->probe, value);
    return axis >= 0 && before(search, value)->shape.dims[axis] > length;
}

/* Repairs a node that does not fit by scaling its constant operands whose dim is `size` on the
 * batch axis: all of them, or if that does not fit, one (the data of a ScatterND, not its
 * indices). */
static int repair_constants_of_size(struct search *search, uint32_t node_id,
                                    const struct shape *partner, int axis, int64_t size,
                                    bool is_index) {
    const size_t n_inputs = search->analysis->model->nodes[node_id].n_inputs;
    const size_t n_tries = n_inputs <= MAX_SINGLE ? n_inputs + 1 : 1;
    size_t n_changes = search->changes.n;
    for (size_t i = 0; i < 2 * n_tries; i++) {
        const size_t only = i < 2 ? ALL_OPERANDS : i / 2 - 1;
        change_aligned(search, node_id, partner, axis, size, i % 2, is_index, only);
        if (search->changes.n == n_changes) continue;
        int status = try_node(search, node_id);
        if (status == CM_OK && adds_rows(search, node_id, partner->dims[axis]))
            status = CONTRADICTION;
        if (status != CONTRADICTION) return status;
        rebatch_undo_changes(search, n_changes);
    }
    return CONTRADICTION;
}

/* Repairs a node by scaling constant operands that have the file's batch on the batch axis. If
 * type inference refused the node (`misfit`), the node requires equal dims: the operands must
 * have the partner's dim, a multiple of the batch. Otherwise index operands may have this dim
 * too, because the output takes its dims from the indices. */
static int repair_constants(struct search *search, uint32_t node_id, bool misfit) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    struct shape listed;
    int axis = -1;
    const struct shape *partner = NULL; /* an operand that holds the batch, at the file's */
    for (size_t i = 0; i < node->n_inputs && !partner; i++) {
        if (node->inputs[i] == ID_NONE) continue;
        axis = search->probe.places[node->inputs[i]].axis;
        if (axis >= 0) partner = &before(search, node->inputs[i])->shape;
    }
    if (!partner) {
        axis = batch_axis_grown_list(&search->probe, node_id, &listed);
        partner = &listed;
    }
    if (axis < 0) return CONTRADICTION;
    int64_t size = misfit ? partner->dims[axis] : search->probe.batch;
    int status = repair_constants_of_size(search, node_id, partner, axis, size, false);
    if (status != CONTRADICTION || size == partner->dims[axis]) return status;
    return repair_constants_of_size(search, node_id, partner, axis, partner->dims[axis], true);
}

int rebatch_reset_sink(struct search *search) {
    cm_diagnostics_free(search->sink);
    search->sink = cm_diagnostics_new();
    search->probe.after.diag = search->sink;
    return search->sink ? CM_OK : CM_NO_MEMORY;
}

/* Returns the axis on which a constant state of a Loop or Scan must hold the batch; -1: none.
 * If the body fits, it is the axis that changes in the first iteration, when the batch joins
 * the state; if not, the first axis of the file's batch. */
static int state_axis(const struct search *search, const struct graph *body, size_t slot,
                      const struct shape *shape) {
    const struct shape *inside = &search->after.infos[body->inputs[slot]].shape;
    if (inside->rank != shape->rank) return -1;
    for (size_t i = 0; i < body->n_outputs; i++)
        if (body->outputs[i] == body->inputs[slot]) return -1; /* a weight, not a state */
    for (int axis = 0; axis < shape->rank; axis++)
        if (search->misfit ? shape->dims[axis] == search->probe.batch
                           : inside->dims[axis] != shape->dims[axis] &&
                                 shape->dims[axis] % search->probe.batch == 0)
            return axis;
    return -1;
}

static void change_states(struct search *search, uint32_t node_id, uint32_t graph) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    const struct graph *body = &search->analysis->model->graphs[graph];
    for (size_t slot = 0; slot < node->n_inputs && body->n_inputs == node->n_inputs; slot++) {
        const struct shape *shape = stale_operand(search, node_id, slot);
        const int axis = shape ? state_axis(search, body, slot, shape) : -1;
        const struct batch_change change = {
            .node = node_id, .slot = (uint32_t)slot, .axis = axis, .dims = shape};
        if (axis >= 0) rebatch_add_change(search, &change);
    }
}

/* Adds the change that scales the trip count if it is constant and equals the file's batch. */
static void change_trips(struct search *search, uint32_t node_id, uint32_t graph) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    const uint32_t trips = node->n_inputs > 0 ? node->inputs[0] : ID_NONE;
    if (trips == ID_NONE || search->probe.batch == 1 ||
        search->before.runs[graph] != search->probe.batch ||
        search->after.runs[graph] != search->probe.batch ||
        shape_elements(&before(search, trips)->shape) != 1 ||
        !batch_axis_is_fixed(&search->probe, trips))
        return;
    struct shape *dims = arena_alloc(search->probe.arena, sizeof *dims);
    if (!dims || shape_make(search->probe.arena, 1, &search->probe.batch, dims) < 0) return;
    const struct batch_change change = {
        .node = node_id, .slot = 0, .is_target = true, .axis = 0, .dims = dims};
    rebatch_add_change(search, &change);
}

/* Repairs a Loop or Scan by scaling its states, or else its trip count. */
static int repair_loop(struct search *search, uint32_t node_id) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    const struct attr *attr = node_attr(node, "body");
    void (*const repairs[])(struct search *, uint32_t, uint32_t) = {change_states,
                                                                    change_trips};
    int status = CONTRADICTION;
    if (search->probe.ops[node_id]->memory != MEMORY_CONTROL || !attr ||
        attr->kind != ATTR_GRAPH || attr->n != 1)
        return CONTRADICTION;
    for (size_t i = 0; i < 2 && status == CONTRADICTION; i++) {
        const size_t n_changes = search->changes.n;
        repairs[i](search, node_id, attr->graphs[0]);
        if (search->changes.n == n_changes) continue;
        if (rebatch_reset_sink(search) < 0) return CM_NO_MEMORY;
        status = try_node(search, node_id);
    }
    return status;
}

/* Returns the choice made at this step, or NULL. */
static struct choice *choice_at(struct search *search, size_t step) {
    if (search->n_choices == 0) return NULL;
    struct choice *last = &search->choices[search->n_choices - 1];
    return last->step == step ? last : NULL;
}

int rebatch_step(struct search *search, size_t step) {
    uint32_t node = node_at(search, step);
    const struct choice *choice = choice_at(search, step);
    if (cm_diagnostics_count(search->sink) > 0 && rebatch_reset_sink(search) < 0)
        return CM_NO_MEMORY;
    int status = choice ? apply_candidate(search, node, &choice->alternatives[choice->taken])
                        : try_node(search, node);
    if (!choice && status != CM_NO_MEMORY) status = place_target(search, step, status);
    const bool misfit = search->misfit;
    if (status == CONTRADICTION && !choice_at(search, step)) status = repair_list(search, node);
    if (status == CONTRADICTION && !choice_at(search, step)) status = repair_loop(search, node);
    if (status == CONTRADICTION && !choice_at(search, step))
        status = repair_constants(search, node, misfit);
    if (status == CM_OK) batch_axis_locate_outputs(&search->probe, node);
    return status;
}
