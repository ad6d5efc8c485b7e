/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of operands. */
#ifndef BACKENDS_CUDA_OPERANDS_H
#define BACKENDS_CUDA_OPERANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

/* Returns the bytes of an element; 0 if invalid. */
int64_t operands_element_size(int32_t element);
/* Returns the bytes spanned by the strides; DIM_OVERFLOW past 2^63. */
int64_t operands_bytes(const struct cm_tensor *tensor);
/* Returns the elements of the dims `from` .. `to` - 1; DIM_OVERFLOW past 2^63. */
int64_t operands_elements(const struct cm_tensor *tensor, int32_t from, int32_t to);
/* Returns true if the tensor is row-major and contiguous. */
bool operands_packed(const struct cm_tensor *tensor);

#endif
