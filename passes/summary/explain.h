/* SPDX-License-Identifier: Apache-2.0 */
/* Pass explain: derives the figures of the nodes and modules named by --explain. */
#pragma once

#include "passes/pass.h"

/* Tables that pass explain reads. */
#define EXPLAIN_READS                                                                          \
    (TABLE_BIND | TABLE_BATCH | TABLE_INFER | TABLE_FUSED_PATTERNS | TABLE_LIVENESS |          \
     TABLE_COUNT | TABLE_MODULES)

struct explain_table {
    size_t n;
    struct cm_explanation *items; /* in `result_arena` */
};

pass_run pass_explain;
