/* SPDX-License-Identifier: Apache-2.0 */
/* From scopes to modules: see module_paths.h. Scopes are placed a family at a time, the
 * children of one scope together, because a scope may have to be told by its siblings. */
#include "passes/module_paths.h"

#include <string.h>

#include "passes/names.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

#define NO_CLAIM    0u /* the root of of_params, which no parameter claims for a scope */
#define MIXED_CLAIM ID_NONE

/* The module of a scope. */
struct placement {
    const char *path;
    bool moved; /* where its parameters say, not where its name does */
};

struct mapper {
    const struct analysis *analysis;
    const struct scopes *scopes;
    struct module_paths *out;
    uint32_t *first_child; /* by scope, lists in order */
    uint32_t *next;
    uint32_t *claims; /* by scope: what its parameters' names agree on, in of_params */
    bool *has_params; /* by scope: parameters are used in it or below */
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
    if (scopes_makes_param(mapper->analysis, node)) return;
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
    const char *name = scope_at(mapper, scope)->name;
    size_t length = strlen(name);
    if (mapper->out->repeat[scope] > 0) (void)names_repeat(name, &length);
    return length;
}

/* "layer1.0" in the scope layer1 is its module 0; alone it is module layer1.0. */
static const char *local_name(const struct mapper *mapper, uint32_t scope) {
    uint32_t parent = scope_at(mapper, scope)->parent;
    const char *name = scope_at(mapper, scope)->name;
    size_t length = own_length(mapper, parent);
    bool repeats = length > 0 && strncmp(name, scope_at(mapper, parent)->name, length) == 0 &&
                   name[length] == '.' && name[length + 1] != '\0';
    return repeats ? name + length + 1 : name;
}

/* "parent.local", `local` shortened to its first `length` bytes. NULL: no memory. */
static const char *join(const struct mapper *mapper, const char *parent, const char *local,
                        size_t length) {
    size_t front = strlen(parent);
    char *joined = arena_alloc(mapper->analysis->arena, front + 1 + length + 1);
    if (!joined) return NULL;
    if (front > 0) memcpy(joined, parent, front);
    if (front > 0) joined[front++] = '.';
    memcpy(joined + front, local, length);
    joined[front + length] = '\0';
    return joined;
}

/*
 * Whether the scope is a further entry of a sibling's module: "relu_1" beside "relu" is, unless
 * a parameter shows that there is a module of that very name.
 */
static int find_repeat(struct mapper *mapper, uint32_t scope, const char *natural) {
    const struct path *path = scope_at(mapper, scope);
    size_t length = 0;
    int repeat = mapper->scopes->notes[scope].distinct ? 0 : names_repeat(path->name, &length);
    if (repeat == 0 || paths_find(&mapper->out->of_params, natural) != ID_NONE) return CM_OK;
    size_t front = (size_t)(path->name - path->text);
    const char *first = arena_strndup(mapper->analysis->arena, path->text, front + length);
    if (!first) return CM_NO_MEMORY;
    if (paths_find(&mapper->scopes->paths, first) != ID_NONE)
        mapper->out->repeat[scope] = repeat;
    return CM_OK;
}

/* Whether every part of `few` stands in `many`, in order, the last one last, and more does. */
static bool is_spread_over(const char *few, const char *many) {
    size_t n_few = strlen(few);
    size_t n_many = strlen(many);
    while (n_few > 0 && n_many > 0) {
        size_t few_at = n_few;
        size_t many_at = n_many;
        while (few_at > 0 && few[few_at - 1] != '.') few_at--;
        while (many_at > 0 && many[many_at - 1] != '.') many_at--;
        size_t length = n_many - many_at;
        bool same =
            length == n_few - few_at && strncmp(few + few_at, many + many_at, length) == 0;
        if (!same && many[n_many] == '\0') return false; /* the last part has to agree */
        if (same) n_few = few_at > 0 ? few_at - 1 : 0;
        n_many = many_at > 0 ? many_at - 1 : 0;
    }
    return n_few == 0;
}

static int place(struct mapper *mapper, uint32_t scope, struct placement *ret) {
    const struct scope_notes *notes = &mapper->scopes->notes[scope];
    if (notes->path) {
        mapper->out->repeat[scope] = notes->again;
        *ret = (struct placement){.path = notes->path};
        return CM_OK;
    }
    const struct path *parent =
        &mapper->out->paths.items[mapper->out->of_scope[scope_at(mapper, scope)->parent]];
    const char *local = local_name(mapper, scope);
    const char *natural = join(mapper, parent->text, local, strlen(local));
    uint32_t claimed = mapper->claims[scope];
    if (!natural || find_repeat(mapper, scope, natural) < 0) return CM_NO_MEMORY;
    if (mapper->out->repeat[scope] > 0) {
        size_t length =
            own_length(mapper, scope) - (size_t)(local - scope_at(mapper, scope)->name);
        natural = join(mapper, parent->text, local, length);
        if (!natural) return CM_NO_MEMORY;
    }
    *ret = (struct placement){.path = natural};
    if (claimed == NO_CLAIM || claimed == MIXED_CLAIM) return CM_OK;
    const char *claim_text = mapper->out->of_params.items[claimed].text;
    ret->moved = strlen(claim_text) > strlen(natural) && is_spread_over(natural, claim_text);
    if (ret->moved) ret->path = claim_text;
    return CM_OK;
}

/* Length of the container's path in a module's path. */
static size_t container_length(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? (size_t)(dot - path) : 0;
}

static bool same_container(const char *a, const char *b) {
    size_t length = container_length(a);
    return length == container_length(b) && strncmp(a, b, length) == 0;
}

/* Moves the siblings from `scope` up to `end` into the container of `path`. */
static int join_run(struct mapper *mapper, uint32_t scope, uint32_t end, const char *path) {
    const char *container =
        arena_strndup(mapper->analysis->arena, path, container_length(path));
    if (!container) return CM_NO_MEMORY;
    for (; scope != end; scope = mapper->next[scope]) {
        const char *own = mapper->placements[scope].path;
        const char *local = own + container_length(own);
        if (*local == '.') local++;
        mapper->placements[scope].path = join(mapper, container, local, strlen(local));
        if (!mapper->placements[scope].path) return CM_NO_MEMORY;
    }
    return CM_OK;
}

/* An activation entered between two layers that were moved into one container lies there too.
 */
static int join_between(struct mapper *mapper, uint32_t parent) {
    uint32_t last = ID_NONE; /* the last moved sibling; none of those since has parameters */
    for (uint32_t scope = mapper->first_child[parent]; scope != ID_NONE;
         scope = mapper->next[scope]) {
        const struct placement *here = &mapper->placements[scope];
        if (!here->moved) {
            if (mapper->has_params[scope]) last = ID_NONE;
            continue;
        }
        if (last != ID_NONE && same_container(mapper->placements[last].path, here->path)) {
            int status = join_run(mapper, mapper->next[last], scope, here->path);
            if (status < 0) return status;
        }
        last = scope;
    }
    return CM_OK;
}

static int place_family(struct mapper *mapper, uint32_t parent) {
    int status = CM_OK;
    for (uint32_t scope = mapper->first_child[parent]; status == CM_OK && scope != ID_NONE;
         scope = mapper->next[scope])
        status = place(mapper, scope, &mapper->placements[scope]);
    if (status == CM_OK) status = join_between(mapper, parent);
    for (uint32_t scope = mapper->first_child[parent]; status == CM_OK && scope != ID_NONE;
         scope = mapper->next[scope]) {
        const char *path = mapper->placements[scope].path;
        status = paths_enter_kept(&mapper->out->paths, path, &mapper->out->of_scope[scope]);
    }
    return status;
}

/* Modules that have parameters but no node, after all that have: an attention's out_proj. */
static int enter_param_modules(struct mapper *mapper) {
    const struct paths *of_params = &mapper->out->of_params;
    for (uint32_t i = 0; i < of_params->n; i++) {
        uint32_t module;
        const char *path = of_params->items[i].text;
        int status = paths_enter_kept(&mapper->out->paths, path, &module);
        if (status < 0) return status;
    }
    return CM_OK;
}

static void list_children(struct mapper *mapper) {
    uint32_t n = (uint32_t)mapper->scopes->paths.n;
    for (uint32_t scope = 0; scope < n; scope++)
        mapper->first_child[scope] = mapper->next[scope] = ID_NONE;
    for (uint32_t scope = n; scope-- > 1;) {
        uint32_t parent = scope_at(mapper, scope)->parent;
        mapper->next[scope] = mapper->first_child[parent];
        mapper->first_child[parent] = scope;
    }
}

static int start(struct mapper *mapper) {
    struct arena *arena = mapper->analysis->arena;
    struct module_paths *out = mapper->out;
    size_t n = mapper->scopes->paths.n;
    out->of_scope = arena_array(arena, n, sizeof *out->of_scope);
    out->repeat = arena_array(arena, n, sizeof *out->repeat);
    out->of_param =
        arena_array(arena, mapper->analysis->params.n_params, sizeof *out->of_param);
    mapper->first_child = arena_array(arena, n, sizeof *mapper->first_child);
    mapper->next = arena_array(arena, n, sizeof *mapper->next);
    mapper->claims = arena_array(arena, n, sizeof *mapper->claims);
    mapper->has_params = arena_array(arena, n, sizeof *mapper->has_params);
    mapper->placements = arena_array(arena, n, sizeof *mapper->placements);
    if (!out->of_scope || !out->repeat || !out->of_param || !mapper->first_child ||
        !mapper->next || !mapper->claims || !mapper->has_params || !mapper->placements)
        return CM_NO_MEMORY;
    if (paths_init(&out->paths, arena, '.') < 0 || paths_reserve(&out->paths, n) < 0)
        return CM_NO_MEMORY;
    return paths_init(&out->of_params, arena, '.');
}

static int find(struct mapper *mapper) {
    if (start(mapper) < 0 || enter_params(mapper) < 0) return CM_NO_MEMORY;
    collect_claims(mapper);
    list_children(mapper);
    for (uint32_t scope = 0; scope < mapper->scopes->paths.n; scope++)
        if (place_family(mapper, scope) < 0) return CM_NO_MEMORY;
    return enter_param_modules(mapper);
}

int module_paths_find(const struct analysis *analysis, const struct scopes *scopes,
                      struct module_paths *ret) {
    struct mapper mapper = {.analysis = analysis, .scopes = scopes, .out = ret};
    return find(&mapper) < 0 ? diag_no_memory(analysis->diag) : CM_OK;
}
