/* SPDX-License-Identifier: Apache-2.0 */
/* See map.h. Slots are small, because the time of a look-up is mostly the cache miss of its
 * slot. Entries are in insertion order: most look-ups find recent, still cached entries. */
#include "support/map.h"

#include <string.h>

#include "costmodel/status.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/hash.h"

#define FIRST_SLOTS ((size_t)16)

void map_init(struct map *map, struct arena *arena) {
    memset(map, 0, sizeof *map);
    map->arena = arena;
}

/* The key of a look-up. */
struct lookup {
    const char *text;
    uint32_t length;
    uint32_t hash;
};

static struct lookup map_lookup(const struct map *map, const char *text, size_t length) {
    BUG_ON(length > UINT32_MAX);
    const uint64_t hash = hash_text(text, length, arena_seed(map->arena));
    return (struct lookup){text, (uint32_t)length, (uint32_t)hash};
}

/* Returns the slot of `key`, or the free slot for it. One slot is always free. */
static struct map_slot *map_find(const struct map *map, const struct lookup *key) {
    const size_t mask = map->n_slots - 1;
    size_t i = key->hash & mask;
    for (; map->slots[i].entry != 0; i = (i + 1) & mask) {
        if (map->slots[i].hash != key->hash) continue;
        const struct map_entry *entry = &map->entries[map->slots[i].entry - 1];
        if (entry->length == key->length &&
            (key->length == 0 || memcmp(entry->key, key->text, key->length) == 0))
            break;
    }
    return &map->slots[i];
}

/* Returns the largest number of entries for n_slots slots, about 69 % of n_slots. */
static size_t map_max_entries(size_t n_slots) {
    return n_slots / 16 * 11;
}

/* Allocates slots for at least n entries and copies the used ones. CM_OK or CM_NO_MEMORY. */
static int map_rehash(struct map *map, size_t n) {
    struct map grown = *map;
    if (grown.n_slots == 0) grown.n_slots = FIRST_SLOTS;
    while (map_max_entries(grown.n_slots) < n) {
        if (grown.n_slots > SIZE_MAX / 2) return CM_NO_MEMORY;
        grown.n_slots *= 2;
    }
    grown.slots = arena_array(map->arena, grown.n_slots, sizeof *grown.slots);
    if (grown.slots == NULL) return CM_NO_MEMORY;
    const size_t mask = grown.n_slots - 1;
    for (size_t i = 0; i < map->n_slots; i++) {
        if (map->slots[i].entry == 0) continue;
        size_t to = map->slots[i].hash & mask;
        while (grown.slots[to].entry != 0) to = (to + 1) & mask;
        grown.slots[to] = map->slots[i];
    }
    *map = grown;
    return CM_OK;
}

/* The first reservation is exact. Later ones grow geometrically, because a caller may
 * repeatedly reserve a few more entries. */
int map_reserve(struct map *map, size_t n) {
    if (n <= map->capacity) return CM_OK;
    if (n >= MAP_NONE) return CM_NO_MEMORY;
    if (map_max_entries(map->n_slots) < n && map_rehash(map, n) != CM_OK) return CM_NO_MEMORY;
    const size_t capacity = map->n_entries > 0 ? map_max_entries(map->n_slots) : n;
    struct map_entry *entries = arena_array_raw(map->arena, capacity, sizeof *entries);
    if (entries == NULL) return CM_NO_MEMORY;
    if (map->n_entries > 0) memcpy(entries, map->entries, map->n_entries * sizeof *entries);
    map->entries = entries;
    map->capacity = capacity;
    return CM_OK;
}

static const struct map_entry *map_entry_of(const struct map *map, const char *key,
                                            size_t length) {
    if (map->n_slots == 0) return NULL;
    const struct lookup lookup = map_lookup(map, key, length);
    const struct map_slot *slot = map_find(map, &lookup);
    return slot->entry == 0 ? NULL : &map->entries[slot->entry - 1];
}

uint32_t map_get_n(const struct map *map, const char *key, size_t length) {
    const struct map_entry *entry = map_entry_of(map, key, length);
    return entry == NULL ? MAP_NONE : entry->value;
}

uint32_t map_get(const struct map *map, const char *key) {
    return map_get_n(map, key, strlen(key));
}

const char *map_key_n(const struct map *map, const char *key, size_t length) {
    const struct map_entry *entry = map_entry_of(map, key, length);
    return entry == NULL ? NULL : entry->key;
}

/* Sets *ret to the entry of the key. If there is none, adds it with `value` (*ret_added). */
static int map_put(struct map *map, const char *key, size_t length, uint32_t value,
                   struct map_entry **ret, bool *ret_added) {
    const struct lookup lookup = map_lookup(map, key, length);
    if (map->n_entries >= map->capacity) {
        const size_t n = map->n_entries > 0 ? map->n_entries + 1 : map_max_entries(FIRST_SLOTS);
        if (map_reserve(map, n) != CM_OK) return CM_NO_MEMORY;
    }
    struct map_slot *slot = map_find(map, &lookup);
    *ret_added = slot->entry == 0;
    if (*ret_added) {
        map->entries[map->n_entries++] = (struct map_entry){key, lookup.length, value};
        *slot = (struct map_slot){lookup.hash, (uint32_t)map->n_entries};
    }
    *ret = &map->entries[slot->entry - 1];
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
