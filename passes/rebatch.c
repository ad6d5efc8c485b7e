/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for what must change when the batch does: see rebatch.h. Nodes are walked in
 * order; a node with several possible places is a choice; a node that does not fit sends the
 * search back to the last choice. After a first solution the search goes on: a second one means
 * that the file does not say where the batch belongs.
 */
#include "passes/rebatch.h"

#include <string.h>

#include "passes/probe.h"
#include "passes/rules.h"
#include "passes/shapes.h"
#include "support/arena.h"
#include "support/text.h"

#include "support/banned.h"

/* Steps of the search: a bound on what a hostile file can cost. */
#define STEPS_PER_NODE 64
#define STEPS_BASE     4096

#define CONTRADICTION 1 /* of this node with the choices made; not a status */

/* A node at which the batch may lie in more than one place. */
struct choice {
    size_t step;
    size_t n_changes; /* before it */
    size_t n;
    size_t taken; /* alternatives[taken] is in force */
    struct batch_candidate alternatives[SHAPE_MAX_RANK];
};

struct change_list {
    struct batch_change *items;
    size_t n;
    size_t capacity;
};

struct search {
    const struct analysis *analysis;
    struct probe probe;
    struct infer_table before;
    struct infer_table after;
    struct change_list changes;
    struct choice *choices;
    size_t n_choices;
    size_t choices_capacity;
    struct cm_diagnostics *sink; /* messages of the second walk */
    size_t deepest;              /* step of the contradiction that came last in the file */
    const char *reason;          /* and its message; NULL: none yet */
    int64_t steps_left;
};

static uint32_t node_at(const struct search *search, size_t step) {
    return search->analysis->model->graphs[0].nodes[step];
}

/* ---- lists that grow ----------------------------------------------------------------------
 */

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
    return probe_apply(&search->probe, search->probe.overrides, change, PROBE_BATCH);
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
    search->choices[search->n_choices++] = *choice;
    return CM_OK;
}

static void undo_changes(struct search *search, size_t n) {
    while (search->changes.n > n)
        search->probe.overrides[search->changes.items[--search->changes.n].node] = NULL;
}

/* ---- one node -----------------------------------------------------------------------------
 */

/* Walks the node at the probe's batch: CM_OK, CONTRADICTION, CM_NO_MEMORY. */
static int try_node(struct search *search, uint32_t node) {
    int status = walk_node(&search->probe.after, node);
    if (status == CM_NO_MEMORY) return status;
    return status < 0 || !probe_is_linear(&search->probe, node) ? CONTRADICTION : CM_OK;
}

static const struct fact *fact_before(const struct search *search, uint32_t value) {
    return &search->before.facts[value];
}

static int take(struct search *search, uint32_t node_id,
                const struct batch_candidate *candidate) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    const struct batch_change change = {
        .node = node_id,
        .slot = 1,
        .is_target = true,
        .axis = candidate->axis,
        .dims = &fact_before(search, node->outputs[0])->shape,
    };
    if (add_change(search, &change) < 0) return CM_NO_MEMORY;
    return try_node(search, node_id);
}

/* Whether the target is computed from the shapes of the walk, and so moved with the batch. */
static bool target_moves(const struct search *search, const struct node *node) {
    const struct constant *small = fact_before(search, node->inputs[1])->value;
    const struct constant *large = search->after.facts[node->inputs[1]].value;
    if (small && small == large) return false; /* stands in the file */
    if (!small || !large || !constant_has_ints(small) || !constant_has_ints(large)) return true;
    if (small->n_elements != large->n_elements) return true;
    for (int64_t i = 0; i < small->n_elements; i++)
        if (constant_int_at(small, i) != constant_int_at(large, i)) return true;
    return false;
}

static bool is_bare(const struct search *search, const struct shape *dims,
                    const struct batch_candidate *candidate) {
    return candidate->outer == 1 && dims->dims[candidate->axis] == search->probe.batch;
}

/*
 * The place that needs no search: an axis of the batch's own size at the right place in
 * row-major order (the operand's own axis first), or the only place there is. NULL: several.
 */
static const struct batch_candidate *certain(const struct search *search,
                                             const struct node *node,
                                             const struct batch_candidate *candidates,
                                             size_t n) {
    const struct shape *dims = &fact_before(search, node->outputs[0])->shape;
    const struct batch_candidate *found = n == 1 ? &candidates[0] : NULL;
    int own_axis = search->probe.places[node->inputs[0]].axis;
    for (size_t i = 0; i < n; i++) {
        if (!is_bare(search, dims, &candidates[i])) continue;
        if (candidates[i].axis == own_axis) return &candidates[i];
        if (!found || !is_bare(search, dims, found)) found = &candidates[i];
    }
    return found;
}

/* The candidate that the target as it stands leads to, or NULL. */
static const struct batch_candidate *natural(const struct search *search,
                                             const struct node *node, int status,
                                             const struct batch_candidate *candidates,
                                             size_t n) {
    int axis = status == CM_OK ? probe_grown_axis(&search->probe, node->outputs[0]) : -1;
    for (size_t i = 0; i < n; i++)
        if (candidates[i].axis == axis) return &candidates[i];
    return NULL;
}

/* A node with a target whose operand holds the batch; `status` is that of walking it as it is.
 */
static int place_target(struct search *search, size_t step, int status) {
    uint32_t node_id = node_at(search, step);
    const struct node *node = &search->analysis->model->nodes[node_id];
    const struct shape *dims = &fact_before(search, node->outputs[0])->shape;
    struct choice choice = {.step = step, .n_changes = search->changes.n};
    choice.n = probe_candidates(&search->probe, node_id, choice.alternatives);
    const struct batch_candidate *as_is =
        natural(search, node, status, choice.alternatives, choice.n);
    const struct batch_candidate *sure = certain(search, node, choice.alternatives, choice.n);
    if (choice.n == 0) return status;
    if (as_is && (target_moves(search, node) || is_bare(search, dims, as_is))) return CM_OK;
    if (as_is && !(sure && is_bare(search, dims, sure))) return CM_OK;
    if (sure) return take(search, node_id, sure);
    if (add_choice(search, &choice) < 0) return CM_NO_MEMORY;
    return take(search, node_id, &choice.alternatives[0]);
}

static bool has_placed_target(const struct search *search, uint32_t node_id) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    return search->probe.ops[node_id]->target == TARGET_DIMS && node->n_inputs > 1 &&
           node->inputs[0] != ID_NONE && node->inputs[1] != ID_NONE && node->n_outputs > 0 &&
           node->outputs[0] != ID_NONE && search->probe.places[node->inputs[0]].axis >= 0;
}

/* ---- constants with a batch axis -----------------------------------------------------------
 */

/* The operand's shape when it is a constant without the batch; else NULL. */
static const struct shape *stale_operand(const struct search *search, const struct node *node,
                                         size_t slot) {
    uint32_t value = node->inputs[slot];
    if (value == ID_NONE || search->probe.places[value].axis >= 0) return NULL;
    const struct fact *fact = fact_before(search, value);
    return fact->is_constant && fact_is_complete(fact) ? &fact->shape : NULL;
}

/* Axis and rank of the operand that holds the batch; false where none does. */
static bool batch_operand(const struct search *search, const struct node *node, int *ret_axis,
                          int *ret_rank) {
    for (size_t i = 0; i < node->n_inputs; i++) {
        uint32_t value = node->inputs[i];
        if (value == ID_NONE || search->probe.places[value].axis < 0) continue;
        *ret_axis = search->probe.places[value].axis;
        *ret_rank = fact_before(search, value)->shape.rank;
        return true;
    }
    return false;
}

/* Changes every constant operand that has the old batch on `axis`, counted from the front or
 * the back. */
static int change_aligned(struct search *search, uint32_t node_id, int axis, int rank,
                          bool from_back) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        const struct shape *shape = stale_operand(search, node, slot);
        if (!shape) continue;
        int own = from_back ? shape->rank - (rank - axis) : axis;
        if (own < 0 || own >= shape->rank || shape->dims[own] != search->probe.batch) continue;
        const struct batch_change change = {
            .node = node_id, .slot = (uint32_t)slot, .axis = own, .dims = shape};
        if (add_change(search, &change) < 0) return CM_NO_MEMORY;
    }
    return CM_OK;
}

/* A node that does not fit: perhaps a constant operand has the old batch on the batch's axis.
 */
static int mend_constants(struct search *search, uint32_t node_id) {
    const struct node *node = &search->analysis->model->nodes[node_id];
    size_t n_changes = search->changes.n;
    int axis = -1;
    int rank = 0;
    if (!batch_operand(search, node, &axis, &rank)) return CONTRADICTION;
    for (int from_back = 0; from_back < 2; from_back++) {
        int status = change_aligned(search, node_id, axis, rank, from_back);
        if (status < 0) return status;
        status = search->changes.n > n_changes ? try_node(search, node_id) : CONTRADICTION;
        if (status != CONTRADICTION) return status;
        undo_changes(search, n_changes);
    }
    return CONTRADICTION;
}

/* ---- the search ---------------------------------------------------------------------------
 */

static int fresh_sink(struct search *search) {
    cm_diagnostics_free(search->sink);
    search->sink = cm_diagnostics_new();
    search->probe.after.diag = search->sink;
    return search->sink ? CM_OK : CM_NO_MEMORY;
}

/* Keeps what the contradiction furthest down the file said. */
static int note_contradiction(struct search *search, size_t step) {
    size_t n = cm_diagnostics_count(search->sink);
    if (!search->reason || step >= search->deepest) {
        const char *message = n ? cm_diagnostics_get(search->sink, n - 1)->message
                                : "its output would not grow with the batch alone";
        search->deepest = step;
        search->reason = arena_strdup(search->probe.arena, message);
        if (!search->reason) return CM_NO_MEMORY;
    }
    return n ? fresh_sink(search) : CM_OK;
}

/* The choice whose alternative is in force at this step, or NULL. */
static struct choice *choice_at(struct search *search, size_t step) {
    if (search->n_choices == 0) return NULL;
    struct choice *last = &search->choices[search->n_choices - 1];
    return last->step == step ? last : NULL;
}

static int advance(struct search *search, size_t step) {
    uint32_t node = node_at(search, step);
    const struct choice *choice = choice_at(search, step);
    int status = choice ? take(search, node, &choice->alternatives[choice->taken])
                        : try_node(search, node);
    if (!choice && status != CM_NO_MEMORY && has_placed_target(search, node))
        status = place_target(search, step, status);
    if (status == CONTRADICTION && !choice_at(search, step))
        status = mend_constants(search, node);
    if (status == CM_OK) probe_place_outputs(&search->probe, node);
    return status;
}

/* Back to the newest choice that has an alternative left. False: there is none. */
static bool go_back(struct search *search, size_t *ret_step) {
    while (search->n_choices > 0) {
        struct choice *last = &search->choices[search->n_choices - 1];
        undo_changes(search, last->n_changes);
        if (++last->taken < last->n) {
            *ret_step = last->step;
            return true;
        }
        search->n_choices--;
    }
    return false;
}

/* From `step` to the next solution: CM_OK, CONTRADICTION when there is none, or a status. */
static int solve(struct search *search, size_t step) {
    size_t n_steps = search->analysis->model->graphs[0].n_nodes;
    while (step < n_steps) {
        if (search->steps_left-- <= 0)
            return diag_error(search->analysis->diag, DIAG_LIMIT,
                              "too many places could hold the batch");
        int status = advance(search, step);
        if (status < 0) return status;
        step++;
        if (status == CM_OK) continue;
        if (note_contradiction(search, step - 1) < 0) return CM_NO_MEMORY;
        if (!go_back(search, &step)) return CONTRADICTION;
    }
    return CM_OK;
}

/* ---- messages -----------------------------------------------------------------------------
 */

static int refuse(const struct search *search, size_t step, uint32_t first, const char *why) {
    const struct analysis *analysis = search->analysis;
    uint32_t node = node_at(search, step);
    struct node_place place = {.model = analysis->model,
                               .op = search->probe.ops[node],
                               .facts = search->before.facts,
                               .pass = "batch",
                               .node = node};
    node_place_push(&place, analysis->diag);
    int status = diag_error(analysis->diag, DIAG_BATCH,
                            "input '%s' %s cannot be given another batch: %s",
                            analysis->model->values[first].name,
                            shapes_text(analysis, &fact_before(search, first)->shape), why);
    node_place_pop(&place, analysis->diag);
    diag_hint(analysis->diag, "export the model with a free batch dim");
    return status;
}

/* The first solution is in `first_changes`; a second one was found. */
static int refuse_ambiguous(const struct search *search, uint32_t first) {
    const struct choice *choice = &search->choices[search->n_choices - 1];
    const struct node *node = &search->analysis->model->nodes[node_at(search, choice->step)];
    const char *why = arena_printf(
        search->probe.arena, "it may lie on axis %d or on axis %d of the output %s",
        choice->alternatives[0].axis, choice->alternatives[choice->taken].axis,
        shapes_text(search->analysis, &fact_before(search, node->outputs[0])->shape));
    if (!why) return CM_NO_MEMORY;
    return refuse(search, choice->step, first, why);
}

/* ---- set-up and result ---------------------------------------------------------------------
 */

/* Whether an input stands where only learned tensors go: a weight that is fed in. */
static bool is_fed_weight(const struct search *search, uint32_t value_id) {
    const struct value *value = &search->analysis->model->values[value_id];
    for (uint32_t i = 0; i < value->n_uses; i++)
        if (strchr("Wns", op_role(search->probe.ops[value->uses[i].node], value->uses[i].slot)))
            return true;
    return false;
}

static bool takes_batch(const struct search *search, uint32_t value, uint32_t first) {
    const struct fact *fact = search->before.facts ? fact_before(search, value) : NULL;
    if (!fact || fact->kind != CM_TYPE_TENSOR || fact->shape.rank < 1) return false;
    return value == first ||
           (fact->shape.dims[0] == search->probe.batch && !is_fed_weight(search, value));
}

/* The facts of the inputs with `batch` in place of the file's own. */
static int batched_inputs(const struct search *search, const struct fact *const *inputs,
                          uint32_t first, int64_t batch, const struct fact **ret) {
    const struct graph *graph = &search->analysis->model->graphs[0];
    for (size_t i = 0; i < graph->n_inputs; i++) {
        uint32_t id = graph->inputs[i];
        ret[id] = inputs[id];
        if (!inputs[id] || !takes_batch(search, id, first)) continue;
        struct fact *fact = arena_copy(search->analysis->arena, inputs[id], sizeof(*fact));
        if (!fact || shape_make(search->analysis->arena, fact->shape.rank, fact->shape.dims,
                                &fact->shape) < 0)
            return CM_NO_MEMORY;
        fact->shape.dims[0] = batch;
        ret[id] = fact;
    }
    return CM_OK;
}

static void place_inputs(struct search *search, uint32_t first) {
    const struct model *model = search->analysis->model;
    for (uint32_t id = 0; id < model->n_values; id++)
        search->probe.places[id] = (struct batch_place){.axis = -1};
    for (size_t i = 0; i < model->graphs[0].n_inputs; i++)
        if (takes_batch(search, model->graphs[0].inputs[i], first))
            search->probe.places[model->graphs[0].inputs[i]] = (struct batch_place){0, 1};
}

static int start(struct search *search, const struct batch_table *table, uint32_t first) {
    const struct analysis *analysis = search->analysis;
    struct probe *probe = &search->probe;
    const struct fact **inputs =
        arena_array(probe->arena, analysis->model->n_values, sizeof(*inputs));
    probe->places =
        arena_array(probe->arena, analysis->model->n_values, sizeof(*probe->places));
    probe->overrides =
        arena_array(probe->arena, analysis->model->n_nodes, sizeof(*probe->overrides));
    if (!inputs || !probe->places || !probe->overrides) return CM_NO_MEMORY;
    probe->before = (struct walk){.model = analysis->model,
                                  .ops = analysis->bind.ops,
                                  .inputs = table->inputs,
                                  .mode = analysis->options->mode,
                                  .pass = "batch",
                                  .arena = probe->arena,
                                  .diag = analysis->diag,
                                  .table = &search->before};
    int status = walk_start(&probe->before);
    if (status == CM_OK) status = walk_graph(&probe->before, 0);
    if (status < 0) return status;
    place_inputs(search, first);
    if (batched_inputs(search, table->inputs, first, PROBE_BATCH, inputs) < 0)
        return CM_NO_MEMORY;
    probe->after = probe->before;
    probe->after.inputs = inputs;
    probe->after.overrides = probe->overrides;
    probe->after.table = &search->after;
    status = fresh_sink(search);
    return status < 0 ? status : walk_start(&probe->after);
}

static int keep_changes(const struct search *search, const struct change_list *changes,
                        struct batch_table *table, int64_t batch) {
    table->rebatched =
        arena_array(search->analysis->arena, changes->n, sizeof(*table->rebatched));
    if (!table->rebatched) return CM_NO_MEMORY;
    for (size_t i = 0; i < changes->n; i++) {
        const struct batch_change *change = &changes->items[i];
        int64_t from = change->dims->dims[change->axis];
        table->rebatched[i] = (struct rebatched){
            .node = change->node,
            .slot = change->slot,
            .what = change->is_target ? "target" : "dims",
            .axis = change->axis,
            .from = from,
            .to = checked_mul(from / search->probe.batch, batch),
        };
        if (probe_apply(&search->probe, table->overrides, change, batch) < 0)
            return CM_NO_MEMORY;
    }
    table->n_rebatched = changes->n;
    return CM_OK;
}

/* A copy of the list that later undoing does not touch. */
static int copy_changes(const struct search *search, struct change_list *ret) {
    *ret = search->changes;
    ret->items = arena_array(search->probe.arena, ret->n, sizeof(*ret->items));
    if (!ret->items) return CM_NO_MEMORY;
    if (ret->n) memcpy(ret->items, search->changes.items, ret->n * sizeof(*ret->items));
    return CM_OK;
}

static int search_changes(struct search *search, uint32_t first, struct change_list *ret) {
    size_t step = 0;
    int status = solve(search, 0);
    if (status == CONTRADICTION) return refuse(search, search->deepest, first, search->reason);
    if (status == CM_OK) status = copy_changes(search, ret);
    if (status < 0 || !go_back(search, &step)) return status;
    status = solve(search, step);
    if (status == CM_OK) return refuse_ambiguous(search, first);
    return status == CONTRADICTION ? CM_OK : status;
}

int rebatch(const struct analysis *analysis, struct batch_table *table, uint32_t first,
            int64_t batch) {
    int64_t old = table->inputs[first]->shape.dims[0];
    struct search search = {
        .analysis = analysis,
        .probe = {.model = analysis->model,
                  .ops = analysis->bind.ops,
                  .batch = old,
                  .arena = analysis->arena},
        .steps_left = STEPS_BASE + STEPS_PER_NODE * (int64_t)analysis->model->graphs[0].n_nodes,
    };
    struct change_list changes = {0};
    if (old <= 0)
        return diag_error(analysis->diag, DIAG_BATCH, "input '%s' has a batch of %lld",
                          analysis->model->values[first].name, (long long)old);
    int status = start(&search, table, first);
    if (status == CM_OK) status = search_changes(&search, first, &changes);
    if (status == CM_OK) status = keep_changes(&search, &changes, table, batch);
    if (status == CM_OK)
        status = batched_inputs(&search, table->inputs, first, batch, table->inputs);
    if (status == CM_OK) table->batch = batch;
    cm_diagnostics_free(search.sink);
    return status == CM_NO_MEMORY ? diag_no_memory(analysis->diag) : status;
}
