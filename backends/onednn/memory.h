/* SPDX-License-Identifier: Apache-2.0 */
/* Operand memory and its contents. */
#ifndef BACKENDS_ONEDNN_MEMORY_H
#define BACKENDS_ONEDNN_MEMORY_H

#include <stddef.h>

#include "backends/onednn/api.h"

/* Returns `bytes` rounded up to the alignment of operands. */
size_t memory_aligned(size_t bytes);

/* Returns a block for operands, NULL if out of memory; release it with free. */
void *memory_new(size_t bytes);

/* Writes random numbers of the type; fp32 and bf16 numbers are multiplied by `scale`. */
void memory_fill(void *address, size_t size, dnnl_data_type_t type, double scale);

#endif
