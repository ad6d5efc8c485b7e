/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of a result, and where each operand has its own: the same work in fewer dims. */
#ifndef BACKENDS_CUDA_JIT_BROADCAST_INDEX_H
#define BACKENDS_CUDA_JIT_BROADCAST_INDEX_H

#include <stdbool.h>

#include "costmodel/backend.h"

#define LATTICE_OPERANDS (CM_MAX_INPUTS + 1)

struct broadcast_index {
    int n;                                          /* operands, the result among them */
    int rank;                                       /* >= 1 */
    int64_t dims[CM_MAX_RANK];                      /* the last one fastest */
    int64_t strides[LATTICE_OPERANDS][CM_MAX_RANK]; /* 0 where an operand repeats itself */
};

/*
 * Operands, aligned at their last dims, broadcast to `shape`: axes of one are dropped,
 * neighbours that lie behind each other in every operand become one. False where an operand
 * does not broadcast to it.
 */
bool broadcast_index_read(const struct cm_tensor *shape,
                          const struct cm_tensor *const *operands, int n,
                          struct broadcast_index *ret);
int64_t broadcast_index_elements(const struct broadcast_index *index);
/* Elements that can be read at once, `most` at most, a power of two: all operands have them
 * side by side, aligned, or repeat one. */
int broadcast_index_vector(const struct broadcast_index *index, int most);

#endif
