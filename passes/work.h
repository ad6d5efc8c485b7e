/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work budget that all runs of the passes for one profile share: --memory-limit and
 * --formula run the passes many times, and some passes search. The budget is a number of steps,
 * not a time, so results are deterministic.
 */
#ifndef PASSES_WORK_H
#define PASSES_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cm_diagnostics;

/* Kinds of search. Each has its own budget of steps; a step takes about 20 ns. */
enum work_kind { WORK_SCHEDULES, WORK_ARENAS, N_WORK_KINDS };

#define WORK_STEPS ((int64_t)1 << 27) /* of each kind */

/* All runs together process at most WORK_NODES nodes, or WORK_RUNS runs if that is more. */
#define WORK_NODES ((int64_t)1 << 21)
#define WORK_RUNS  16

struct work {
    int64_t steps_left[N_WORK_KINDS];
    int64_t nodes_left; /* nodes that further runs may process */
    bool is_exhausted;  /* a search ended early, or a run was refused */
    struct arena *arena;
    const uint32_t
        *order; /* schedule of an earlier run, or NULL: used if a search ends early */
};

/* Returns the full budget for one profile of a model of `n_nodes` nodes. */
struct work work_start(struct arena *arena, size_t n_nodes);

/* Returns how many steps a search may do: `max_steps`, but at most half of the remaining steps,
 * since later searches need the rest. `work` NULL: `max_steps`. */
int64_t work_share(const struct work *work, enum work_kind kind, int64_t max_steps);
/* Subtracts the `steps` that a search did. `max_steps` is the argument that work_share got: the
 * work is exhausted if the search ended at a smaller share. */
void work_search(struct work *work, enum work_kind kind, int64_t steps, int64_t max_steps);
/* Subtracts one run of the passes. Returns false if the run is refused: no work is left. */
bool work_run(struct work *work, size_t n_nodes);
/* Adds a note if the work is exhausted. */
void work_note(const struct work *work, struct cm_diagnostics *diag);

#endif
