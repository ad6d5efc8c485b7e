/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of values, as every pass and the result count them. */
#ifndef PASSES_MEMORY_LIVENESS_H
#define PASSES_MEMORY_LIVENESS_H

#include <stdint.h>

#include "passes/pass.h"
#include "support/checked.h"

/* Bytes of a tensor as stored; DIM_UNKNOWN, DIM_OVERFLOW. */
static inline int64_t liveness_bytes(const struct value_info *info) {
    if (info->kind != CM_TYPE_TENSOR) return DIM_UNKNOWN;
    return dtype_bytes(info->dtype, shape_elements(&info->shape));
}

/* Bytes that a value owns in the arena: 0 of a view, a weight, a constant; at most so many
 * where only data decide; DIM_UNKNOWN. */
static inline int64_t liveness_owned(const struct analysis *analysis, uint32_t value) {
    return analysis->liveness.bytes[value];
}

/* The same for sums, which leave out what is unknown: 0 of that. */
static inline int64_t liveness_counted(const struct analysis *analysis, uint32_t value) {
    const int64_t bytes = liveness_owned(analysis, value);
    return bytes == DIM_UNKNOWN ? 0 : bytes;
}

/*
 * The step until which a use by `node` keeps a value of graph `home` alive: what a body reads
 * from outside stays until the node that owns the body is done, since the body may run again.
 */
uint32_t liveness_use_ends(const struct model *model, const struct liveness_table *table,
                           uint32_t node, uint32_t home);

#endif
