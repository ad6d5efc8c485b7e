/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass modules: the hierarchy that the model was written in, and what each of its modules
 * costs. Four questions in a row: in which scope does a node stand (module_scopes), of which
 * module is that an entry (module_paths), what is the tree of them (module_tree), and what does
 * a module cost, give and call itself (module_totals, module_outputs, module_types).
 */
#include <string.h>

#include "passes/module_groups.h"
#include "passes/module_tree.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/map.h"

#include "support/banned.h"

/* One copy of each class, which many modules share; NULL: no memory. */
static const char *keep_class(struct arena *arena, struct map *classes, const char *class) {
    const char *known = map_key(classes, class);
    if (known) return known;
    const char *kept = arena_strdup(arena, class);
    return kept && map_set(classes, kept, 0) == CM_OK ? kept : NULL;
}

/* What stays of a module when the tree is built. `path` ends with the name. */
static int keep_module(struct arena *arena, struct map *classes, struct module *module) {
    const char *path = arena_strdup(arena, module->path);
    const char *name = module->name;
    size_t length = strlen(name);
    size_t path_length = strlen(module->path);
    bool ends = length <= path_length && name == module->path + path_length - length;
    module->children =
        arena_copy(arena, module->children, module->n_children * sizeof(*module->children));
    module->outputs =
        arena_copy(arena, module->outputs, module->n_outputs * sizeof(*module->outputs));
    const bool is_named = module->type == name;
    module->name = path && ends ? path + path_length - length : arena_strdup(arena, name);
    module->type = is_named ? module->name : keep_class(arena, classes, module->type);
    module->arguments = module->arguments[0] ? arena_strdup(arena, module->arguments) : "";
    module->path = path;
    bool all = path && module->name && module->type && module->arguments && module->children &&
               module->outputs;
    return all ? CM_OK : CM_NO_MEMORY;
}

static int keep(const struct analysis *analysis, struct modules_table *table) {
    struct arena *arena = analysis->arena;
    struct map classes;
    map_init(&classes, analysis->scratch);
    table->sources =
        arena_copy(arena, table->sources, table->n_sources * sizeof(*table->sources));
    if (!table->sources) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < table->n_modules; i++)
        if (keep_module(arena, &classes, &table->modules[i]) < 0)
            return diag_no_memory(analysis->diag);
    return CM_OK;
}

/* Trees of scopes and paths are built in scratch memory: they are larger than what comes of
 * them. */
static int run(const struct analysis *analysis, void *own) {
    struct analysis building = *analysis;
    building.arena = analysis->scratch;
    struct scopes scopes = {0};
    struct module_paths names = {0};
    struct module_tree tree = {.analysis = &building,
                               .scopes = &scopes,
                               .names = &names,
                               .table = own,
                               .kept = analysis->arena};
    int status = scopes_find(&building, &scopes, own);
    if (status == CM_OK) status = module_paths_find(&building, &scopes, &names);
    if (status == CM_OK && analysis->options->group)
        status = module_groups_make(&building, &scopes, &names);
    if (status == CM_OK) status = module_tree_build(&tree);
    if (status == CM_OK) status = module_totals(&tree);
    if (status == CM_OK) status = module_outputs(&tree);
    if (status == CM_OK) status = module_types(&tree);
    return status < 0 ? status : keep(analysis, own);
}

const struct pass pass_modules = {
    .name = "modules",
    .summary = "find the module of each node, and add up what modules cost",
    .needs =
        HAS_OPERATORS | HAS_TYPES | HAS_COMPOSITES | HAS_STORAGE | HAS_PARAMETERS | HAS_COSTS,
    .gives = HAS_MODULES,
    .run = run,
    .own = offsetof(struct analysis, modules),
};
