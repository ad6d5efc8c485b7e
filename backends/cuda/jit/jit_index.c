/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the code that maps a thread to its elements. */
#include "backends/cuda/jit/jit_index.h"

#include "backends/primitive.h"
#include "support/checked.h"

#include "support/banned.h"

#define VECTOR_BYTES 16

/* Returns "unsigned", or "u64" if an offset or a count needs it. */
static const char *index_type(const struct broadcast_index *index) {
    int64_t largest = broadcast_index_elements(index);
    for (int i = 0; i < index->n; i++) {
        int64_t last = 0;
        for (int axis = 0; axis < index->rank; axis++)
            last =
                checked_add(last, checked_mul(index->dims[axis] - 1, index->strides[i][axis]));
        if (!is_known(last) || last > largest) largest = last;
    }
    return is_known(largest) && largest <= INT32_MAX ? "unsigned" : "u64";
}

int jit_index_vector(const struct broadcast_index *index,
                     const struct cm_tensor *const *operands) {
    int64_t largest = 1;
    for (int i = 0; i < index->n; i++) {
        const int64_t size = primitive_element_size(operands[i]->element);
        largest = size > largest ? size : largest;
    }
    return broadcast_index_vector(index, (int)(VECTOR_BYTES / largest));
}

void jit_index(struct jit *jit, const struct broadcast_index *index, int vector) {
    const char *type = index_type(index);
    const int last = index->rank - 1;
    jit_add(jit, "    const %s i = blockIdx.x * (%s)%d + threadIdx.x;\n", type, type,
            JIT_BLOCK);
    jit_add(jit, "    if (i >= %lldull) return;\n    %s r = i, c = 0;\n",
            (long long)(broadcast_index_elements(index) / vector), type);
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
