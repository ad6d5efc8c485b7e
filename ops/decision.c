/* SPDX-License-Identifier: Apache-2.0 */
/* Facets that a row has anyway, read as a reason: see decision.h. */
#include "ops/decision.h"

#include <stddef.h>

#include "ops/op.h"

#include "support/banned.h"

static const char *const by_memory[] = {
    [MEMORY_FRESH] = NULL,
    [MEMORY_VIEW] = "a view",
    [MEMORY_IN_PLACE] = NULL,
    [MEMORY_SHAPE_ONLY] = "shape arithmetic",
    [MEMORY_VIEW_UNLESS_TRAINING] = "a view; a mask in training",
    [MEMORY_IN_PLACE_UNLESS_TRAINING] = NULL,
    [MEMORY_CONTROL] = "its body's",
};

static bool costs(const struct op *op) {
    const struct op_cost *cost = &op->cost;
    return cost->macs || cost->extra || cost->per_input != 0 || cost->per_output != 0;
}

const char *decision_free(const struct op_family *family, const struct op *op) {
    if (costs(op)) return NULL;
    if (by_memory[op->memory]) return by_memory[op->memory];
    if (op->facets && op->facets->flops[FLOPS_EXACT]) return "arithmetic, counted by `exact`";
    return family->free ? family->free : "";
}
