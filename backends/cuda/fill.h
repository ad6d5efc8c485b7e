/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of operands before timing. */
#ifndef BACKENDS_CUDA_FILL_H
#define BACKENDS_CUDA_FILL_H

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/backend.h"

struct fill {
    int32_t element;
    bool positive;    /* a variance, positive */
    int64_t integers; /* range of integers: 0 .. integers - 1; 0: all 8-bit values */
};

/* Returns the contents for input `index` of a primitive. */
struct fill fill_for(const struct cm_primitive *primitive, int32_t index);
/* Writes random elements, always the same; `size` must be a multiple of 8. */
void fill_pattern(const struct fill *fill, void *ret, size_t size);

#endif
