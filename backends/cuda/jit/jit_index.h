/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels over the elements of a index have in common. */
#ifndef BACKENDS_CUDA_JIT_JIT_INDEX_H
#define BACKENDS_CUDA_JIT_JIT_INDEX_H

#include "backends/cuda/jit/broadcast_index.h"
#include "backends/cuda/jit/jit.h"

#define JIT_BLOCK 256

/* "unsigned", or "u64" where an offset or a number of elements does not fit. */
const char *jit_index_type(const struct broadcast_index *index);
/*
 * Leaves with i: the number of this thread's first element divided by `vector`; o0, o1, ..: the
 * offset of it in every operand. Threads beyond the last element return.
 */
void jit_index(struct jit *jit, const struct broadcast_index *index, int vector);
/* The most elements of any of them that 16 bytes hold. */
int jit_index_vector(const struct broadcast_index *index,
                     const struct cm_tensor *const *operands);

#endif
