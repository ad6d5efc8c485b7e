/* SPDX-License-Identifier: Apache-2.0 */
/* Linear probing over a power of two; the whole hash is kept, so that growing never looks at a
 * key and probing compares texts only where 64 bits agree, and their lengths do. */
#include "support/map.h"

#include <string.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/hash.h"

#include "support/banned.h"

#define FIRST_CAPACITY ((size_t)16)

void map_init(struct map *map, struct arena *arena) {
    memset(map, 0, sizeof *map);
    map->arena = arena;
}

/* A text that is looked for. */
struct wanted {
    const char *text;
    uint32_t length;
    uint64_t hash;
};

static struct wanted map_want(const struct map *map, const char *text, size_t length) {
    BUG_ON(length > UINT32_MAX);
    const uint64_t hash = hash_text(text, length, arena_seed(map->arena));
    return (struct wanted){text, (uint32_t)length, hash};
}

static bool map_is(const struct map_entry *entry, const struct wanted *key) {
    return entry->hash == key->hash && entry->length == key->length &&
           (key->length == 0 || memcmp(entry->key, key->text, key->length) == 0);
}

/* The entry of `key`, or the free one where it belongs. Some entry is always free. */
static struct map_entry *map_find(const struct map *map, const struct wanted *key) {
    const size_t mask = map->capacity - 1;
    size_t i = (size_t)key->hash & mask;
    while (map->entries[i].key != NULL && !map_is(&map->entries[i], key)) i = (i + 1) & mask;
    return &map->entries[i];
}

static void map_move(struct map *map, const struct map_entry *entry) {
    const size_t mask = map->capacity - 1;
    size_t i = (size_t)entry->hash & mask;
    while (map->entries[i].key != NULL) i = (i + 1) & mask;
    map->entries[i] = *entry;
}

/* At a load of at most 70%. */
static size_t map_room(size_t capacity) {
    return capacity / 16 * 11;
}

int map_reserve(struct map *map, size_t n) {
    if (n <= map_room(map->capacity)) return CM_OK;
    struct map grown = *map;
    if (grown.capacity == 0) grown.capacity = FIRST_CAPACITY;
    while (map_room(grown.capacity) < n) {
        if (grown.capacity > SIZE_MAX / 2) return CM_NO_MEMORY;
        grown.capacity *= 2;
    }
    grown.entries = arena_array(map->arena, grown.capacity, sizeof *grown.entries);
    if (grown.entries == NULL) return CM_NO_MEMORY;
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->entries[i].key != NULL) map_move(&grown, &map->entries[i]);
    }
    *map = grown;
    return CM_OK;
}

static const struct map_entry *map_entry_of(const struct map *map, const char *key,
                                            size_t length) {
    if (map->capacity == 0) return NULL;
    const struct wanted wanted = map_want(map, key, length);
    const struct map_entry *entry = map_find(map, &wanted);
    return entry->key == NULL ? NULL : entry;
}

uint32_t map_get_n(const struct map *map, const char *key, size_t length) {
    const struct map_entry *entry = map_entry_of(map, key, length);
    return entry == NULL ? MAP_NONE : entry->value;
}

uint32_t map_get(const struct map *map, const char *key) {
    return map_get_n(map, key, strlen(key));
}

const char *map_key(const struct map *map, const char *key) {
    return map_key_n(map, key, strlen(key));
}

const char *map_key_n(const struct map *map, const char *key, size_t length) {
    const struct map_entry *entry = map_entry_of(map, key, length);
    return entry == NULL ? NULL : entry->key;
}

/* *ret: the entry of the key, which is added with `value` where there is none (*ret_added). */
static int map_put(struct map *map, const char *key, size_t length, uint32_t value,
                   struct map_entry **ret, bool *ret_added) {
    const struct wanted wanted = map_want(map, key, length);
    const int status = map_reserve(map, map->n_entries + 1);
    if (status != CM_OK) return status;
    *ret = map_find(map, &wanted);
    *ret_added = (*ret)->key == NULL;
    if (!*ret_added) return CM_OK;
    **ret = (struct map_entry){key, wanted.hash, value, wanted.length};
    map->n_entries++;
    return CM_OK;
}

int map_set(struct map *map, const char *key, uint32_t value) {
    return map_set_n(map, key, strlen(key), value);
}

int map_set_n(struct map *map, const char *key, size_t length, uint32_t value) {
    struct map_entry *entry = NULL;
    bool added = false;
    const int status = map_put(map, key, length, value, &entry, &added);
    if (status == CM_OK) entry->value = value;
    return status;
}

int map_add(struct map *map, const char *key, uint32_t value, uint32_t *ret_existing) {
    return map_add_n(map, key, strlen(key), value, ret_existing);
}

int map_add_n(struct map *map, const char *key, size_t length, uint32_t value,
              uint32_t *ret_existing) {
    struct map_entry *entry = NULL;
    bool added = false;
    const int status = map_put(map, key, length, value, &entry, &added);
    if (status == CM_OK) *ret_existing = added ? MAP_NONE : entry->value;
    return status;
}
