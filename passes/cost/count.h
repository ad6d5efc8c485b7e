/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the terms whose sums are the MACs, FLOPs and integer operations of a node. */
#ifndef PASSES_COST_COUNT_H
#define PASSES_COST_COUNT_H

#include "ops/flops/conventions.h"
#include "ops/product.h"
#include "passes/pass.h"

struct count_terms {
    int64_t runs;        /* of the node per run of the model; 1 if the terms are of all runs */
    struct product macs; /* of one run; no factors: 0 */
    size_t n;
    struct convention_term terms[CONVENTION_TERMS]; /* operations of one run */
};

/* Computes the terms as pass count does. If the shapes of the node differ between iterations,
 * the terms are sums over all runs. If memory runs out, the arena has failed. */
void count_terms(const struct analysis *analysis, const struct convention *convention,
                 uint32_t node, struct count_terms *ret);
/* Return the FLOPs and the integer operations of all runs; may be DIM_UNKNOWN, DIM_OVERFLOW. */
int64_t count_flops(const struct count_terms *terms);
int64_t count_int_ops(const struct count_terms *terms);

/* Returns true if the graph or one around it runs an unknown number of times, without an upper
 * bound: one run is counted. */
bool count_is_assumed(const struct analysis *analysis, uint32_t graph);

/*
 * Computes the bytes that one run of the node reads and writes, with the dtypes of the context.
 * Returns false if the node itself moves nothing at run time: views, shape arithmetic,
 * constants, and nodes with bodies.
 */
bool count_traffic(const struct analysis *analysis, const struct op_context *context,
                   int64_t *ret_read, int64_t *ret_written);

#endif
