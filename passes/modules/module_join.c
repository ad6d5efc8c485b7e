/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes without a scope between nodes of one module join it: each gets the innermost scope
 * around all that it reads from and all that read from it, through others of its kind. What
 * only feeds one module, made of constants, belongs to that module; what stands between two
 * modules to the one around both.
 */
#include "passes/modules/module_sources.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

struct joiner {
    const struct model *model;
    struct scopes *scopes; /* of_node: ID_NONE for those that nobody knows */
    uint32_t *before;      /* by node: around all that feed it; ID_NONE: constants do */
    uint32_t *after;       /* around all that it feeds; ID_NONE: none */
};

static void widen(const struct joiner *joiner, uint32_t *around, uint32_t scope) {
    if (scope == ID_NONE) return;
    *around = *around == ID_NONE ? scope : paths_common(&joiner->scopes->paths, *around, scope);
}

/* Where the node stands as far as is known from one side. */
static uint32_t seen_from(const struct joiner *joiner, const uint32_t *side, uint32_t node) {
    uint32_t scope = joiner->scopes->of_node[node];
    return scope == ID_NONE ? side[node] : scope;
}

/* What comes from outside a graph, or leaves it, is its owner's; the model's is the root's. */
static uint32_t outside(const struct joiner *joiner, const uint32_t *side, uint32_t graph) {
    uint32_t owner = joiner->model->graphs[graph].owner;
    return owner == ID_NONE ? 0 : seen_from(joiner, side, owner);
}

static uint32_t look_back(const struct joiner *joiner, uint32_t id) {
    const struct node *node = &joiner->model->nodes[id];
    uint32_t around = ID_NONE;
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == ID_NONE) continue;
        const struct value *value = &joiner->model->values[node->inputs[i]];
        if (value->origin == VALUE_OUTPUT)
            widen(joiner, &around, seen_from(joiner, joiner->before, value->node));
        else if (!value->constant)
            widen(joiner, &around, outside(joiner, joiner->before, value->graph));
    }
    return around;
}

static uint32_t look_ahead(const struct joiner *joiner, uint32_t id) {
    const struct node *node = &joiner->model->nodes[id];
    uint32_t around = ID_NONE;
    for (size_t i = 0; i < node->n_outputs; i++) {
        if (node->outputs[i] == ID_NONE) continue;
        const struct value *value = &joiner->model->values[node->outputs[i]];
        for (uint32_t k = 0; k < value->n_uses; k++)
            widen(joiner, &around, seen_from(joiner, joiner->after, value->uses[k].node));
        if (value->is_graph_output)
            widen(joiner, &around, outside(joiner, joiner->after, value->graph));
    }
    return around;
}

/* Where neither side knows, the node around the body does. */
static uint32_t settle(const struct joiner *joiner, uint32_t node) {
    uint32_t around = joiner->before[node];
    uint32_t owner = joiner->model->graphs[joiner->model->nodes[node].graph].owner;
    widen(joiner, &around, joiner->after[node]);
    if (around != ID_NONE) return around;
    return owner == ID_NONE ? 0 : joiner->scopes->of_node[owner];
}

int scopes_join(struct scope_finder *finder) {
    struct scopes *scopes = finder->scopes;
    struct arena *arena = finder->analysis->arena;
    size_t n = finder->model->n_nodes;
    struct joiner joiner = {
        .model = finder->model,
        .scopes = scopes,
        .before = arena_array(arena, n, sizeof *joiner.before),
        .after = arena_array(arena, n, sizeof *joiner.after),
    };
    if (!joiner.before || !joiner.after) return CM_NO_MEMORY;
    for (size_t i = 0; i < n; i++) joiner.before[i] = joiner.after[i] = ID_NONE;
    for (size_t i = 0; i < scopes->n_nodes; i++)
        if (scopes->of_node[scopes->nodes[i]] == ID_NONE)
            joiner.before[scopes->nodes[i]] = look_back(&joiner, scopes->nodes[i]);
    for (size_t i = scopes->n_nodes; i-- > 0;)
        if (scopes->of_node[scopes->nodes[i]] == ID_NONE)
            joiner.after[scopes->nodes[i]] = look_ahead(&joiner, scopes->nodes[i]);
    for (size_t i = 0; i < scopes->n_nodes; i++)
        if (scopes->of_node[scopes->nodes[i]] == ID_NONE)
            scopes->of_node[scopes->nodes[i]] = settle(&joiner, scopes->nodes[i]);
    return CM_OK;
}
