/* SPDX-License-Identifier: Apache-2.0 */
/* Pass modules: recovers the module hierarchy and sums the costs of each module. Its steps find
 * the scope of each node (module_sources) and the module of each scope (module_paths), replace
 * both by groups if --group is given (module_groups), build the tree, and find the costs,
 * outputs and classes of modules (module_totals, module_outputs, module_classes). */
#include <string.h>

#include "passes/modules/module_groups.h"
#include "passes/modules/module_sources.h"
#include "passes/modules/module_tree.h"
#include "passes/params/params.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

struct builder {
    struct module_tree *tree;
    const struct paths *paths;
    uint32_t *number; /* by path: its module */
};

/* Returns the next path in depth-first order, ID_NONE after the last. */
static uint32_t next_path(const struct paths *paths, uint32_t path) {
    if (paths->items[path].first_child != ID_NONE) return paths->items[path].first_child;
    while (path != ID_NONE && paths->items[path].next == ID_NONE)
        path = paths->items[path].parent;
    return path == ID_NONE ? ID_NONE : paths->items[path].next;
}

/* Initializes a zeroed row; `parent` is CM_NO_INDEX for the root. */
static void start_module(struct cm_module *module, const char *path, const char *name,
                         size_t parent) {
    module->path = path;
    module->name = name;
    module->type = name;
    module->arguments = "";
    module->parent = parent;
}

/* Makes a row for each path, and numbers parents before children. */
static int number_modules(const struct builder *builder) {
    struct modules_table *table = builder->tree->table;
    struct arena *arena = builder->tree->analysis->result_arena;
    start_module(&table->modules[0], "", "", CM_NO_INDEX);
    table->parents[0] = ID_NONE;
    table->n_modules = 1;
    const struct paths *paths = builder->paths;
    for (uint32_t at = next_path(paths, 0); at != ID_NONE; at = next_path(paths, at)) {
        const struct path *path = &paths->items[at];
        const uint32_t parent = builder->number[path->parent];
        const uint32_t id = (uint32_t)table->n_modules++;
        const size_t front = strlen(table->modules[parent].path);
        char *text = arena_array_raw(arena, front + 1 + path->length + 1, 1);
        if (!text) return CM_NO_MEMORY;
        memcpy(text, table->modules[parent].path, front);
        if (front > 0) text[front] = '.';
        char *name = text + front + (front > 0);
        memcpy(name, path->name, path->length);
        name[path->length] = '\0';
        start_module(&table->modules[id], text, name, parent);
        table->modules[id].depth = (int)path->depth;
        table->parents[id] = parent;
        builder->number[at] = id;
    }
    return CM_OK;
}

static int collect_children(const struct builder *builder) {
    struct modules_table *table = builder->tree->table;
    size_t *children =
        arena_array(builder->tree->analysis->result_arena, table->n_modules, sizeof *children);
    if (!children) return CM_NO_MEMORY;
    for (uint32_t path = 0; path < builder->paths->n; path++) {
        struct cm_module *module = &table->modules[builder->number[path]];
        module->children = children;
        const struct path *items = builder->paths->items;
        for (uint32_t child = items[path].first_child; child != ID_NONE;
             child = items[child].next) {
            *children++ = builder->number[child];
            module->n_children++;
        }
    }
    return CM_OK;
}

static void place_scopes_and_params(const struct builder *builder) {
    struct module_tree *tree = builder->tree;
    const struct module_paths *paths = tree->paths;
    for (size_t i = 0; i < tree->table->n_modules; i++) tree->first_scope[i] = ID_NONE;
    for (uint32_t scope = 0; scope < tree->scopes->paths.n; scope++) {
        uint32_t module = builder->number[paths->of_scope[scope]];
        tree->of_scope[scope] = module;
        tree->table->modules[module].calls++;
        if (tree->first_scope[module] == ID_NONE) tree->first_scope[module] = scope;
    }
    for (size_t i = 0; i < tree->analysis->params->n_params; i++)
        tree->of_param[i] = builder->number[paths->of_param_module[paths->of_param[i]]];
}

/* Returns how often each child was called; 0 if these differ, or a name is not a number. */
static int64_t calls_of_children(const struct module_tree *tree,
                                 const struct cm_module *module) {
    int64_t calls = 0;
    for (size_t i = 0; i < module->n_children; i++) {
        const struct cm_module *child = &tree->table->modules[module->children[i]];
        int64_t number = -1;
        if (!text_to_int64(child->name, strlen(child->name), &number) || number < 0) return 0;
        if (i > 0 && child->calls != calls) return 0;
        calls = child->calls;
    }
    return calls;
}

/* Exporters mark the second call of a Sequential only on its children. So if a module consists
 * only of numbered children, and each was called k times per scope of the module, the module
 * was called k times per scope. */
static void find_replayed(struct module_tree *tree) {
    for (size_t i = tree->table->n_modules; i-- > 1;) {
        struct cm_module *module = &tree->table->modules[i];
        int64_t calls = calls_of_children(tree, module);
        if (module->calls == 0 || tree->has_nodes[i] || calls <= module->calls) continue;
        if (calls % module->calls != 0) continue;
        tree->replayed[i] = true;
        module->calls = calls;
    }
}

static int build_tree(struct module_tree *tree) {
    const struct analysis *analysis = tree->analysis;
    struct arena *arena = analysis->arena;
    struct modules_table *table = tree->table;
    const struct scopes *scopes = tree->scopes;
    const size_t n = tree->paths->paths.n;
    table->modules = arena_array(analysis->result_arena, n, sizeof *table->modules);
    table->parents = arena_array(tree->table_arena, n, sizeof *table->parents);
    table->of_node =
        arena_array(tree->table_arena, analysis->model->n_nodes, sizeof *table->of_node);
    tree->of_scope = arena_array(arena, scopes->paths.n, sizeof *tree->of_scope);
    tree->of_param = arena_array(arena, analysis->params->n_params, sizeof *tree->of_param);
    tree->first_scope = arena_array(arena, n, sizeof *tree->first_scope);
    tree->has_nodes = arena_array(arena, n, sizeof *tree->has_nodes);
    tree->replayed = arena_array(arena, n, sizeof *tree->replayed);
    const struct arena_mark mark = arena_save(arena);
    struct builder builder = {
        .tree = tree,
        .paths = &tree->paths->paths,
        .number = arena_array(arena, n, sizeof *builder.number),
    };
    if (arena_failed(arena) || arena_failed(analysis->result_arena) ||
        arena_failed(tree->table_arena) || number_modules(&builder) < 0 ||
        collect_children(&builder) < 0)
        return diag_no_memory(analysis->diag);
    place_scopes_and_params(&builder);
    arena_restore(arena, mark);
    for (size_t i = 0; i < scopes->n_nodes; i++) {
        uint32_t node = scopes->nodes[i];
        uint32_t module = tree->of_scope[scopes->of_node[node]];
        table->of_node[node] = module;
        tree->has_nodes[module] = true;
    }
    find_replayed(tree);
    return CM_OK;
}

int pass_modules(const struct analysis *analysis, void *own) {
    /* the trees of scopes and paths are larger than the table and end with the pass */
    struct analysis on_scratch = *analysis;
    on_scratch.arena = analysis->scratch;
    struct scopes scopes = {0};
    struct module_paths paths = {0};
    struct module_tree tree = {.analysis = &on_scratch,
                               .scopes = &scopes,
                               .paths = &paths,
                               .table = own,
                               .table_arena = analysis->arena};
    int status = module_sources_find_scopes(&on_scratch, &scopes, own);
    if (status == CM_OK) status = module_paths_find(&on_scratch, &scopes, &paths);
    if (status == CM_OK && analysis->options->group)
        status = module_groups_make(&on_scratch, &scopes, &paths);
    if (status == CM_OK) status = build_tree(&tree);
    if (status == CM_OK) status = module_totals(&tree);
    if (status == CM_OK) status = module_outputs(&tree);
    if (status == CM_OK) status = module_classes(&tree);
    return status;
}
