/* SPDX-License-Identifier: Apache-2.0 */
/* Module sources that the exporter recorded: metadata of nodes, and model-local functions. */
#include <string.h>

#include "passes/modules/module_sources.h"
#include "passes/params/names.h"
#include "passes/params/params.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

/* --- Metadata. --- */

/* The modules of the last node, outermost first, without the root. */
struct visit {
    size_t depth;
    struct {
        const char *path;
        uint32_t scope;
    } levels[PATHS_MAX_DEPTH];
};

/* The modules of a node, outermost first. */
struct stack {
    size_t n;
    struct module_stack_entry entries[PATHS_MAX_DEPTH];
};

/* Source metadata: PyTorch's dynamo exporter records the paths and classes of the modules
 * around a node. It does not record where one call of a module ends and the next begins. Nodes
 * are in execution order, so a node of a module starts another call if the node before it is
 * outside the module. */
bool source_metadata_start(struct scope_finder *finder) {
    bool has_metadata = false;
    for (size_t i = 0; i < finder->model->n_nodes && !has_metadata; i++)
        has_metadata = finder->model->nodes[i].module_stack != NULL;
    finder->visit = arena_alloc(finder->analysis->arena, sizeof *finder->visit);
    return has_metadata;
}

/* Returns true if `path` is module text[0..length) or contains it. */
static bool contains_module(const char *path, const char *text, size_t length) {
    size_t n = strlen(path);
    if (n == 0) return true;
    return n <= length && strncmp(path, text, n) == 0 && (n == length || text[n] == '.');
}

/* Returns the module path in the names of all learned parameters of the node, or NULL. */
static const char *owner_of_params(const struct scope_finder *finder, uint32_t node,
                                   size_t *ret_length) {
    const struct params_table *params = finder->analysis->params;
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

/* Moves a convolution with a folded BatchNorm to the module in its parameters' names: the
 * node may have the module path of one of the two layers and the parameters of the other. */
static void follow_params(const struct scope_finder *finder, uint32_t node,
                          struct stack *stack) {
    size_t length = 0;
    const char *owner = owner_of_params(finder, node, &length);
    if (!owner || stack->n == 0) return;
    const char *last = stack->entries[stack->n - 1].path;
    char *path = arena_strndup(finder->analysis->arena, owner, length);
    if (!path || contains_module(last, path, length) ||
        contains_module(path, last, strlen(last)))
        return;
    while (stack->n > 0 && !contains_module(stack->entries[stack->n - 1].path, path, length))
        stack->n--;
    stack->entries[stack->n++] = (struct module_stack_entry){path, ""};
}

/* Returns the length of the text without a number at its end: "relu" in "relu@1", its second
 * call; "Tnet" in "Tnet.1", the second version of Tnet. */
static size_t length_before(const char *text, char mark) {
    const char *at = strrchr(text, mark);
    int64_t number;
    bool numbered = at && at > text && text_to_int64(at + 1, strlen(at + 1), &number);
    return numbered ? (size_t)(at - text) : strlen(text);
}

/* Enters the module below `outer` as one part: "net.0", for its second call "net.0@1". */
static uint32_t enter_entry(struct scope_finder *finder, uint32_t outer, const char *path,
                            uint32_t entry) {
    struct arena *arena = finder->analysis->arena;
    const int length = (int)length_before(path, '@');
    char *text = entry == 0 ? arena_printf(arena, "%.*s", length, path)
                            : arena_printf(arena, "%.*s@%u", length, path, entry);
    if (!text) return outer;
    for (char *at = text; *at; at++)
        if (*at == '/') *at = '|';
    return paths_enter_below(&finder->scopes->paths, outer, text, strlen(text));
}

/* Enters a new call of the module below `outer`, and notes its path and class. */
static uint32_t enter_part(struct scope_finder *finder, uint32_t outer,
                           const struct module_stack_entry *part) {
    uint32_t scope = enter_entry(finder, outer, part->path, 0);
    struct scope_notes *notes = scopes_note(finder->scopes, scope);
    if (!notes || scope == outer) return scope; /* deeper than PATHS_MAX_DEPTH */
    const uint32_t entry = notes->entries++;
    if (entry > 0) scope = enter_entry(finder, outer, part->path, entry);
    notes = scopes_note(finder->scopes, scope);
    if (!notes || notes->path) return scope;
    notes->path =
        arena_strndup(finder->analysis->arena, part->path, length_before(part->path, '@'));
    notes->class = part->class[0] ? part->class : NULL;
    notes->is_repeat = entry > 0;
    return scope;
}

/* Returns the scope of a node in these modules. The leading modules that it shares with the
 * last node are the same calls; the others are new calls. */
static uint32_t walk_to(struct scope_finder *finder, const struct stack *stack) {
    struct visit *visit = finder->visit;
    uint32_t scope = 0;
    for (size_t i = 0; i < stack->n; i++) {
        const struct module_stack_entry *part = &stack->entries[i];
        if (i < visit->depth && text_equal(visit->levels[i].path, part->path)) {
            scope = visit->levels[i].scope;
            continue;
        }
        scope = enter_part(finder, scope, part);
        visit->levels[i].path = part->path;
        visit->levels[i].scope = scope;
        visit->depth = i + 1;
    }
    visit->depth = stack->n;
    return scope;
}

uint32_t source_metadata_find(struct scope_finder *finder, uint32_t node) {
    const struct module_stack *recorded = finder->model->nodes[node].module_stack;
    struct stack stack;
    stack.n = 0;
    /* the exporter records no modules in the branches of torch.cond */
    if (!recorded)
        return finder->model->nodes[node].graph == 0 ? ID_NONE
                                                     : source_params_find(finder, node);
    for (size_t i = 0; i < recorded->n && stack.n < PATHS_MAX_DEPTH; i++)
        if (recorded->entries[i].path[0] != '\0')
            stack.entries[stack.n++] = recorded->entries[i];
    if (finder->model->nodes[node].fused) follow_params(finder, node, &stack);
    const struct module_stack_entry *first = &recorded->entries[0];
    struct scope_notes *root = scopes_note(finder->scopes, 0);
    if (root && first->path[0] == '\0' && first->class[0] != '\0') root->class = first->class;
    return walk_to(finder, &stack);
}

/* --- Functions. --- */

/* Enters the call below `outer` under its class in lower case: logsoftmax for LogSoftmax. */
static uint32_t enter_by_class(struct scope_finder *finder, const struct call *call,
                               uint32_t outer) {
    size_t length = length_before(call->function, '.');
    char *text = arena_strndup(finder->analysis->arena, call->function, length);
    if (!text) return outer;
    for (char *at = text; *at; at++)
        if (*at >= 'A' && *at <= 'Z') *at = (char)(*at - 'A' + 'a');
    return paths_enter_below(&finder->scopes->paths, outer, text, length);
}

/* Returns true if an operand is a parameter of the outermost module in the call's name. */
static bool owns_any(const struct scope_finder *finder, const struct call *call) {
    const struct params_table *params = finder->analysis->params;
    const char *name = call->name + strspn(call->name, "/");
    size_t length = strcspn(name, "/.");
    for (size_t i = 0; i < call->n_inputs; i++) {
        if (call->inputs[i] == ID_NONE) continue;
        uint32_t param = params->of_value[call->inputs[i]];
        const char *other = param == ID_NONE ? "" : params->params[param].name;
        if (strncmp(other, name, length) == 0 && other[length] == '.') return true;
    }
    return false;
}

/* Returns the scope of a call: the scope in its name, else the common module of its parameters,
 * else a module named by its class. A call with parameters of all modules is the model itself,
 * even if the exporter gave it the scope of its last module. */
static uint32_t enter_call(struct scope_finder *finder, const struct call *call) {
    const struct params_table *params = finder->analysis->params;
    struct common_module common = {0};
    for (size_t i = 0; i < call->n_inputs; i++) {
        if (call->inputs[i] == ID_NONE) continue;
        const uint32_t param = params->of_value[call->inputs[i]];
        if (param != ID_NONE) names_add_common(&common, params->params[param].name);
    }
    bool outermost = call->outer == ID_NONE;
    bool of_all = outermost && common.path && common.length == 0;
    uint32_t outer = outermost ? 0 : finder->of_call[call->outer];
    if (outermost && strchr(call->name, '/') && !(of_all && !owns_any(finder, call)))
        return paths_enter(&finder->scopes->paths, call->name,
                           (size_t)(names_base(call->name) - call->name));
    if (of_all) return outer;
    uint32_t scope = outer;
    if (common.length > 0)
        scope = scopes_enter_module(finder->scopes, common.path, common.length);
    return scope != outer ? scope : enter_by_class(finder, call, outer);
}

/* Returns the scope, with "_1" at its end if this is its second call, as PyTorch writes it. */
static uint32_t number_calls(struct scope_finder *finder, uint32_t scope) {
    struct paths *paths = &finder->scopes->paths;
    const struct path path = paths->items[scope];
    struct scope_notes *notes = scopes_note(finder->scopes, scope);
    if (!notes || scope == 0 || notes->entries++ == 0) return scope;
    const char *text = arena_printf(finder->analysis->arena, "%.*s_%u", (int)path.length,
                                    path.name, notes->entries - 1);
    return text ? paths_enter_below(paths, path.parent, text, strlen(text)) : scope;
}

/* Source functions: nodes of inlined model-local functions belong to the module of the call;
 * the function's name is the class. A call with metadata is an operator exported as a
 * function. */
bool source_functions_start(struct scope_finder *finder) {
    const struct model *model = finder->model;
    struct arena *arena = finder->analysis->arena;
    finder->of_call = arena_array(arena, model->n_calls, sizeof *finder->of_call);
    if (!finder->of_call) return false;
    for (uint32_t id = 0; id < model->n_calls; id++) {
        const struct call *call = &model->calls[id];
        BUG_ON(call->outer != ID_NONE && call->outer >= id);
        finder->of_call[id] = ID_NONE;
        if (call->module_stack) continue;
        finder->of_call[id] = number_calls(finder, enter_call(finder, call));
        struct scope_notes *notes = scopes_note(finder->scopes, finder->of_call[id]);
        if (!notes) return false;
        /* the class of the last call in the scope is kept */
        notes->class = arena_strndup(arena, call->function, length_before(call->function, '.'));
    }
    return model->n_calls > 0;
}

uint32_t source_functions_find(struct scope_finder *finder, uint32_t node) {
    uint32_t call = finder->model->nodes[node].call;
    return call == ID_NONE ? ID_NONE : finder->of_call[call];
}
