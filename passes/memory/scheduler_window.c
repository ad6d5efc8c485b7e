/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the whole is too wide for the beam: what an order runs around its peak is taken out,
 * put into a better order between what stands before and after it, and put back. Then the same
 * around the peak that is left, until nothing helps.
 */
#include "passes/memory/scheduler_beam.h"

#include <string.h>

#include "support/arena.h"

#include "support/banned.h"

#define MAX_ROUNDS 48
#define BUDGET     ((int64_t)1 << 20) /* of one search; see scheduler_beam.c */

static const uint32_t widths[] = {24, 96, 384};

/* The tasks from..to - 1 of an order as a problem of their own. */
struct window {
    struct arena *arena;
    const struct scheduler_problem *whole;
    const uint32_t *places; /* by task of the whole: its place in the order */
    uint32_t from;
    uint32_t to;
    struct scheduler_problem problem;
    int64_t *work;
    struct scheduler_edge *edges;
    struct scheduler_tensor *tensors;
    uint32_t *members;
};

static bool is_inside(const struct window *window, uint32_t task) {
    return window->places[task] >= window->from && window->places[task] < window->to;
}

/* A tensor that is alive all along is there from start to end, whoever its members are. */
static void cut_tensor(struct window *window, const struct scheduler_tensor *tensor) {
    struct scheduler_tensor cut = *tensor;
    cut.members = (uint32_t)window->problem.n_members;
    cut.n_members = 0;
    for (uint32_t i = 0; i < tensor->n_members; i++) {
        uint32_t task = window->whole->members[tensor->members + i];
        if (window->places[task] < window->from) cut.from_start = true;
        if (window->places[task] >= window->to) cut.to_end = true;
        if (!is_inside(window, task)) continue;
        window->members[window->problem.n_members++] = window->places[task] - window->from;
        cut.n_members++;
    }
    if (cut.n_members > 0 || (cut.from_start && cut.to_end))
        window->tensors[window->problem.n_tensors++] = cut;
}

static bool allocate(struct window *window) {
    const struct scheduler_problem *whole = window->whole;
    window->work = arena_array(window->arena, window->to - window->from, sizeof *window->work);
    window->edges = arena_array(window->arena, whole->n_edges, sizeof *window->edges);
    window->tensors = arena_array(window->arena, whole->n_tensors, sizeof *window->tensors);
    window->members = arena_array(window->arena, whole->n_members, sizeof *window->members);
    return window->work && window->edges && window->tensors && window->members;
}

static void cut_out(struct window *window, const uint32_t *order) {
    const struct scheduler_problem *whole = window->whole;
    for (uint32_t i = window->from; i < window->to; i++)
        window->work[i - window->from] = whole->work[order[i]];
    for (size_t i = 0; i < whole->n_edges; i++) {
        const struct scheduler_edge *edge = &whole->edges[i];
        if (!is_inside(window, edge->before) || !is_inside(window, edge->after)) continue;
        window->edges[window->problem.n_edges++] =
            (struct scheduler_edge){window->places[edge->before] - window->from,
                                    window->places[edge->after] - window->from};
    }
    for (uint32_t i = 0; i < whole->n_tensors; i++) cut_tensor(window, &whole->tensors[i]);
    window->problem.n_tasks = window->to - window->from;
    window->problem.work = window->work;
    window->problem.edges = window->edges;
    window->problem.tensors = window->tensors;
    window->problem.members = window->members;
}

/* Puts the tasks of a window into an order with less than `limit`, where one is found. */
static int better_window(struct window *window, int64_t limit, uint32_t *order,
                         bool *ret_found) {
    uint32_t n = window->to - window->from;
    uint32_t *found = arena_array(window->arena, n, sizeof *found);
    uint32_t *tasks = arena_copy(window->arena, order + window->from, n * sizeof *tasks);
    bool complete = false;
    *ret_found = false;
    if (!found || !tasks || !allocate(window)) return CM_NO_MEMORY;
    cut_out(window, order);
    for (int backwards = 0; backwards < 2 && !*ret_found && !complete; backwards++) {
        struct scheduler_view view;
        if (scheduler_view_open(&view, window->arena, &window->problem, backwards == 1) < 0)
            return CM_NO_MEMORY;
        view.budget = BUDGET;
        if (view.least >= limit) return CM_OK;
        if (scheduler_beam(&view, limit, found, ret_found, &complete) < 0) return CM_NO_MEMORY;
        for (uint32_t i = 0; *ret_found && i < n; i++)
            order[window->from + i] = tasks[found[backwards ? n - 1 - i : i]];
    }
    return CM_OK;
}

/* Around a place, cut at the ends of the order. */
static int better_around(struct arena *arena, const struct scheduler_problem *problem,
                         uint32_t place, uint32_t width, struct scheduler_result *result,
                         bool *ret_found) {
    struct arena_mark mark = arena_save(arena);
    uint32_t *places = arena_array(arena, problem->n_tasks, sizeof *places);
    if (!places) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < problem->n_tasks; i++) places[result->order[i]] = i;
    struct window window = {
        .arena = arena,
        .whole = problem,
        .places = places,
        .from = place > width / 2 ? place - width / 2 : 0,
    };
    window.to = problem->n_tasks - window.from < width ? problem->n_tasks : window.from + width;
    int status = better_window(&window, result->peak, result->order, ret_found);
    arena_restore(arena, mark);
    return status;
}

int scheduler_windows(struct arena *arena, const struct scheduler_problem *problem,
                      struct scheduler_result *result) {
    uint32_t place = 0;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        bool found = false;
        if (scheduler_peak(arena, problem, result->order, &result->peak, &place) < 0)
            return CM_NO_MEMORY;
        for (size_t i = 0; i < sizeof widths / sizeof *widths && !found; i++)
            if (better_around(arena, problem, place, widths[i], result, &found) < 0)
                return CM_NO_MEMORY;
        if (!found) return CM_OK;
    }
    return scheduler_peak(arena, problem, result->order, &result->peak, &place);
}
