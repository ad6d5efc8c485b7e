/* SPDX-License-Identifier: Apache-2.0 */
/* Rooflines: the ceilings of a device and the resource that limits a time. */
#ifndef PASSES_LATENCY_ROOFLINE_BOUNDS_H
#define PASSES_LATENCY_ROOFLINE_BOUNDS_H

#include "passes/pass.h"

/* Returns "compute", "memory" …; static text. */
const char *roofline_bounds_name(enum limited_by limited_by);

/* Returns the bytes read and written. */
double roofline_bounds_bytes(const struct cm_primitive *primitive);
/* Returns the peak bandwidth in bytes per second; 0: unknown. */
double roofline_bounds_bandwidth(const struct analysis *analysis);

/* Computes the roofline of a primitive from its time. */
void roofline_bounds_compute(const struct analysis *analysis,
                             const struct cm_primitive *primitive,
                             const struct cm_measurement *measurement, struct achieved *ret);

#endif
