/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items by a 64-bit key, several to a key, in order: what is matched is taken from its bin, so
 * that matching looks at no item twice. Keys are hashes; whoever must be sure compares.
 */
#ifndef COMPARE_BINS_H
#define COMPARE_BINS_H

#include <stddef.h>
#include <stdint.h>

struct arena;

#define BINS_NO_KEY 0 /* of an item that goes into no bin */

struct bins {
    size_t mask;
    uint64_t *keys; /* BINS_NO_KEY: free */
    size_t *heads;  /* the first item that may still be there */
    size_t *nexts;  /* by item; CM_NO_INDEX: the last */
};

/* Items are 0 .. n - 1. CM_OK, CM_NO_MEMORY. */
int bins_make(struct bins *bins, const uint64_t *keys, size_t n, struct arena *arena)
    __attribute__((warn_unused_result));

/* The first item of the key that is not taken (taken[item] is CM_NO_INDEX); CM_NO_INDEX. */
size_t bins_first(struct bins *bins, uint64_t key, const size_t *taken);

/* Two keys, or a key and a number, as one; never BINS_NO_KEY. */
uint64_t bins_mix(uint64_t a, uint64_t b);
uint64_t bins_text(const char *text);

#endif
