/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for what must change when the batch does: see rebatch.h. Nodes are walked in
 * order; a node with several possible places is a choice; a node that does not fit sends the
 * search back to the last choice. After a first solution the search goes on: a second one means
 * that the file does not say where the batch belongs.
 */
#include "passes/batch/rebatch.h"

#include <string.h>

#include "passes/batch/rebatch_search.h"
#include "passes/infer/context.h"
#include "passes/infer/shape_messages.h"
#include "support/arena.h"
#include "support/text.h"

#include "support/banned.h"

/* Steps of the search: a bound on what a hostile file can cost. */
#define STEPS_PER_NODE 16
#define STEPS_BASE     16384

/* What a walk may fold (walk.h) a way back gives back, so that every way is walked alike; so
 * many walks' worth in all. */
#define REFUNDED_WALKS 16

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
        step_undo(search, last->n_changes);
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
        int status = step_advance(search, step);
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
    uint32_t node = search_node_at(search, step);
    struct node_place place = {.model = analysis->model,
                               .op = search->probe.ops[node],
                               .facts = search->before.facts,
                               .pass = "batch",
                               .node = node};
    node_place_push(&place, analysis->diag);
    int status = diag_error(analysis->diag, DIAG_BATCH,
                            "input '%s' %s cannot be given another batch (%d was tried): %s",
                            analysis->model->values[first].name,
                            shapes_text(analysis, &search_fact_before(search, first)->shape),
                            PROBE_BATCH, why);
    node_place_pop(&place, analysis->diag);
    diag_hint(analysis->diag, "export the model with a free batch dim");
    return status;
}

/* The choice after the settled ones leads to another solution. */
static int refuse_ambiguous(const struct search *search, uint32_t first) {
    const struct choice *choice = &search->choices[search->n_settled];
    const struct node *node =
        &search->analysis->model->nodes[search_node_at(search, choice->step)];
    const char *why = arena_printf(
        search->probe.arena, "it may lie on axis %d or on axis %d of the output %s",
        choice->alternatives[choice->settled].axis, choice->alternatives[choice->taken].axis,
        shapes_text(search->analysis, &search_fact_before(search, node->outputs[0])->shape));
    if (!why) return CM_NO_MEMORY;
    return refuse(search, choice->step, first, why);
}

/* Whether elements are picked from the value as from data: along another axis than the first.
 * Of one sample, floats may as well be a table that is fed in (angles by position). */
static bool picks_from_data(const struct search *search, const struct use *use,
                            const struct value_info *info) {
    const struct model *model = search->analysis->model;
    const struct attr *axis = node_attr(&model->nodes[use->node], "axis");
    if (use->slot != 0 || op_role(search->probe.ops[use->node], 0) != 'n') return false;
    if (!axis || axis->kind != ATTR_INT || axis->i == 0 || axis->i == -info->shape.rank)
        return false;
    return dtype_is_integer(info->dtype) || search->probe.batch > 1;
}

/* Whether an input stands where only learned tensors go: a weight that is fed in. */
static bool is_fed_weight(const struct search *search, uint32_t value_id,
                          const struct value_info *info) {
    const struct value *value = &search->analysis->model->values[value_id];
    for (uint32_t i = 0; i < value->n_uses; i++) {
        const struct use *use = &value->uses[i];
        const char role = op_role(search->probe.ops[use->node], use->slot);
        if (strchr("Wns", role) && !picks_from_data(search, use, info)) return true;
    }
    return false;
}

static bool takes_batch(const struct search *search, uint32_t value, uint32_t first) {
    const struct value_info *info =
        search->before.facts ? search_fact_before(search, value) : NULL;
    if (!info || info->kind != CM_TYPE_TENSOR || info->shape.rank < 1) return false;
    if (info->value) return false; /* its contents were given, and with them its dims */
    return value == first ||
           (info->shape.dims[0] == search->probe.batch && !is_fed_weight(search, value, info));
}

/* The facts of the inputs with `batch` in place of the file's own. */
static int batched_inputs(const struct search *search, const struct value_info *const *inputs,
                          uint32_t first, int64_t batch, const struct value_info **ret) {
    const struct graph *graph = &search->analysis->model->graphs[0];
    for (size_t i = 0; i < graph->n_inputs; i++) {
        uint32_t id = graph->inputs[i];
        ret[id] = inputs[id];
        if (!inputs[id] || !takes_batch(search, id, first)) continue;
        struct value_info *info =
            arena_copy(search->analysis->arena, inputs[id], sizeof(*info));
        if (!info || shape_make(search->analysis->arena, info->shape.rank, info->shape.dims,
                                &info->shape) < 0)
            return CM_NO_MEMORY;
        info->shape.dims[0] = batch;
        ret[id] = info;
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
    const struct value_info **inputs =
        arena_array(probe->arena, analysis->model->n_values, sizeof(*inputs));
    probe->places =
        arena_array(probe->arena, analysis->model->n_values, sizeof(*probe->places));
    probe->overrides =
        arena_array(probe->arena, analysis->model->n_nodes, sizeof(*probe->overrides));
    if (!inputs || !probe->places || !probe->overrides) return CM_NO_MEMORY;
    probe->before = (struct walk){.model = analysis->model,
                                  .ops = analysis->bind.ops,
                                  .inputs = table->inputs,
                                  .trips = analysis->bind.trips,
                                  .mode = analysis->options->mode,
                                  .pass = "batch",
                                  .arena = probe->arena,
                                  .scratch = analysis->scratch,
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
    status = step_fresh_sink(search);
    if (status == CM_OK) status = walk_start(&probe->after);
    search->refunds_left = REFUNDED_WALKS * elements_left(search);
    return status;
}

static int keep_changes(const struct search *search, const struct change_list *changes,
                        struct batch_table *table, int64_t batch) {
    const struct analysis *analysis = search->analysis;
    table->rebatched = arena_array(analysis->arena, changes->n, sizeof(*table->rebatched));
    table->overrides =
        arena_array(analysis->arena, analysis->model->n_nodes, sizeof(*table->overrides));
    if (!table->rebatched || !table->overrides) return CM_NO_MEMORY;
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
        if (batch_axis_apply(&search->probe, table->overrides, change, batch) < 0)
            return CM_NO_MEMORY;
    }
    table->n_rebatched = changes->n;
    return CM_OK;
}

/*
 * Another solution was found beside *found. It is none where the batch leads the outputs of
 * *found alone, takes its place where the batch leads its own alone, and does no harm with the
 * same figures, that is when the order of unit axes inside the model is all that differs.
 */
static int weigh(struct search *search, struct solution *found, uint32_t first) {
    bool leads = solution_leads(search);
    if (found->leads && !leads) return CM_OK;
    if (leads && !found->leads) return solution_keep(search, found);
    bool same = false;
    if (solution_is_same(search, found, &same) < 0) return CM_NO_MEMORY;
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

/* Of outputs that do not grow: a mean over the batch, its first sample, or what a file hides.
 */
static void note_outputs_left(const struct search *search, const struct solution *found) {
    const struct analysis *analysis = search->analysis;
    const struct graph *graph = &analysis->model->graphs[0];
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct value_info *before = search_fact_before(search, graph->outputs[i]);
        const struct shape *after = &found->facts[graph->outputs[i]].shape;
        if (before->is_constant || !value_info_is_complete(before) || before->shape.rank < 1)
            continue;
        if (shape_equal(&before->shape, after))
            diag_note(analysis->diag, DIAG_BATCH, "output '%s' %s has no batch that would grow",
                      analysis->model->values[graph->outputs[i]].name,
                      shapes_text(analysis, after));
    }
}

static bool is_constant_product(const struct search *search, uint32_t id) {
    const struct node *node = &search->analysis->model->nodes[id];
    return search->probe.ops[id]->cost.macs && node->n_outputs > 0 &&
           node->outputs[0] != ID_NONE &&
           search_fact_before(search, node->outputs[0])->is_constant;
}

/* Of what the file computes from constants alone, whose batch, if they have one, nobody sees.
 */
static void note_constant_products(const struct search *search) {
    const struct analysis *analysis = search->analysis;
    size_t n = 0;
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++)
        n += is_constant_product(search, id);
    if (n > 0)
        diag_note(analysis->diag, DIAG_BATCH,
                  "of constants alone, and so at the file's own batch: %zu product%s", n,
                  text_plural((int64_t)n));
}

static int search_changes(struct search *search, uint32_t first, struct change_list *ret) {
    struct solution found = {0};
    int status = solve(search, 0);
    if (status == CONTRADICTION) return refuse(search, search->deepest, first, search->reason);
    if (status == CM_OK) status = solution_keep(search, &found);
    if (status == CM_OK) status = weigh_others(search, &found, first);
    if (status == CM_OK) note_outputs_left(search, &found);
    if (status == CM_OK) note_constant_products(search);
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
    return diag_finish(analysis->diag, status);
}
