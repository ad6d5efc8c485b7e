/* SPDX-License-Identifier: Apache-2.0 */
/* How the figures of a node come about, for whoever explains them. */
#ifndef PASSES_COST_COUNT_H
#define PASSES_COST_COUNT_H

#include "ops/flops/conventions.h"
#include "ops/product.h"
#include "passes/pass.h"

struct count_terms {
    int64_t runs;        /* of the node in one pass through the model */
    struct product macs; /* of one run; without factors: none */
    size_t n;
    struct convention_term terms[CONVENTION_TERMS]; /* operations of one run */
};

/* What pass count made the node's figures of. */
int count_terms(const struct analysis *analysis, const struct convention *convention,
                uint32_t node, struct count_terms *ret) CM_MUST_CHECK;
/* FLOPs, and operations on integers, of all runs. Unknown and overflown figures pass. */
int64_t count_flops(const struct count_terms *terms);
int64_t count_int_ops(const struct count_terms *terms);

/*
 * Bytes that one run of the node reads and writes, by the types that the rule has. False: it
 * does no work at run time: it makes views, shape arithmetic, or what stands in the file
 * already.
 */
bool count_traffic(const struct analysis *analysis, const struct op_context *context,
                   int64_t *ret_read, int64_t *ret_written);

#endif
