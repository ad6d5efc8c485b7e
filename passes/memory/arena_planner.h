/* SPDX-License-Identifier: Apache-2.0 */
/* Gives every block of bytes an offset in one arena so that blocks alive at the same step do
 * not overlap and the arena is small (dynamic storage allocation, NP-hard). Independent of the
 * model and deterministic: the same blocks always get the same offsets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct arena;
struct work;

struct block {
    int64_t bytes;  /* > 0; the sum over all blocks fits into int64 */
    uint32_t first; /* step; steps are numbered from 0 without large gaps */
    uint32_t last;  /* step of the last use, >= first */
};

enum arena_planner {
    PLANNER_BY_SIZE,  /* largest first, in the smallest gap (Pisarchyk & Lee 2020) */
    PLANNER_TWO_ENDS, /* by first step, alternately at the bottom and the top; optimal for
                         chains */
    N_ARENA_PLANNERS
};

struct arena_layout {
    int64_t *offsets;             /* by block */
    int64_t bytes;                /* size of the arena */
    int64_t bound;                /* most bytes alive at one step: lower bound on `bytes` */
    int64_t by[N_ARENA_PLANNERS]; /* arena size of each planner alone; DIM_UNKNOWN if not run */
};

/* Returns "greedy_by_size" or "two_ends"; static text. */
const char *arena_planner_name(enum arena_planner planner);

/* Computes a layout in `arena` by PLANNER_BY_SIZE; if that exceeds the bound (or if `all`),
 * also by PLANNER_TWO_ENDS; if both exceed it, by search. If too many blocks are alive together
 * to list all pairs, only PLANNER_TWO_ENDS runs. The search takes its steps from `work` (NULL:
 * unlimited). Returns CM_OK or CM_NO_MEMORY. */
int arena_layout(struct arena *arena, const struct block *blocks, size_t n, bool all,
                 struct work *work, struct arena_layout *ret) CM_MUST_CHECK;
