/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of each node and its traffic, for pass primitives. */
#ifndef PASSES_LATENCY_KERNELS_H
#define PASSES_LATENCY_KERNELS_H

#include "passes/pass.h"

/* Returns true if the node runs; otherwise a view, or counted with another node. */
static inline bool kernels_runs(const struct kernels_table *table, uint32_t node) {
    return table->fusion[node].in_graph != 0;
}

#endif
