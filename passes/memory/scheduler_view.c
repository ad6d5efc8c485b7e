/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of a problem by task, in one direction. */
#include "passes/memory/scheduler_beam.h"

#include "support/arena.h"

#include "support/banned.h"

#define BUDGET ((int64_t)1 << 24) /* about a third of a second */

static uint32_t from(const struct scheduler_view *view, const struct scheduler_edge *edge) {
    return view->backwards ? edge->after : edge->before;
}

static uint32_t to(const struct scheduler_view *view, const struct scheduler_edge *edge) {
    return view->backwards ? edge->before : edge->after;
}

/* From counts, each one place behind its own, to where each list begins. */
static void add_up(uint32_t *begins, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) begins[i + 1] += begins[i];
}

static int list_followers(struct scheduler_view *view) {
    const struct scheduler_problem *problem = view->problem;
    uint32_t n = problem->n_tasks;
    uint32_t *fill = arena_array(view->arena, n, sizeof *fill);
    view->n_before = arena_array(view->arena, n, sizeof *view->n_before);
    view->after = arena_array(view->arena, (size_t)n + 1, sizeof *view->after);
    view->followers = arena_array(view->arena, problem->n_edges, sizeof *view->followers);
    if (!fill || !view->n_before || !view->after || !view->followers) return CM_NO_MEMORY;
    for (size_t i = 0; i < problem->n_edges; i++)
        view->after[from(view, &problem->edges[i]) + 1]++;
    add_up(view->after, n);
    for (size_t i = 0; i < problem->n_edges; i++) {
        uint32_t task = from(view, &problem->edges[i]);
        uint32_t follower = to(view, &problem->edges[i]);
        view->followers[view->after[task] + fill[task]++] = follower;
        view->n_before[follower]++;
    }
    return CM_OK;
}

static int list_held(struct scheduler_view *view) {
    const struct scheduler_problem *problem = view->problem;
    uint32_t n = problem->n_tasks;
    uint32_t *fill = arena_array(view->arena, n, sizeof *fill);
    view->holds = arena_array(view->arena, (size_t)n + 1, sizeof *view->holds);
    view->held = arena_array(view->arena, problem->n_members, sizeof *view->held);
    if (!fill || !view->holds || !view->held) return CM_NO_MEMORY;
    for (size_t i = 0; i < problem->n_members; i++) view->holds[problem->members[i] + 1]++;
    add_up(view->holds, n);
    for (uint32_t tensor = 0; tensor < problem->n_tensors; tensor++)
        for (uint32_t i = 0; i < problem->tensors[tensor].n_members; i++) {
            uint32_t task = problem->members[problem->tensors[tensor].members + i];
            view->held[view->holds[task] + fill[task]++] = tensor;
        }
    return CM_OK;
}

/* Whatever the order, a task runs beside all that it makes and reads. */
static int64_t find_least(const struct scheduler_view *view) {
    const struct scheduler_problem *problem = view->problem;
    int64_t inputs = 0;
    int64_t results = 0;
    int64_t least = 0;
    for (uint32_t i = 0; i < problem->n_tensors; i++) {
        if (problem->tensors[i].from_start) inputs += problem->tensors[i].bytes;
        if (problem->tensors[i].to_end) results += problem->tensors[i].bytes;
    }
    for (uint32_t task = 0; task < problem->n_tasks; task++) {
        int64_t beside = problem->work[task];
        for (uint32_t i = view->holds[task]; i < view->holds[task + 1]; i++)
            beside += problem->tensors[view->held[i]].bytes;
        if (beside > least) least = beside;
    }
    if (inputs > least) least = inputs;
    return results > least ? results : least;
}

int scheduler_view_open(struct scheduler_view *view, struct arena *arena,
                        const struct scheduler_problem *problem, bool backwards) {
    *view = (struct scheduler_view){
        .arena = arena, .problem = problem, .backwards = backwards, .budget = BUDGET};
    if (list_followers(view) < 0 || list_held(view) < 0) return CM_NO_MEMORY;
    view->least = find_least(view);
    return CM_OK;
}
