/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the terms whose sums are the MACs, FLOPs and integer operations of a node. */
#pragma once

#include "ops/flops/conventions.h"
#include "ops/product.h"
#include "ops/qdq_propagation.h"
#include "passes/pass.h"

/* Tables that pass count reads. */
#define COUNT_READS                                                                            \
    (TABLE_BIND | TABLE_BATCH | TABLE_INFER | TABLE_FUSED_PATTERNS | TABLE_LIVENESS)

struct count_table {
    /* By node: rows of the result, in `result_arena`. Only `costs` is set, without figures of
     * parameters, for all runs of the node's graph; a figure is CM_UNKNOWN if unknown,
     * DIM_OVERFLOW past 2^63. api/assemble.c fills in the rest. */
    struct cm_node *nodes;
    int64_t *runs;       /* by graph: per step, or run of the model; 0: a branch not counted */
    int64_t *upper_runs; /* by graph: upper bound of `runs` if unknown */
    scale_axes *dequantized; /* by value: scale axes of dequantized integers; NULL if none */
    struct value_info *run_infos; /* scratch, by value: infos in the one run of a body that is
                                     being counted; NULL if no Loop is executed */
};

pass_run pass_count;

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

/* Returns true if both branches of an If around the graph are counted: its condition is static
 * in only some runs of an executed Loop. */
bool count_is_mixed(const struct analysis *analysis, uint32_t graph);

/* Computes the bytes that one run of the node reads and writes, with the dtypes of the context.
 * Returns false if the node itself moves nothing at run time: views, shape arithmetic,
 * constants, and nodes with bodies. */
bool count_traffic(const struct analysis *analysis, const struct op_context *context,
                   int64_t *ret_read, int64_t *ret_written);
