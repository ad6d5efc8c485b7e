/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All primitives twice, the second time backwards: clocks that fall and neighbours that come
 * show as a difference between the rounds, which the spread within one measurement does not.
 */
#ifndef BACKENDS_REPEAT_H
#define BACKENDS_REPEAT_H

#include <stddef.h>

#include "costmodel/backend.h"

struct repeat_job {
    /* Fills *ret in any case. */
    void (*measure)(void *context, size_t index, struct cm_measurement *ret);
    /* Before each measuring, in round 1, 2 or 3; the total may grow by those of the third.
     * NULL: none. */
    void (*progress)(void *context, int round, size_t done, size_t total);
    void *context;
};

/*
 * Fills `n` measurements. One that has a time is measured a second time; where the two differ
 * by more than `drift`, a third. Kept is the later of the two that agree best; where none
 * agree, the one in the middle, flagged unstable.
 */
void repeat_run(const struct repeat_job *job, size_t n, double drift,
                struct cm_measurement *ret);

#endif
