/* SPDX-License-Identifier: Apache-2.0 */
/* What operands are filled with before anything is timed. */
#ifndef BACKENDS_CUDA_FILL_H
#define BACKENDS_CUDA_FILL_H

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/backend.h"

struct fill {
    int32_t element;
    bool positive;    /* a variance, the operand of a root */
    int64_t integers; /* integers lie in 0 .. integers - 1; of 8 bits everywhere if 0 */
};

/* What input `index` of a primitive wants. */
struct fill fill_for(const struct cm_primitive *primitive, int32_t index);
/* Random elements, always the same; `size` is a multiple of 8. */
void fill_pattern(const struct fill *fill, void *ret, size_t size);

#endif
