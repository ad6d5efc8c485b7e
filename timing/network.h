/* SPDX-License-Identifier: Apache-2.0 */
/* --end-to-end: the measured layers of a model as one network. */
#pragma once

#include <stdbool.h>

#include "costmodel/backend.h"
#include "timing/estimate.h"

struct timing;
struct estimate_table;

struct network {
    struct cm_network network;
    const char *why_not; /* static text; NULL: the network can run */
    bool *included;      /* by node: it is a step of the network */
};

/* Lists every node whose primitive was run, in the order of the schedule. Computes offsets of
 * activations anew, since primitives may have other dtypes and layouts than in pass arena_plan.
 * Returns CM_OK or CM_NO_MEMORY. */
int network_build(const struct timing *timing, const struct estimate_table *times,
                  struct network *ret) __attribute__((warn_unused_result));
