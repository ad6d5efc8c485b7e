/* SPDX-License-Identifier: Apache-2.0 */
/* Converts profiles of a baseline to results, and computes the spread of times. */
#pragma once

#include "costmodel/check.h"

struct arena;

/* Returns the profile of a batch; NULL: none. */
const struct cm_baseline_profile *baseline_find(const struct cm_baseline *baseline,
                                                int64_t batch);

/* Makes a result with the values and the module tree of one profile, without nodes, in `arena`.
 * It borrows from the baseline. CM_OK, CM_REFUSED (the modules do not form a tree),
 * CM_NO_MEMORY. */
int baseline_result(const struct cm_baseline *baseline,
                    const struct cm_baseline_profile *profile, struct arena *arena,
                    struct cm_diagnostics *diag, struct cm_result *ret)
    __attribute__((warn_unused_result));

/* Returns the source of the times and the spread of their total; borrows from the result. */
struct cm_baseline_times baseline_times(const struct cm_result *result);

/* Returns the spread of each module's time, by module; NULL if out of memory. */
struct cm_baseline_spread *baseline_spreads(const struct cm_result *result,
                                            struct arena *arena);
/* Returns the stored spreads, by module of baseline_result; NULL if out of memory. */
struct cm_baseline_spread *baseline_kept_spreads(const struct cm_baseline *baseline,
                                                 int64_t batch, struct arena *arena);
