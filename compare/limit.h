/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and their syntax:
 *
 *     [MODULES:] METRIC [@ BATCH] <= BOUND [| BOUND]...
 *
 * MODULES is a pattern of module paths ('*', '?'); without it the limit applies to the whole
 * model. A BOUND is a value ("4.1G", "16MiB", "2.5ms") or an allowed increase over the baseline
 * ("+2%", "+1MiB"). The limit is met if any of its bounds is met. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/compare.h"

struct arena;
struct cm_diagnostics;

enum bound_kind {
    BOUND_ABSOLUTE,
    BOUND_MORE,    /* increase over the baseline */
    BOUND_PERCENT, /* increase over the baseline, in millionths of a percent */
};

struct bound {
    enum bound_kind kind;
    int64_t value; /* bytes, ps or a count; BOUND_PERCENT: millionths of a percent */
};

#define LIMIT_MAX_BOUNDS 4

struct limit {
    const char *text;
    const char *source;  /* as in cm_check_limit */
    const char *modules; /* "": the whole model */
    size_t metric;       /* index for cm_metric_at */
    struct cm_metric of;
    int64_t batch; /* CM_UNKNOWN: every batch */
    size_t n_bounds;
    struct bound bounds[LIMIT_MAX_BOUNDS];
};

/* Parses a limit; borrows `text` and `source`. CM_OK, CM_USAGE with a message, CM_NO_MEMORY. */
int limit_parse(const char *text, const char *source, struct arena *arena,
                struct cm_diagnostics *diag, struct limit *ret)
    __attribute__((warn_unused_result));

/* Returns true if any bound of the limit is relative to the baseline. */
bool limit_is_relative(const struct limit *limit);

/* Returns the largest value that the bound allows for the baseline value `old`; CM_UNKNOWN if
 * the bound is relative and `old` is unknown; INT64_MAX on overflow. */
int64_t bound_most(const struct bound *bound, int64_t old);
