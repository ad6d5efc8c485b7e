/* SPDX-License-Identifier: Apache-2.0 */
/* Maps scopes to modules: see module_tree.h. Maps all children of a scope together, because the
 * module of a scope may depend on its siblings. */
#include "passes/modules/module_tree.h"

#include <string.h>

#include "passes/params/names.h"
#include "passes/params/params.h"
#include "support/arena.h"
#include "support/diag.h"

#define NO_CLAIM    0u      /* the root of of_params: no parameter names a module */
#define MIXED_CLAIM ID_NONE /* parameters name several modules */

/* The module of a scope: the parts of `local` below `base`. */
struct placement {
    const char *local;
    size_t length;
    uint32_t base;
    bool in_params; /* `base` is an entry of of_params, not of paths */
    bool moved;     /* placed by its parameters, not by its name */
};

struct mapper {
    const struct analysis *analysis;
    const struct scopes *scopes;
    struct module_paths *out;
    uint32_t *claims; /* by scope: the entry of of_params that all its parameters name */
    bool *has_params; /* by scope: learned parameters are used in it or below */
    struct placement *placements; /* by scope */
};

static const struct path *scope_at(const struct mapper *mapper, uint32_t scope) {
    return &mapper->scopes->paths.items[scope];
}

/* Sets claims and has_params of each scope from the parameters that its nodes use. */
static void collect_claims(struct mapper *mapper) {
    const struct params_table *params = mapper->analysis->params;
    for (size_t k = 0; k < mapper->scopes->n_nodes; k++) {
        const uint32_t node = mapper->scopes->nodes[k];
        const uint32_t scope = mapper->scopes->of_node[node];
        if (params->n_used[node] == 0 || scopes_makes_param(mapper->analysis, node)) continue;
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
    for (uint32_t scope = (uint32_t)mapper->scopes->paths.n; scope-- > 1;)
        if (mapper->has_params[scope])
            mapper->has_params[scope_at(mapper, scope)->parent] = true;
}

/* Returns the length of the scope's name without the "_1" of a second call. */
static size_t own_length(const struct mapper *mapper, uint32_t scope) {
    const struct path *path = scope_at(mapper, scope);
    size_t length = path->length;
    if (mapper->out->repeat[scope] > 0) (void)names_repeat(path->name, length, &length);
    return length;
}

/* Returns the call number of the scope, 0 for the first call: 1 for "relu_1" next to "relu",
 * unless a parameter shows that there is a module relu_1. */
static int find_repeat(const struct mapper *mapper, uint32_t scope,
                       const struct placement *natural) {
    const struct path *path = scope_at(mapper, scope);
    size_t length = 0;
    int repeat = names_repeat(path->name, path->length, &length);
    if (repeat == 0 || scopes_notes(mapper->scopes, scope)->distinct) return 0;
    if (paths_find_below(&mapper->scopes->paths, path->parent, path->name, length) == ID_NONE)
        return 0;
    const struct module_paths *out = mapper->out;
    uint32_t base = paths_find_like(&out->of_params, &out->paths, natural->base);
    bool is_module =
        paths_find_below(&out->of_params, base, natural->local, natural->length) != ID_NONE;
    return is_module ? 0 : repeat;
}

/* Iterates over the parts of a path from its end: those of `text`, then of `entry`. */
struct parts {
    const struct paths *paths;
    uint32_t entry;
    const char *text;
    size_t length;
};

/* Removes the last part. Returns false if none is left. */
static bool pop_part(struct parts *parts, const char **ret, size_t *ret_length) {
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

/* Returns true if `few` is a proper subsequence of `many` with the same last part: layer1.conv1
 * of layer1.0.conv1. */
static bool is_subsequence(struct parts few, struct parts many) {
    const char *wanted = NULL;
    const char *part = NULL;
    size_t wanted_length = 0;
    size_t length = 0;
    size_t n_more = 0;
    bool is_last = true;
    bool wants = pop_part(&few, &wanted, &wanted_length);
    for (; pop_part(&many, &part, &length); is_last = false) {
        bool same = wants && length == wanted_length && memcmp(part, wanted, length) == 0;
        if (!same && is_last) return false;
        if (same) wants = pop_part(&few, &wanted, &wanted_length);
        n_more += !same;
    }
    return !wants && n_more > 0;
}

/* Returns the placement of a scope, and sets its call number. */
static struct placement place(const struct mapper *mapper, uint32_t scope) {
    const struct scope_notes *notes = scopes_notes(mapper->scopes, scope);
    int *repeat = &mapper->out->repeat[scope];
    if (notes->path) {
        *repeat = notes->is_repeat;
        return (struct placement){.local = notes->path, .length = strlen(notes->path)};
    }
    const struct path *path = scope_at(mapper, scope);
    /* "layer1.0" in scope layer1 is module layer1.0, not layer1.layer1.0 */
    const size_t outer = own_length(mapper, path->parent);
    const bool repeats = outer > 0 && outer + 1 < path->length && path->name[outer] == '.' &&
                         memcmp(path->name, scope_at(mapper, path->parent)->name, outer) == 0;
    const size_t left_out = repeats ? outer + 1 : 0;
    struct placement natural = {.local = path->name + left_out,
                                .length = path->length - left_out,
                                .base = mapper->out->of_scope[path->parent]};
    *repeat = find_repeat(mapper, scope, &natural);
    if (*repeat > 0) natural.length = own_length(mapper, scope) - left_out;
    uint32_t claimed = mapper->claims[scope];
    if (claimed == NO_CLAIM || claimed == MIXED_CLAIM) return natural;
    struct parts few = {&mapper->out->paths, natural.base, natural.local, natural.length};
    struct parts many = {&mapper->out->of_params, claimed, "", 0};
    if (!is_subsequence(few, many)) return natural;
    return (struct placement){.local = "", .base = claimed, .in_params = true, .moved = true};
}

/* Returns the parent of a moved module, in of_params. */
static uint32_t container_of(const struct mapper *mapper, uint32_t scope) {
    return mapper->out->of_params.items[mapper->placements[scope].base].parent;
}

/* Moves the siblings from `scope` to the one before `end` into a container of of_params. */
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

/* If two layers moved into one container, moves siblings without parameters between them
 * (activation functions) into the container too. */
static void join_between(const struct mapper *mapper, uint32_t parent) {
    uint32_t last = ID_NONE; /* last moved sibling; reset by an unmoved one with parameters */
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

/* Maps all children of a scope to modules. */
static void place_family(const struct mapper *mapper, uint32_t parent) {
    for (uint32_t scope = scope_at(mapper, parent)->first_child; scope != ID_NONE;
         scope = scope_at(mapper, scope)->next)
        mapper->placements[scope] = place(mapper, scope);
    join_between(mapper, parent);
    for (uint32_t scope = scope_at(mapper, parent)->first_child; scope != ID_NONE;
         scope = scope_at(mapper, scope)->next) {
        const struct placement *placement = &mapper->placements[scope];
        struct module_paths *out = mapper->out;
        const uint32_t base =
            placement->in_params
                ? paths_enter_like(&out->paths, &out->of_params, placement->base)
                : placement->base;
        out->of_scope[scope] =
            paths_enter_below(&out->paths, base, placement->local, placement->length);
    }
}

/* Adds modules that have parameters but no nodes at the end: out_proj of an attention. */
static void enter_param_modules(const struct mapper *mapper) {
    struct module_paths *out = mapper->out;
    size_t n = out->of_params.n;
    uint32_t *modules = arena_array(mapper->analysis->arena, n, sizeof *modules);
    for (uint32_t i = 1; i < n && modules; i++) {
        const struct path *path = &out->of_params.items[i];
        modules[i] =
            paths_enter_below(&out->paths, modules[path->parent], path->name, path->length);
    }
    out->of_param_module = modules;
}

int module_paths_find(const struct analysis *analysis, const struct scopes *scopes,
                      struct module_paths *ret) {
    const struct params_table *params = analysis->params;
    struct arena *arena = analysis->arena;
    const size_t n = scopes->paths.n;
    struct mapper mapper = {
        .analysis = analysis,
        .scopes = scopes,
        .out = ret,
        .claims = arena_array(arena, n, sizeof *mapper.claims),
        .has_params = arena_array(arena, n, sizeof *mapper.has_params),
        .placements = arena_array(arena, n, sizeof *mapper.placements),
    };
    ret->of_scope = arena_array(arena, n, sizeof *ret->of_scope);
    ret->repeat = arena_array(arena, n, sizeof *ret->repeat);
    ret->of_param = arena_array(arena, params->n_params, sizeof *ret->of_param);
    if (arena_failed(arena) || paths_init(&ret->paths, arena, '.') < 0 ||
        paths_reserve(&ret->paths, n) < 0 || paths_init(&ret->of_params, arena, '.') < 0)
        return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < params->n_params && !scopes->foreign; i++) {
        const char *name = params->params[i].name;
        ret->of_param[i] =
            paths_enter(&ret->of_params, names_base(name), names_module_length(name));
    }
    collect_claims(&mapper);
    for (uint32_t scope = 0; scope < n; scope++) place_family(&mapper, scope);
    enter_param_modules(&mapper);
    return arena_failed(arena) ? diag_no_memory(analysis->diag) : CM_OK;
}
