/* SPDX-License-Identifier: Apache-2.0 */
/* Writes code that maps a thread to its elements. */
#include "backends/cuda/jit/jit.h"

#include <string.h>

#include "support/checked.h"

bool jit_index_read(const struct cm_tensor *shape, const struct cm_tensor *const *operands,
                    int n, struct jit_index *ret) {
    struct coalesced coalesced;
    for (int i = 0; i < n; i++)
        if (operands[i]->rank > shape->rank) return false;
    if (!coalesce_dims(operands, n, shape, &coalesced)) return false;
    *ret = (struct jit_index){.n = n, .rank = coalesced.rank};
    memcpy(ret->dims, coalesced.dims, sizeof(ret->dims));
    for (int i = 0; i < n; i++)
        for (int axis = 0; axis < ret->rank; axis++)
            if (coalesced.operand_dims[i][axis] != 1)
                ret->strides[i][axis] = coalesced.strides[i][axis];
    return true;
}

int64_t jit_index_elements(const struct jit_index *index) {
    int64_t n = 1;
    for (int i = 0; i < index->rank; i++) n = checked_mul(n, index->dims[i]);
    return n;
}

static bool fits_vector(const struct jit_index *index, int64_t vector) {
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

int jit_index_vector(const struct jit_index *index, int64_t most) {
    int64_t vector = most;
    while (vector > 1 && !fits_vector(index, vector)) vector /= 2;
    return (int)vector;
}

/* Returns "unsigned", or "u64" if an offset or a count needs it. */
static const char *index_type(const struct jit_index *index) {
    int64_t largest = jit_index_elements(index);
    for (int i = 0; i < index->n; i++) {
        int64_t last = 0;
        for (int axis = 0; axis < index->rank; axis++)
            checked_add_to(&last, checked_mul(index->dims[axis] - 1, index->strides[i][axis]));
        if (!is_known(last) || last > largest) largest = last;
    }
    return is_known(largest) && largest <= INT32_MAX ? "unsigned" : "u64";
}

void jit_index_write(struct jit *jit, const struct jit_index *index, int vector) {
    const char *type = index_type(index);
    const int last = index->rank - 1;
    jit_add(jit, "    const %s i = blockIdx.x * (%s)%d + threadIdx.x;\n", type, type,
            JIT_BLOCK);
    jit_add(jit, "    if (i >= %lldull) return;\n    %s r = i, c = 0;\n",
            (long long)(jit_index_elements(index) / vector), type);
    for (int i = 0; i < index->n; i++) jit_add(jit, "    %s o%d = 0;\n", type, i);
    for (int axis = last; axis >= 0; axis--) {
        const int step = axis == last ? vector : 1;
        const long long dim = (long long)(index->dims[axis] / step);
        if (axis > 0)
            jit_add(jit, "    c = r %% %lldull; r /= %lldull;\n", dim, dim);
        else
            jit_add(jit, "    c = r;\n");
        for (int i = 0; i < index->n; i++)
            if (index->strides[i][axis] != 0)
                jit_add(jit, "    o%d += c * %lldull;\n", i,
                        (long long)index->strides[i][axis] * step);
    }
}
