/* SPDX-License-Identifier: Apache-2.0 */
/* The search for operands that must change with the batch: see rebatch.h. Nodes are walked in
 * order. At a Reshape with several possible batch axes the search makes a choice. At a node
 * that does not fit, it changes an operand; if no change fits, it backtracks to the last
 * choice. After the first solution the search continues: a second one with other figures means
 * that the file is ambiguous. */
#include "passes/batch/rebatch.h"

#include <string.h>

#include "ops/product.h"
#include "passes/walk/context.h"
#include "support/arena.h"
#include "support/text.h"

/* Bounds on the work that a hostile file can cause: one unit is a trial, per operand. A node
 * walked by the search costs NODE_WORK, because the walk may fold its contents. */
#define NODE_WORK     64
#define WORK_PER_NODE 1024
#define WORK_BASE     (1 << 20)

/* Each choice starts with the full folding budget, so that the result does not depend on the
 * order in which alternatives are tried. Elements folded again, per unit of work. */
#define ELEMENTS_PER_WORK 64

/* Maximum number of searches for tiled constants; each may make more of them visible. */
#define MAX_TILING_ROUNDS 8

/* A consistent set of changes for the whole model. */
struct solution {
    struct change_list changes;
    struct value_info *infos;          /* at PROBE_BATCH, by value */
    const struct override **overrides; /* by node */
    bool leads;                        /* the batch leads every output */
};

/* --- Solutions. --- */

/* Returns true if the batch is the first axis of every output that depends on the inputs. */
static bool batch_leads(const struct search *search) {
    const struct graph *graph = &search->model->graphs[0];
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct value_info *info = &search->after.infos[graph->outputs[i]];
        if (info->is_constant || !value_info_is_complete(info)) continue;
        if (info->shape.rank < 1 || info->shape.dims[0] != PROBE_BATCH) return false;
    }
    return true;
}

/* Copies the current changes, infos and overrides to *ret, and settles the choices made. */
static int keep_solution(struct search *search, struct solution *ret) {
    const struct model *model = search->model;
    struct arena *arena = search->arena;
    const struct change_list *changes = &search->changes;
    ret->changes = *changes;
    ret->changes.items =
        arena_copy(arena, changes->items, changes->n * sizeof(*changes->items));
    ret->infos = arena_copy(arena, search->after.infos, model->n_values * sizeof(*ret->infos));
    ret->overrides =
        arena_copy(arena, search->overrides, model->n_nodes * sizeof(*ret->overrides));
    if (!ret->changes.items || !ret->infos || !ret->overrides) return CM_NO_MEMORY;
    for (size_t i = 0; i < search->n_choices; i++)
        search->choices[i].settled = search->choices[i].taken;
    search->n_settled = search->n_choices;
    ret->leads = batch_leads(search);
    return CM_OK;
}

static int64_t macs_of(const struct search *search, const struct value_info *infos,
                       const struct override *const *overrides, uint32_t node) {
    const struct op_source source = {.model = search->model,
                                     .ops = search->ops,
                                     .overrides = overrides,
                                     .infos = infos,
                                     .mode = search->analysis->options->mode,
                                     .arena = search->arena,
                                     .diag = search->sink};
    const struct arena_mark mark = arena_save(source.arena);
    struct op_context context;
    if (!search->ops[node]->cost.macs) return 0;
    if (context_make_inferred(&source, node, &context) < 0) return 0; /* the arena has failed */
    const int64_t macs = product_macs(&context);
    arena_restore(source.arena, mark);
    return macs;
}

/* Returns true if the current solution and `other` have the same sizes of values, shapes of
 * model outputs and MACs. */
static bool is_same_solution(const struct search *search, const struct solution *other) {
    const struct model *model = search->model;
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct shape *have = &search->after.infos[id].shape;
        const struct shape *want = &other->infos[id].shape;
        bool is_result = model->values[id].is_graph_output && model->values[id].graph == 0;
        if (shape_elements(have) != shape_elements(want)) return false;
        if (is_result && !shape_equal(have, want)) return false;
    }
    for (uint32_t node = 0; node < model->n_nodes; node++)
        if (macs_of(search, search->after.infos, search->overrides, node) !=
            macs_of(search, other->infos, other->overrides, node))
            return false;
    return true;
}

/* --- The search. --- */

static int64_t elements_left(const struct search *search) {
    return search->walk.budget.long_left + search->walk.budget.short_left;
}

/* Backtracks to the last choice with an untried alternative. Returns false if there is none. */
static bool backtrack(struct search *search, size_t *ret_step) {
    while (search->n_choices > 0) {
        struct choice *last = &search->choices[search->n_choices - 1];
        const int64_t left = elements_left(search);
        repair_undo(search, last->n_changes);
        search->walk.budget = last->budget;
        search->work_left -= (elements_left(search) - left) / ELEMENTS_PER_WORK;
        if (search->n_settled >= search->n_choices) search->n_settled = search->n_choices - 1;
        if (++last->taken < last->n) {
            *ret_step = last->step;
            return true;
        }
        search->n_choices--;
    }
    return false;
}

static int too_many(const struct search *search) {
    return diag_error(search->analysis->diag, DIAG_LIMIT,
                      "re-batching: too many possible batch axes");
}

/* Keeps the first error of the step as the reason, if the step is the latest that failed: later
 * errors come from failed repairs. */
static int keep_reason(struct search *search, size_t step) {
    const char *reason = "it does not fit";
    if (search->reason && step < search->deepest) return CM_OK;
    for (size_t i = cm_diagnostics_count(search->sink); i-- > 0;) {
        const struct cm_diagnostic *message = cm_diagnostics_get(search->sink, i);
        if (message->severity == CM_ERROR) reason = message->message;
    }
    search->deepest = step;
    search->deepest_node = search->at_fault;
    search->reason = arena_strdup(search->arena, reason);
    return search->reason ? CM_OK : CM_NO_MEMORY;
}

/* Walks from `step` to the next solution. Returns CONTRADICTION if there is none. */
static int solve(struct search *search, size_t step) {
    while (step < search->model->graphs[0].n_nodes) {
        const int64_t n_walked = search->walk.n_walked;
        if (search->work_left <= 0) return too_many(search);
        walk_renew_search(&search->walk);
        int status = repair_step(search, step);
        if (arena_failed(search->arena)) return CM_NO_MEMORY;
        if (status < 0) return status;
        search->work_left -= NODE_WORK * (search->walk.n_walked - n_walked);
        step++;
        if (status == CM_OK) continue;
        if (keep_reason(search, step - 1) < 0) return CM_NO_MEMORY;
        if (!backtrack(search, &step)) return CONTRADICTION;
    }
    return CM_OK;
}

static int refuse(const struct search *search, uint32_t node, const char *why) {
    const struct analysis *analysis = search->analysis;
    struct node_frame place = {.model = analysis->model,
                               .op = search->ops[node],
                               .infos = search->before.infos,
                               .pass = "batch",
                               .node = node};
    if (!why) return CM_NO_MEMORY;
    node_frame_push(&place, analysis->diag);
    int status = diag_error(
        analysis->diag, DIAG_BATCH, "input '%s' %s cannot be re-batched (tried %d): %s",
        analysis->model->values[search->first].name,
        shape_text(analysis->arena, &before(search, search->first)->shape), PROBE_BATCH, why);
    node_frame_pop(&place, analysis->diag);
    diag_hint(analysis->diag, "export the model with a symbolic batch dim");
    return status;
}

/* Returns true if the use looks up elements of the value as data, not as a table: it selects
 * along an axis other than 0. At a batch of 1, floats may still be a table (angles by
 * position). */
static bool looks_up_data(const struct search *search, const struct use *use,
                          const struct value_info *info) {
    const struct model *model = search->model;
    const struct attr *axis = node_attr(&model->nodes[use->node], "axis");
    const struct op *op = search->ops[use->node];
    if (use->slot != 0 || !op_looks_up(op)) return false;
    if (!axis || axis->kind != ATTR_INT || axis->i == 0 || axis->i == -info->shape.rank)
        return false;
    return dtype_is_integer(info->dtype) || search->batch > 1;
}

/* Returns true if a use of the input requires a learned tensor. */
static bool is_weight_input(const struct search *search, uint32_t value_id,
                            const struct value_info *info) {
    const struct value *value = &search->model->values[value_id];
    for (uint32_t i = 0; i < value->n_uses; i++) {
        const struct use *use = &value->uses[i];
        const char role = op_role(search->ops[use->node], use->slot);
        if (strchr("Wns", role) && !looks_up_data(search, use, info)) return true;
    }
    return false;
}

static bool has_batch_axis(const struct search *search, uint32_t value) {
    const struct value_info *info = search->before.infos ? before(search, value) : NULL;
    if (!info || info->kind != CM_TYPE_TENSOR || info->shape.rank < 1) return false;
    if (info->value) return false; /* --value fixes its dims */
    return value == search->first ||
           (info->shape.dims[0] == search->batch && !is_weight_input(search, value, info));
}

/* Sets ret[input] to the infos of the inputs, with `batch` in place of the file's batch. */
static int batched_inputs(const struct search *search, const struct value_info *const *inputs,
                          int64_t batch, const struct value_info **ret) {
    const struct graph *graph = &search->model->graphs[0];
    for (size_t i = 0; i < graph->n_inputs; i++) {
        uint32_t id = graph->inputs[i];
        ret[id] = inputs[id];
        if (!inputs[id] || !has_batch_axis(search, id)) continue;
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

/* Infers the model at the file's batch, and prepares the walk at PROBE_BATCH. */
static int start(struct search *search, const struct batch_table *table) {
    const struct model *model = search->model;
    const struct value_info **inputs =
        arena_array(search->arena, model->n_values, sizeof(*inputs));
    struct walk walk =
        walk_make(search->analysis, "batch", search->arena, table->inputs, &search->before);
    search->places = arena_array(search->arena, model->n_values, sizeof(*search->places));
    search->overrides = arena_array(search->arena, model->n_nodes, sizeof(*search->overrides));
    if (!inputs || !search->places || !search->overrides) return CM_NO_MEMORY;
    int status = walk_start(&walk);
    if (status == CM_OK) status = walk_graph(&walk, 0);
    if (status < 0 && status != CM_NO_MEMORY) { /* walk again, to report the messages */
        walk.diag = search->analysis->diag;
        status = walk_start(&walk);
        if (status == CM_OK) status = walk_graph(&walk, 0);
    }
    if (status < 0) return status;
    for (uint32_t id = 0; id < model->n_values; id++) search->places[id].axis = -1;
    for (size_t i = 0; i < model->graphs[0].n_inputs; i++)
        if (has_batch_axis(search, model->graphs[0].inputs[i]))
            search->places[model->graphs[0].inputs[i]] = (struct batch_location){0, 1};
    if (batched_inputs(search, table->inputs, PROBE_BATCH, inputs) < 0) return CM_NO_MEMORY;
    search->walk = walk;
    search->walk.inputs = inputs;
    search->walk.overrides = search->overrides;
    search->walk.table = &search->after;
    search->walk.executed = &search->before; /* execute only Loops that `before` executed */
    return repair_reset_sink(search);
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
            .to = checked_mul(from / search->batch, batch),
        };
        if (repair_apply(search, table->overrides, change, batch) < 0) return CM_NO_MEMORY;
    }
    table->n_rebatched = changes->n;
    return CM_OK;
}

/* Compares the current solution with *found. If the batch is the leading axis of the outputs in
 * only one of them, that one is kept in *found. If they have the same figures, *found stays:
 * they differ only in the order of unit axes inside the model. Otherwise the file is ambiguous,
 * an error. */
static int compare_solution(struct search *search, struct solution *found) {
    bool leads = batch_leads(search);
    if (found->leads && !leads) return CM_OK;
    if (leads && !found->leads) return keep_solution(search, found);
    if (is_same_solution(search, found)) return CM_OK;
    const struct choice *choice = &search->choices[search->n_settled];
    const uint32_t node = search->model->graphs[0].nodes[choice->step];
    const uint32_t output = search->model->nodes[node].outputs[0];
    return refuse(search, node,
                  arena_printf(search->arena,
                               "the batch may be axis %d or axis %d of the output %s",
                               choice->alternatives[choice->settled].axis,
                               choice->alternatives[choice->taken].axis,
                               shape_text(search->arena, &before(search, output)->shape)));
}

/* Finds the solution, in up to three attempts: with the likeliest places and at most one batch
 * axis per value; with less likely places too; and, if `allow_squares`, with the likeliest
 * places and products of the batch with itself. Then continues, to check that there is no
 * other. */
static int solve_model(struct search *search, bool allow_squares, struct solution *found) {
    uint32_t at_fault = ID_NONE;
    int status = CONTRADICTION;
    const char *reason = NULL;
    size_t step = 0;
    search->reason = NULL;
    for (int i = 0; i < 2 + allow_squares && status == CONTRADICTION; i++) {
        search->unlikely = i == 1;
        search->squares = i == 2;
        repair_undo(search, search->n_tilings);
        search->n_choices = search->n_settled = 0;
        status = walk_start(&search->walk);
        if (status == CM_OK) status = solve(search, 0);
        if (i == 2) break;
        at_fault = search->deepest_node;
        reason = search->reason;
    }
    if (status == CONTRADICTION) return refuse(search, at_fault, reason);
    if (status == CM_OK) status = keep_solution(search, found);
    while (status == CM_OK && backtrack(search, &step)) {
        status = solve(search, step);
        if (status == CONTRADICTION) return CM_OK;
        if (status == CM_OK) status = compare_solution(search, found);
        /* choices after the first one that differs need no more alternatives */
        if (search->n_settled < search->n_choices) search->n_choices = search->n_settled + 1;
    }
    return status;
}

/* Searches again with the constants of `tilings` scaled. Refuses the model if this changes the
 * shape of a value that depends on the inputs. */
static int solve_tiled(struct search *search, const struct change_list *tilings,
                       struct solution *found) {
    const struct model *model = search->model;
    const struct value_info *was = found->infos;
    memset(search->overrides, 0, model->n_nodes * sizeof *search->overrides);
    search->changes = (struct change_list){0};
    for (size_t i = 0; i < tilings->n; i++) repair_add(search, &tilings->items[i]);
    if (arena_failed(search->arena)) return CM_NO_MEMORY;
    search->n_tilings = tilings->n;
    const int status = solve_model(search, search->squares, found);
    for (uint32_t id = 0; id < model->n_values && status == CM_OK; id++) {
        const struct value *value = &model->values[id];
        if (value->node != ID_NONE && value->graph == 0 && !before(search, id)->is_constant &&
            !shape_equal(&before(search, id)->shape, &was[id].shape) &&
            !shape_equal(&found->infos[id].shape, &was[id].shape))
            return refuse(search, value->node,
                          "a constant that it depends on may or may not hold the batch");
    }
    return status;
}

/* If products lie between a tiled constant and the operand that the solution changed, changes
 * the constant instead. Repeats this, because a constant that scales now may require others to
 * scale. */
static int scale_products(struct search *search, struct solution *found) {
    const struct model *model = search->model;
    struct tiling tiling = {.assumed = ID_NONE};
    for (int round = 0; round < MAX_TILING_ROUNDS; round++) {
        const size_t n_tilings = tiling.changes.n;
        memcpy(search->after.infos, found->infos, model->n_values * sizeof *found->infos);
        memcpy(search->overrides, found->overrides, model->n_nodes * sizeof *found->overrides);
        search->changes = found->changes;
        if (tiling_find(search, &tiling) < 0) return CM_NO_MEMORY;
        if (search->work_left < 0) return too_many(search);
        if (tiling.changes.n == n_tilings) break;
        const int status = solve_tiled(search, &tiling.changes, found);
        if (status < 0) return status;
    }
    if (tiling.product != ID_NONE)
        return refuse(
            search, tiling.product,
            arena_printf(
                search->arena,
                "it may or may not run for each sample: '%s' %s may have been expanded "
                "to the batch",
                value_name(model, tiling.constant),
                shape_text(search->arena, &before(search, tiling.constant)->shape)));
    if (tiling.assumed != ID_NONE)
        diag_note(search->analysis->diag, DIAG_BATCH,
                  "the convolution of constant '%s' is counted for each sample, as if it had "
                  "been expanded to the batch before the export",
                  value_name(model, tiling.assumed));
    return CM_OK;
}

/* Notes outputs that do not scale: a mean over the batch, or its first sample. */
static void note_fixed_outputs(const struct search *search, const struct solution *found) {
    const struct analysis *analysis = search->analysis;
    const struct graph *graph = &analysis->model->graphs[0];
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct value_info *small = before(search, graph->outputs[i]);
        const struct shape *after = &found->infos[graph->outputs[i]].shape;
        if (small->is_constant || !value_info_is_complete(small) || small->shape.rank < 1)
            continue;
        if (shape_equal(&small->shape, after))
            diag_note(analysis->diag, DIAG_BATCH,
                      "output '%s' %s does not scale with the batch",
                      analysis->model->values[graph->outputs[i]].name,
                      shape_text(analysis->arena, after));
    }
}

int rebatch(const struct analysis *analysis, struct batch_table *table, uint32_t first,
            int64_t batch) {
    struct search search = {
        .analysis = analysis,
        .model = analysis->model,
        .ops = analysis->bind->ops,
        .arena = analysis->arena,
        .first = first,
        .batch = table->inputs[first]->shape.dims[0],
        .work_left = WORK_BASE + WORK_PER_NODE * (int64_t)analysis->model->n_nodes,
    };
    struct solution found = {0};
    if (search.batch <= 0)
        return diag_error(analysis->diag, DIAG_BATCH,
                          "input '%s' must have a batch >= 1, got %lld",
                          analysis->model->values[first].name, (long long)search.batch);
    int status = start(&search, table);
    if (status == CM_OK) status = solve_model(&search, true, &found);
    if (status == CM_OK) status = scale_products(&search, &found);
    if (status == CM_OK) note_fixed_outputs(&search, &found);
    if (status == CM_OK) status = keep_changes(&search, &found.changes, table, batch);
    if (status == CM_OK) status = batched_inputs(&search, table->inputs, batch, table->inputs);
    if (status == CM_OK) table->batch = batch;
    cm_diagnostics_free(search.sink);
    return diag_finish(analysis->diag, status);
}
