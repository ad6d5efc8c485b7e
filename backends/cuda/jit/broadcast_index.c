/* SPDX-License-Identifier: Apache-2.0 */
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

/* Whether the axis at the end and the next one lie behind each other in every operand. */
static bool can_merge(const struct broadcast_index *lattice, const int64_t *strides,
                      int64_t dim) {
    for (int i = 0; i < lattice->n; i++)
        if (lattice->strides[i][lattice->rank - 1] != checked_mul(strides[i], dim))
            return false;
    return true;
}

static void add_axis(struct broadcast_index *lattice, const int64_t *strides, int64_t dim) {
    if (lattice->rank > 0 && can_merge(lattice, strides, dim)) {
        int64_t *last = &lattice->dims[lattice->rank - 1];
        *last = checked_mul(*last, dim);
    } else {
        lattice->dims[lattice->rank++] = dim;
    }
    for (int i = 0; i < lattice->n; i++) lattice->strides[i][lattice->rank - 1] = strides[i];
}

bool broadcast_index_read(const struct cm_tensor *shape,
                          const struct cm_tensor *const *operands, int n,
                          struct broadcast_index *ret) {
    struct broadcast_index lattice;
    memset(&lattice, 0, sizeof(lattice));
    if (n > LATTICE_OPERANDS) return false;
    lattice.n = n;
    for (int i = 0; i < n; i++)
        if (operands[i]->rank > shape->rank) return false;
    for (int axis = 0; axis < shape->rank; axis++) {
        int64_t strides[LATTICE_OPERANDS] = {0};
        for (int i = 0; i < n; i++)
            if (!take_axis(operands[i], shape, axis, &strides[i])) return false;
        if (shape->dims[axis] != 1) add_axis(&lattice, strides, shape->dims[axis]);
    }
    if (lattice.rank == 0) lattice.dims[lattice.rank++] = 1;
    *ret = lattice;
    return true;
}

int64_t broadcast_index_elements(const struct broadcast_index *lattice) {
    int64_t n = 1;
    for (int i = 0; i < lattice->rank; i++) n = checked_mul(n, lattice->dims[i]);
    return n;
}

static bool takes(const struct broadcast_index *lattice, int vector) {
    const int last = lattice->rank - 1;
    if (lattice->dims[last] % vector != 0) return false;
    for (int i = 0; i < lattice->n; i++) {
        const int64_t *strides = lattice->strides[i];
        if (strides[last] == 0) continue;
        if (strides[last] != 1) return false;
        for (int axis = 0; axis < last; axis++)
            if (strides[axis] % vector != 0) return false;
    }
    return true;
}

int broadcast_index_vector(const struct broadcast_index *lattice, int most) {
    int vector = most;
    while (vector > 1 && !takes(lattice, vector)) vector /= 2;
    return vector;
}
