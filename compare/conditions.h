/* SPDX-License-Identifier: Apache-2.0 */
/* How both sides were profiled, as far as it differs. */
#ifndef COMPARE_CONDITIONS_H
#define COMPARE_CONDITIONS_H

#include <stdbool.h>

struct arena;
struct cm_diff;
struct cm_result;

/* Fills the conditions of the diff, from its results. CM_OK, CM_NO_MEMORY. */
int conditions_find(struct cm_diff *diff, struct arena *arena)
    __attribute__((warn_unused_result));

/*
 * Whether inputs are of other shapes because somebody asked for them, on one side or otherwise
 * on the other. Shapes that nobody chose are the models' own, and may well be compared.
 * CM_OK, CM_NO_MEMORY.
 */
int conditions_other_inputs(const struct cm_result *was, const struct cm_result *is,
                            struct arena *arena, bool *ret) __attribute__((warn_unused_result));

#endif
