/* SPDX-License-Identifier: Apache-2.0 */
/* Pass fuse_patterns: matches operations that the exporter decomposed. */
#pragma once

#include "passes/pass.h"
#include "passes/walk/context.h"

/* Tables that pass fuse_patterns reads. */
#define FUSE_PATTERNS_READS (TABLE_BIND | TABLE_BATCH | TABLE_INFER)

struct fused_patterns_table {
    size_t n;
    struct fused_pattern *items; /* in the order of `last` */
    uint32_t *of_node;           /* by node: index into items, ID_NONE */
};

pass_run pass_fuse_patterns;
