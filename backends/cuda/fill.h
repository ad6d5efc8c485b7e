/* SPDX-License-Identifier: Apache-2.0 */
/* Random contents of operands, written before timing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/backend.h"

#include "backends/cuda/indices.h"

struct fill {
    int32_t element; /* enum cm_element */
    bool positive;   /* positive floats only: for roots, logarithms and variances */
    /* indices.n > 0: element i of an integer type is in 0 .. ranges[i % n] - 1. Else 8-bit
     * integers have any value, and wider integers are in 0 .. 7. */
    struct indices indices;
};

/* Returns the contents for input `index` of a primitive. */
struct fill fill_for(const struct cm_primitive *primitive, int32_t index);
/* Writes pseudo-random elements, the same in every run. `size`: bytes, whole elements. */
void fill_pattern(const struct fill *fill, void *ret, size_t size);
