/* SPDX-License-Identifier: Apache-2.0 */
/* --trip-count: how often the body of a Loop runs where only data decide. */
#ifndef PASSES_INFER_TRIP_COUNTS_H
#define PASSES_INFER_TRIP_COUNTS_H

#include "passes/pass.h"

/* *ret: by node what was asked for, DIM_UNKNOWN for others; NULL: nothing. Refuses a name that
 * no node, and no output of one, has. */
int trips_find(const struct analysis *analysis, const int64_t **ret) CM_MUST_CHECK;
/*
 * Behind the walk, which left by node what became of it. Refuses what is no Loop, or one whose
 * count is known; a note tells of each other that it is assumed.
 */
int trips_check(const struct analysis *analysis, const enum trip_use *uses) CM_MUST_CHECK;

#endif
