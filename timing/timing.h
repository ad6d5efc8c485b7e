/* SPDX-License-Identifier: Apache-2.0 */
/* The timing half of the program. Its passes read the finished tables of the static core, which
 * knows no device, no kernel and no time, and fill tables of times. */
#pragma once

#include "passes/pass.h"

/* The tables of this half, in the same set as enum pass_tables. */
enum timing_tables {
    TABLE_KERNELS = TABLE_OF_TIMING,
    TABLE_PRIMITIVES = TABLE_OF_TIMING << 1,
    TABLE_ESTIMATE = TABLE_OF_TIMING << 2,
    TABLE_TIMES = TABLE_OF_TIMING << 3,
    TABLE_GRADIENT_KERNELS = TABLE_OF_TIMING << 4,
    TABLE_ROOFLINE_BOUNDS = TABLE_OF_TIMING << 5,
    TABLE_BREAKDOWN = TABLE_OF_TIMING << 6,
    TABLE_ADVICE = TABLE_OF_TIMING << 7,
    TABLE_INPUT_PIPELINE = TABLE_OF_TIMING << 8,
};

struct timing {
    struct analysis core; /* first, so that a pass gets both as struct analysis */
    bool is_float;        /* as if the file had no QuantizeLinear and no DequantizeLinear */
    const struct kernels_table *kernels;
    const struct primitives_table *primitives;
    const struct estimate_table *estimate;
    const struct times_table *times;
    const struct gradient_kernels_table *gradient_kernels;
    const struct roofline_bounds_table *roofline_bounds;
    const struct breakdown_table *breakdown;
    const struct advice_table *advice;
    const struct input_pipeline_table *input_pipeline;
    const struct cm_quantization *quantization; /* no pass: quantization.h; NULL: none */
};

/* Returns the struct that a pass of this half gets as its analysis. */
static inline const struct timing *timing_of(const struct analysis *analysis) {
    return (const struct timing *)analysis;
}
