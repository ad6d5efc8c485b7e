/* SPDX-License-Identifier: Apache-2.0 */
/* Products fused with the elementwise nodes behind them, as a runtime on a library runs them.
 */
#ifndef PASSES_LATENCY_POST_OPS_H
#define PASSES_LATENCY_POST_OPS_H

#include "passes/latency/primitive_index.h"
#include "passes/pass.h"

/*
 * Fills table->group and table->fused: each product with the chain of nodes behind it, of which
 * each is the only reader of the one before. A BatchNormalization behind a convolution is
 * folded into the weights, a constant vector behind a matrix product is its bias, others are
 * steps. The members keep primitives of their own: they are measured too, to divide the time of
 * the group, and replace it if the backend does not fuse it. Returns CM_OK or CM_NO_MEMORY.
 */
int post_ops_find(const struct analysis *analysis, struct primitives_table *table,
                  struct primitive_index *index) CM_MUST_CHECK;

#endif
