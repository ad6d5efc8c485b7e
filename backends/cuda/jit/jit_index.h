/* SPDX-License-Identifier: Apache-2.0 */
/* Index space of a result with the strides of each operand, coalesced to few dims. Example:
 * y [2,3,4] = x [2,3,4] + b [4] -> dims [6,4], strides of x and y [4,1], of b [0,1]. */
#ifndef BACKENDS_CUDA_JIT_JIT_INDEX_H
#define BACKENDS_CUDA_JIT_JIT_INDEX_H

#include "backends/coalesce_dims.h"
#include "backends/cuda/jit/jit.h"

#define VECTOR_BYTES 16

struct jit_index {
    int n;                     /* number of operands, including the result */
    int rank;                  /* >= 1 */
    int64_t dims[CM_MAX_RANK]; /* last dim fastest */
    int64_t strides[COALESCE_OPERANDS][CM_MAX_RANK]; /* 0 if broadcast */
};

/* Coalesces operands of at most the rank of `shape` (backends/coalesce_dims.h). Returns false
 * if one does not broadcast to `shape`. */
bool jit_index_read(const struct cm_tensor *shape, const struct cm_tensor *const *operands,
                    int n, struct jit_index *ret);
int64_t jit_index_elements(const struct jit_index *index);
/* Returns the largest vector width, a power of two up to `most`, for which each operand is
 * contiguous along the last dim and aligned, or broadcast along it. */
int jit_index_vector(const struct jit_index *index, int64_t most);
/* Writes code that declares i, the index of this thread's first element divided by `vector`,
 * and o0, o1, .., the offsets of that element in the operands. Surplus threads return early. */
void jit_index_write(struct jit *jit, const struct jit_index *index, int vector);

#endif
