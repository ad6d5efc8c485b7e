/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about the kernels of nodes, for the passes after pass kernels. */
#ifndef PASSES_LATENCY_KERNELS_H
#define PASSES_LATENCY_KERNELS_H

#include "passes/pass.h"

/* Returns true if the node runs; false if it is a view or is counted with another node. */
static inline bool kernels_runs(const struct kernels_table *table, uint32_t node) {
    return table->fusion[node].in_graph != 0;
}

/* Returns true if BatchNormalizations use the statistics of the batch. */
static inline bool kernels_norms_use_batch(const struct cm_options *options) {
    return options->mode == CM_MODE_TRAINING ||
           (options->optimizer != NULL && options->mode == CM_MODE_MODEL);
}

#endif
