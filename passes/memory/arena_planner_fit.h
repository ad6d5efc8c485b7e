/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of packing: who conflicts with whom, and one plan from one order. */
#ifndef PASSES_MEMORY_ARENA_PLANNER_FIT_H
#define PASSES_MEMORY_ARENA_PLANNER_FIT_H

#include <stdbool.h>

#include "passes/memory/arena_planner.h"

/* Which gap between placed blocks a block takes. */
enum fit {
    FIT_LOWEST,
    FIT_SMALLEST,
    FIT_ENDS, /* in turns the lowest and the highest under the bound; else the lowest */
};

struct span {
    int64_t from;
    int64_t to;
};

struct packing {
    struct arena *arena;
    const struct block *blocks;
    uint32_t n;
    int64_t bound;
    const uint32_t *by_first; /* the blocks by the step that makes them */
    /* Blocks alive at one step with block b: others[from[b]] up to others[from[b + 1]]. */
    uint32_t *from;
    uint32_t *others;
    int64_t *breadths;  /* by block: bytes alive at its first step */
    struct span *spans; /* scratch: of the placed ones around one block */
    int64_t work;       /* conflicts looked at so far */
};

/* False in *ret_possible: more pairs than are looked at. */
int arena_planner_open(struct packing *packing, struct arena *arena, const struct block *blocks,
                       size_t n, bool *ret_possible) CM_MUST_CHECK;

/*
 * Places the blocks in that order, each as if it stood on those before it. Size of the arena;
 * one of more than `limit` bytes is given up, and limit + 1 returned.
 */
int64_t arena_planner_place(struct packing *packing, const uint32_t *order, enum fit fit,
                            int64_t limit, int64_t *offsets);

/* The order in which a planner places; that of PACKING_ENDS is that of PACKING_TIME. */
int arena_planner_order(const struct packing *packing, enum arena_planner planner,
                        uint32_t *ret_order) CM_MUST_CHECK;

/* The blocks by the step that makes them, and that needs them last. */
int arena_planner_order_by_first(const struct packing *packing,
                                 uint32_t *ret_order) CM_MUST_CHECK;
int arena_planner_order_by_last(const struct packing *packing,
                                uint32_t *ret_order) CM_MUST_CHECK;

/* A plan without pairs, and the bound. */
int arena_planner_by_heap(struct packing *packing, int64_t *offsets,
                          int64_t *ret_bytes) CM_MUST_CHECK;

/* Betters a plan of *bytes down to the bound, or until its budget is spent. */
int arena_planner_search(struct packing *packing, int64_t *offsets,
                         int64_t *bytes) CM_MUST_CHECK;

#endif
