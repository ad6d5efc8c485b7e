/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model-local functions that were inlined: the call says in which module their nodes stand, by
 * its name or by the parameters that it was given, and the function's name is the class.
 */
#include <string.h>

#include "passes/modules/module_sources.h"
#include "passes/params/names.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

static char lower(char c) {
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static struct common common_of_call(const struct scope_finder *finder,
                                    const struct call *call) {
    const struct params_table *params = &finder->analysis->params;
    struct common common = {0};
    for (size_t i = 0; i < call->n_inputs; i++) {
        if (call->inputs[i] == ID_NONE) continue;
        uint32_t param = params->of_value[call->inputs[i]];
        if (param != ID_NONE) common_add(&common, params->params[param].name);
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
static int enter_by_class(struct scope_finder *finder, const struct call *call, uint32_t outer,
                          uint32_t *ret) {
    size_t length = class_length(call->function);
    char *text = arena_strndup(finder->analysis->arena, call->function, length);
    if (!text) return CM_NO_MEMORY;
    for (char *at = text; *at; at++) *at = lower(*at);
    return paths_enter_below(&finder->scopes->paths, outer, text, length, ret);
}

/* Whether the call was given a parameter of the module that its name begins with. */
static bool owns_any(const struct scope_finder *finder, const struct call *call) {
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
static int enter_call(struct scope_finder *finder, uint32_t id, uint32_t *ret) {
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
static int tell_apart(struct scope_finder *finder, uint32_t *scope) {
    struct paths *paths = &finder->scopes->paths;
    const struct path path = paths->items[*scope];
    struct scope_notes *notes = scopes_note(finder->scopes, *scope);
    if (!notes) return CM_NO_MEMORY;
    if (*scope == 0 || notes->entries++ == 0) return CM_OK;
    const char *text = arena_printf(finder->analysis->arena, "%.*s_%u", (int)path.length,
                                    path.name, notes->entries - 1);
    if (!text) return CM_NO_MEMORY;
    return paths_enter_below(paths, path.parent, text, strlen(text), scope);
}

/* "Tnet" of Tnet.1; of several calls in one scope the last tells. */
static int note_class(struct scope_finder *finder, uint32_t id) {
    const char *function = finder->model->calls[id].function;
    const char *class =
        arena_strndup(finder->analysis->arena, function, class_length(function));
    struct scope_notes *notes = scopes_note(finder->scopes, finder->of_call[id]);
    if (!class || !notes) return CM_NO_MEMORY;
    notes->class = class;
    return CM_OK;
}

/* A call whose place the exporter noted is an operator that it wrote as a function. */
int functions_start(struct scope_finder *finder, bool *ret) {
    const struct model *model = finder->model;
    finder->of_call =
        arena_array(finder->analysis->arena, model->n_calls, sizeof *finder->of_call);
    *ret = model->n_calls > 0;
    if (!finder->of_call) return CM_NO_MEMORY;
    for (uint32_t id = 0; id < model->n_calls; id++) {
        uint32_t outer = model->calls[id].outer;
        BUG_ON(outer != ID_NONE && outer >= id);
        finder->of_call[id] = ID_NONE;
        if (model->calls[id].place) continue;
        int status = enter_call(finder, id, &finder->of_call[id]);
        if (status == CM_OK) status = tell_apart(finder, &finder->of_call[id]);
        if (status == CM_OK) status = note_class(finder, id);
        if (status < 0) return status;
    }
    return CM_OK;
}

int functions_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) {
    uint32_t call = finder->model->nodes[node].call;
    *ret = call == ID_NONE ? ID_NONE : finder->of_call[call];
    return CM_OK;
}
