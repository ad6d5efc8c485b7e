/* SPDX-License-Identifier: Apache-2.0 */
/* How both sides were profiled, as far as it differs. */
#ifndef COMPARE_CONDITIONS_H
#define COMPARE_CONDITIONS_H

struct arena;
struct cm_diff;

/* Fills the conditions of the diff, from its results. CM_OK, CM_NO_MEMORY. */
int conditions_find(struct cm_diff *diff, struct arena *arena)
    __attribute__((warn_unused_result));

#endif
