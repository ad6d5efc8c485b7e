/* SPDX-License-Identifier: Apache-2.0 */
/* Hash table with linear probing, at most half full; each key has a list of items. */
#include "compare/bins.h"

#include <stdbool.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/hash.h"

#include "support/banned.h"

/* Combines a and b non-commutatively and applies the finalizer of MurmurHash3 (public domain).
 */
uint64_t bins_mix(uint64_t a, uint64_t b) {
    uint64_t hash = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2)));
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
    hash ^= hash >> 33;
    return hash == BINS_NO_KEY ? 1 : hash;
}

uint64_t bins_text(const char *text) {
    return bins_mix(hash_bytes(HASH_BYTES_BEGIN, text, strlen(text)), 0);
}

static size_t find_slot(const struct bins *bins, uint64_t key) {
    size_t slot = (size_t)key & bins->mask;
    while (bins->keys[slot] != BINS_NO_KEY && bins->keys[slot] != key)
        slot = (slot + 1) & bins->mask;
    return slot;
}

int bins_make(struct bins *bins, const uint64_t *keys, size_t n, struct arena *arena) {
    size_t capacity = 16;
    while (capacity / 2 < n) capacity *= 2;
    *bins = (struct bins){
        .mask = capacity - 1,
        .keys = arena_array(arena, capacity, sizeof(*bins->keys)),
        .heads = arena_array(arena, capacity, sizeof(*bins->heads)),
        .nexts = arena_array(arena, n, sizeof(*bins->nexts)),
    };
    if (!bins->keys || !bins->heads || !bins->nexts) return CM_NO_MEMORY;
    for (size_t i = n; i-- > 0;) { /* backwards, so that the first item becomes the head */
        if (keys[i] == BINS_NO_KEY) continue;
        const size_t slot = find_slot(bins, keys[i]);
        const bool is_new = bins->keys[slot] == BINS_NO_KEY;
        bins->nexts[i] = is_new ? CM_NO_INDEX : bins->heads[slot];
        bins->keys[slot] = keys[i];
        bins->heads[slot] = i;
    }
    return CM_OK;
}

size_t bins_first(struct bins *bins, uint64_t key, const size_t *taken) {
    const size_t slot = find_slot(bins, key);
    if (key == BINS_NO_KEY || bins->keys[slot] == BINS_NO_KEY) return CM_NO_INDEX;
    size_t *head = &bins->heads[slot];
    while (*head != CM_NO_INDEX && taken[*head] != CM_NO_INDEX) *head = bins->nexts[*head];
    return *head;
}
