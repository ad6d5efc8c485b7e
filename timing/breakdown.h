/* SPDX-License-Identifier: Apache-2.0 */
/* Pass breakdown: sums the costs by operator and the latency by kernel. */
#pragma once

#include "timing/timing.h"

/* Tables that pass breakdown reads. */
#define BREAKDOWN_READS                                                                        \
    (TABLE_PRIMITIVES | TABLE_ESTIMATE | TABLE_COUNT | TABLE_TIMES | TABLE_OPERATORS)

/* Rows of the result, in `result_arena`. */
struct breakdown_table {
    size_t n_operators;
    struct cm_operator *operators; /* slowest first */
    size_t n_states;
    const struct cm_state_share *states; /* of all nodes */
    bool invented;                       /* some times are invented by the fake backend */
    double measured_share; /* share of MACs in measured nodes; negative: no node has MACs */
    size_t n_untimed;
    struct cm_untimed *untimed; /* most MACs first */
    size_t n_kernels;
    struct cm_kernel_row *kernels; /* slowest first */
};

pass_run pass_breakdown;
