/* SPDX-License-Identifier: Apache-2.0 */
/* Pass primitives: lowers nodes to the distinct primitives that a backend could run. */
#pragma once

#include "costmodel/backend.h"
#include "timing/timing.h"

/* Tables that pass primitives reads. */
#define PRIMITIVES_READS                                                                       \
    (TABLE_BIND | TABLE_BATCH | TABLE_INFER | TABLE_FUSED_PATTERNS | TABLE_LIVENESS |          \
     TABLE_KERNELS)

enum lowered {
    LOWERED_NOTHING,   /* no work at run time */
    LOWERED_PRIMITIVE, /* see of_node */
    LOWERED_NOT,       /* see why_not */
};

/* Empty unless a backend is selected or times are imported. */
struct primitives_table {
    size_t n;
    struct cm_primitive *items; /* distinct, in order of first use; with imported times one per
                                   node, CM_PRIMITIVE_NONE if it has no primitive */
    enum lowered *lowered;      /* by node */
    uint32_t *of_node;          /* by node: index into items, ID_NONE */
    const char **why_not;       /* by node; static text */
    /* If products are fused with what follows them (cm_options.fuse), else NULL: */
    uint32_t *group; /* by node: the product of its group, ID_NONE */
    uint32_t *fused; /* by product of a group: index into items of the group, ID_NONE */
};

pass_run pass_primitives;
