/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where blocks of bytes that live from step to step go in one arena so that no two that live at
 * the same time overlap, and the arena is small: dynamic storage allocation, which is NP-hard.
 * The planners of the literature give a start, a bounded search improves on it. Nothing here
 * knows of models; the same blocks always give the same plan.
 */
#ifndef PASSES_MEMORY_ARENA_PLANNER_H
#define PASSES_MEMORY_ARENA_PLANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct arena;

struct block {
    int64_t bytes; /* > 0; the sum over all blocks fits into int64 */
    uint32_t first;
    uint32_t last; /* step at which it is needed last, >= first */
};

/* The planners, each better than the others somewhere. */
enum arena_planner {
    PACKING_SIZE,    /* Pisarchyk & Lee 2020, greedy by size: largest first, smallest gap */
    PACKING_BREADTH, /* the same, greedy by breadth: steps by their live bytes, then by size */
    PACKING_TIME,    /* in the order in which they are made, smallest gap */
    PACKING_ENDS,    /* the same, in turns at the two ends: optimal where blocks are a chain */
    PACKING_N_PLANNERS
};

struct arena_layout {
    int64_t *offsets;               /* by block, of packing's arena */
    int64_t bytes;                  /* of the arena */
    int64_t bound;                  /* most bytes alive at one step: no arena is smaller */
    int64_t by[PACKING_N_PLANNERS]; /* what each alone gives; DIM_UNKNOWN: not tried */
};

/* "greedy_by_size" and the like; static text. */
const char *arena_planner_name(enum arena_planner planner);

/*
 * The best of all planners (`all` false: of those up to one that needs no more than the bound,
 * which none can better), and where that is above the bound, what a search finds within its
 * budget of work. What it needs, and the offsets, is of `arena`.
 */
int arena_layout(struct arena *arena, const struct block *blocks, size_t n, bool all,
                 struct arena_layout *ret) CM_MUST_CHECK;

#endif
