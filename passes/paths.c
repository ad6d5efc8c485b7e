/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of names: see paths.h. A node's scope is mostly known already, and then costs one
 * look-up of its whole text. */
#include "passes/paths.h"

#include <string.h>

#include "ir/graph.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

static int move_to(struct paths *paths, size_t capacity) {
    struct path *items = arena_array(paths->arena, capacity, sizeof *items);
    if (!items) return CM_NO_MEMORY;
    if (paths->n) memcpy(items, paths->items, paths->n * sizeof *items);
    paths->items = items;
    paths->capacity = capacity;
    return CM_OK;
}

static int grow(struct paths *paths) {
    return move_to(paths, paths->capacity ? paths->capacity + paths->capacity / 2 : 64);
}

/* `kept` lives as long as the paths. NULL: no memory. */
static int add(struct paths *paths, const char *kept, size_t name_at, uint32_t parent,
               uint32_t *ret) {
    int status = paths->n == paths->capacity ? grow(paths) : CM_OK;
    if (!kept || status < 0) return CM_NO_MEMORY;
    *ret = (uint32_t)paths->n;
    paths->items[paths->n++] = (struct path){
        .text = kept,
        .name = kept + name_at,
        .parent = parent,
        .depth = parent == ID_NONE ? 0 : paths->items[parent].depth + 1,
    };
    return map_set(&paths->index, kept, *ret);
}

int paths_init(struct paths *paths, struct arena *arena, char separator) {
    uint32_t root;
    memset(paths, 0, sizeof *paths);
    paths->arena = arena;
    paths->separator = separator;
    map_init(&paths->index, arena);
    return add(paths, "", 0, ID_NONE, &root);
}

int paths_reserve(struct paths *paths, size_t n) {
    if (paths->n + n <= paths->capacity) return CM_OK;
    if (move_to(paths, paths->n + n) < 0) return CM_NO_MEMORY;
    return map_reserve(&paths->index, paths->n + n);
}

/* Copies the text into the buffer, without empty parts; its length there in *ret. */
static int normalize(struct paths *paths, const char *text, size_t length, size_t *ret) {
    size_t used = 0;
    if (length >= paths->buffer_size) {
        size_t size = length < 128 ? 256 : length * 2;
        paths->buffer = arena_alloc(paths->arena, size);
        paths->buffer_size = paths->buffer ? size : 0;
        if (!paths->buffer) return CM_NO_MEMORY;
    }
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, paths->separator, length - at);
        size_t part = (end ? (size_t)(end - text) : length) - at;
        if (part > 0) memcpy(paths->buffer + used, text + at, part);
        used += part;
        if (part > 0 && end) paths->buffer[used++] = paths->separator;
        at += part + 1;
    }
    if (used > 0 && paths->buffer[used - 1] == paths->separator) used--;
    paths->buffer[used] = '\0';
    *ret = used;
    return CM_OK;
}

/* Where the last part begins if all in front of it is known; else 0, with *entry the root. */
static size_t known_front(const struct paths *paths, size_t used, uint32_t *entry) {
    size_t begin = used;
    while (begin > 0 && paths->buffer[begin - 1] != paths->separator) begin--;
    if (begin == 0) return 0;
    const struct path *last = &paths->items[paths->n - 1]; /* mostly a sibling */
    if ((size_t)(last->name - last->text) == begin &&
        memcmp(last->text, paths->buffer, begin) == 0) {
        *entry = last->parent;
        return begin;
    }
    paths->buffer[begin - 1] = '\0';
    uint32_t known = map_get(&paths->index, paths->buffer);
    paths->buffer[begin - 1] = paths->separator;
    if (known == MAP_NONE) return 0;
    *entry = known;
    return begin;
}

/* `kept`: the text itself where it may be kept, else NULL. */
static int enter(struct paths *paths, const char *text, size_t length, const char *kept,
                 uint32_t *ret) {
    size_t used;
    uint32_t entry = 0;
    if (normalize(paths, text, length, &used) < 0) return CM_NO_MEMORY;
    uint32_t known = map_get(&paths->index, paths->buffer);
    if (known != MAP_NONE) {
        *ret = known;
        return CM_OK;
    }
    for (size_t begin = known_front(paths, used, &entry);
         begin < used && paths->items[entry].depth < PATHS_MAX_DEPTH;) {
        char *end = memchr(paths->buffer + begin, paths->separator, used - begin);
        size_t stop = end ? (size_t)(end - paths->buffer) : used;
        paths->buffer[stop] = '\0';
        /* the whole has been looked for already */
        uint32_t next = end ? map_get(&paths->index, paths->buffer) : MAP_NONE;
        if (next == MAP_NONE) {
            const char *whole = end || used < length ? NULL : kept;
            if (!whole) whole = arena_strndup(paths->arena, paths->buffer, stop);
            if (add(paths, whole, begin, entry, &next) < 0) return CM_NO_MEMORY;
        }
        if (end) *end = paths->separator;
        entry = next;
        begin = stop + 1;
    }
    *ret = entry;
    return CM_OK;
}

int paths_enter(struct paths *paths, const char *text, size_t length, uint32_t *ret) {
    return enter(paths, text, length, NULL, ret);
}

int paths_enter_kept(struct paths *paths, const char *text, uint32_t *ret) {
    return enter(paths, text, strlen(text), text, ret);
}

uint32_t paths_find(const struct paths *paths, const char *text) {
    uint32_t found = map_get(&paths->index, text);
    return found == MAP_NONE ? ID_NONE : found;
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
