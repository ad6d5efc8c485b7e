/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligns two sequences so that as many items as possible are paired with similar ones, in
 * order: the layers of a Sequential, whose names are only indices. O(n log n).
 */
#ifndef COMPARE_ALIGN_H
#define COMPARE_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct align_item {
    uint64_t content; /* key of identical items */
    uint64_t kind;    /* key of items of the same kind */
    bool anchors;     /* identical items are paired in the first step */
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
