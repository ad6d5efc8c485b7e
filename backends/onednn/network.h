/* SPDX-License-Identifier: Apache-2.0 */
/* A network of primitives as one plan. */
#ifndef BACKENDS_ONEDNN_NETWORK_H
#define BACKENDS_ONEDNN_NETWORK_H

#include "backends/onednn/plan.h"

/* Fills the two blocks with given numbers before the weights are reordered. */
struct network_filling {
    void (*fill)(void *context, const struct cm_network *network, char *arena, char *weights);
    void *context;
};

/* Indices of plan.blocks. */
enum network_block { NETWORK_ARENA, NETWORK_WEIGHTS, NETWORK_PRIVATE };

/* Makes the plan of a network. `filling` NULL: random numbers. `keep_layout` and the result are
 * as for plan_make. */
int network_make(const struct onednn *lib, const struct cm_network *network, bool keep_layout,
                 const struct plan_limits *limits, const struct network_filling *filling,
                 struct cm_plan **ret, struct cm_reason *reason);

#endif
