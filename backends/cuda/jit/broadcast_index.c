/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the axes of broadcast operands. */
#include "backends/cuda/jit/broadcast_index.h"

#include <string.h>

#include "support/checked.h"

#include "support/banned.h"

static bool take_axis(const struct cm_tensor *operand, const struct cm_tensor *shape, int axis,
                      int64_t *ret) {
    const int own = axis - (shape->rank - operand->rank);
    *ret = 0;
    if (own < 0 || operand->dims[own] == 1) return true;
    *ret = operand->strides[own];
    return operand->dims[own] == shape->dims[axis];
}

/* Returns true if the last axis and the next one are contiguous in every operand. */
static bool can_merge(const struct broadcast_index *index, const int64_t *strides,
                      int64_t dim) {
    for (int i = 0; i < index->n; i++)
        if (index->strides[i][index->rank - 1] != checked_mul(strides[i], dim)) return false;
    return true;
}

static void add_axis(struct broadcast_index *index, const int64_t *strides, int64_t dim) {
    if (index->rank > 0 && can_merge(index, strides, dim)) {
        int64_t *last = &index->dims[index->rank - 1];
        *last = checked_mul(*last, dim);
    } else {
        index->dims[index->rank++] = dim;
    }
    for (int i = 0; i < index->n; i++) index->strides[i][index->rank - 1] = strides[i];
}

bool broadcast_index_read(const struct cm_tensor *shape,
                          const struct cm_tensor *const *operands, int n,
                          struct broadcast_index *ret) {
    struct broadcast_index index;
    memset(&index, 0, sizeof(index));
    if (n > BROADCAST_OPERANDS) return false;
    index.n = n;
    for (int i = 0; i < n; i++)
        if (operands[i]->rank > shape->rank) return false;
    for (int axis = 0; axis < shape->rank; axis++) {
        int64_t strides[BROADCAST_OPERANDS] = {0};
        for (int i = 0; i < n; i++)
            if (!take_axis(operands[i], shape, axis, &strides[i])) return false;
        if (shape->dims[axis] != 1) add_axis(&index, strides, shape->dims[axis]);
    }
    if (index.rank == 0) index.dims[index.rank++] = 1;
    *ret = index;
    return true;
}

int64_t broadcast_index_elements(const struct broadcast_index *index) {
    int64_t n = 1;
    for (int i = 0; i < index->rank; i++) n = checked_mul(n, index->dims[i]);
    return n;
}

static bool takes(const struct broadcast_index *index, int vector) {
    const int last = index->rank - 1;
    if (index->dims[last] % vector != 0) return false;
    for (int i = 0; i < index->n; i++) {
        const int64_t *strides = index->strides[i];
        if (strides[last] == 0) continue;
        if (strides[last] != 1) return false;
        for (int axis = 0; axis < last; axis++)
            if (strides[axis] % vector != 0) return false;
    }
    return true;
}

int broadcast_index_vector(const struct broadcast_index *index, int most) {
    int vector = most;
    while (vector > 1 && !takes(index, vector)) vector /= 2;
    return vector;
}
