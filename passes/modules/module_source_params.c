/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules by the names of parameters: a node that uses layer1.0.conv1.weight stands in module
 * layer1.0.conv1; one that uses parameters of several stands in what their names share.
 */
#include <string.h>

#include "passes/modules/module_sources.h"
#include "passes/params/names.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

int enter_module_path(struct scope_finder *finder, const char *path, size_t length,
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

void common_add(struct common *common, const char *param_name) {
    const char *base = names_base(param_name);
    size_t length = names_module_length(param_name);
    if (length == 0) return;
    if (common->front) {
        keep_common(common->front, &common->length, base, length);
    } else {
        common->front = base;
        common->length = length;
    }
}

int params_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) {
    const struct params_table *params = &finder->analysis->params;
    struct common common = {0};
    for (size_t i = 0; i < params->n_used[node]; i++)
        common_add(&common, params->params[params->used[node][i]].name);
    *ret = ID_NONE;
    if (common.length == 0) return CM_OK;
    return enter_module_path(finder, common.front, common.length, ret);
}
