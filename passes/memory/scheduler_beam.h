/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of reorder: a problem with its lists, and one search through it. */
#ifndef PASSES_MEMORY_SCHEDULER_BEAM_H
#define PASSES_MEMORY_SCHEDULER_BEAM_H

#include "passes/memory/scheduler.h"

/* A problem seen in one direction: backwards edges are turned, and inputs are results. */
struct scheduler_view {
    struct arena *arena;
    const struct scheduler_problem *problem;
    bool backwards;
    uint32_t *n_before; /* by task: edges that lead to it */
    uint32_t *after;    /* by task: its list in `followers` begins here; one more at the end */
    uint32_t *followers;
    uint32_t *holds; /* by task: its list in `held` begins here; one more at the end */
    uint32_t *held;  /* tensors */
    int64_t least;   /* what every order needs at some task */
    int64_t budget;  /* entries that a search looks at or copies */
};

int scheduler_view_open(struct scheduler_view *view, struct arena *arena,
                        const struct scheduler_problem *problem, bool backwards) CM_MUST_CHECK;

/*
 * An order that needs less than `limit`, in the direction of the view, in *ret_order;
 * *ret_found false: there is none, or none was met. *ret_complete: no choice was left out, so
 * that what was found is the best that there is.
 */
int scheduler_beam(const struct scheduler_view *view, int64_t limit, uint32_t *ret_order,
                   bool *ret_found, bool *ret_complete) CM_MUST_CHECK;

/* Betters result->order around its peak. */
int scheduler_windows(struct arena *arena, const struct scheduler_problem *problem,
                      struct scheduler_result *result) CM_MUST_CHECK;

#endif
