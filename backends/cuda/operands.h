/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes the operands of a primitive take. */
#ifndef BACKENDS_CUDA_OPERANDS_H
#define BACKENDS_CUDA_OPERANDS_H

#include <stdint.h>

#include "costmodel/backend.h"

/* Bytes of one element; 0 for what is no element. */
int64_t operands_element_size(int32_t element);
/* As far as the strides reach; DIM_OVERFLOW past 2^63. */
int64_t operands_bytes(const struct cm_tensor *tensor);

#endif
