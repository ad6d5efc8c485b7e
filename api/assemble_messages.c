/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of a result: copies, because a sink may go before it. */
#include "api/assemble.h"
#include "api/assembly.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

static const char *optional_text(struct arena *arena, const char *text, bool *failed) {
    if (!text) return NULL;
    const char *copy = arena_strdup(arena, text);
    if (!copy) *failed = true;
    return copy;
}

static int copy_message(struct arena *arena, const struct cm_diagnostic *from,
                        struct cm_diagnostic *to) {
    bool failed = false;
    *to = (struct cm_diagnostic){
        .severity = from->severity,
        .code = from->code,
        .message = optional_text(arena, from->message, &failed),
        .place = optional_text(arena, from->place, &failed),
        .node = optional_text(arena, from->node, &failed),
        .hint = optional_text(arena, from->hint, &failed),
    };
    return failed ? CM_NO_MEMORY : CM_OK;
}

int assemble_messages(struct cm_diagnostics *diagnostics, size_t from, struct arena *arena,
                      struct message_list *ret) {
    if (diag_starved(diagnostics)) return diag_no_memory(diagnostics);
    size_t n = cm_diagnostics_count(diagnostics);
    struct cm_diagnostic *items = arena_array(arena, n - from, sizeof(*items));
    ret->n = 0;
    ret->items = items;
    if (!items) return CM_NO_MEMORY;
    for (size_t i = from; i < n; i++)
        if (copy_message(arena, cm_diagnostics_get(diagnostics, i), &items[ret->n++]) < 0)
            return CM_NO_MEMORY;
    return CM_OK;
}

void assemble_diagnostics(struct assembly *assembly, const struct message_list *first,
                          const struct message_list *then) {
    struct cm_diagnostic *items = assembly_array(assembly, first->n + then->n, sizeof(*items));
    size_t n = 0;
    for (size_t i = 0; items && i < first->n + then->n; i++) {
        const struct cm_diagnostic *from =
            i < first->n ? &first->items[i] : &then->items[i - first->n];
        if (copy_message(assembly->arena, from, &items[n++]) < 0) assembly->failed = true;
    }
    assembly->result->n_diagnostics = n;
    assembly->result->diagnostics = items;
}
