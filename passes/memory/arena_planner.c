/* SPDX-License-Identifier: Apache-2.0 */
/* All planners in turn, then the search where the best of them leaves something to gain. */
#include "passes/memory/arena_planner.h"

#include <string.h>

#include "ir/shape.h"
#include "passes/memory/arena_planner_fit.h"
#include "support/arena.h"

#include "support/banned.h"

static const struct {
    const char *name;
    enum fit fit;
} planners[PACKING_N_PLANNERS] = {
    [PACKING_SIZE] = {"greedy_by_size", FIT_SMALLEST},
    [PACKING_BREADTH] = {"greedy_by_breadth", FIT_SMALLEST},
    [PACKING_TIME] = {"best_fit", FIT_SMALLEST},
    [PACKING_ENDS] = {"two_ends", FIT_ENDS},
};

const char *arena_planner_name(enum arena_planner planner) {
    return planners[planner].name;
}

static int try_planners(struct packing *packing, bool all, struct arena_layout *plan) {
    uint32_t *order = arena_array_raw(packing->arena, packing->n, sizeof *order);
    int64_t *offsets = arena_array_raw(packing->arena, packing->n, sizeof *offsets);
    if (!order || !offsets) return CM_NO_MEMORY;
    for (int i = 0; i < PACKING_N_PLANNERS; i++) {
        enum arena_planner planner = (enum arena_planner)i;
        plan->by[i] = DIM_UNKNOWN;
        if (!all && i > 0 && plan->bytes == plan->bound) continue;
        if (arena_planner_order(packing, planner, order) < 0) return CM_NO_MEMORY;
        plan->by[i] = arena_planner_place(packing, order, planners[i].fit, INT64_MAX, offsets);
        if (i > 0 && plan->by[i] >= plan->bytes) continue;
        plan->bytes = plan->by[i];
        memcpy(plan->offsets, offsets, packing->n * sizeof *offsets);
    }
    return CM_OK;
}

/* Where pairs are too many only best fit is left. */
static int plan_by_heap(struct packing *packing, struct arena_layout *plan) {
    if (arena_planner_by_heap(packing, plan->offsets, &plan->bytes) < 0) return CM_NO_MEMORY;
    plan->bound = packing->bound;
    for (int i = 0; i < PACKING_N_PLANNERS; i++) plan->by[i] = DIM_UNKNOWN;
    plan->by[PACKING_TIME] = plan->bytes;
    return CM_OK;
}

int arena_layout(struct arena *arena, const struct block *blocks, size_t n, bool all,
                 struct arena_layout *ret) {
    struct packing packing;
    bool possible = false;
    *ret = (struct arena_layout){.bytes = DIM_UNKNOWN, .bound = DIM_UNKNOWN};
    ret->offsets = arena_array_raw(arena, n, sizeof *ret->offsets);
    if (!ret->offsets || arena_planner_open(&packing, arena, blocks, n, &possible) < 0)
        return CM_NO_MEMORY;
    if (!possible) return plan_by_heap(&packing, ret);
    ret->bound = packing.bound;
    ret->bytes = 0;
    if (n == 0) return CM_OK;
    if (try_planners(&packing, all, ret) < 0) return CM_NO_MEMORY;
    return arena_planner_search(&packing, ret->offsets, &ret->bytes);
}
