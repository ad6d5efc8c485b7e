/* SPDX-License-Identifier: Apache-2.0 */
/* Finds an order of tasks with a low peak: tasks have predecessors, and a tensor is alive from
 * the first to the last of the tasks that use it. Minimizing the peak is NP-hard (one-shot
 * black pebbling with weights). The search is exact if the graph is narrow, a beam search
 * otherwise. Independent of the model and deterministic: the same problem always gives the same
 * order. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct arena;

struct scheduler_edge {
    uint32_t before;
    uint32_t after;
};

/* Members: the producer and all readers, each once, in any order. */
struct scheduler_tensor {
    int64_t bytes;    /* > 0; the sum over all tensors and all extra_bytes fits into int64 */
    bool from_start;  /* alive before the first member: an input */
    bool to_end;      /* alive after the last member: a graph output */
    uint32_t members; /* index of the first one in scheduler_problem.members */
    uint32_t n_members;
};

struct work;

struct scheduler_problem {
    uint32_t n_tasks;           /* 0, 1, … is a valid order */
    const int64_t *extra_bytes; /* by task: additional bytes while it runs */
    size_t n_edges;             /* duplicates are allowed */
    const struct scheduler_edge *edges;
    uint32_t n_tensors;
    const struct scheduler_tensor *tensors;
    size_t n_members;
    const uint32_t *members;
};

struct scheduler_result {
    uint32_t *order;    /* tasks; in the arena */
    int64_t peak;       /* bytes, in that order */
    int64_t given_peak; /* bytes, in the order 0, 1, … */
    bool optimal;       /* no order has a lower peak */
};

/* Searches for an order whose peak is at most that of 0, 1, … Takes its steps from `work`
 * (NULL: unlimited). Returns CM_OK or CM_NO_MEMORY. */
int scheduler_find(struct arena *arena, const struct scheduler_problem *problem,
                   struct work *work, struct scheduler_result *ret) CM_MUST_CHECK;

/* Computes the peak of an order in bytes and, unless `ret_place` is NULL, the index in `order`
 * of the first task at the peak. Returns CM_OK or CM_NO_MEMORY. */
int scheduler_peak(struct arena *arena, const struct scheduler_problem *problem,
                   const uint32_t *order, int64_t *ret_peak, uint32_t *ret_place) CM_MUST_CHECK;
