/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search in both directions. Turned round a problem is one of the same kind: a tensor is
 * alive from its first to its last member whichever way one looks. What is hard in one
 * direction may be narrow in the other. Where neither is exact, what was found is bettered
 * around its peak.
 */
#include "passes/memory/scheduler.h"

#include <string.h>

#include "passes/memory/scheduler_beam.h"
#include "support/arena.h"

#include "support/banned.h"

/* First and last place of a tensor's members in an order. */
static void span_of(const struct scheduler_problem *problem,
                    const struct scheduler_tensor *tensor, const uint32_t *places,
                    uint32_t *ret_first, uint32_t *ret_last) {
    uint32_t first = problem->n_tasks - 1;
    uint32_t last = 0;
    for (uint32_t i = 0; i < tensor->n_members; i++) {
        uint32_t place = places[problem->members[tensor->members + i]];
        if (place < first) first = place;
        if (place > last) last = place;
    }
    *ret_first = tensor->from_start ? 0 : first;
    *ret_last = tensor->to_end ? problem->n_tasks - 1 : last;
}

static int64_t sweep(const struct scheduler_problem *problem, const uint32_t *order,
                     uint32_t *places, int64_t *change, uint32_t *ret_place) {
    int64_t live = 0;
    int64_t peak = 0;
    for (uint32_t i = 0; i < problem->n_tasks; i++) places[order[i]] = i;
    for (uint32_t i = 0; i < problem->n_tensors; i++) {
        uint32_t first = 0;
        uint32_t last = 0;
        span_of(problem, &problem->tensors[i], places, &first, &last);
        change[first] += problem->tensors[i].bytes;
        change[last + 1] -= problem->tensors[i].bytes;
    }
    for (uint32_t i = 0; i < problem->n_tasks; i++) {
        live += change[i];
        if (live + problem->work[order[i]] <= peak) continue;
        peak = live + problem->work[order[i]];
        *ret_place = i;
    }
    return peak;
}

int scheduler_peak(struct arena *arena, const struct scheduler_problem *problem,
                   const uint32_t *order, int64_t *ret_peak, uint32_t *ret_place) {
    struct arena_mark mark = arena_save(arena);
    size_t n = problem->n_tasks;
    uint32_t *places = arena_array(arena, n, sizeof *places);
    int64_t *change = arena_array(arena, n + 1, sizeof *change);
    if (!places || !change) return CM_NO_MEMORY;
    *ret_place = 0;
    *ret_peak = n == 0 ? 0 : sweep(problem, order, places, change, ret_place);
    arena_restore(arena, mark);
    return CM_OK;
}

static void turn_round(uint32_t *order, uint32_t n) {
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t task = order[i];
        order[i] = order[n - 1 - i];
        order[n - 1 - i] = task;
    }
}

/* One direction; `order` is scratch. */
static int look(struct arena *arena, const struct scheduler_problem *problem, bool backwards,
                uint32_t *order, struct scheduler_result *result) {
    struct scheduler_view view;
    bool found = false;
    bool complete = false;
    if (scheduler_view_open(&view, arena, problem, backwards) < 0) return CM_NO_MEMORY;
    if (result->peak <= view.least) result->optimal = true;
    if (result->optimal) return CM_OK;
    if (scheduler_beam(&view, result->peak, order, &found, &complete) < 0) return CM_NO_MEMORY;
    result->optimal = complete;
    if (!found) return CM_OK;
    if (backwards) turn_round(order, problem->n_tasks);
    memcpy(result->order, order, problem->n_tasks * sizeof *order);
    uint32_t place = 0;
    return scheduler_peak(arena, problem, order, &result->peak, &place);
}

int scheduler_find(struct arena *arena, const struct scheduler_problem *problem,
                   struct scheduler_result *ret) {
    uint32_t n = problem->n_tasks;
    uint32_t *order = arena_array(arena, n, sizeof *order);
    *ret = (struct scheduler_result){.order = arena_array(arena, n, sizeof *ret->order)};
    if (!order || !ret->order) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) ret->order[i] = i;
    uint32_t place = 0;
    if (scheduler_peak(arena, problem, ret->order, &ret->given_peak, &place) < 0)
        return CM_NO_MEMORY;
    ret->peak = ret->given_peak;
    for (int backwards = 0; backwards < 2; backwards++) {
        struct arena_mark mark = arena_save(arena);
        if (look(arena, problem, backwards == 1, order, ret) < 0) return CM_NO_MEMORY;
        arena_restore(arena, mark);
    }
    return ret->optimal ? CM_OK : scheduler_windows(arena, problem, ret);
}
