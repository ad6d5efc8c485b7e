/* SPDX-License-Identifier: Apache-2.0 */
/* From nodes to scopes: see module_scopes.h. Each source in turn is asked for the nodes that
 * those before it did not know. */
#include "passes/modules/module_scopes.h"

#include "passes/infer/node_order.h"
#include "passes/modules/module_sources.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

const struct scope_notes *scopes_notes(const struct scopes *scopes, uint32_t scope) {
    static const struct scope_notes none = {.path = NULL};
    return scope < scopes->n_notes ? &scopes->notes[scope] : &none;
}

struct scope_notes *scopes_note(struct scopes *scopes, uint32_t scope) {
    if (scope < scopes->n_notes) return &scopes->notes[scope];
    size_t n = 2 * (size_t)scope + 16;
    struct scope_notes *notes = arena_array(scopes->paths.arena, n, sizeof *notes);
    if (!notes) return NULL;
    for (size_t i = 0; i < scopes->n_notes; i++) notes[i] = scopes->notes[i];
    scopes->notes = notes;
    scopes->n_notes = n;
    return &notes[scope];
}

bool scopes_makes_param(const struct analysis *analysis, uint32_t id) {
    const struct node *node = &analysis->model->nodes[id];
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE &&
            analysis->params.of_value[node->outputs[i]] != ID_NONE)
            return true;
    return false;
}

/* What became of nodes that no source knew. */
#define JOINED "joined"
#define NONE   "none"

static void add_source(struct modules_table *table, const char *name, size_t n) {
    if (n > 0) table->sources[table->n_sources++] = (struct cm_name_count){name, (int64_t)n};
}

/* Asks one source; *ret: of how many nodes it knew the scope. */
static int ask(struct scope_finder *finder, const struct module_source *source, size_t *ret) {
    struct scopes *scopes = finder->scopes;
    *ret = 0;
    for (size_t i = 0; i < scopes->n_nodes; i++) {
        uint32_t id = scopes->nodes[i];
        if (scopes->of_node[id] != ID_NONE) continue;
        int status = source->find(finder, id, &scopes->of_node[id]);
        if (status < 0) return status;
        *ret += scopes->of_node[id] != ID_NONE;
    }
    return CM_OK;
}

/* The one that was asked for, or all in turn. */
static int ask_sources(struct scope_finder *finder, const struct module_source *forced,
                       struct modules_table *table, size_t *known) {
    const struct module_source *source = NULL;
    for (size_t i = 0; (source = module_source_at(i)); i++) {
        bool of_its_kind = true;
        size_t n = 0;
        if (forced ? source != forced : source->guesses && *known > 0) continue;
        int status = source->start ? source->start(finder, &of_its_kind) : CM_OK;
        if (status == CM_OK && (of_its_kind || forced)) status = ask(finder, source, &n);
        if (status < 0) return status;
        add_source(table, source->name, n);
        *known += n;
        finder->scopes->foreign = finder->scopes->foreign || (n > 0 && source->foreign);
    }
    return CM_OK;
}

static int join(struct scope_finder *finder, size_t unknown, struct modules_table *table) {
    struct scopes *scopes = finder->scopes;
    if (unknown == 0) return CM_OK;
    bool *known = arena_array(finder->analysis->arena, finder->model->n_nodes, sizeof *known);
    size_t joined = 0;
    if (!known) return CM_NO_MEMORY;
    for (size_t i = 0; i < finder->model->n_nodes; i++)
        known[i] = scopes->of_node[i] != ID_NONE;
    if (scopes_join(finder) < 0) return CM_NO_MEMORY;
    for (size_t i = 0; i < scopes->n_nodes; i++)
        joined += !known[scopes->nodes[i]] && scopes->of_node[scopes->nodes[i]] != 0;
    add_source(table, JOINED, joined);
    add_source(table, NONE, unknown - joined);
    return CM_OK;
}

static int start(struct scope_finder *finder, struct modules_table *table) {
    struct scopes *scopes = finder->scopes;
    const struct model *model = finder->model;
    struct arena *arena = finder->analysis->arena;
    size_t n_sources = 0;
    while (module_source_at(n_sources)) n_sources++;
    scopes->of_node = arena_array(arena, model->n_nodes, sizeof *scopes->of_node);
    table->sources = arena_array(finder->analysis->kept, n_sources + 2, sizeof *table->sources);
    if (!scopes->of_node || !table->sources || paths_init(&scopes->paths, arena, '/') < 0 ||
        paths_reserve(&scopes->paths, model->n_nodes + model->n_nodes / 4) < 0 ||
        order_nodes(model, arena, &scopes->n_nodes, &scopes->nodes) < 0)
        return CM_NO_MEMORY;
    for (size_t i = 0; i < model->n_nodes; i++) scopes->of_node[i] = ID_NONE;
    return CM_OK;
}

static int find(struct scope_finder *finder, struct modules_table *table) {
    const char *wanted = finder->analysis->options->module_source;
    const struct module_source *forced = wanted ? module_source_find(wanted) : NULL;
    size_t known = 0;
    if (start(finder, table) < 0 || ask_sources(finder, forced, table, &known) < 0)
        return CM_NO_MEMORY;
    if (forced && known == 0) {
        finder->scopes->foreign = true;
        diag_note(finder->analysis->diag, DIAG_ASSUMPTION,
                  "no node's module can be told from '%s', all stand in the model itself",
                  forced->name);
    }
    return join(finder, finder->scopes->n_nodes - known, table);
}

int scopes_find(const struct analysis *analysis, struct scopes *ret,
                struct modules_table *table) {
    struct scope_finder finder = {
        .analysis = analysis, .model = analysis->model, .scopes = ret};
    return find(&finder, table) < 0 ? diag_no_memory(analysis->diag) : CM_OK;
}
