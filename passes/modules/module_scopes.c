/* SPDX-License-Identifier: Apache-2.0 */
/* The set of scopes: see module_scopes.h. */
#include "passes/modules/module_scopes.h"

#include "passes/params/params.h"
#include "support/arena.h"
#include "support/diag.h"

const struct scope_notes *scopes_notes(const struct scopes *scopes, uint32_t scope) {
    static const struct scope_notes none = {.path = NULL};
    return scope < scopes->n_notes ? &scopes->notes[scope] : &none;
}

struct scope_notes *scopes_note(struct scopes *scopes, uint32_t scope) {
    if (scope < scopes->n_notes) return &scopes->notes[scope];
    size_t n = 2 * (size_t)scope + 16;
    struct scope_notes *notes = arena_array(scopes->paths.arena, n, sizeof *notes);
    if (!notes) return NULL;
    for (size_t i = 0; i < scopes->n_notes; i++) notes[i] = scopes->notes[i];
    scopes->notes = notes;
    scopes->n_notes = n;
    return &notes[scope];
}

uint32_t scopes_enter_module(struct scopes *scopes, const char *path, size_t length) {
    char *text = arena_strndup(scopes->paths.arena, path, length);
    if (!text) return 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '.') text[i] = '/';
    return paths_enter(&scopes->paths, text, length);
}

uint32_t scopes_enter_distinct(struct scopes *scopes, const char *text, size_t length) {
    const uint32_t scope = paths_enter(&scopes->paths, text, length);
    for (uint32_t at = scope; at != 0; at = scopes->paths.items[at].parent) {
        struct scope_notes *notes = scopes_note(scopes, at);
        if (!notes || notes->distinct) break; /* its parents are distinct already */
        notes->distinct = true;
    }
    return scope;
}

bool scopes_makes_param(const struct analysis *analysis, uint32_t id) {
    const struct node *node = &analysis->model->nodes[id];
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE &&
            analysis->params->of_value[node->outputs[i]] != ID_NONE)
            return true;
    return false;
}
