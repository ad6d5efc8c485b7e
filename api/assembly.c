/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers that all parts of a result use: see assembly.h. */
#include "api/assembly.h"

#include "support/arena.h"

const char *assembly_text(struct assembly *assembly, const char *text) {
    return arena_strdup(assembly->arena, text ? text : "");
}

const char *assembly_shared(struct assembly *assembly, const char *text) {
    struct shared_text *slot = &assembly->shared[(uintptr_t)text / 8 % N_SHARED_TEXTS];
    if (slot->text != text || !text)
        *slot = (struct shared_text){text, assembly_text(assembly, text)};
    return slot->copy;
}

struct cm_value assembly_value(const struct assembly *assembly, uint32_t id) {
    if (id != ID_NONE) return assembly->values[id];
    return (struct cm_value){.name = "", .type = {.rank = -1}, .bytes = CM_UNKNOWN};
}

const struct cm_value *assembly_values(struct assembly *assembly, const uint32_t *ids,
                                       size_t n) {
    bool in_a_row = n > 0 && ids[0] != ID_NONE;
    for (size_t i = 1; in_a_row && i < n; i++) in_a_row = ids[i] == ids[0] + i;
    if (in_a_row) return &assembly->values[ids[0]];
    struct cm_value *list = arena_array(assembly->arena, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++) list[i] = assembly_value(assembly, ids[i]);
    return list;
}

const size_t *assembly_indices(struct assembly *assembly, const uint32_t *from, size_t n) {
    size_t *list = arena_array(assembly->arena, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++) list[i] = from[i];
    return list;
}
