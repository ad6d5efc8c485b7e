/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the outputs of each module: values that are produced inside the module during its first
 * call, and are used outside or are outputs of the model. Constants and shape arithmetic are
 * not outputs, but results computed with learned parameters are, even without an input
 * (position embeddings). */

#include "passes/memory/liveness.h"
#include "passes/modules/module_tree.h"
#include "passes/modules/modules.h"
#include "passes/params/params.h"
#include "passes/walk/bind.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/diag.h"

#define ABOVE_ROOT ID_NONE

/* Returns true if the node computes with a learned parameter, not just views it. */
static bool applies_param(const struct analysis *analysis, uint32_t node) {
    const struct params_table *params = analysis->params;
    if (op_role(analysis->bind->ops[node], 0) == 'p') return false;
    for (size_t i = 0; i < params->n_used[node]; i++)
        if (params->params[params->used[node][i]].kind == PARAM_LEARNED) return true;
    return false;
}

bool module_is_result(const struct analysis *analysis, uint32_t value) {
    switch (analysis->liveness->storage[value]) {
    case STORAGE_VIEW:
    case STORAGE_ACTIVATION:
        return true;
    case STORAGE_CONSTANT:
        return dtype_is_float(analysis->infer->infos[value].dtype) &&
               applies_param(analysis, analysis->model->values[value].node);
    default:
        return false;
    }
}

/* Returns the innermost scope that contains the producer and all uses of the value; ABOVE_ROOT
 * for an output of the model. */
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

/* A value that is an output of a module. */
struct output {
    uint32_t module;
    uint32_t value;
};

/* All outputs of modules, in the order of their producers. */
struct outputs {
    struct arena *arena;
    struct output *items;
    size_t n;
    size_t capacity;
};

/* Adds the value to the outputs of each module that it leaves, from its scope upwards. In a
 * replayed module (module_tree.h) only the first calls of the children are part of the module's
 * first call. */
static void add_value(const struct module_tree *tree, uint32_t value, struct outputs *outputs) {
    uint32_t scope = tree->scopes->of_node[tree->analysis->model->values[value].node];
    uint32_t around = scope_around(tree, value);
    bool is_repeat = false; /* the scope inside this one is not a first call */
    while (scope != around) {
        uint32_t module = tree->of_scope[scope];
        bool replay = tree->replayed[module] && is_repeat;
        if (tree->first_scope[module] == scope && !replay) {
            const struct output output = {module, value};
            if (!arena_push(outputs->arena, &outputs->items, &outputs->n, &outputs->capacity,
                            &output, sizeof output))
                return;
        }
        is_repeat = replay || tree->paths->repeat[scope] > 0;
        scope = tree->scopes->paths.items[scope].parent;
    }
}

int module_outputs(const struct module_tree *tree) {
    struct arena *arena = tree->analysis->arena;
    const struct model *model = tree->analysis->model;
    const struct arena_mark mark = arena_save(arena);
    struct outputs outputs = {.arena = arena};
    outputs.capacity = tree->scopes->n_nodes + 1; /* usually one value per node */
    outputs.items = arena_array(arena, outputs.capacity, sizeof *outputs.items);
    for (size_t i = 0; i < tree->scopes->n_nodes && outputs.items; i++) {
        const struct node *node = &model->nodes[tree->scopes->nodes[i]];
        for (size_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != ID_NONE &&
                module_is_result(tree->analysis, node->outputs[k]))
                add_value(tree, node->outputs[k], &outputs);
    }
    /* sort the outputs by module */
    struct modules_table *table = tree->table;
    uint32_t *from = arena_array(tree->table_arena, table->n_modules + 1, sizeof *from);
    uint32_t *sorted = arena_array(tree->table_arena, outputs.n, sizeof *sorted);
    if (arena_failed(arena) || !from || !sorted || outputs.n > UINT32_MAX)
        return diag_no_memory(tree->analysis->diag);
    for (size_t i = 0; i < outputs.n; i++) from[outputs.items[i].module]++;
    for (size_t i = 0; i < table->n_modules; i++) from[i + 1] += from[i]; /* where each ends */
    for (size_t i = outputs.n; i-- > 0;)
        sorted[--from[outputs.items[i].module]] = outputs.items[i].value;
    table->first_output = from;
    table->outputs = sorted;
    arena_restore(arena, mark);
    return CM_OK;
}
