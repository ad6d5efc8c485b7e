/* SPDX-License-Identifier: Apache-2.0 */
/* From scopes to modules: see module_paths.h. Scopes are placed a family at a time, the
 * children of one scope together, because a scope may have to be told by its siblings. */
#include "passes/modules/module_paths.h"

#include <string.h>

#include "passes/params/names.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

#define NO_CLAIM    0u /* the root of of_params, which no parameter claims for a scope */
#define MIXED_CLAIM ID_NONE

/* The module of a scope: the parts of `local` below an entry. */
struct placement {
    const char *local;
    size_t length;
    uint32_t base;
    bool in_params; /* `base` is one of of_params, not of the modules */
    bool moved;     /* where its parameters say, not where its name does */
};

struct mapper {
    const struct analysis *analysis;
    const struct scopes *scopes;
    struct module_paths *out;
    struct arena *arena; /* for what follows, which ends with the mapping */
    uint32_t *claims;    /* by scope: what its parameters' names agree on, in of_params */
    bool *has_params;    /* by scope: parameters are used in it or below */
    struct placement *placements; /* by scope */
};

static const struct path *scope_at(const struct mapper *mapper, uint32_t scope) {
    return &mapper->scopes->paths.items[scope];
}

static int enter_params(struct mapper *mapper) {
    const struct params_table *params = &mapper->analysis->params;
    struct module_paths *out = mapper->out;
    if (mapper->scopes->foreign) return CM_OK;
    for (size_t i = 0; i < params->n_params; i++) {
        const char *name = params->params[i].name;
        int status = paths_enter(&out->of_params, names_base(name), names_module_length(name),
                                 &out->of_param[i]);
        if (status < 0) return status;
    }
    return CM_OK;
}

static void claim(struct mapper *mapper, uint32_t node) {
    const struct params_table *params = &mapper->analysis->params;
    uint32_t scope = mapper->scopes->of_node[node];
    if (params->n_used[node] == 0 || scopes_makes_param(mapper->analysis, node)) return;
    for (size_t i = 0; i < params->n_used[node]; i++) {
        uint32_t param = params->used[node][i];
        uint32_t module = mapper->out->of_param[param];
        if (params->params[param].kind != PARAM_LEARNED) continue;
        mapper->has_params[scope] = true;
        if (module == 0) continue;
        if (mapper->claims[scope] == NO_CLAIM)
            mapper->claims[scope] = module;
        else if (mapper->claims[scope] != module)
            mapper->claims[scope] = MIXED_CLAIM;
    }
}

static void collect_claims(struct mapper *mapper) {
    for (size_t i = 0; i < mapper->scopes->n_nodes; i++)
        claim(mapper, mapper->scopes->nodes[i]);
    for (uint32_t scope = (uint32_t)mapper->scopes->paths.n; scope-- > 1;)
        if (mapper->has_params[scope])
            mapper->has_params[scope_at(mapper, scope)->parent] = true;
}

/* Name of a scope without the "_1" of a further entry. */
static size_t own_length(const struct mapper *mapper, uint32_t scope) {
    const struct path *path = scope_at(mapper, scope);
    size_t length = path->length;
    if (mapper->out->repeat[scope] > 0) (void)names_repeat(path->name, length, &length);
    return length;
}

/* "layer1.0" in the scope layer1 is its module 0; alone it is module layer1.0. Gives how much
 * of the scope's name to leave out. */
static size_t repeated_length(const struct mapper *mapper, uint32_t scope) {
    const struct path *path = scope_at(mapper, scope);
    size_t length = own_length(mapper, path->parent);
    bool repeats = length > 0 && length + 1 < path->length && path->name[length] == '.' &&
                   memcmp(path->name, scope_at(mapper, path->parent)->name, length) == 0;
    return repeats ? length + 1 : 0;
}

static bool is_param_module(const struct mapper *mapper, const struct placement *placement) {
    const struct module_paths *out = mapper->out;
    uint32_t base = paths_find_like(&out->of_params, &out->paths, placement->base);
    return paths_find_below(&out->of_params, base, placement->local, placement->length) !=
           ID_NONE;
}

/*
 * Which further entry of a sibling's module the scope is: "relu_1" beside "relu" is the first,
 * unless a parameter shows that there is a module of that very name.
 */
static int find_repeat(const struct mapper *mapper, uint32_t scope,
                       const struct placement *natural) {
    const struct path *path = scope_at(mapper, scope);
    size_t length = 0;
    int repeat = names_repeat(path->name, path->length, &length);
    if (repeat == 0 || scopes_notes(mapper->scopes, scope)->distinct) return 0;
    uint32_t first = paths_find_below(&mapper->scopes->paths, path->parent, path->name, length);
    return first == ID_NONE || is_param_module(mapper, natural) ? 0 : repeat;
}

/* The parts of a path from its end: those of a text, then an entry's and those above. */
struct parts {
    const struct paths *paths;
    uint32_t entry;
    const char *text;
    size_t length;
};

/* Takes the last one; false: there is none left. */
static bool take_part(struct parts *parts, const char **ret, size_t *ret_length) {
    if (parts->length > 0) {
        size_t begin = parts->length;
        while (begin > 0 && parts->text[begin - 1] != '.') begin--;
        *ret = parts->text + begin;
        *ret_length = parts->length - begin;
        parts->length = begin > 0 ? begin - 1 : 0;
        return true;
    }
    if (parts->entry == 0) return false;
    const struct path *path = &parts->paths->items[parts->entry];
    *ret = path->name;
    *ret_length = path->length;
    parts->entry = path->parent;
    return true;
}

/* Whether every part of `few` stands in `many`, in order, the last one last, and more does. */
static bool is_spread_over(struct parts few, struct parts many) {
    const char *wanted = NULL;
    const char *part = NULL;
    size_t wanted_length = 0;
    size_t length = 0;
    size_t n_more = 0;
    bool is_last = true;
    bool wants = take_part(&few, &wanted, &wanted_length);
    for (; take_part(&many, &part, &length); is_last = false) {
        bool same = wants && length == wanted_length && memcmp(part, wanted, length) == 0;
        if (!same && is_last) return false;
        if (same) wants = take_part(&few, &wanted, &wanted_length);
        n_more += !same;
    }
    return !wants && n_more > 0;
}

/* Where the scope's name puts it. */
static struct placement place_by_name(const struct mapper *mapper, uint32_t scope) {
    const struct path *path = scope_at(mapper, scope);
    size_t left_out = repeated_length(mapper, scope);
    struct placement placement = {.local = path->name + left_out,
                                  .length = path->length - left_out,
                                  .base = mapper->out->of_scope[path->parent]};
    mapper->out->repeat[scope] = find_repeat(mapper, scope, &placement);
    if (mapper->out->repeat[scope] > 0) placement.length = own_length(mapper, scope) - left_out;
    return placement;
}

static struct placement place(const struct mapper *mapper, uint32_t scope) {
    const struct scope_notes *notes = scopes_notes(mapper->scopes, scope);
    if (notes->path) {
        mapper->out->repeat[scope] = notes->again;
        return (struct placement){.local = notes->path, .length = strlen(notes->path)};
    }
    struct placement natural = place_by_name(mapper, scope);
    uint32_t claimed = mapper->claims[scope];
    if (claimed == NO_CLAIM || claimed == MIXED_CLAIM) return natural;
    struct parts few = {&mapper->out->paths, natural.base, natural.local, natural.length};
    struct parts many = {&mapper->out->of_params, claimed, "", 0};
    if (!is_spread_over(few, many)) return natural;
    return (struct placement){.local = "", .base = claimed, .in_params = true, .moved = true};
}

/* The container of a module that its parameters placed. */
static uint32_t container_of(const struct mapper *mapper, uint32_t scope) {
    return mapper->out->of_params.items[mapper->placements[scope].base].parent;
}

/* Moves the siblings from `scope` up to `end` into a container of of_params. */
static void join_run(const struct mapper *mapper, uint32_t scope, uint32_t end,
                     uint32_t container) {
    for (; scope != end; scope = scope_at(mapper, scope)->next) {
        struct placement *placement = &mapper->placements[scope];
        size_t length = placement->length;
        while (length > 0 && placement->local[length - 1] != '.') length--;
        placement->local += length;
        placement->length -= length;
        placement->base = container;
        placement->in_params = true;
    }
}

/* An activation entered between two layers that were moved into one container lies there too.
 */
static void join_between(const struct mapper *mapper, uint32_t parent) {
    uint32_t last = ID_NONE; /* the last moved sibling; none of those since has parameters */
    for (uint32_t scope = scope_at(mapper, parent)->first_child; scope != ID_NONE;
         scope = scope_at(mapper, scope)->next) {
        if (!mapper->placements[scope].moved) {
            if (mapper->has_params[scope]) last = ID_NONE;
            continue;
        }
        uint32_t container = container_of(mapper, scope);
        if (last != ID_NONE && container_of(mapper, last) == container)
            join_run(mapper, scope_at(mapper, last)->next, scope, container);
        last = scope;
    }
}

static int enter_placed(struct module_paths *out, const struct placement *placement,
                        uint32_t *ret) {
    uint32_t base = placement->base;
    if (placement->in_params &&
        paths_enter_like(&out->paths, &out->of_params, placement->base, &base) < 0)
        return CM_NO_MEMORY;
    return paths_enter_below(&out->paths, base, placement->local, placement->length, ret);
}

static int place_family(const struct mapper *mapper, uint32_t parent) {
    for (uint32_t scope = scope_at(mapper, parent)->first_child; scope != ID_NONE;
         scope = scope_at(mapper, scope)->next)
        mapper->placements[scope] = place(mapper, scope);
    join_between(mapper, parent);
    for (uint32_t scope = scope_at(mapper, parent)->first_child; scope != ID_NONE;
         scope = scope_at(mapper, scope)->next)
        if (enter_placed(mapper->out, &mapper->placements[scope],
                         &mapper->out->of_scope[scope]) < 0)
            return CM_NO_MEMORY;
    return CM_OK;
}

/* Modules that have parameters but no node, after all that have: an attention's out_proj. */
static int enter_param_modules(const struct mapper *mapper) {
    struct module_paths *out = mapper->out;
    size_t n = out->of_params.n;
    out->of_param_module = arena_array(mapper->analysis->arena, n, sizeof(uint32_t));
    if (!out->of_param_module) return CM_NO_MEMORY;
    for (uint32_t i = 1; i < n; i++) {
        const struct path *path = &out->of_params.items[i];
        int status = paths_enter_below(&out->paths, out->of_param_module[path->parent],
                                       path->name, path->length, &out->of_param_module[i]);
        if (status < 0) return status;
    }
    return CM_OK;
}

static int start(struct mapper *mapper) {
    struct arena *arena = mapper->arena;
    size_t n = mapper->scopes->paths.n;
    mapper->claims = arena_array(arena, n, sizeof *mapper->claims);
    mapper->has_params = arena_array(arena, n, sizeof *mapper->has_params);
    mapper->placements = arena_array(arena, n, sizeof *mapper->placements);
    bool all = mapper->claims && mapper->has_params && mapper->placements;
    return all ? CM_OK : CM_NO_MEMORY;
}

static int start_paths(const struct mapper *mapper, struct module_paths *out) {
    struct arena *arena = mapper->analysis->arena;
    size_t n = mapper->scopes->paths.n;
    size_t n_params = mapper->analysis->params.n_params;
    out->of_scope = arena_array(arena, n, sizeof *out->of_scope);
    out->repeat = arena_array(arena, n, sizeof *out->repeat);
    out->of_param = arena_array(arena, n_params, sizeof *out->of_param);
    if (!out->of_scope || !out->repeat || !out->of_param) return CM_NO_MEMORY;
    if (paths_init(&out->paths, arena, '.') < 0 || paths_reserve(&out->paths, n) < 0)
        return CM_NO_MEMORY;
    return paths_init(&out->of_params, arena, '.');
}

static int find(struct mapper *mapper) {
    if (start(mapper) < 0 || start_paths(mapper, mapper->out) < 0 || enter_params(mapper) < 0)
        return CM_NO_MEMORY;
    collect_claims(mapper);
    for (uint32_t scope = 0; scope < mapper->scopes->paths.n; scope++)
        if (place_family(mapper, scope) < 0) return CM_NO_MEMORY;
    return enter_param_modules(mapper);
}

int module_paths_find(const struct analysis *analysis, const struct scopes *scopes,
                      struct module_paths *ret) {
    struct mapper mapper = {
        .analysis = analysis, .scopes = scopes, .out = ret, .arena = arena_new("mapping", 0)};
    int status = mapper.arena ? find(&mapper) : CM_NO_MEMORY;
    arena_free(mapper.arena);
    return status < 0 ? diag_no_memory(analysis->diag) : CM_OK;
}
