/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of a baseline as a result again, and what its times may be compared by. */
#ifndef COMPARE_BASELINE_H
#define COMPARE_BASELINE_H

#include "costmodel/check.h"

struct arena;

/* The profile of that batch; NULL: there is none. */
const struct cm_baseline_profile *baseline_find(const struct cm_baseline *baseline,
                                                int64_t batch);

/*
 * A result with the figures and the tree of modules of one profile, and no nodes, in `arena`;
 * it borrows from the baseline. CM_OK, CM_REFUSED (its modules are no tree), CM_NO_MEMORY.
 */
int baseline_result(const struct cm_baseline *baseline,
                    const struct cm_baseline_profile *profile, struct arena *arena,
                    struct cm_diagnostics *diag, struct cm_result *ret)
    __attribute__((warn_unused_result));

/* Borrows from the result. */
struct cm_baseline_times baseline_times(const struct cm_result *result);

/* The spread of each module's time; NULL: no memory. */
struct cm_baseline_spread *baseline_spreads(const struct cm_result *result,
                                            struct arena *arena);
/* The same as the baseline keeps it, in the order of baseline_result's modules. */
struct cm_baseline_spread *baseline_kept_spreads(const struct cm_baseline *baseline,
                                                 int64_t batch, struct arena *arena);

#endif
