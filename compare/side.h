/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of the gate with the baseline's of the same batch beside it. */
#ifndef COMPARE_SIDE_H
#define COMPARE_SIDE_H

#include "compare/judge.h"
#include "costmodel/check.h"
#include "costmodel/compare.h"

struct arena;

/* Why figures of a profile are not all of it; NULL: they are. */
struct gaps {
    const char *sums;
    const char *step; /* of those of a training step */
    const char *times;
};

struct side {
    const struct cm_result *now;
    struct cm_baseline_times times;
    bool has_old;
    struct cm_result old;
    struct cm_baseline_times old_times;
    struct cm_diff *diff;                     /* NULL: there is no old */
    size_t *of_module;                        /* module of `now` -> index into diff->modules */
    const struct cm_baseline_spread *spreads; /* of the modules of `now` */
    const struct cm_baseline_spread *old_spreads; /* of those of `old` */
    const char *no_old; /* why figures have nothing to be compared with; NULL: they have */
    const char *no_old_times;
    bool bounds_count; /* an upper bound is taken for the figure */
    struct gaps gaps;  /* of `now` */
    struct gaps old_gaps;
};

/* CM_OK, CM_REFUSED (the baseline is broken), CM_NO_MEMORY. side_free frees it also then. */
int side_make(const struct cm_result *now, const struct cm_check_options *options,
              struct arena *arena, struct cm_diagnostics *diag, struct side *ret)
    __attribute__((warn_unused_result));
void side_free(struct side *side);

/* A figure of a module of `now`, or of the whole (CM_NO_INDEX). */
struct figure side_figure(const struct side *side, const struct limit *limit, size_t module);

#endif
