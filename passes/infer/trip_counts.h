/* SPDX-License-Identifier: Apache-2.0 */
/* --trip-count sets the trip count of a Loop with a data-dependent exit. */
#ifndef PASSES_INFER_TRIP_COUNTS_H
#define PASSES_INFER_TRIP_COUNTS_H

#include "passes/pass.h"

/* Sets *ret to the requested counts by node, DIM_UNKNOWN for others; NULL if none is requested.
 * Refuses names that no node and no output has. */
int trips_find(const struct analysis *analysis, const int64_t **ret) CM_MUST_CHECK;
/* Checks the outcomes (by node) after the walk: refuses nodes that are not Loops or have a
 * static count, and emits a note for each assumed count. */
int trips_check(const struct analysis *analysis, const enum trip_outcome *uses) CM_MUST_CHECK;

#endif
