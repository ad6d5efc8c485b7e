/* SPDX-License-Identifier: Apache-2.0 */
/* Code shared by the kernels over a broadcast index. */
#ifndef BACKENDS_CUDA_JIT_JIT_INDEX_H
#define BACKENDS_CUDA_JIT_JIT_INDEX_H

#include "backends/cuda/jit/broadcast_index.h"
#include "backends/cuda/jit/jit.h"

#define JIT_BLOCK 256

/* Writes code that declares i, the index of this thread's first element divided by `vector`,
 * and o0, o1, .., the offsets of that element in the operands. Surplus threads return early. */
void jit_index(struct jit *jit, const struct broadcast_index *index, int vector);
/* Returns the vector width: at most 16 bytes of the widest operand. */
int jit_index_vector(const struct broadcast_index *index,
                     const struct cm_tensor *const *operands);

#endif
