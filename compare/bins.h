/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multimap from 64-bit keys to items in ascending order. Lookup skips taken items, each of them
 * only once. Keys are hashes: callers that need certainty compare the items.
 */
#ifndef COMPARE_BINS_H
#define COMPARE_BINS_H

#include <stddef.h>
#include <stdint.h>

struct arena;

#define BINS_NO_KEY 0 /* key of an item that is not inserted */

struct bins {
    size_t mask;
    uint64_t *keys; /* BINS_NO_KEY: free */
    size_t *heads;  /* first item of the key that is not known to be taken; CM_NO_INDEX: none */
    size_t *nexts;  /* by item: next item of its key; CM_NO_INDEX: last */
};

/* Inserts items 0 .. n - 1 by keys[item]. CM_OK, CM_NO_MEMORY. */
int bins_make(struct bins *bins, const uint64_t *keys, size_t n, struct arena *arena)
    __attribute__((warn_unused_result));

/* Returns the first item of the key with taken[item] == CM_NO_INDEX; CM_NO_INDEX: none. */
size_t bins_first(struct bins *bins, uint64_t key, const size_t *taken);

/* Return a hash that is never BINS_NO_KEY. */
uint64_t bins_mix(uint64_t a, uint64_t b);
uint64_t bins_text(const char *text);

#endif
