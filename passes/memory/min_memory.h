/* SPDX-License-Identifier: Apache-2.0 */
/* --schedule min-memory: turns a model and its liveness into a scheduler problem. */
#ifndef PASSES_MEMORY_MIN_MEMORY_H
#define PASSES_MEMORY_MIN_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct analysis;

struct min_memory_order {
    const uint32_t
        *order;   /* indices into the main graph's nodes; NULL: keep the file's order */
    bool optimal; /* all sizes are known and no order has a lower peak */
    int64_t peak; /* bytes; without inputs that have no reader */
};

/*
 * Finds an order of the main graph's nodes with a lower peak than the file's order, for which
 * analysis->liveness was computed. Bodies move with their nodes. Returns CM_OK or CM_NO_MEMORY.
 */
int min_memory_find(const struct analysis *analysis,
                    struct min_memory_order *ret) CM_MUST_CHECK;

#endif
