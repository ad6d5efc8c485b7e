/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An order of tasks in which as little as possible is alive at once. Tasks have to come after
 * others; tensors are alive from the first to the last of the tasks that they are members of.
 * Minimizing the largest sum is NP-hard (one-shot black pebbling with weights); here is a
 * search that is exact where the graph is narrow and a beam where it is not. Nothing here knows
 * of models; the same problem always gives the same order.
 */
#ifndef PASSES_MEMORY_SCHEDULER_H
#define PASSES_MEMORY_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct arena;

struct scheduler_edge {
    uint32_t before;
    uint32_t after;
};

/* The maker and all readers, each once, in any order. */
struct scheduler_tensor {
    int64_t bytes;    /* > 0; the sum over all tensors and all work fits into int64 */
    bool from_start;  /* alive before the first member: an input */
    bool to_end;      /* alive after the last: a result */
    uint32_t members; /* first of them in scheduler_problem.members */
    uint32_t n_members;
};

struct scheduler_problem {
    uint32_t n_tasks;    /* 0, 1, … is a valid order */
    const int64_t *work; /* by task: bytes wanted besides, while it runs alone */
    size_t n_edges;      /* the same one may stand there twice */
    const struct scheduler_edge *edges;
    uint32_t n_tensors;
    const struct scheduler_tensor *tensors;
    size_t n_members;
    const uint32_t *members;
};

struct scheduler_result {
    uint32_t *order;    /* tasks; of the arena */
    int64_t peak;       /* most bytes at one task in that order */
    int64_t given_peak; /* the same in the order 0, 1, … */
    bool optimal;       /* no order needs less */
};

/* Never worse than 0, 1, …, which is given where nothing better is found. */
int scheduler_find(struct arena *arena, const struct scheduler_problem *problem,
                   struct scheduler_result *ret) CM_MUST_CHECK;

/* The most bytes alive at one task in that order, and the place of the first such task, by a
 * plain sweep. CM_NO_MEMORY. */
int scheduler_peak(struct arena *arena, const struct scheduler_problem *problem,
                   const uint32_t *order, int64_t *ret_peak, uint32_t *ret_place) CM_MUST_CHECK;

#endif
