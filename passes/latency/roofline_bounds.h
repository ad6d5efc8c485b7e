/* SPDX-License-Identifier: Apache-2.0 */
/* What times are compared with, and what keeps them from being shorter. */
#ifndef PASSES_LATENCY_ROOFLINE_BOUNDS_H
#define PASSES_LATENCY_ROOFLINE_BOUNDS_H

#include "passes/pass.h"

/* "compute", "memory" …; static texts. */
const char *roofline_bounds_name(enum bound bound);

/* Read and written, in bytes. */
double roofline_bounds_bytes(const struct cm_primitive *primitive);
/* Bytes a second at best; 0: not known. */
double roofline_bounds_bandwidth(const struct analysis *analysis);
/* Operations a second that a product of such elements reaches at best; 0: not known. */
double roofline_bounds_rate(const struct analysis *analysis, int32_t element);
/* Seconds that even an empty primitive takes; 0: not known. */
double roofline_bounds_floor(const struct analysis *analysis);

/* The same of a time that was computed, and of one that was taken. */
void roofline_bounds_judge(const struct analysis *analysis,
                           const struct cm_primitive *primitive,
                           const struct cm_measurement *measurement, struct achieved *ret);

#endif
