/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places that the exporter noted (PyTorch's current one): the paths and classes of the modules
 * around a node. They do not say where one call of a module ends and the next begins; nodes
 * stand in the order in which they were written, so a module is entered again whenever a node
 * of it comes after one that is not.
 */
#include <string.h>

#include "passes/modules/module_sources.h"
#include "passes/params/names.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* The modules that the last node stood in, outermost first, the root left out. */
struct visit {
    size_t depth;
    struct {
        const char *path;
        uint32_t scope;
    } levels[PATHS_MAX_DEPTH];
};

/* The place of a node, part by part. */
struct stack {
    size_t n;
    struct place_part parts[PATHS_MAX_DEPTH];
};

int metadata_start(struct scope_finder *finder, bool *ret) {
    *ret = false;
    for (size_t i = 0; i < finder->model->n_nodes && !*ret; i++)
        *ret = finder->model->nodes[i].place != NULL;
    finder->visit = arena_alloc(finder->analysis->arena, sizeof *finder->visit);
    return finder->visit ? CM_OK : CM_NO_MEMORY;
}

/* Whether `path` is module text[0..length) or one around it. */
static bool is_around(const char *path, const char *text, size_t length) {
    size_t n = strlen(path);
    if (n == 0) return true;
    return n <= length && strncmp(path, text, n) == 0 && (n == length || text[n] == '.');
}

/* The one module that the names of all learned parameters of the node give; else NULL. */
static const char *owner_of_params(const struct scope_finder *finder, uint32_t node,
                                   size_t *ret_length) {
    const struct params_table *params = &finder->analysis->params;
    const char *owner = NULL;
    for (size_t i = 0; i < params->n_used[node]; i++) {
        const struct param *param = &params->params[params->used[node][i]];
        size_t length = names_module_length(param->name);
        const char *base = names_base(param->name);
        if (param->kind != PARAM_LEARNED || length == 0) continue;
        if (owner && (length != *ret_length || strncmp(base, owner, length) != 0)) return NULL;
        owner = base;
        *ret_length = length;
    }
    return owner;
}

/*
 * An optimizer that folds a BatchNorm into the convolution before it leaves one node, with the
 * place of the one and the parameters of the other. The parameters' module is the place then.
 */
static int follow_params(const struct scope_finder *finder, uint32_t node,
                         struct stack *stack) {
    size_t length = 0;
    const char *owner = owner_of_params(finder, node, &length);
    if (!owner || stack->n == 0) return CM_OK;
    const char *last = stack->parts[stack->n - 1].path;
    char *path = arena_strndup(finder->analysis->arena, owner, length);
    if (!path) return CM_NO_MEMORY;
    if (is_around(last, path, length) || is_around(path, last, strlen(last))) return CM_OK;
    while (stack->n > 0 && !is_around(stack->parts[stack->n - 1].path, path, length))
        stack->n--;
    stack->parts[stack->n++] = (struct place_part){path, ""};
    return CM_OK;
}

static int take_place(const struct scope_finder *finder, uint32_t id, struct stack *ret) {
    const struct node *node = &finder->model->nodes[id];
    ret->n = 0;
    for (size_t i = 0; i < node->place->n_parts && ret->n < PATHS_MAX_DEPTH; i++)
        if (node->place->parts[i].path[0] != '\0') ret->parts[ret->n++] = node->place->parts[i];
    return node->fused ? follow_params(finder, id, ret) : CM_OK;
}

/* "relu@1" is a further entry of relu. */
static size_t path_length(const char *path) {
    const char *at = strrchr(path, '@');
    int64_t number;
    bool counted = at && at > path && text_to_int64(at + 1, strlen(at + 1), &number);
    return counted ? (size_t)(at - path) : strlen(path);
}

/* The path as one part of a scope's text, "net.0", or at its second entry "net.0@1". NULL: no
 * memory. */
static const char *part_text(const struct scope_finder *finder, const char *path,
                             uint32_t entry) {
    struct arena *arena = finder->analysis->arena;
    const int length = (int)path_length(path);
    char *text = entry == 0 ? arena_printf(arena, "%.*s", length, path)
                            : arena_printf(arena, "%.*s@%u", length, path, entry);
    for (char *at = text; at && *at; at++)
        if (*at == '/') *at = '|';
    return text;
}

/* The scope of an entry of the module, below `outer`. */
static int enter_entry(struct scope_finder *finder, uint32_t outer, const char *path,
                       uint32_t entry, uint32_t *ret) {
    const char *text = part_text(finder, path, entry);
    if (!text) return CM_NO_MEMORY;
    return paths_enter_below(&finder->scopes->paths, outer, text, strlen(text), ret);
}

/* What the part says of the scope, if nothing did before. */
static int note_part(struct scope_finder *finder, uint32_t scope, const struct place_part *part,
                     bool again) {
    struct scope_notes *notes = scopes_note(finder->scopes, scope);
    if (!notes) return CM_NO_MEMORY;
    if (notes->path) return CM_OK;
    notes->path = arena_strndup(finder->analysis->arena, part->path, path_length(part->path));
    notes->class = part->class[0] ? part->class : NULL;
    notes->again = again;
    return notes->path ? CM_OK : CM_NO_MEMORY;
}

static int enter_part(struct scope_finder *finder, uint32_t outer,
                      const struct place_part *part, uint32_t *ret) {
    uint32_t scope = outer;
    int status = enter_entry(finder, outer, part->path, 0, &scope);
    struct scope_notes *notes = status < 0 ? NULL : scopes_note(finder->scopes, scope);
    if (!notes) return CM_NO_MEMORY;
    *ret = scope;
    if (scope == outer) return CM_OK; /* deeper than paths are */
    const uint32_t entry = notes->entries++;
    if (entry > 0) status = enter_entry(finder, outer, part->path, entry, ret);
    return status < 0 ? status : note_part(finder, *ret, part, entry > 0);
}

static int walk_to(struct scope_finder *finder, const struct stack *stack, uint32_t *ret) {
    struct visit *visit = finder->visit;
    uint32_t scope = 0;
    for (size_t i = 0; i < stack->n; i++) {
        const struct place_part *part = &stack->parts[i];
        if (i < visit->depth && text_equal(visit->levels[i].path, part->path)) {
            scope = visit->levels[i].scope;
            continue;
        }
        int status = enter_part(finder, scope, part, &scope);
        if (status < 0) return status;
        visit->levels[i].path = part->path;
        visit->levels[i].scope = scope;
        visit->depth = i + 1;
    }
    visit->depth = stack->n;
    *ret = scope;
    return CM_OK;
}

int metadata_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) {
    const struct place *place = finder->model->nodes[node].place;
    struct stack stack;
    *ret = ID_NONE;
    if (!place) return CM_OK;
    struct scope_notes *root = scopes_note(finder->scopes, 0);
    if (!root || take_place(finder, node, &stack) < 0) return CM_NO_MEMORY;
    const struct place_part *first = &place->parts[0];
    if (first->path[0] == '\0' && first->class[0] != '\0') root->class = first->class;
    return walk_to(finder, &stack, ret);
}
