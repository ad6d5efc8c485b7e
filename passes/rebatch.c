/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for what must change when the batch does: see rebatch.h. Nodes are walked in
 * order; a node with several possible places is a choice; a node that does not fit sends the
 * search back to the last choice. After a first solution the search goes on: a second one means
 * that the file does not say where the batch belongs.
 */
#include "passes/rebatch.h"

#include <string.h>

#include "ops/product.h"
#include "passes/probe.h"
#include "passes/rules.h"
#include "passes/shapes.h"
#include "support/arena.h"
#include "support/text.h"

#include "support/banned.h"

/* Steps of the search: a bound on what a hostile file can cost. */
#define STEPS_PER_NODE 16
#define STEPS_BASE     16384

/* What a walk may fold (walk.h) a way back gives back, so that every way is walked alike; so
 * many walks' worth in all. */
#define REFUNDED_WALKS 16

#define CONTRADICTION 1 /* of this node with the choices made; not a status */

/* A node at which the batch may lie in more than one place. */
struct choice {
    size_t step;
    size_t n_changes; /* before it */
    size_t n;
    size_t taken;   /* alternatives[taken] is in force */
    size_t settled; /* what the first solution took */
    struct rule_budget budget;
    struct batch_candidate alternatives[SHAPE_MAX_RANK];
};

struct change_list {
    struct batch_change *items;
    size_t n;
    size_t capacity;
};

/* The first way through the model that fits. */
struct solution {
    struct change_list changes;
    struct fact *facts;                /* at PROBE_BATCH, by value */
    const struct override **overrides; /* by node */
    bool leads;                        /* the batch leads every output */
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
    size_t n_settled;            /* leading choices that are taken as in the first solution */
    struct cm_diagnostics *sink; /* messages of the second walk */
    size_t deepest;              /* step of the contradiction that came last in the file */
    const char *reason;          /* and its message; NULL: none yet */
    int64_t steps_left;
    int64_t refunds_left; /* elements */
};

static uint32_t node_at(const struct search *search, size_t step) {
    return search->analysis->model->graphs[0].nodes[step];
}

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
    search->choices[search->n_choices] = *choice;
    search->choices[search->n_choices++].budget = search->probe.after.budget;
    return CM_OK;
}

static void undo_changes(struct search *search, size_t n) {
    while (search->changes.n > n)
        search->probe.overrides[search->changes.items[--search->changes.n].node] = NULL;
}

/* Walks the node at the probe's batch: CM_OK, CONTRADICTION with a message, CM_NO_MEMORY. */
static int try_node(struct search *search, uint32_t node) {
    int status = walk_node(&search->probe.after, node);
    if (status == CM_NO_MEMORY) return status;
    const char *objection = status < 0 ? NULL : probe_objection(&search->probe, node);
    if (objection) status = diag_error(search->sink, DIAG_BATCH, "%s", objection);
    return status < 0 ? CONTRADICTION : CM_OK;
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

static bool is_bare(const struct search *search, const struct shape *dims,
                    const struct batch_candidate *candidate) {
    return candidate->outer == 1 && dims->dims[candidate->axis] == search->probe.batch;
}

/* Whether the operand has an axis of the batch's size wherever one could hold it: then they are
 * the same axes, and the batch stays on its own. */
static bool keeps_axes(const struct search *search, const struct node *node,
                       const struct choice *choice) {
    const struct shape *in = &fact_before(search, node->inputs[0])->shape;
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
    const struct shape *dims = &fact_before(search, node->outputs[0])->shape;
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
    uint32_t node_id = node_at(search, step);
    const struct node *node = &search->analysis->model->nodes[node_id];
    struct choice choice = {.step = step, .n_changes = search->changes.n};
    choice.n = probe_candidates(&search->probe, node_id, choice.alternatives);
    if (choice.n == 0) return status;
    int axis = status == CM_OK ? probe_grown_axis(&search->probe, node->outputs[0]) : -1;
    bool fits = has_axis(&choice, axis);
    if (fits && !probe_stands(&search->probe, node->inputs[1])) return CM_OK;
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
static bool is_weight_slot(char role, const struct fact *fact) {
    return strchr("Wns", role) || (role == 'w' && fact->is_weight && fact->shape.rank <= 2);
}

/* The operand's shape when it is a constant without the batch; else NULL. A list of one number
 * is none: the 1 of its shape says nothing. */
static const struct shape *stale_operand(const struct search *search, uint32_t node_id,
                                         size_t slot) {
    const struct op *op = search->probe.ops[node_id];
    uint32_t value = search->analysis->model->nodes[node_id].inputs[slot];
    if (value == ID_NONE || search->probe.places[value].axis >= 0) return NULL;
    const struct fact *fact = fact_before(search, value);
    if (!fact->is_constant || !fact_is_complete(fact)) return NULL;
    if (fact->value && fact->shape.rank == 1 && fact->shape.dims[0] == 1) return NULL;
    return is_weight_slot(op_role(op, slot), fact) ? NULL : &fact->shape;
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
        const struct shape *shape = stale_operand(search, node_id, slot);
        if (!shape) continue;
        int own = from_back ? shape->rank - (rank - axis) : axis;
        if (own < 0 || own >= shape->rank || shape->dims[own] != search->probe.batch) continue;
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
    if (!probe_listed_dims(&search->probe, node_id, &change)) return CONTRADICTION;
    if (add_change(search, &change) < 0) return CM_NO_MEMORY;
    int status = try_node(search, node_id);
    if (status == CONTRADICTION) undo_changes(search, n_changes);
    return status;
}

/* Or a constant operand has the old batch on the batch's axis. */
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

static int fresh_sink(struct search *search) {
    cm_diagnostics_free(search->sink);
    search->sink = cm_diagnostics_new();
    search->probe.after.diag = search->sink;
    return search->sink ? CM_OK : CM_NO_MEMORY;
}

/* The first error of this step: what came after were tries to mend it. */
static const char *first_error(const struct cm_diagnostics *sink) {
    for (size_t i = 0; i < cm_diagnostics_count(sink); i++) {
        const struct cm_diagnostic *message = cm_diagnostics_get(sink, i);
        if (message->severity == CM_ERROR) return message->message;
    }
    return "it does not fit";
}

/* Keeps what the contradiction furthest down the file said. */
static int note_contradiction(struct search *search, size_t step) {
    if (search->reason && step < search->deepest) return CM_OK;
    search->deepest = step;
    search->reason = arena_strdup(search->probe.arena, first_error(search->sink));
    return search->reason ? CM_OK : CM_NO_MEMORY;
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
    if (cm_diagnostics_count(search->sink) > 0 && fresh_sink(search) < 0) return CM_NO_MEMORY;
    int status = choice ? take(search, node, &choice->alternatives[choice->taken])
                        : try_node(search, node);
    if (!choice && status != CM_NO_MEMORY && has_placed_target(search, node))
        status = place_target(search, step, status);
    if (status == CONTRADICTION && !choice_at(search, step)) status = mend_list(search, node);
    if (status == CONTRADICTION && !choice_at(search, step))
        status = mend_constants(search, node);
    if (status == CM_OK) probe_place_outputs(&search->probe, node);
    return status;
}

static int64_t elements_left(const struct search *search) {
    return search->probe.after.budget.long_left + search->probe.after.budget.short_left;
}

static void refund(struct search *search, const struct choice *choice) {
    int64_t left = elements_left(search);
    search->probe.after.budget = choice->budget;
    search->refunds_left -= elements_left(search) - left;
}

/* Back to the newest choice that has an alternative left. False: there is none. */
static bool go_back(struct search *search, size_t *ret_step) {
    while (search->n_choices > 0) {
        struct choice *last = &search->choices[search->n_choices - 1];
        undo_changes(search, last->n_changes);
        refund(search, last);
        if (search->n_settled >= search->n_choices) search->n_settled = search->n_choices - 1;
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
        struct walk *walk = &search->probe.after;
        int64_t n_walked = walk->n_walked;
        if (search->steps_left <= 0 || search->refunds_left < 0)
            return diag_error(search->analysis->diag, DIAG_LIMIT,
                              "too many places could hold the batch");
        walk_renew_search(walk);
        int status = advance(search, step);
        if (status < 0) return status;
        search->steps_left -= walk->n_walked - n_walked;
        step++;
        if (status == CM_OK) continue;
        if (note_contradiction(search, step - 1) < 0) return CM_NO_MEMORY;
        if (!go_back(search, &step)) return CONTRADICTION;
    }
    return CM_OK;
}

static int refuse(const struct search *search, size_t step, uint32_t first, const char *why) {
    const struct analysis *analysis = search->analysis;
    uint32_t node = node_at(search, step);
    struct node_place place = {.model = analysis->model,
                               .op = search->probe.ops[node],
                               .facts = search->before.facts,
                               .pass = "batch",
                               .node = node};
    node_place_push(&place, analysis->diag);
    int status =
        diag_error(analysis->diag, DIAG_BATCH,
                   "input '%s' %s cannot be given another batch (%d was tried): %s",
                   analysis->model->values[first].name,
                   shapes_text(analysis, &fact_before(search, first)->shape), PROBE_BATCH, why);
    node_place_pop(&place, analysis->diag);
    diag_hint(analysis->diag, "export the model with a free batch dim");
    return status;
}

/* The choice after the settled ones leads to another solution. */
static int refuse_ambiguous(const struct search *search, uint32_t first) {
    const struct choice *choice = &search->choices[search->n_settled];
    const struct node *node = &search->analysis->model->nodes[node_at(search, choice->step)];
    const char *why = arena_printf(
        search->probe.arena, "it may lie on axis %d or on axis %d of the output %s",
        choice->alternatives[choice->settled].axis, choice->alternatives[choice->taken].axis,
        shapes_text(search->analysis, &fact_before(search, node->outputs[0])->shape));
    if (!why) return CM_NO_MEMORY;
    return refuse(search, choice->step, first, why);
}

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

/* The walk at the file's own batch. What it takes for granted pass infer will say; only faults
 * are told here. */
static int walk_before(struct search *search) {
    struct walk *walk = &search->probe.before;
    int status = walk_start(walk);
    if (status == CM_OK) status = walk_graph(walk, 0);
    if (status == CM_OK || status == CM_NO_MEMORY) return status;
    walk->diag = search->analysis->diag;
    status = walk_start(walk);
    return status < 0 ? status : walk_graph(walk, 0);
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
                                  .table = &search->before};
    int status = walk_before(search);
    if (status < 0) return status;
    place_inputs(search, first);
    if (batched_inputs(search, table->inputs, first, PROBE_BATCH, inputs) < 0)
        return CM_NO_MEMORY;
    probe->after = probe->before;
    probe->after.inputs = inputs;
    probe->after.overrides = probe->overrides;
    probe->after.table = &search->after;
    status = fresh_sink(search);
    if (status == CM_OK) status = walk_start(&probe->after);
    search->refunds_left = REFUNDED_WALKS * elements_left(search);
    return status;
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

/* Whether the batch is the first axis of every output that depends on the inputs. */
static bool leads_outputs(const struct search *search) {
    const struct graph *graph = &search->analysis->model->graphs[0];
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct fact *fact = &search->after.facts[graph->outputs[i]];
        if (fact->is_constant || !fact_is_complete(fact)) continue;
        if (fact->shape.rank < 1 || fact->shape.dims[0] != PROBE_BATCH) return false;
    }
    return true;
}

/* A copy that the search does not touch when it goes on. */
static int copy_solution(struct search *search, struct solution *ret) {
    const struct model *model = search->analysis->model;
    struct arena *arena = search->probe.arena;
    const struct change_list *changes = &search->changes;
    ret->changes = *changes;
    ret->changes.items =
        arena_copy(arena, changes->items, changes->n * sizeof(*changes->items));
    ret->facts = arena_copy(arena, search->after.facts, model->n_values * sizeof(*ret->facts));
    ret->overrides =
        arena_copy(arena, search->probe.overrides, model->n_nodes * sizeof(*ret->overrides));
    if (!ret->changes.items || !ret->facts || !ret->overrides) return CM_NO_MEMORY;
    for (size_t i = 0; i < search->n_choices; i++)
        search->choices[i].settled = search->choices[i].taken;
    search->n_settled = search->n_choices;
    ret->leads = leads_outputs(search);
    return CM_OK;
}

static int macs_of(const struct search *search, const struct fact *facts,
                   const struct override *const *overrides, uint32_t node, int64_t *ret) {
    const struct rule_source source = {.model = search->analysis->model,
                                       .ops = search->probe.ops,
                                       .overrides = overrides,
                                       .facts = facts,
                                       .mode = search->analysis->options->mode,
                                       .arena = search->probe.arena,
                                       .diag = search->sink};
    const struct arena_mark mark = arena_save(source.arena);
    struct rule rule;
    *ret = 0;
    if (!search->probe.ops[node]->cost.macs) return CM_OK;
    if (rules_make_done(&source, node, &rule) < 0) return CM_NO_MEMORY;
    *ret = product_macs(&rule);
    arena_restore(source.arena, mark);
    return CM_OK;
}

/* Whether the search's solution costs what that one does, node by node. */
static int same_macs(const struct search *search, const struct solution *solution,
                     bool *ret_same) {
    for (uint32_t node = 0; node < search->analysis->model->n_nodes && *ret_same; node++) {
        int64_t have = 0;
        int64_t want = 0;
        if (macs_of(search, search->after.facts, search->probe.overrides, node, &have) < 0 ||
            macs_of(search, solution->facts, solution->overrides, node, &want) < 0)
            return CM_NO_MEMORY;
        *ret_same = have == want;
    }
    return CM_OK;
}

/* Whether its values are as large and its outputs have the same shape. */
static bool same_sizes(const struct search *search, const struct solution *solution) {
    const struct model *model = search->analysis->model;
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct shape *have = &search->after.facts[id].shape;
        const struct shape *want = &solution->facts[id].shape;
        bool is_result = model->values[id].is_graph_output && model->values[id].graph == 0;
        if (shape_elements(have) != shape_elements(want)) return false;
        if (is_result && !shape_equal(have, want)) return false;
    }
    return true;
}

/*
 * Another solution was found beside *found. It is none where the batch leads the outputs of
 * *found alone, takes its place where the batch leads its own alone, and does no harm with the
 * same figures, that is when the order of unit axes inside the model is all that differs.
 */
static int weigh(struct search *search, struct solution *found, uint32_t first) {
    bool leads = leads_outputs(search);
    if (found->leads && !leads) return CM_OK;
    if (leads && !found->leads) return copy_solution(search, found);
    bool same = same_sizes(search, found);
    if (same && same_macs(search, found, &same) < 0) return CM_NO_MEMORY;
    return same ? CM_OK : refuse_ambiguous(search, first);
}

/* Goes on from the first solution to see that there is no other. */
static int weigh_others(struct search *search, struct solution *found, uint32_t first) {
    size_t step = 0;
    while (go_back(search, &step)) {
        int status = solve(search, step);
        if (status == CONTRADICTION) return CM_OK;
        if (status == CM_OK) status = weigh(search, found, first);
        if (status < 0) return status;
        /* what came after the choice that differs was tried */
        if (search->n_settled < search->n_choices) search->n_choices = search->n_settled + 1;
    }
    return CM_OK;
}

static int search_changes(struct search *search, uint32_t first, struct change_list *ret) {
    struct solution found = {0};
    int status = solve(search, 0);
    if (status == CONTRADICTION) return refuse(search, search->deepest, first, search->reason);
    if (status == CM_OK) status = copy_solution(search, &found);
    if (status == CM_OK) status = weigh_others(search, &found, first);
    *ret = found.changes;
    return status;
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
        .steps_left = STEPS_BASE + STEPS_PER_NODE * (int64_t)analysis->model->n_nodes,
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
