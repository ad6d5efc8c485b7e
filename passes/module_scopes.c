/* SPDX-License-Identifier: Apache-2.0 */
/* From nodes to scopes: see module_scopes.h. */
#include "passes/module_scopes.h"

#include <string.h>

#include "passes/names.h"
#include "passes/order.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

struct finder {
    const struct analysis *analysis;
    const struct model *model;
    struct scopes *scopes;
    uint32_t *of_call;  /* by call: scope */
    bool named;         /* some node's name has a scope, be it the root's: "/Conv" */
    struct map n_calls; /* by the text of a scope: how many calls have stood there */
};

/* Length of what stands before the last '/': 0 where there is none, or nothing before it. */
static size_t scope_length(const char *name) {
    return (size_t)(names_base(name) - name);
}

/* PyTorch calls the outputs of "/fc1/Gemm" "/fc1/Gemm_output_0". */
static const char *output_name(const struct finder *finder, const struct node *node) {
    const char *name = node->n_outputs > 0 ? value_name(finder->model, node->outputs[0]) : "";
    return name[0] == '/' ? name : "";
}

static uint32_t owner_scope(const struct finder *finder, const struct node *node) {
    uint32_t owner = finder->model->graphs[node->graph].owner;
    return owner == ID_NONE ? 0 : finder->scopes->of_node[owner];
}

static int scope_by_name(struct finder *finder, const struct node *node, uint32_t *ret) {
    const char *name = strchr(node->name, '/') ? node->name : output_name(finder, node);
    if (node->call != ID_NONE) {
        *ret = finder->of_call[node->call];
        return CM_OK;
    }
    *ret = owner_scope(finder, node);
    if (!strchr(name, '/')) return CM_OK;
    finder->named = true;
    return paths_enter(&finder->scopes->paths, name, scope_length(name), ret);
}

/* "a.b.c" as the scope a/b/c. */
static int enter_module_path(struct finder *finder, const char *path, size_t length,
                             uint32_t *ret) {
    char *text = arena_strndup(finder->analysis->arena, path, length);
    if (!text) return CM_NO_MEMORY;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '.') text[i] = '/';
    return paths_enter(&finder->scopes->paths, text, length, ret);
}

/* Narrows the path in *front, *length to whole parts that `other` begins with too. */
static void keep_common(const char *front, size_t *length, const char *other,
                        size_t other_length) {
    size_t same = 0;
    size_t most = *length < other_length ? *length : other_length;
    while (same < most && front[same] == other[same]) same++;
    bool whole =
        (same == *length || front[same] == '.') && (same == other_length || other[same] == '.');
    while (!whole && same > 0 && front[same - 1] != '.') same--;
    *length = !whole && same > 0 ? same - 1 : same;
}

/* What the module paths of parameters have in common. */
struct common {
    const char *front; /* NULL: no parameter yet */
    size_t length;
};

static void add_common(struct common *common, const char *name) {
    const char *base = names_base(name);
    size_t length = names_module_length(name);
    if (length == 0) return;
    if (common->front) {
        keep_common(common->front, &common->length, base, length);
    } else {
        common->front = base;
        common->length = length;
    }
}

static int scope_by_params(struct finder *finder, uint32_t node, uint32_t *ret) {
    const struct params_table *params = &finder->analysis->params;
    struct common common = {0};
    for (size_t i = 0; i < params->n_used[node]; i++)
        add_common(&common, params->params[params->used[node][i]].name);
    *ret = owner_scope(finder, &finder->model->nodes[node]);
    if (common.length == 0) return CM_OK;
    return enter_module_path(finder, common.front, common.length, ret);
}

static char lower(char c) {
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static struct common common_of_call(const struct finder *finder, const struct call *call) {
    const struct params_table *params = &finder->analysis->params;
    struct common common = {0};
    for (size_t i = 0; i < call->n_inputs; i++) {
        if (call->inputs[i] == ID_NONE) continue;
        uint32_t param = params->of_value[call->inputs[i]];
        if (param != ID_NONE) add_common(&common, params->params[param].name);
    }
    return common;
}

/* "Tnet.1" is a Tnet: the exporter numbers versions of one class. */
static size_t class_length(const char *function) {
    const char *dot = strrchr(function, '.');
    int64_t number;
    bool numbered = dot && dot > function && text_to_int64(dot + 1, strlen(dot + 1), &number);
    return numbered ? (size_t)(dot - function) : strlen(function);
}

/* Below `outer`, by the class in lower case, as instances are named: LogSoftmax, logsoftmax. */
static int enter_by_class(struct finder *finder, const struct call *call, uint32_t outer,
                          uint32_t *ret) {
    struct paths *paths = &finder->scopes->paths;
    const char *around = paths->items[outer].text;
    char *text = arena_printf(finder->analysis->arena, "%s/%.*s", around,
                              (int)class_length(call->function), call->function);
    if (!text) return CM_NO_MEMORY;
    for (char *at = text + strlen(around) + 1; *at; at++) *at = lower(*at);
    return paths_enter(paths, text, strlen(text), ret);
}

/* Whether the call was given a parameter of the module that its name begins with. */
static bool owns_any(const struct finder *finder, const struct call *call) {
    const struct params_table *params = &finder->analysis->params;
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

/*
 * A scoped name tells the module; else the parameters that the call was given do: all of one
 * module's lie below it. The call that is given those of all modules is the model itself, even
 * where the exporter gave it the scope that it left last.
 */
static int enter_call(struct finder *finder, uint32_t id, uint32_t *ret) {
    const struct call *call = &finder->model->calls[id];
    struct common common = common_of_call(finder, call);
    bool outermost = call->outer == ID_NONE;
    bool of_all = outermost && common.front && common.length == 0;
    uint32_t outer = outermost ? 0 : finder->of_call[call->outer];
    if (outermost && strchr(call->name, '/') && !(of_all && !owns_any(finder, call)))
        return paths_enter(&finder->scopes->paths, call->name, scope_length(call->name), ret);
    *ret = outer;
    if (of_all) return CM_OK;
    if (common.length > 0) {
        int status = enter_module_path(finder, common.front, common.length, ret);
        if (status < 0 || *ret != outer) return status;
    }
    return enter_by_class(finder, call, outer, ret);
}

/* A second call in the same scope is a further entry of the module: PyTorch's "_1". */
static int tell_apart(struct finder *finder, uint32_t *scope) {
    const char *text = finder->scopes->paths.items[*scope].text;
    uint32_t n_calls = map_get(&finder->n_calls, text);
    if (*scope == 0) return CM_OK;
    if (n_calls == MAP_NONE) return map_set(&finder->n_calls, text, 1);
    if (map_set(&finder->n_calls, text, n_calls + 1) < 0) return CM_NO_MEMORY;
    text = arena_printf(finder->analysis->arena, "%s_%u", text, n_calls);
    return text ? paths_enter(&finder->scopes->paths, text, strlen(text), scope) : CM_NO_MEMORY;
}

static int enter_calls(struct finder *finder) {
    for (uint32_t id = 0; id < finder->model->n_calls; id++) {
        uint32_t outer = finder->model->calls[id].outer;
        BUG_ON(outer != ID_NONE && outer >= id);
        int status = enter_call(finder, id, &finder->of_call[id]);
        if (status == CM_OK) status = tell_apart(finder, &finder->of_call[id]);
        if (status < 0) return status;
    }
    return CM_OK;
}

static int name_classes(struct finder *finder) {
    struct scopes *scopes = finder->scopes;
    struct arena *arena = finder->analysis->arena;
    scopes->classes = arena_array(arena, scopes->paths.n, sizeof *scopes->classes);
    if (!scopes->classes) return CM_NO_MEMORY;
    for (uint32_t id = 0; id < finder->model->n_calls; id++) {
        const char *function = finder->model->calls[id].function;
        const char *class = arena_strndup(arena, function, class_length(function));
        if (!class) return CM_NO_MEMORY;
        scopes->classes[finder->of_call[id]] = class;
    }
    return CM_OK;
}

static int enter_nodes(struct finder *finder) {
    struct scopes *scopes = finder->scopes;
    for (size_t i = 0; i < scopes->n_nodes; i++) {
        uint32_t id = scopes->nodes[i];
        int status = scope_by_name(finder, &finder->model->nodes[id], &scopes->of_node[id]);
        if (status < 0) return status;
    }
    if (finder->named || finder->model->n_calls > 0) return CM_OK;
    for (size_t i = 0; i < scopes->n_nodes; i++) {
        uint32_t id = scopes->nodes[i];
        int status = scope_by_params(finder, id, &scopes->of_node[id]);
        if (status < 0) return status;
    }
    return CM_OK;
}

static int find(struct finder *finder) {
    struct scopes *scopes = finder->scopes;
    const struct model *model = finder->model;
    struct arena *arena = finder->analysis->arena;
    map_init(&finder->n_calls, arena);
    finder->of_call = arena_array(arena, model->n_calls, sizeof *finder->of_call);
    scopes->of_node = arena_array(arena, model->n_nodes, sizeof *scopes->of_node);
    if (!finder->of_call || !scopes->of_node || paths_init(&scopes->paths, arena, '/') < 0 ||
        order_nodes(model, arena, &scopes->n_nodes, &scopes->nodes) < 0)
        return CM_NO_MEMORY;
    int status = enter_calls(finder);
    if (status == CM_OK) status = enter_nodes(finder);
    return status == CM_OK ? name_classes(finder) : status;
}

int scopes_find(const struct analysis *analysis, struct scopes *ret) {
    struct finder finder = {.analysis = analysis, .model = analysis->model, .scopes = ret};
    return find(&finder) < 0 ? diag_no_memory(analysis->diag) : CM_OK;
}
