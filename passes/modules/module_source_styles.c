/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names by the custom of one framework, which have no mark of a path in them, so that the whole
 * file must speak for it: at least half of its parameters are named so. And, where nothing is
 * known at all, the types of operators.
 */
#include <string.h>

#include "passes/modules/module_sources.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_number(const char *text) {
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* "conv2d_0" of Paddle's "conv2d_0.w_0": its length if what follows is one of the kinds. */
static size_t paddle_layer(const char *name, const char *const *kinds) {
    const char *dot = strrchr(name, '.');
    if (!dot || dot == name || !is_digit(dot[-1])) return 0;
    for (; *kinds; kinds++)
        if (text_starts_with(dot + 1, *kinds) && is_number(dot + 1 + strlen(*kinds)))
            return (size_t)(dot - name);
    return 0;
}

static size_t paddle_param(const char *name) {
    static const char *const kinds[] = {"w_", "b_", NULL};
    return paddle_layer(name, kinds);
}

static size_t paddle_result(const char *name) {
    static const char *const kinds[] = {"tmp_", NULL};
    return paddle_layer(name, kinds);
}

/* Of MXNet's and Gluon's names: "stage1_conv0_weight". */
static size_t mxnet_param(const char *name) {
    static const char *const ends[] = {"_weight",       "_bias",       "_gamma",
                                       "_beta",         "_moving_var", "_moving_mean",
                                       "_running_mean", "_running_var"};
    if (strpbrk(name, "./:")) return 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends_with(name, ends[i])) return strlen(name) - strlen(ends[i]);
    return 0;
}

static bool is_custom(const struct scope_finder *finder, size_t (*length)(const char *name)) {
    const struct params_table *params = &finder->analysis->params;
    size_t n = 0;
    for (size_t i = 0; i < params->n_params; i++) n += length(params->params[i].name) > 0;
    return n > 0 && n >= params->n_params - n;
}

int paddle_start(struct scope_finder *finder, bool *ret) {
    *ret = is_custom(finder, paddle_param);
    return CM_OK;
}

int mxnet_start(struct scope_finder *finder, bool *ret) {
    *ret = is_custom(finder, mxnet_param);
    return CM_OK;
}

int enter_distinct(struct scope_finder *finder, const char *text, size_t length,
                   uint32_t *ret) {
    struct scopes *scopes = finder->scopes;
    if (paths_enter(&scopes->paths, text, length, ret) < 0) return CM_NO_MEMORY;
    for (uint32_t at = *ret; at != 0; at = scopes->paths.items[at].parent) {
        struct scope_notes *notes = scopes_note(scopes, at);
        if (!notes) return CM_NO_MEMORY;
        if (notes->distinct) return CM_OK; /* and so are those above */
        notes->distinct = true;
    }
    return CM_OK;
}

/* A layer with parameters by their name, another by that of what it gives: "relu_0.tmp_0". */
int paddle_find(struct scope_finder *finder, uint32_t id, uint32_t *ret) {
    const struct params_table *params = &finder->analysis->params;
    const struct node *node = &finder->model->nodes[id];
    *ret = ID_NONE;
    for (size_t i = 0; i < params->n_used[id]; i++) {
        const char *name = params->params[params->used[id][i]].name;
        size_t length = paddle_param(name);
        if (length > 0) return enter_distinct(finder, name, length, ret);
    }
    for (size_t i = 0; i < node->n_outputs; i++) {
        const char *name = value_name(finder->model, node->outputs[i]);
        size_t length = paddle_result(name);
        if (length > 0) return enter_distinct(finder, name, length, ret);
    }
    return CM_OK;
}

/* Without the operator: "_fwd", or what stands behind two underscores ("stage1__plus0"). */
static size_t mxnet_block(const char *name) {
    const char *own = strstr(name, "__");
    if (own) return (size_t)(own - name);
    size_t length = strlen(name);
    return text_ends_with(name, "_fwd") ? length - strlen("_fwd") : length;
}

/* Blocks are numbered where they are made, "resnetv10_stage1_conv0": behind a number one ends.
 */
int mxnet_find(struct scope_finder *finder, uint32_t id, uint32_t *ret) {
    const char *name = finder->model->nodes[id].name;
    size_t length = mxnet_block(name);
    *ret = ID_NONE;
    if (length == 0 || name[0] == '_') return CM_OK;
    char *text = arena_strndup(finder->analysis->arena, name, length);
    if (!text) return CM_NO_MEMORY;
    for (size_t i = 1; i < length; i++)
        if (text[i] == '_' && is_digit(text[i - 1])) text[i] = '/';
    return enter_distinct(finder, text, length, ret);
}

int types_find(struct scope_finder *finder, uint32_t id, uint32_t *ret) {
    const char *type = finder->model->nodes[id].type;
    return enter_distinct(finder, type, strlen(type), ret);
}
