/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A limit, as a person writes it:
 *
 *     [MODULES:] METRIC [@ BATCH] <= BOUND [| BOUND]...
 *
 * MODULES is a pattern of module paths ('*', '?'), without it the limit is on the whole model.
 * A BOUND is a size ("4.1G", "16MiB", "2.5ms"), or, from the baseline on, a share ("+2%") or a
 * size ("+1MiB") by which it may grow. Of several, one that holds is enough.
 */
#ifndef COMPARE_LIMIT_H
#define COMPARE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/compare.h"

struct arena;
struct cm_diagnostics;

enum bound_kind {
    BOUND_ABSOLUTE,
    BOUND_MORE,    /* than the baseline's */
    BOUND_PERCENT, /* the same, of it: in millionths of a percent */
};

struct bound {
    enum bound_kind kind;
    int64_t value;
};

#define LIMIT_MOST_BOUNDS 4

struct limit {
    const char *text;
    const char *source;  /* where it stands */
    const char *modules; /* "" the whole model */
    size_t metric;       /* as cm_metric_at counts, and what that gives */
    struct cm_metric of;
    int64_t batch; /* CM_UNKNOWN: every one */
    size_t n_bounds;
    struct bound bounds[LIMIT_MOST_BOUNDS];
};

/* CM_OK, CM_USAGE (told, with what is wrong with which word), CM_NO_MEMORY. `text` and `source`
 * are borrowed. */
int limit_parse(const char *text, const char *source, struct arena *arena,
                struct cm_diagnostics *diag, struct limit *ret)
    __attribute__((warn_unused_result));

/* Whether some bound stands on the baseline: what is absolute no new baseline changes. */
bool limit_is_relative(const struct limit *limit);

/* The most that the bound allows; `old` is the baseline's. CM_UNKNOWN: one needs a baseline and
 * there is none. Past 2^63 it is INT64_MAX: no figure is more. */
int64_t bound_most(const struct bound *bound, int64_t old);

#endif
