/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that all runs of the passes behind one profile share: --memory-limit and --formula
 * run the passes many times, and some passes search. Work counts steps, not time, so results
 * are deterministic.
 */
#ifndef PASSES_WORK_H
#define PASSES_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cm_diagnostics;

/* Kinds of search, each with steps of its own (of about 20 ns). */
enum work_kind { WORK_SCHEDULES, WORK_ARENAS, N_WORK_KINDS };

#define WORK_STEPS ((int64_t)1 << 27) /* of each kind */
#define WORK_NODES ((int64_t)1 << 21) /* in all runs; of any model at least */
#define WORK_RUNS  16

struct work {
    int64_t steps_left[N_WORK_KINDS];
    int64_t nodes_left; /* of further runs */
    bool is_exhausted;  /* a search ended early, or a run is refused */
    struct arena *arena;
    const uint32_t
        *order; /* schedule of an earlier run, or NULL: used if a search ends early */
};

struct work work_start(struct arena *arena, size_t n_nodes);

/* Returns the steps that a search of at most `max_steps` steps may do: at most half of the
 * remaining steps, the rest is for later searches. `work` NULL: `max_steps`. */
int64_t work_share(const struct work *work, enum work_kind kind, int64_t max_steps);
/* Subtracts the steps of a search that was limited to `max_steps` before work_share. */
void work_search(struct work *work, enum work_kind kind, int64_t steps, int64_t max_steps);
/* Subtracts one run of the passes. Returns false if the work is exhausted. */
bool work_run(struct work *work, size_t n_nodes);
/* Adds a note if the work is exhausted. */
void work_note(const struct work *work, struct cm_diagnostics *diag);

#endif
