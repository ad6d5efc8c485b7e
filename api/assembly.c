/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers that all parts of a result use: see assembly.h. */
#include "api/assembly.h"

#include "support/arena.h"

#include "support/banned.h"

void *assembly_array(struct assembly *assembly, size_t n, size_t size) {
    void *items = assembly->failed ? NULL : arena_array(assembly->arena, n, size);
    if (!items) assembly->failed = true;
    return items;
}

const char *assembly_text(struct assembly *assembly, const char *text) {
    const char *copy =
        assembly->failed ? NULL : arena_strdup(assembly->arena, text ? text : "");
    if (!copy) assembly->failed = true;
    return copy;
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
    bool in_a_row = n > 0 && ids[0] != ID_NONE && !assembly->failed;
    for (size_t i = 1; in_a_row && i < n; i++) in_a_row = ids[i] == ids[0] + i;
    if (in_a_row) return &assembly->values[ids[0]];
    struct cm_value *list = assembly_array(assembly, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++) list[i] = assembly_value(assembly, ids[i]);
    return list;
}
