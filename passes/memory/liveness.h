/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and last uses of values, as every pass and the result count them. */
#ifndef PASSES_MEMORY_LIVENESS_H
#define PASSES_MEMORY_LIVENESS_H

#include <stdint.h>

#include "passes/pass.h"
#include "support/checked.h"

/* Returns the bytes of a tensor as stored, DIM_UNKNOWN or DIM_OVERFLOW. */
static inline int64_t liveness_bytes(const struct value_info *info) {
    if (info->kind != CM_TYPE_TENSOR) return DIM_UNKNOWN;
    return dtype_bytes(info->dtype, shape_elements(&info->shape));
}

/* Returns the bytes that a value owns in the arena: 0 for a view, a weight or a constant; the
 * upper bound if the size is data-dependent; or DIM_UNKNOWN. */
static inline int64_t liveness_owned(const struct analysis *analysis, uint32_t value) {
    return analysis->liveness.bytes[value];
}

/* Returns liveness_owned for sums: 0 if the size is unknown. */
static inline int64_t liveness_counted(const struct analysis *analysis, uint32_t value) {
    const int64_t bytes = liveness_owned(analysis, value);
    return bytes == DIM_UNKNOWN ? 0 : bytes;
}

/*
 * Returns the last step at which a use by `node` keeps a value of graph `home` alive. A value
 * that a body reads from outside stays alive until the node that owns the body has run, since
 * the body may run again.
 */
uint32_t liveness_use_ends(const struct model *model, const struct liveness_table *table,
                           uint32_t node, uint32_t home);

#endif
