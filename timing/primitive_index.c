/* SPDX-License-Identifier: Apache-2.0 */
/* See primitive_index.h. */
#include "timing/primitive_index.h"

#include "backends/primitive.h"
#include "support/arena.h"
#include "support/hash.h"

int primitive_index_init(struct primitive_index *index, size_t capacity, struct arena *arena) {
    *index = (struct primitive_index){.capacity = 2};
    while (index->capacity < 2 * capacity) index->capacity *= 2;
    index->slots = arena_array(arena, index->capacity, sizeof(*index->slots));
    index->items = arena_array(arena, capacity, sizeof(*index->items));
    return index->slots && index->items ? CM_OK : CM_NO_MEMORY;
}

uint32_t primitive_index_add(struct primitive_index *index,
                             const struct cm_primitive *primitive) {
    const uint64_t hash = hash_bytes(HASH_BYTES_BEGIN, primitive, sizeof(*primitive));
    size_t at = (size_t)hash & (index->capacity - 1);
    while (index->slots[at] != 0) {
        const uint32_t found = index->slots[at] - 1;
        if (primitive_equal(&index->items[found], primitive)) return found;
        at = (at + 1) & (index->capacity - 1);
    }
    index->items[index->n] = *primitive;
    index->slots[at] = (uint32_t)++index->n;
    return (uint32_t)index->n - 1;
}
