/* SPDX-License-Identifier: Apache-2.0 */
/* See work.h. */
#include "passes/work.h"

#include "support/diag.h"

struct work work_start(struct arena *arena, size_t n_nodes) {
    const int64_t nodes = WORK_RUNS * (int64_t)n_nodes;
    return (struct work){.steps_left = {WORK_STEPS, 4 * WORK_STEPS},
                         .nodes_left = nodes > WORK_NODES ? nodes : WORK_NODES,
                         .arena = arena};
}

int64_t work_share(const struct work *work, enum work_kind kind, int64_t max_steps) {
    if (!work || max_steps <= work->steps_left[kind] / 2) return max_steps;
    return work->steps_left[kind] > 0 ? work->steps_left[kind] / 2 : 0;
}

void work_search(struct work *work, enum work_kind kind, int64_t steps, int64_t max_steps) {
    if (!work) return;
    if (steps < max_steps && steps >= work_share(work, kind, max_steps))
        work->is_exhausted = true;
    work->steps_left[kind] -= steps;
}

bool work_run(struct work *work, size_t n_nodes) {
    if (!work) return true;
    if (work->nodes_left <= 0) work->is_exhausted = true;
    if (work->nodes_left <= 0) return false;
    work->nodes_left -= (int64_t)n_nodes;
    return true;
}

void work_note(const struct work *work, struct cm_diagnostics *diag) {
    if (!work || !work->is_exhausted) return;
    diag_note(diag, DIAG_LIMIT,
              "the work budget is exhausted: a schedule or arena with less memory, or a larger "
              "batch that fits, may exist");
}
