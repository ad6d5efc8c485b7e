/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligns two sequences: pairs equal items, then items of the same kind, without crossings. Used
 * for the layers of a Sequential, whose names are only indices. O(n log n).
 */
#ifndef COMPARE_ALIGN_H
#define COMPARE_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct align_item {
    uint64_t content; /* key: equal for identical items */
    uint64_t kind;    /* key: equal for items of the same kind */
    bool anchors;     /* false: the first step pairs it only in the common prefix or suffix */
    size_t mate;      /* index in the other sequence; CM_NO_INDEX: none */
};

struct align_items {
    struct align_item *items;
    size_t n;
};

/* Sets each `mate`. CM_OK, CM_NO_MEMORY. */
int align(struct align_items before, struct align_items after, struct arena *arena)
    __attribute__((warn_unused_result));

#endif
