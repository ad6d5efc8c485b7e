/* SPDX-License-Identifier: Apache-2.0 */
/* What the times of primitives mean for the nodes that have them. */
#ifndef PASSES_ESTIMATE_H
#define PASSES_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct cm_measurement;

/* Whether it has a time: it ran, something ran in its place, or it was computed. */
bool estimate_has_time(const struct cm_measurement *measurement);

/* Seconds in picoseconds, which add up exactly; DIM_OVERFLOW past 2^63 of them. */
int64_t estimate_ps(double seconds);

/*
 * Of one run of a node, in picoseconds: 0 where it does nothing, DIM_UNKNOWN where it has no
 * time or nobody was asked.
 */
int64_t estimate_latency(const struct analysis *analysis, uint32_t node);

#endif
