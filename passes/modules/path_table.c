/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of names: see path_table.h. One hash table finds a child by parent and name. */
#include "passes/modules/path_table.h"

#include <string.h>

#include "ir/graph.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/hash.h"

#define FIRST_CAPACITY ((size_t)64)

/* Returns the hash of a part below an entry, from the hash of its name. */
static uint32_t mix(uint32_t parent, uint32_t hash) {
    const uint64_t mixed = ((uint64_t)parent << 32 | hash) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(((mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u) >> 32);
}

/* A part to look up. */
struct part {
    const char *name;
    size_t length;
    uint32_t hash;
};

static struct part part_of(const struct paths *paths, const char *name, size_t length) {
    return (struct part){name, length, (uint32_t)hash_text(name, length, paths->seed)};
}

static bool is_child(const struct path *path, uint32_t parent, const struct part *part) {
    return path->hash == part->hash && path->parent == parent && path->length == part->length &&
           memcmp(path->name, part->name, part->length) == 0;
}

/* Returns the slot of a child; a free slot if there is none. */
static struct paths_slot *find_slot(const struct paths *paths, uint32_t parent,
                                    const struct part *part) {
    const uint32_t hash = mix(parent, part->hash);
    for (size_t at = hash;; at++) {
        struct paths_slot *slot = &paths->slots[at & (paths->n_slots - 1)];
        if (slot->entry == 0 ||
            (slot->hash == hash && is_child(&paths->items[slot->entry], parent, part)))
            return slot;
    }
}

int paths_reserve(struct paths *paths, size_t n) {
    if (n <= paths->capacity) return CM_OK;
    struct path *items = arena_array_raw(paths->arena, n, sizeof *items);
    if (!items) return CM_NO_MEMORY;
    if (paths->n) memcpy(items, paths->items, paths->n * sizeof *items);
    paths->items = items;
    paths->capacity = n;
    return CM_OK;
}

/* Makes room for another entry, and keeps at least a third of the slots free. */
static int grow(struct paths *paths) {
    if (paths->n == paths->capacity &&
        paths_reserve(paths, paths->capacity ? 2 * paths->capacity : FIRST_CAPACITY) < 0)
        return CM_NO_MEMORY;
    if (paths->n < paths->n_slots / 3 * 2) return CM_OK;
    const size_t n_slots = paths->n_slots ? 2 * paths->n_slots : FIRST_CAPACITY;
    struct paths_slot *slots = arena_array(paths->arena, n_slots, sizeof *slots);
    if (!slots) return CM_NO_MEMORY;
    for (size_t i = 0; i < paths->n_slots; i++) {
        size_t at = paths->slots[i].hash;
        if (paths->slots[i].entry == 0) continue;
        while (slots[at & (n_slots - 1)].entry != 0) at++;
        slots[at & (n_slots - 1)] = paths->slots[i];
    }
    paths->slots = slots;
    paths->n_slots = n_slots;
    return CM_OK;
}

int paths_init(struct paths *paths, struct arena *arena, char separator) {
    memset(paths, 0, sizeof *paths);
    paths->arena = arena;
    paths->seed = arena_seed(arena);
    paths->separator = separator;
    if (grow(paths) < 0) return CM_NO_MEMORY;
    paths->items[paths->n++] = (struct path){.name = "",
                                             .parent = ID_NONE,
                                             .first_child = ID_NONE,
                                             .last_child = ID_NONE,
                                             .next = ID_NONE};
    return CM_OK;
}

/* Returns the child, or ID_NONE. */
static uint32_t find_child(const struct paths *paths, uint32_t parent,
                           const struct part *part) {
    const uint32_t entry = find_slot(paths, parent, part)->entry;
    return entry == 0 ? ID_NONE : entry;
}

/* Returns the child, which is added if it is new; the parent if it is at PATHS_MAX_DEPTH. */
static uint32_t enter_child(struct paths *paths, uint32_t parent, const struct part *part) {
    if (paths->items[parent].depth >= PATHS_MAX_DEPTH || grow(paths) < 0) return parent;
    struct paths_slot *slot = find_slot(paths, parent, part);
    if (slot->entry != 0) return slot->entry;
    const uint32_t entry = (uint32_t)paths->n;
    if (part->length > UINT32_MAX || paths->n >= ID_NONE) {
        arena_set_failed(paths->arena);
        return parent;
    }
    struct path *above = &paths->items[parent];
    *slot = (struct paths_slot){mix(parent, part->hash), entry};
    paths->items[paths->n++] = (struct path){.name = part->name,
                                             .length = (uint32_t)part->length,
                                             .hash = part->hash,
                                             .parent = parent,
                                             .depth = above->depth + 1,
                                             .first_child = ID_NONE,
                                             .last_child = ID_NONE,
                                             .next = ID_NONE};
    if (above->first_child == ID_NONE)
        above->first_child = entry;
    else
        paths->items[above->last_child].next = entry;
    above->last_child = entry;
    return entry;
}

/* Returns the end of the part that begins at `at`. */
static size_t part_end(const struct paths *paths, const char *text, size_t at, size_t length) {
    const char *end = memchr(text + at, paths->separator, length - at);
    return end ? (size_t)(end - text) : length;
}

uint32_t paths_enter(struct paths *paths, const char *text, size_t length) {
    struct paths_trail *trail = &paths->trail;
    size_t depth = 0;
    size_t at = 0; /* end of the parts that the last text begins with too */
    for (; depth < trail->depth; depth++) {
        const size_t end = trail->ends[depth];
        if (end > length || (end < length && text[end] != paths->separator) ||
            memcmp(text + at, trail->text + at, end - at) != 0)
            break;
        at = end;
    }
    uint32_t entry = depth > 0 ? trail->entries[depth - 1] : 0;
    while (at < length && depth < PATHS_MAX_DEPTH) {
        const size_t end = part_end(paths, text, at, length);
        if (end > at) {
            const struct part part = part_of(paths, text + at, end - at);
            entry = enter_child(paths, entry, &part);
            trail->ends[depth] = end;
            trail->entries[depth++] = entry;
        }
        at = end + 1;
    }
    trail->text = text;
    trail->depth = depth;
    return entry;
}

uint32_t paths_enter_below(struct paths *paths, uint32_t base, const char *text,
                           size_t length) {
    for (size_t at = 0; at < length;) {
        const size_t end = part_end(paths, text, at, length);
        const struct part part = part_of(paths, text + at, end - at);
        if (end > at) base = enter_child(paths, base, &part);
        at = end + 1;
    }
    return base;
}

uint32_t paths_find_below(const struct paths *paths, uint32_t base, const char *text,
                          size_t length) {
    for (size_t at = 0; at < length && base != ID_NONE;) {
        const size_t end = part_end(paths, text, at, length);
        const struct part part = part_of(paths, text + at, end - at);
        if (end > at) base = find_child(paths, base, &part);
        at = end + 1;
    }
    return base;
}

static struct part part_of_path(const struct path *path) {
    return (struct part){path->name, path->length, path->hash};
}

uint32_t paths_enter_like(struct paths *paths, const struct paths *other, uint32_t entry) {
    if (entry == 0) return 0;
    const struct part part = part_of_path(&other->items[entry]);
    const uint32_t above = paths_enter_like(paths, other, other->items[entry].parent);
    return enter_child(paths, above, &part);
}

uint32_t paths_find_like(const struct paths *paths, const struct paths *other, uint32_t entry) {
    if (entry == 0) return 0;
    const struct part part = part_of_path(&other->items[entry]);
    const uint32_t above = paths_find_like(paths, other, other->items[entry].parent);
    return above == ID_NONE ? ID_NONE : find_child(paths, above, &part);
}

const char *paths_text(const struct paths *paths, uint32_t entry, struct arena *arena) {
    size_t length = 0;
    for (uint32_t at = entry; at != 0; at = paths->items[at].parent)
        length += paths->items[at].length + 1;
    if (length == 0) return "";
    char *text = arena_alloc(arena, length);
    for (size_t end = length - 1; text && entry != 0; entry = paths->items[entry].parent) {
        const struct path *path = &paths->items[entry];
        memcpy(text + end - path->length, path->name, path->length);
        end -= path->length;
        if (end > 0) text[--end] = paths->separator;
    }
    return text;
}

uint32_t paths_common(const struct paths *paths, uint32_t a, uint32_t b) {
    const struct path *items = paths->items;
    while (items[a].depth > items[b].depth) a = items[a].parent;
    while (items[b].depth > items[a].depth) b = items[b].parent;
    while (a != b) {
        a = items[a].parent;
        b = items[b].parent;
    }
    return a;
}
