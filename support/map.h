/* SPDX-License-Identifier: Apache-2.0 */
/* A hash map from text to uint32_t in an arena, by linear probing. Keys are borrowed. A file
 * cannot choose names that fall together: the hash has a seed that it does not know
 * (hash_text). */
#ifndef SUPPORT_MAP_H
#define SUPPORT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* In the order in which they were added. */
struct map_entry {
    const char *key;
    uint32_t length; /* of the key */
    uint32_t value;
};

struct map_slot {
    uint32_t hash;  /* half of the key's */
    uint32_t entry; /* 1 + its index; 0: free */
};

struct map {
    struct arena *arena;
    struct map_entry *entries;
    size_t n_entries;
    size_t capacity; /* of `entries` */
    struct map_slot *slots;
    size_t n_slots; /* a power of two, or 0 */
};

#define MAP_NONE UINT32_MAX

void map_init(struct map *map, struct arena *arena);
/* Room for `n` entries in all, so that it need not grow on the way there. 0, or CM_NO_MEMORY.
 */
int map_reserve(struct map *map, size_t n) __attribute__((warn_unused_result));

/*
 * A key is a text with a NUL behind it, or (_n) `length` bytes, fewer than 2^32, whatever they
 * are. The two are the same key where they are the same bytes.
 */

/* The value, or MAP_NONE. */
uint32_t map_get(const struct map *map, const char *key);
uint32_t map_get_n(const struct map *map, const char *key, size_t length);
/* The key itself as it was set, equal to `key`; NULL: it is not there. */
const char *map_key(const struct map *map, const char *key);
const char *map_key_n(const struct map *map, const char *key, size_t length);
/* Sets or replaces. 0, or CM_NO_MEMORY. `key` must outlive the map. */
int map_set(struct map *map, const char *key, uint32_t value)
    __attribute__((warn_unused_result));
int map_set_n(struct map *map, const char *key, size_t length, uint32_t value)
    __attribute__((warn_unused_result));
/* Sets only when absent: *ret_existing is the value already there, or MAP_NONE when it was
 * added. */
int map_add(struct map *map, const char *key, uint32_t value, uint32_t *ret_existing)
    __attribute__((warn_unused_result));
int map_add_n(struct map *map, const char *key, size_t length, uint32_t value,
              uint32_t *ret_existing) __attribute__((warn_unused_result));

#endif
