/* SPDX-License-Identifier: Apache-2.0 */
/* Index space of a result with the strides of each operand, coalesced to few dims. Example:
 * y [2,3,4] = x [2,3,4] + b [4] -> dims [6,4], strides of x and y [4,1], of b [0,1]. */
#ifndef BACKENDS_CUDA_JIT_BROADCAST_INDEX_H
#define BACKENDS_CUDA_JIT_BROADCAST_INDEX_H

#include <stdbool.h>

#include "costmodel/backend.h"

#define BROADCAST_OPERANDS (CM_MAX_INPUTS + 1)

struct broadcast_index {
    int n;                     /* number of operands, including the result */
    int rank;                  /* >= 1 */
    int64_t dims[CM_MAX_RANK]; /* last dim fastest */
    int64_t strides[BROADCAST_OPERANDS][CM_MAX_RANK]; /* 0 if broadcast */
};

/* Aligns operands at their last dims, broadcasts them to `shape`, drops axes of 1 and merges
 * axes that are contiguous in every operand. Returns false if an operand does not broadcast. */
bool broadcast_index_read(const struct cm_tensor *shape,
                          const struct cm_tensor *const *operands, int n,
                          struct broadcast_index *ret);
int64_t broadcast_index_elements(const struct broadcast_index *index);
/* Returns the largest vector width, a power of two up to `most`, for which each operand is
 * contiguous along the last dim and aligned, or broadcast along it. */
int broadcast_index_vector(const struct broadcast_index *index, int most);

#endif
