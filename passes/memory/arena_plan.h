/* SPDX-License-Identifier: Apache-2.0 */
/* Pass arena_plan: assigns each value that owns bytes an offset in one arena. */
#pragma once

#include "passes/pass.h"

/* Tables that pass arena_plan reads. */
#define ARENA_PLAN_READS (TABLE_LIVENESS | TABLE_IN_PLACE)

struct arena_plan_table {
    int64_t *offsets;    /* by value, aligned; DIM_UNKNOWN: no bytes, or an unknown number */
    int64_t arena_bytes; /* size of the arena; DIM_UNKNOWN if there is no plan */
    int64_t arena_in_place_bytes; /* with in-place outputs */
    const int64_t *by_planner;    /* by enum arena_planner: size of its plan */
};

pass_run pass_arena_plan;
