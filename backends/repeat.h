/* SPDX-License-Identifier: Apache-2.0 */
/* Measures all primitives twice, the second time in reverse order: falling clocks and other
 * processes show as a difference between rounds, not as spread within one measurement. */
#pragma once

#include <stddef.h>

#include "costmodel/backend.h"

struct repeat_job {
    /* Measures primitive `index`. Always fills *ret. */
    void (*measure)(void *context, size_t index, struct cm_measurement *ret);
    /* Called before each measurement in round 1, 2 or 3, with a `total` that grows as further
     * rounds become necessary. May be NULL. */
    void (*progress)(void *context, int round, size_t done, size_t total);
    void *context;
};

/* Fills `n` measurements. Measures each primitive; if that gave a time, measures it again, and
 * a third time if the two times differ by more than `drift` (0.03: 3 %). Keeps the later of two
 * times that agree; if no two agree, keeps the median time, flagged unstable. */
void repeat_run(const struct repeat_job *job, size_t n, double drift,
                struct cm_measurement *ret);
