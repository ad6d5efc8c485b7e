/* SPDX-License-Identifier: Apache-2.0 */
/* What the times of primitives mean for the nodes that have them. */
#ifndef PASSES_LATENCY_ESTIMATE_H
#define PASSES_LATENCY_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

struct analysis;

/* Whether it has a time: it ran, something ran in its place, or it was computed. */
bool estimate_has_time(const struct cm_measurement *measurement);

/* What the time of a node stands for; of one that does nothing CM_VIEW. */
enum cm_measure_state estimate_state(const struct analysis *analysis, uint32_t node);

/* The measurement of a node that has a time of its own; NULL: none, or nothing to do. */
const struct cm_measurement *estimate_of_node(const struct analysis *analysis, uint32_t node);

/* Seconds in picoseconds, which add up exactly; DIM_OVERFLOW past 2^63 of them. */
int64_t estimate_ps(double seconds);

/*
 * Of one run of a node, in picoseconds: 0 where it does nothing, DIM_UNKNOWN where it has no
 * time or nobody was asked.
 */
int64_t estimate_latency(const struct analysis *analysis, uint32_t node);

#endif
