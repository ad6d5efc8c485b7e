/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timing half of the program. Its passes read the finished tables of the static core, which
 * knows no device, no kernel and no time, and fill tables of times.
 */
#ifndef TIMING_TIMING_H
#define TIMING_TIMING_H

#include "passes/pass.h"

/* The tables of this half, in the same set as enum pass_tables. */
enum timing_tables {
    TABLE_KERNELS = 1 << 17,
    TABLE_PRIMITIVES = 1 << 18,
    TABLE_ESTIMATE = 1 << 19,
    TABLE_TIMES = 1 << 20,
    TABLE_GRADIENT_KERNELS = 1 << 21,
    TABLE_ROOFLINE_BOUNDS = 1 << 22,
    TABLE_BREAKDOWN = 1 << 23,
    TABLE_ADVICE = 1 << 24,
    TABLE_INPUT_PIPELINE = 1 << 25,
};

struct timing {
    struct analysis core; /* first, so that a pass gets both as struct analysis */
    const struct kernels_table *kernels;
    const struct primitives_table *primitives;
    const struct estimate_table *estimate;
    const struct times_table *times;
    const struct gradient_kernels_table *gradient_kernels;
    const struct roofline_bounds_table *roofline_bounds;
    const struct breakdown_table *breakdown;
    const struct advice_table *advice;
    const struct input_pipeline_table *input_pipeline;
};

_Static_assert((int)TABLE_OPERATORS < (int)TABLE_KERNELS,
               "the tables of both halves are one set");

/* Returns the struct that a pass of this half gets as its analysis. */
static inline const struct timing *timing_of(const struct analysis *analysis) {
    return (const struct timing *)analysis;
}

#endif
