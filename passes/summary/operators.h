/* SPDX-License-Identifier: Apache-2.0 */
/* Pass operators: sums the costs of the nodes by operator. */
#pragma once

#include "passes/pass.h"

/* Tables that pass operators reads. */
#define OPERATORS_READS (TABLE_BIND | TABLE_COUNT)

struct operators_table {
    size_t n;
    struct cm_operator *items; /* most work first; in `result_arena` */
    uint32_t *of_node;         /* by node: index into items */
};

pass_run pass_operators;
