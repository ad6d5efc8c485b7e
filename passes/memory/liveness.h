/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and last uses of values, as every pass and the result count them. */
#pragma once

#include <stdint.h>

#include "passes/pass.h"
#include "support/checked.h"

/* Tables that pass liveness reads. */
#define LIVENESS_READS (TABLE_BIND | TABLE_BATCH | TABLE_INFER | TABLE_PRECISION)

enum storage {
    STORAGE_NONE, /* unused, omitted, or a sequence, whose tensors are counted instead */
    STORAGE_INPUT,
    STORAGE_WEIGHT,     /* stored in the file */
    STORAGE_CONSTANT,   /* computed from weights only, or folded */
    STORAGE_VIEW,       /* of `root` */
    STORAGE_ACTIVATION, /* owns bytes */
};

struct liveness_table {
    enum storage *storage; /* by value */
    int64_t *bytes;        /* by value: bytes that it owns, 0 if none; DIM_UNKNOWN */
    uint32_t *root;        /* by value: the value whose bytes it shares, or itself */
    bool *elementwise;     /* by node: its first output may overwrite an operand */
    uint32_t *first;       /* by value: step that produces it */
    uint32_t *last;        /* by value: last step at which it or a view of it is read */
    /* In file order, or with --schedule min-memory in an order of lower peak: */
    uint32_t n_steps;        /* one per node; the nodes of a body come right before its owner */
    uint32_t *step_of;       /* by node */
    uint32_t *node_at;       /* by step */
    int64_t *live;           /* by step: bytes of live activations and inputs */
    int64_t peak_bytes;      /* maximum of `live`; DIM_OVERFLOW if a sum overflows */
    uint32_t peak_node;      /* node of the peak step; ID_NONE in an empty graph */
    int64_t file_peak_bytes; /* the peak in file order */
    bool upper_bound;        /* some sizes are upper bounds */
    bool peak_upper_bound;   /* some sizes at the peak are upper bounds */
    bool is_optimal;         /* with --schedule min-memory: no order has a lower peak */
};

pass_run pass_liveness;

/* Returns the bytes of a tensor as stored, DIM_UNKNOWN or DIM_OVERFLOW. */
static inline int64_t liveness_bytes(const struct value_info *info) {
    if (info->kind != CM_TYPE_TENSOR) return DIM_UNKNOWN;
    return dtype_bytes(info->dtype, shape_elements(&info->shape));
}

/* Returns the bytes that a value owns in the arena: 0 for a view, a weight or a constant; the
 * upper bound if the size is data-dependent; or DIM_UNKNOWN. */
static inline int64_t liveness_owned(const struct analysis *analysis, uint32_t value) {
    return analysis->liveness->bytes[value];
}

/* Returns liveness_owned for sums: 0 if the size is unknown. */
static inline int64_t liveness_counted(const struct analysis *analysis, uint32_t value) {
    const int64_t bytes = liveness_owned(analysis, value);
    return bytes == DIM_UNKNOWN ? 0 : bytes;
}

/* Returns the last step at which a use by `node` keeps a value of graph `home` alive. A value
 * that a body reads from outside stays alive until the node that owns the body has run, since
 * the body may run again. */
uint32_t liveness_use_ends(const struct model *model, const struct liveness_table *table,
                           uint32_t node, uint32_t home);
