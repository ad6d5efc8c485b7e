/* SPDX-License-Identifier: Apache-2.0 */
/* Linear probing over a power of two; the whole hash is kept, so that growing never looks at a
 * key and probing compares texts only where 64 bits agree. */
#include "support/map.h"

#include <string.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/hash.h"

#include "support/banned.h"

#define FIRST_CAPACITY ((size_t)16)

static uint64_t map_hash(const char *key) {
    return hash_text(key, strlen(key));
}

void map_init(struct map *map, struct arena *arena) {
    memset(map, 0, sizeof *map);
    map->arena = arena;
}

/* The entry of `key`, or the free one where it belongs. Some entry is always free. */
static struct map_entry *map_find(const struct map *map, const char *key, uint64_t hash) {
    const size_t mask = map->capacity - 1;
    size_t i = (size_t)hash & mask;
    while (map->entries[i].key != NULL &&
           (map->entries[i].hash != hash || strcmp(map->entries[i].key, key) != 0)) {
        i = (i + 1) & mask;
    }
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

uint32_t map_get(const struct map *map, const char *key) {
    if (map->capacity == 0) return MAP_NONE;
    const struct map_entry *entry = map_find(map, key, map_hash(key));
    return entry->key == NULL ? MAP_NONE : entry->value;
}

const char *map_key(const struct map *map, const char *key) {
    return map->capacity == 0 ? NULL : map_find(map, key, map_hash(key))->key;
}

int map_set(struct map *map, const char *key, uint32_t value) {
    uint32_t existing = MAP_NONE;
    const int status = map_add(map, key, value, &existing);
    if (status == CM_OK && existing != MAP_NONE) {
        map_find(map, key, map_hash(key))->value = value;
    }
    return status;
}

int map_add(struct map *map, const char *key, uint32_t value, uint32_t *ret_existing) {
    const uint64_t hash = map_hash(key);
    const int status = map_reserve(map, map->n_entries + 1);
    if (status != CM_OK) return status;
    struct map_entry *entry = map_find(map, key, hash);
    if (entry->key != NULL) {
        *ret_existing = entry->value;
        return CM_OK;
    }
    *entry = (struct map_entry){key, hash, value};
    map->n_entries++;
    *ret_existing = MAP_NONE;
    return CM_OK;
}
