/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for operands, and what stands in it. */
#ifndef BACKENDS_ONEDNN_MEMORY_H
#define BACKENDS_ONEDNN_MEMORY_H

#include <stddef.h>

#include "backends/onednn/api.h"

/* `bytes` up to where the next operand may begin. */
size_t memory_aligned(size_t bytes);

/* NULL where there is none; ended with free. */
void *memory_new(size_t bytes);

/* Random numbers of the type, times `scale` where they are of 32 bits and floating. */
void memory_fill(void *bytes, size_t size, dnnl_data_type_t type, double scale);

#endif
