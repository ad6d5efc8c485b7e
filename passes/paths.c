/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of names: see paths.h. A part is looked for by its parent and its name, so that what
 * stands before it is hashed once, when it is entered, and not with all that is below it. */
#include "passes/paths.h"

#include <string.h>

#include "ir/graph.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/hash.h"

#include "support/banned.h"

#define FIRST_SLOTS ((size_t)64)

static size_t first_slot(const struct paths *paths, uint32_t parent, uint32_t hash) {
    const uint64_t mixed = (hash + (uint64_t)parent * 0x9e3779b1u) * 0x9e3779b97f4a7c15u;
    return (size_t)(mixed >> 32) & (paths->n_slots - 1);
}

static void put_in_slot(const struct paths *paths, uint32_t entry) {
    const struct path *path = paths_at(paths, entry);
    size_t at = first_slot(paths, path->parent, path->hash);
    while (paths->slots[at] != 0) at = (at + 1) & (paths->n_slots - 1);
    paths->slots[at] = entry;
}

/* At most three quarters of them are ever taken. */
static size_t room_of(size_t n_slots) {
    return n_slots / 4 * 3;
}

int paths_reserve(struct paths *paths, size_t n) {
    size_t n_slots = paths->n_slots ? paths->n_slots : FIRST_SLOTS;
    while (room_of(n_slots) < n) {
        if (n_slots > SIZE_MAX / 2) return CM_NO_MEMORY;
        n_slots *= 2;
    }
    if (n_slots == paths->n_slots) return CM_OK;
    uint32_t *slots = arena_array(paths->arena, n_slots, sizeof *slots);
    if (!slots) return CM_NO_MEMORY;
    paths->slots = slots;
    paths->n_slots = n_slots;
    for (uint32_t entry = 1; entry < paths->n; entry++) put_in_slot(paths, entry);
    return CM_OK;
}

static int add_chunk(struct paths *paths, size_t index) {
    if (index == paths->n_chunks) {
        const size_t n_chunks = paths->n_chunks ? 2 * paths->n_chunks : 8;
        struct path **chunks = arena_array(paths->arena, n_chunks, sizeof *chunks);
        if (!chunks) return CM_NO_MEMORY;
        if (index > 0) memcpy(chunks, paths->chunks, index * sizeof *chunks);
        paths->chunks = chunks;
        paths->n_chunks = n_chunks;
    }
    paths->chunks[index] = arena_array(paths->arena, PATHS_CHUNK, sizeof(struct path));
    return paths->chunks[index] ? CM_OK : CM_NO_MEMORY;
}

static int add(struct paths *paths, const struct path *path) {
    const size_t chunk = paths->n / PATHS_CHUNK;
    const size_t at = paths->n % PATHS_CHUNK;
    if (at == 0 && add_chunk(paths, chunk) < 0) return CM_NO_MEMORY;
    paths->chunks[chunk][at] = *path;
    paths->n++;
    return CM_OK;
}

int paths_init(struct paths *paths, struct arena *arena, char separator) {
    const struct path root = {.name = "", .parent = ID_NONE};
    memset(paths, 0, sizeof *paths);
    paths->arena = arena;
    paths->separator = separator;
    paths->trail.text = "";
    if (paths_reserve(paths, 1) < 0) return CM_NO_MEMORY;
    return add(paths, &root);
}

/* A part to be found below an entry. */
struct part {
    const char *name;
    size_t length;
    uint32_t hash;
};

static struct part part_of(const char *name, size_t length) {
    return (struct part){name, length, (uint32_t)hash_text(name, length)};
}

static struct part part_at(const struct paths *paths, uint32_t entry) {
    const struct path *path = paths_at(paths, entry);
    return (struct part){path->name, path->length, path->hash};
}

/* The slot of the part's entry; where there is none, the free one that it would have. */
static uint32_t *find_slot(const struct paths *paths, uint32_t parent,
                           const struct part *part) {
    size_t at = first_slot(paths, parent, part->hash);
    for (; paths->slots[at] != 0; at = (at + 1) & (paths->n_slots - 1)) {
        const struct path *path = paths_at(paths, paths->slots[at]);
        if (path->hash == part->hash && path->parent == parent &&
            path->length == part->length && memcmp(path->name, part->name, part->length) == 0)
            break;
    }
    return &paths->slots[at];
}

static uint32_t find_child(const struct paths *paths, uint32_t parent,
                           const struct part *part) {
    const uint32_t found = *find_slot(paths, parent, part);
    return found == 0 ? ID_NONE : found;
}

static bool is_deepest(const struct paths *paths, uint32_t entry) {
    return paths_at(paths, entry)->depth >= PATHS_MAX_DEPTH;
}

static int add_child(struct paths *paths, uint32_t parent, const struct part *part,
                     uint32_t *ret) {
    const struct path path = {.name = part->name,
                              .length = (uint32_t)part->length,
                              .hash = part->hash,
                              .parent = parent,
                              .depth = paths_at(paths, parent)->depth + 1};
    *ret = (uint32_t)paths->n;
    return part->length > UINT32_MAX || paths->n >= ID_NONE ? CM_NO_MEMORY : add(paths, &path);
}

/* From an entry down to the part below it, or nowhere where paths end. */
static int enter_child(struct paths *paths, const struct part *part, uint32_t *entry) {
    if (is_deepest(paths, *entry)) return CM_OK;
    if (paths->n >= room_of(paths->n_slots) && paths_reserve(paths, paths->n + 1) < 0)
        return CM_NO_MEMORY;
    uint32_t *slot = find_slot(paths, *entry, part);
    if (*slot == 0 && add_child(paths, *entry, part, slot) < 0) return CM_NO_MEMORY;
    *entry = *slot;
    return CM_OK;
}

/* Where the part ends that begins at `at`. */
static size_t part_end(const struct paths *paths, const char *text, size_t at, size_t length) {
    const char *end = memchr(text + at, paths->separator, length - at);
    return end ? (size_t)(end - text) : length;
}

/* Whether the text begins with all of the trail, which is not empty. */
static bool is_on_trail(const struct paths *paths, const char *text, size_t length) {
    const size_t end = paths->trail.steps[paths->trail.depth].end;
    if (end > length || (end < length && text[end] != paths->separator)) return false;
    if (text[end - 1] != paths->trail.text[end - 1]) return false; /* "relu1" behind "relu0" */
    return memcmp(text, paths->trail.text, end) == 0;
}

int paths_enter(struct paths *paths, const char *text, size_t length, uint32_t *ret) {
    struct paths_trail *trail = &paths->trail;
    while (trail->depth > 0 && !is_on_trail(paths, text, length)) trail->depth--;
    uint32_t entry = trail->steps[trail->depth].entry;
    trail->text = text;
    for (size_t at = trail->steps[trail->depth].end;
         at < length && !is_deepest(paths, entry);) {
        const size_t end = part_end(paths, text, at, length);
        if (end > at) {
            const struct part part = part_of(text + at, end - at);
            if (enter_child(paths, &part, &entry) < 0) return CM_NO_MEMORY;
            trail->steps[++trail->depth].end = end;
            trail->steps[trail->depth].entry = entry;
        }
        at = end + 1;
    }
    *ret = entry;
    return CM_OK;
}

int paths_enter_below(struct paths *paths, uint32_t base, const char *text, size_t length,
                      uint32_t *ret) {
    for (size_t at = 0; at < length;) {
        const size_t end = part_end(paths, text, at, length);
        const struct part part = part_of(text + at, end - at);
        if (end > at && enter_child(paths, &part, &base) < 0) return CM_NO_MEMORY;
        at = end + 1;
    }
    *ret = base;
    return CM_OK;
}

uint32_t paths_find_below(const struct paths *paths, uint32_t base, const char *text,
                          size_t length) {
    for (size_t at = 0; at < length && base != ID_NONE;) {
        const size_t end = part_end(paths, text, at, length);
        const struct part part = part_of(text + at, end - at);
        if (end > at) base = find_child(paths, base, &part);
        at = end + 1;
    }
    return base;
}

/* The entries from the one below the root down to this one; how many there are. */
static size_t list_chain(const struct paths *paths, uint32_t entry,
                         uint32_t chain[PATHS_MAX_DEPTH]) {
    const size_t depth = paths_at(paths, entry)->depth;
    for (size_t i = depth; i-- > 0; entry = paths_at(paths, entry)->parent) chain[i] = entry;
    return depth;
}

int paths_enter_like(struct paths *paths, const struct paths *other, uint32_t entry,
                     uint32_t *ret) {
    uint32_t chain[PATHS_MAX_DEPTH];
    const size_t depth = list_chain(other, entry, chain);
    *ret = 0;
    for (size_t i = 0; i < depth; i++) {
        const struct part part = part_at(other, chain[i]);
        if (enter_child(paths, &part, ret) < 0) return CM_NO_MEMORY;
    }
    return CM_OK;
}

uint32_t paths_find_like(const struct paths *paths, const struct paths *other, uint32_t entry) {
    uint32_t chain[PATHS_MAX_DEPTH];
    const size_t depth = list_chain(other, entry, chain);
    uint32_t found = 0;
    for (size_t i = 0; i < depth && found != ID_NONE; i++) {
        const struct part part = part_at(other, chain[i]);
        found = find_child(paths, found, &part);
    }
    return found;
}

const char *paths_text(const struct paths *paths, uint32_t entry, struct arena *arena) {
    size_t length = 0;
    for (uint32_t at = entry; at != 0; at = paths_at(paths, at)->parent)
        length += paths_at(paths, at)->length + 1;
    if (length == 0) return "";
    char *text = arena_alloc(arena, length);
    for (size_t end = length - 1; text && entry != 0; entry = paths_at(paths, entry)->parent) {
        const struct path *path = paths_at(paths, entry);
        memcpy(text + end - path->length, path->name, path->length);
        end -= path->length;
        if (end > 0) text[--end] = paths->separator;
    }
    return text;
}

uint32_t paths_common(const struct paths *paths, uint32_t a, uint32_t b) {
    while (paths_at(paths, a)->depth > paths_at(paths, b)->depth)
        a = paths_at(paths, a)->parent;
    while (paths_at(paths, b)->depth > paths_at(paths, a)->depth)
        b = paths_at(paths, b)->parent;
    while (a != b) {
        a = paths_at(paths, a)->parent;
        b = paths_at(paths, b)->parent;
    }
    return a;
}
