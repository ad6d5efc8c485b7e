/* SPDX-License-Identifier: Apache-2.0 */
/* Which values leave a module: made inside it during its first call, and used outside it or
 * given by the model. Constants and shape arithmetic are not what a module returns; embeddings
 * of positions are, which need no input either. */
#include "passes/module_tree.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

#define ABOVE_ROOT ID_NONE

/* Whether a learned tensor was put to use, not only handed on under another shape. */
static bool applies_param(const struct analysis *analysis, uint32_t node) {
    const struct params_table *params = &analysis->params;
    if (op_role(analysis->bind.ops[node], 0) == 'p') return false;
    for (size_t i = 0; i < params->n_used[node]; i++)
        if (params->params[params->used[node][i]].kind == PARAM_LEARNED) return true;
    return false;
}

bool module_is_result(const struct analysis *analysis, uint32_t value) {
    switch (analysis->lifetime.storage[value]) {
    case STORAGE_VIEW:
    case STORAGE_ACTIVATION:
        return true;
    case STORAGE_CONSTANT:
        return dtype_is_float(analysis->infer.facts[value].dtype) &&
               applies_param(analysis, analysis->model->values[value].node);
    default:
        return false;
    }
}

/* The innermost scope that the value does not leave. */
static uint32_t scope_around(const struct module_tree *tree, uint32_t id) {
    const struct model *model = tree->analysis->model;
    const struct scopes *scopes = tree->scopes;
    const struct value *value = &model->values[id];
    uint32_t owner = model->graphs[value->graph].owner;
    uint32_t around = scopes->of_node[value->node];
    if (value->is_graph_output && owner == ID_NONE) return ABOVE_ROOT;
    if (value->is_graph_output)
        around = paths_common(&scopes->paths, around, scopes->of_node[owner]);
    for (uint32_t i = 0; i < value->n_uses; i++)
        around = paths_common(&scopes->paths, around, scopes->of_node[value->uses[i].node]);
    return around;
}

/* Where outputs go: counted in a first round, stored in a second. */
struct sink {
    size_t *counts;   /* by module */
    uint32_t **lists; /* by module; NULL: count only */
};

static void put(const struct sink *sink, uint32_t module, uint32_t value) {
    if (sink->lists) sink->lists[module][sink->counts[module]] = value;
    sink->counts[module]++;
}

/*
 * Walks from the value's scope up to where it stays. Of a replayed module (module_tree.h) only
 * what its children did in their first call belongs to its own first call.
 */
static void put_value(const struct module_tree *tree, uint32_t value, const struct sink *sink) {
    uint32_t scope = tree->scopes->of_node[tree->analysis->model->values[value].node];
    uint32_t around = scope_around(tree, value);
    bool again = false; /* the scope below was a further call of a replayed module's child */
    while (scope != around) {
        uint32_t module = tree->of_scope[scope];
        bool replay = tree->replayed[module] && again;
        if (tree->first_scope[module] == scope && !replay) put(sink, module, value);
        again = replay || tree->names->repeat[scope] > 0;
        scope = tree->scopes->paths.items[scope].parent;
    }
}

static void put_all(const struct module_tree *tree, const struct sink *sink) {
    const struct model *model = tree->analysis->model;
    for (size_t i = 0; i < tree->scopes->n_nodes; i++) {
        const struct node *node = &model->nodes[tree->scopes->nodes[i]];
        for (size_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != ID_NONE &&
                module_is_result(tree->analysis, node->outputs[k]))
                put_value(tree, node->outputs[k], sink);
    }
}

int module_outputs(struct module_tree *tree) {
    struct arena *arena = tree->analysis->arena;
    size_t n = tree->table->n_modules;
    struct sink sink = {.counts = arena_array(arena, n, sizeof *sink.counts)};
    uint32_t **lists = arena_array(arena, n, sizeof *lists);
    if (!sink.counts || !lists) return diag_no_memory(tree->analysis->diag);
    put_all(tree, &sink);
    for (size_t i = 0; i < n; i++) {
        lists[i] = arena_array(arena, sink.counts[i], sizeof **lists);
        if (!lists[i]) return diag_no_memory(tree->analysis->diag);
        tree->table->modules[i].outputs = lists[i];
        tree->table->modules[i].n_outputs = sink.counts[i];
        sink.counts[i] = 0;
    }
    sink.lists = lists;
    put_all(tree, &sink);
    return CM_OK;
}
