/* SPDX-License-Identifier: Apache-2.0 */
/* All that was measured of a model as one network: what --end-to-end runs. */
#ifndef PASSES_LATENCY_NETWORK_H
#define PASSES_LATENCY_NETWORK_H

#include <stdbool.h>

#include "costmodel/backend.h"

struct analysis;
struct estimate_table;

struct network {
    struct cm_network network;
    const char *why_not; /* static text; NULL: it can be run */
    bool *in_it;         /* by node */
};

/*
 * Every node whose primitive has a time that is no model's, in the order of the schedule.
 * Activations share an arena, planned anew: what a primitive reads and writes has its element
 * and layout, not the file's. CM_OK, CM_NO_MEMORY.
 */
int network_build(const struct analysis *analysis, const struct estimate_table *times,
                  struct network *ret) __attribute__((warn_unused_result));

#endif
