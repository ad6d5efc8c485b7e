/* SPDX-License-Identifier: Apache-2.0 */
/* Ways through the model that fit, kept and compared: see rebatch_search.h. */
#include "ops/product.h"
#include "passes/batch/rebatch_search.h"
#include "passes/infer/context.h"
#include "support/arena.h"

#include "support/banned.h"

bool solution_leads(const struct search *search) {
    const struct graph *graph = &search->analysis->model->graphs[0];
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct value_info *info = &search->after.facts[graph->outputs[i]];
        if (info->is_constant || !value_info_is_complete(info)) continue;
        if (info->shape.rank < 1 || info->shape.dims[0] != PROBE_BATCH) return false;
    }
    return true;
}

int solution_keep(struct search *search, struct solution *ret) {
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
    ret->leads = solution_leads(search);
    return CM_OK;
}

static int macs_of(const struct search *search, const struct value_info *facts,
                   const struct override *const *overrides, uint32_t node, int64_t *ret) {
    const struct op_source source = {.model = search->analysis->model,
                                     .ops = search->probe.ops,
                                     .overrides = overrides,
                                     .facts = facts,
                                     .mode = search->analysis->options->mode,
                                     .arena = search->probe.arena,
                                     .diag = search->sink};
    const struct arena_mark mark = arena_save(source.arena);
    struct op_context context;
    *ret = 0;
    if (!search->probe.ops[node]->cost.macs) return CM_OK;
    if (context_make_inferred(&source, node, &context) < 0) return CM_NO_MEMORY;
    *ret = product_macs(&context);
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

int solution_is_same(const struct search *search, const struct solution *solution,
                     bool *ret_same) {
    *ret_same = same_sizes(search, solution);
    return *ret_same ? same_macs(search, solution, ret_same) : CM_OK;
}
