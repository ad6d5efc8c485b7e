/* SPDX-License-Identifier: Apache-2.0 */
/* A checked profile and the baseline profile of the same batch. */
#pragma once

#include "compare/judge.h"
#include "costmodel/check.h"
#include "costmodel/compare.h"

struct arena;

/* Why values of a profile are incomplete; NULL: complete. */
struct gaps {
    const char *sums;
    const char *step; /* metrics of a training step */
    const char *times;
};

struct side {
    const struct cm_result *now;
    struct cm_baseline_times times; /* of `now` */
    bool has_old;
    struct cm_result old; /* the baseline profile; valid if has_old */
    struct cm_baseline_times old_times;
    struct cm_diff *diff;                     /* NULL: no baseline profile */
    size_t *of_module;                        /* module of `now` -> index into diff->modules */
    const struct cm_baseline_spread *spreads; /* of the modules of `now` */
    const struct cm_baseline_spread *old_spreads; /* of the modules of `old` */
    const char *no_old;       /* why there is no comparable baseline; NULL: there is one */
    const char *no_old_times; /* why times are not comparable; NULL: they are */
    bool is_outdated;         /* `old` was counted by other rules */
    bool bounds_count;        /* upper bounds count as values */
    const struct cm_llm *llm; /* as in cm_check_options, and the next */
    const char *no_llm;
    struct gaps gaps; /* of `now` */
    struct gaps old_gaps;
};

/* Pairs `now` with the baseline profile of its batch, if any. CM_OK, CM_REFUSED (invalid
 * baseline), CM_NO_MEMORY. The caller frees ret->diff in every case. */
int side_make(const struct cm_result *now, const struct cm_check_options *options,
              struct arena *arena, struct cm_diagnostics *diag, struct side *ret)
    __attribute__((warn_unused_result));

/* Returns the value and baseline value of a limit's metric, for a module of `now` or the whole
 * model (CM_NO_INDEX). */
struct figure side_figure(const struct side *side, const struct limit *limit, size_t module);
