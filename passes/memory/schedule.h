/* SPDX-License-Identifier: Apache-2.0 */
/* From a model and the lifetimes of its file order to a problem that reorder.h solves. */
#ifndef PASSES_MEMORY_SCHEDULE_H
#define PASSES_MEMORY_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct analysis;

struct schedule {
    const uint32_t *order; /* places in the main graph's list of nodes; NULL: the file's */
    bool optimal;          /* all sizes are known, and no order needs less than `peak` */
    int64_t peak;          /* of that order, without inputs that nobody reads */
};

/*
 * An order of the main graph's nodes with a lower peak than that of the file, whose steps and
 * lifetimes stand in analysis->lifetime. Bodies go with their nodes.
 */
int schedule_find(const struct analysis *analysis, struct schedule *ret) CM_MUST_CHECK;

#endif
