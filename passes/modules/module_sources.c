/* SPDX-License-Identifier: Apache-2.0 */
/* The table of module sources, and the search for scopes: see module_sources.h. */
#include "passes/modules/module_sources.h"

#include "passes/modules/modules.h"
#include "passes/walk/node_order.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

/* The most reliable first. */
/* clang-format off */
static const struct module_source sources[] = {
    {.name = "metadata", .start = source_metadata_start, .find = source_metadata_find,
     .summary = "module paths and classes that the exporter recorded for each node"},
    {.name = "functions", .start = source_functions_start, .find = source_functions_find,
     .summary = "calls of model-local functions"},
    {.name = "scopes", .find = source_slashes_find,
     .summary = "names with slashes: /layer1/conv1/Conv"},
    {.name = "paddle", .guesses = true, .start = source_paddle_start, .find = source_paddle_find,
     .summary = "Paddle names: conv2d_0.w_0, relu_0.tmp_0"},
    {.name = "mxnet", .guesses = true, .start = source_mxnet_start, .find = source_mxnet_find,
     .summary = "MXNet and Gluon names: stage1_conv0_weight"},
    {.name = "parameters", .guesses = true, .find = source_params_find,
     .summary = "dotted names of parameters: layer1.conv1.weight"},
    {.name = "fused", .find = source_fused_find,
     .summary = "names of fused nodes: /a/Conv + /b/Relu"},
    {.name = "types", .guesses = true, .foreign = true, .find = source_types_find,
     .summary = "fallback: group nodes by operator type"},
};
/* clang-format on */

#define N_SOURCES (sizeof sources / sizeof *sources)

const struct module_source *module_source_at(size_t index) {
    return index < N_SOURCES ? &sources[index] : NULL;
}

const struct module_source *module_source_by_name(const char *name) {
    for (size_t i = 0; i < N_SOURCES; i++)
        if (text_equal(sources[i].name, name)) return &sources[i];
    return NULL;
}

static void add_source(struct modules_table *table, const char *name, size_t n) {
    if (n > 0) table->sources[table->n_sources++] = (struct cm_name_count){name, (int64_t)n};
}

/* Asks one source for the scopes of all nodes without one. Returns how many it located. */
static size_t ask_source(struct scope_finder *finder, const struct module_source *source,
                         bool forced, struct modules_table *table) {
    struct scopes *scopes = finder->scopes;
    size_t n = 0;
    const bool applies = !source->start || source->start(finder);
    if (!(applies || forced) || arena_failed(finder->analysis->arena)) return 0;
    for (size_t i = 0; i < scopes->n_nodes; i++) {
        uint32_t *scope = &scopes->of_node[scopes->nodes[i]];
        if (*scope != ID_NONE) continue;
        *scope = source->find(finder, scopes->nodes[i]);
        n += *scope != ID_NONE;
    }
    add_source(table, source->name, n);
    scopes->foreign = scopes->foreign || (n > 0 && source->foreign);
    return n;
}

/* Nodes that no source locates join their neighbours: each gets the innermost scope around all
 * its producers and consumers. A chain of such nodes is treated as one node. So a node whose
 * operands are constants belongs to the module that reads its outputs, and a node between two
 * modules belongs to the module around both. */
struct joiner {
    const struct model *model;
    struct scopes *scopes; /* of_node: ID_NONE if unknown */
    uint32_t *before; /* by node: scope around its producers; ID_NONE if all are constant */
    uint32_t *after;  /* by node: scope around its consumers; ID_NONE if it has none */
};

static void widen(const struct joiner *joiner, uint32_t *around, uint32_t scope) {
    if (scope == ID_NONE) return;
    *around = *around == ID_NONE ? scope : paths_common(&joiner->scopes->paths, *around, scope);
}

static uint32_t scope_from(const struct joiner *joiner, const uint32_t *side, uint32_t node) {
    uint32_t scope = joiner->scopes->of_node[node];
    return scope == ID_NONE ? side[node] : scope;
}

/* Returns the scope of values that enter or leave a graph: the scope of its owner, or the root
 * for the main graph. */
static uint32_t outside(const struct joiner *joiner, const uint32_t *side, uint32_t graph) {
    uint32_t owner = joiner->model->graphs[graph].owner;
    return owner == ID_NONE ? 0 : scope_from(joiner, side, owner);
}

static uint32_t producers_scope(const struct joiner *joiner, uint32_t id) {
    const struct node *node = &joiner->model->nodes[id];
    uint32_t around = ID_NONE;
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == ID_NONE) continue;
        const struct value *value = &joiner->model->values[node->inputs[i]];
        if (value->origin == VALUE_OUTPUT)
            widen(joiner, &around, scope_from(joiner, joiner->before, value->node));
        else if (!value->constant)
            widen(joiner, &around, outside(joiner, joiner->before, value->graph));
    }
    return around;
}

static uint32_t consumers_scope(const struct joiner *joiner, uint32_t id) {
    const struct node *node = &joiner->model->nodes[id];
    uint32_t around = ID_NONE;
    for (size_t i = 0; i < node->n_outputs; i++) {
        if (node->outputs[i] == ID_NONE) continue;
        const struct value *value = &joiner->model->values[node->outputs[i]];
        for (uint32_t k = 0; k < value->n_uses; k++)
            widen(joiner, &around, scope_from(joiner, joiner->after, value->uses[k].node));
        if (value->is_graph_output)
            widen(joiner, &around, outside(joiner, joiner->after, value->graph));
    }
    return around;
}

static void join(struct scope_finder *finder, size_t n_unknown, struct modules_table *table) {
    struct scopes *scopes = finder->scopes;
    const struct model *model = finder->model;
    struct arena *arena = finder->analysis->arena;
    if (n_unknown == 0) return;
    struct joiner joiner = {
        .model = model,
        .scopes = scopes,
        .before = arena_array(arena, model->n_nodes, sizeof *joiner.before),
        .after = arena_array(arena, model->n_nodes, sizeof *joiner.after),
    };
    uint32_t *unknown = arena_array(arena, n_unknown, sizeof *unknown);
    size_t n = 0;
    size_t n_joined = 0;
    if (!joiner.before || !joiner.after || !unknown) return;
    for (size_t i = 0; i < model->n_nodes; i++) joiner.before[i] = joiner.after[i] = ID_NONE;
    for (size_t i = 0; i < scopes->n_nodes; i++)
        if (scopes->of_node[scopes->nodes[i]] == ID_NONE) unknown[n++] = scopes->nodes[i];
    /* forward from the producers, then backward from the consumers */
    for (size_t i = 0; i < n; i++)
        joiner.before[unknown[i]] = producers_scope(&joiner, unknown[i]);
    for (size_t i = n; i-- > 0;)
        joiner.after[unknown[i]] = consumers_scope(&joiner, unknown[i]);
    for (size_t i = 0; i < n; i++) {
        const uint32_t node = unknown[i];
        uint32_t owner = model->graphs[model->nodes[node].graph].owner;
        uint32_t around = joiner.before[node];
        widen(&joiner, &around, joiner.after[node]);
        if (around == ID_NONE) around = owner == ID_NONE ? 0 : scopes->of_node[owner];
        scopes->of_node[node] = around;
        n_joined += around != 0;
    }
    add_source(table, "joined", n_joined);
    add_source(table, "none", n_unknown - n_joined);
}

int module_sources_find_scopes(const struct analysis *analysis, struct scopes *scopes,
                               struct modules_table *table) {
    const struct model *model = analysis->model;
    const char *wanted = analysis->options->module_source;
    const struct module_source *forced = wanted ? module_source_by_name(wanted) : NULL;
    struct scope_finder finder = {.analysis = analysis, .model = model, .scopes = scopes};
    struct arena *arena = analysis->arena;
    size_t n_known = 0;
    scopes->of_node = arena_array(arena, model->n_nodes, sizeof *scopes->of_node);
    table->sources = arena_array(analysis->result_arena, N_SOURCES + 2, sizeof *table->sources);
    if (!scopes->of_node || !table->sources || paths_init(&scopes->paths, arena, '/') < 0 ||
        paths_reserve(&scopes->paths, model->n_nodes + model->n_nodes / 4) < 0 ||
        order_nodes(model, arena, &scopes->n_nodes, &scopes->nodes) < 0)
        return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < model->n_nodes; i++) scopes->of_node[i] = ID_NONE;
    for (size_t i = 0; i < N_SOURCES; i++) {
        const struct module_source *source = &sources[i];
        if (forced ? source != forced : source->guesses && n_known > 0) continue;
        n_known += ask_source(&finder, source, forced, table);
    }
    if (forced && n_known == 0) {
        scopes->foreign = true;
        diag_note(analysis->diag, DIAG_ASSUMPTION,
                  "module source '%s' locates no node: all belong to the root module",
                  forced->name);
    }
    join(&finder, scopes->n_nodes - n_known, table);
    return arena_failed(arena) ? diag_no_memory(analysis->diag) : CM_OK;
}
