/* SPDX-License-Identifier: Apache-2.0 */
/* Differences in the profiling conditions of two results. */
#pragma once

#include <stdbool.h>

struct arena;
struct cm_diff;
struct cm_result;

/* Sets the conditions of the diff. If out of memory, `arena` has failed. */
void conditions_find(struct cm_diff *diff, struct arena *arena);

/* Returns true if input shapes differ because the user chose them with different options.
 * Models whose shapes differ for other reasons are comparable. If out of memory, `arena` has
 * failed. */
bool conditions_other_inputs(const struct cm_result *was, const struct cm_result *is,
                             struct arena *arena);
