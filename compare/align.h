/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sequences laid beside each other so that as much as can be stands beside its like, in
 * order: the layers of a Sequential, whose numbers are places and not names. Takes n log n.
 */
#ifndef COMPARE_ALIGN_H
#define COMPARE_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct align_item {
    uint64_t whole; /* equal of what is the same */
    uint64_t kind;  /* equal of what is of a kind */
    bool anchors;   /* what is the same as this says where the rest belongs */
    size_t mate;    /* where in the other sequence; CM_NO_INDEX: nowhere */
};

struct align_items {
    struct align_item *items;
    size_t n;
};

/* Sets each `mate`. CM_OK, CM_NO_MEMORY. */
int align(struct align_items before, struct align_items after, struct arena *arena)
    __attribute__((warn_unused_result));

#endif
