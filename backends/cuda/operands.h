/* SPDX-License-Identifier: Apache-2.0 */
/* How many elements and bytes the operands of a primitive have. */
#ifndef BACKENDS_CUDA_OPERANDS_H
#define BACKENDS_CUDA_OPERANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

/* Bytes of one element; 0 for what is no element. */
int64_t operands_element_size(int32_t element);
/* As far as the strides reach; DIM_OVERFLOW past 2^63. */
int64_t operands_bytes(const struct cm_tensor *tensor);
/* Of the dims from `from` up to `to`, which is not one of them; DIM_OVERFLOW past 2^63. */
int64_t operands_elements(const struct cm_tensor *tensor, int32_t from, int32_t to);
/* Whether its elements lie row by row, without gaps. */
bool operands_packed(const struct cm_tensor *tensor);

#endif
