/* SPDX-License-Identifier: Apache-2.0 */
/* A hash map from text to uint32_t in an arena, with linear probing. Keys are borrowed. The
 * hash is seeded (hash_text), so a file cannot choose names that collide. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct map_entry {
    const char *key;
    uint32_t length; /* of the key */
    uint32_t value;
};

struct map_slot {
    uint32_t hash;  /* low 32 bits of the key's hash */
    uint32_t entry; /* 1 + index of the key's entry; 0: free */
};

struct map {
    struct arena *arena;
    struct map_entry *entries; /* in insertion order */
    size_t n_entries;
    size_t capacity; /* of `entries` */
    struct map_slot *slots;
    size_t n_slots; /* a power of two, or 0 */
};

#define MAP_NONE UINT32_MAX

void map_init(struct map *map, struct arena *arena);
/* Allocates space for `n` entries in total. Returns CM_OK or CM_NO_MEMORY. */
int map_reserve(struct map *map, size_t n) __attribute__((warn_unused_result));

/* A key is a NUL-terminated text or, for functions whose name ends in _n, `length` < 2^32
 * arbitrary bytes. Keys are equal if their bytes are. */

/* Returns the value; MAP_NONE if the key is absent. */
uint32_t map_get(const struct map *map, const char *key);
uint32_t map_get_n(const struct map *map, const char *key, size_t length);
/* Returns the stored key that equals `key`; NULL if absent. */
const char *map_key_n(const struct map *map, const char *key, size_t length);
/* Sets or replaces a value. `key` must outlive the map. Returns CM_OK or CM_NO_MEMORY. */
int map_set(struct map *map, const char *key, uint32_t value)
    __attribute__((warn_unused_result));
int map_set_n(struct map *map, const char *key, size_t length, uint32_t value)
    __attribute__((warn_unused_result));
/* Adds a value if the key is absent. Sets *ret_existing to the existing value; MAP_NONE if
 * added. Returns CM_OK or CM_NO_MEMORY. */
int map_add(struct map *map, const char *key, uint32_t value, uint32_t *ret_existing)
    __attribute__((warn_unused_result));
int map_add_n(struct map *map, const char *key, size_t length, uint32_t value,
              uint32_t *ret_existing) __attribute__((warn_unused_result));
