/* SPDX-License-Identifier: Apache-2.0 */
/* The work budget that all runs of the passes for one profile share: --memory-limit and
 * --formula run the passes many times, and some passes search. The budget is a number of steps,
 * not a time, so results are deterministic. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cm_diagnostics;

/* Kinds of search. Each has its own budget of steps; a step takes about 20 ns (schedules) or
 * 5 ns (arenas). */
enum work_kind { WORK_SCHEDULES, WORK_ARENAS, N_WORK_KINDS };

/* Of WORK_SCHEDULES; WORK_ARENAS has four times as many. */
#define WORK_STEPS ((int64_t)1 << 27)

/* Runs are refused after at least WORK_RUNS runs with at least WORK_NODES nodes in total. */
#define WORK_NODES ((int64_t)1 << 21)
#define WORK_RUNS  16

struct work {
    int64_t steps_left[N_WORK_KINDS];
    int64_t nodes_left; /* nodes that further runs may process */
    bool is_exhausted;  /* a search ended early, or a run was refused */
    struct arena *arena;
    const uint32_t
        *order; /* schedule of an earlier run, used if a search ends early; NULL: none */
};

/* Returns the full budget for one profile of a model of `n_nodes` nodes. */
struct work work_start(struct arena *arena, size_t n_nodes);

/* Returns how many steps a search may do: `max_steps`, but at most half of the remaining steps,
 * because later searches need the rest. If `work` is NULL, returns `max_steps`. */
int64_t work_share(const struct work *work, enum work_kind kind, int64_t max_steps);
/* Subtracts the `steps` of a finished search. If the search was stopped by a share smaller than
 * `max_steps` (the argument of work_share), the work is marked as exhausted. */
void work_search(struct work *work, enum work_kind kind, int64_t steps, int64_t max_steps);
/* Subtracts one run of the passes over `n_nodes` nodes. Returns false if no node is left: the
 * run is refused and the work marked as exhausted. */
bool work_run(struct work *work, size_t n_nodes);
/* Adds a note if the work is exhausted. */
void work_note(const struct work *work, struct cm_diagnostics *diag);
