/* SPDX-License-Identifier: Apache-2.0 */
/* See coalesce_dims.h. A stride of 0 marks a broadcast axis until all axes are merged. */
#include "backends/coalesce_dims.h"

#include <string.h>

/* Returns true if, in every operand, the new axis of `dim` elements and `strides` is contiguous
 * with the axis added last, or both axes are broadcast. */
static bool can_merge(const struct coalesced *merged, int n, const int64_t *strides,
                      int64_t dim) {
    for (int i = 0; i < n; i++) {
        const int64_t outer = merged->strides[i][merged->rank - 1];
        if (outer == 0 && strides[i] == 0) continue;
        if (strides[i] == 0 || outer != strides[i] * dim) return false;
    }
    return true;
}

bool coalesce_dims(const struct cm_tensor *const *operands, int n,
                   const struct cm_tensor *shape, struct coalesced *ret) {
    struct coalesced merged;
    memset(&merged, 0, sizeof(merged));
    for (int axis = 0; axis < shape->rank; axis++) {
        const int64_t dim = shape->dims[axis];
        int64_t strides[COALESCE_OPERANDS] = {0};
        for (int i = 0; i < n; i++) {
            const int own = axis - (shape->rank - operands[i]->rank);
            if (own < 0 || operands[i]->dims[own] == 1) continue;
            if (operands[i]->dims[own] != dim) return false;
            strides[i] = operands[i]->strides[own];
        }
        if (dim == 1) continue;
        if (merged.rank > 0 && can_merge(&merged, n, strides, dim))
            merged.dims[merged.rank - 1] *= dim;
        else
            merged.dims[merged.rank++] = dim;
        for (int i = 0; i < n; i++) merged.strides[i][merged.rank - 1] = strides[i];
    }
    if (merged.rank == 0) {
        merged.rank = 1;
        merged.dims[0] = 1;
    }
    /* A broadcast axis gets dim 1, and its stride 0 becomes the stride of a packed tensor. */
    for (int i = 0; i < n; i++) {
        int64_t packed = 1;
        for (int axis = merged.rank - 1; axis >= 0; axis--) {
            const bool repeats = merged.strides[i][axis] == 0;
            merged.operand_dims[i][axis] = repeats ? 1 : merged.dims[axis];
            if (repeats) merged.strides[i][axis] = packed;
            packed = merged.strides[i][axis] * merged.operand_dims[i][axis];
        }
    }
    *ret = merged;
    return true;
}
