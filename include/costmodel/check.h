/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate: limits on what a model costs, a baseline to compare it with, and the verdict, as
 * plain data (docs/gate.md).
 *
 * A figure that nobody knows passes no limit: it is "not-compared", which is neither a pass nor
 * a regression. A missing baseline is that too, never a change by 100%.
 */
#ifndef COSTMODEL_CHECK_H
#define COSTMODEL_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "costmodel/costmodel.h"
#include "costmodel/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits, and what they are to be tried at: schema "costmodel/budget/1". */
struct cm_budget {
    const char *convention; /* "": as asked elsewhere */
    size_t n_batches;       /* 0: the baseline's, or the file's */
    const size_t *batches;
    size_t n_dims;
    const struct cm_named_size *dims;
    size_t n_limits;
    const char *const *limits; /* "macs <= 4.1G", "layer1.*: flops <= +0% | +1M" */
    void *arena;               /* the library's */
};

/* What a time needs to be compared with another. */
struct cm_baseline_times {
    bool present;
    const char *state;     /* "measured", "modelled", "invented", "proxy" */
    const char *device;    /* as it calls itself */
    const char *precision; /* "fp16" */
    const char *layout;    /* of images: "auto" */
    int64_t low_ps;        /* the sum of the first quartiles of what ran; equal for a model */
    int64_t high_ps;       /* of the third ones */
    int64_t untimed_nodes; /* that have none */
    const char *doubt;     /* why the times say little: "unstable"; "" */
};

/* A model at one batch. Of `figures` there are inputs, options, totals, coverage, the sizes of
 * memory, and the training step. */
struct cm_baseline_profile {
    struct cm_result figures;
    struct cm_baseline_times times;
};

/* Between what a time lies, in picoseconds: by first quartiles, and by third ones. */
struct cm_baseline_spread {
    bool present;
    int64_t low_ps;
    int64_t high_ps;
};

struct cm_baseline_module {
    int64_t batch;                   /* of which profile; CM_UNKNOWN where no axis is a batch */
    struct cm_module module;         /* path, type, arguments, calls, costs, peak */
    struct cm_baseline_spread times; /* of all that ran in it */
};

/* Why a baseline became what it is. */
struct cm_baseline_change {
    const char *reason;
    int64_t batch; /* of the figures that follow: the first that was profiled */
    size_t n_changes;
    const struct cm_named_size *changes; /* metric and by how much it changed */
};

/* Schema "costmodel/baseline/2". */
struct cm_baseline {
    const char *model; /* name of the file, without its folder */
    size_t n_profiles;
    const struct cm_baseline_profile *profiles;
    size_t n_modules;
    const struct cm_baseline_module *modules; /* in the order of the profiles */
    size_t n_history;
    const struct cm_baseline_change *history; /* the oldest first */
    void *arena;                              /* the library's */
};

struct cm_check_limit {
    const char *text;
    const char *source; /* where it stands: "budget.json", "--limit" */
};

struct cm_check_options {
    const struct cm_baseline *baseline; /* NULL: there is none */
    const char *no_baseline;            /* why: "no baseline was given" */
    size_t n_limits;                    /* 0: nothing may get dearer */
    const struct cm_check_limit *limits;
    size_t n_beside; /* of the profiles, the last ones: there only limits that name their batch
                        are tried */
    bool allow_incomplete; /* compare what is known of a model that is not known wholly */
    bool fail_ambiguous;
    size_t top;         /* modules to blame a regression on */
    const char *accept; /* the command that accepts what changed; "" */
};

/* A module, or the whole model (path ""), held against one limit. */
struct cm_check_finding {
    const char *path;
    const char *state;    /* as in cm_check_case */
    int64_t value;        /* this and the next CM_UNKNOWN where there is none */
    int64_t old;          /* the baseline's */
    int64_t bound;        /* the most of what the limit allows; CM_UNKNOWN: not known */
    int64_t over;         /* value - bound where that is a regression; else CM_UNKNOWN */
    const char *because;  /* of what is not-compared or ambiguous; "" */
    bool upper_bound;     /* value is an upper bound */
    bool old_upper_bound; /* old is one */
};

/* A module that a regression comes from. */
struct cm_check_blame {
    const char *path;
    const char *was;      /* its path in the baseline; "" it is new */
    const char *change;   /* "changed", "added", "removed", "renamed" */
    int64_t value;        /* 0 of one that was removed */
    int64_t old;          /* 0 of one that was added */
    int64_t by;           /* value - old */
    bool upper_bound;     /* value is an upper bound */
    bool old_upper_bound; /* old is one */
};

/* One limit at one batch. */
struct cm_check_case {
    const char *limit;  /* its text */
    const char *source; /* where that stands */
    const char *metric; /* its key: "macs" */
    const char *unit;   /* "elements", "MACs", "flops", "bytes", "ps" */
    int64_t batch;      /* CM_UNKNOWN where no axis is a batch */
    const char *state;  /* "pass", "regression", "ambiguous", "not-compared" */
    int64_t compared;   /* modules that the limit is on; 1 of the whole model */
    size_t n_findings;  /* what did not pass, the worst first; of the whole model always one */
    const struct cm_check_finding *findings;
    int64_t more_findings; /* how many are not listed */
    size_t n_blame;        /* of a regression, the largest change first */
    const struct cm_check_blame *blame;
    int64_t more_blame; /* how many are not listed */
};

/* Schema "costmodel/check/2". */
struct cm_verdict {
    const char *model; /* path */
    const char *state; /* the worst of the cases: "pass", "regression", "ambiguous",
                          "not-compared"; a regression stands over what was not compared */
    int64_t passed;    /* cases */
    int64_t regressions;
    int64_t ambiguous;
    int64_t not_compared;
    const char *convention;
    bool fail_ambiguous;
    const char *baseline; /* what was compared with: "" nothing, or the name of its model */
    const char *times;    /* what they are and of which device: "modelled, NVIDIA H200"; "" */
    const char *accept;   /* the command that accepts what changed; "" */
    size_t n_unchecked;
    const size_t *unchecked; /* batches of the baseline that nothing was compared with */
    size_t n_cases;
    const struct cm_check_case *cases; /* batch by batch, limits in their order; behind them
                                          those of limits whose batch was not profiled */
    void *arena;                       /* the library's */
};

/* What the gate says to a script: 0 pass, 1 regression, 3 could not compare. */
static inline int cm_verdict_exit(const struct cm_verdict *verdict) {
    if (verdict->regressions > 0) return 1;
    if (verdict->not_compared > 0) return 3;
    return verdict->ambiguous > 0 && verdict->fail_ambiguous ? 1 : 0;
}

/* CM_OK, CM_REFUSED, CM_NO_MEMORY; the limits' own words are read by cm_check. */
CM_API int cm_budget_read_json(const char *text, size_t size, const char *name,
                               struct cm_diagnostics *diagnostics,
                               struct cm_budget **ret_budget) CM_MUST_CHECK;
CM_API void cm_budget_free(struct cm_budget *budget);

/*
 * A baseline of `n` profiles of one model, each at another batch. `old` (NULL: none) gives its
 * history, to which `reason` ("": nothing) is added. It borrows from all of
 * them.
 */
CM_API int cm_baseline_make(const struct cm_result *const *results, size_t n,
                            const struct cm_baseline *old, const char *reason,
                            struct cm_diagnostics *diagnostics,
                            struct cm_baseline **ret_baseline) CM_MUST_CHECK;
CM_API int cm_baseline_read_json(const char *text, size_t size, const char *name,
                                 struct cm_diagnostics *diagnostics,
                                 struct cm_baseline **ret_baseline) CM_MUST_CHECK;
CM_API int cm_baseline_write_json(const struct cm_baseline *baseline, FILE *out) CM_MUST_CHECK;
CM_API void cm_baseline_free(struct cm_baseline *baseline);

/*
 * By figures that are costs, or that a limit is on, times aside, of the whole and of modules:
 * whether something got cheaper, and dearer. A module that the old one has not counts where a
 * limit is on it.
 */
struct cm_baseline_trend {
    bool cheaper;
    bool dearer;
    const char *dearest;        /* key of the first metric that got dearer; NULL none */
    const char *dearest_module; /* of which module, the path is `now`'s; "" the whole */
    bool comparable; /* false: not the same batches or options, only incomplete is set */
    bool incomplete; /* `now` has operators or shapes that are not known */
};

/* CM_OK, CM_USAGE (a limit is at fault), CM_REFUSED (the modules of one are no tree),
 * CM_NO_MEMORY. */
CM_API int cm_baseline_compare(const struct cm_baseline *old, const struct cm_baseline *now,
                               size_t n_limits, const struct cm_check_limit *limits,
                               struct cm_diagnostics *diagnostics,
                               struct cm_baseline_trend *ret_trend) CM_MUST_CHECK;

/* The batch that the limit names, "macs @ 32 <= 1G"; CM_UNKNOWN: none, so that it holds at
 * each. CM_OK, CM_USAGE (the limit is at fault), CM_NO_MEMORY. */
CM_API int cm_check_limit_batch(const struct cm_check_limit *limit,
                                struct cm_diagnostics *diagnostics,
                                int64_t *ret_batch) CM_MUST_CHECK;

/*
 * Holds profiles of one model, each at another batch, against the limits. CM_OK whatever the
 * verdict is, CM_USAGE (a limit is at fault), CM_REFUSED (the modules of the baseline are no
 * tree), CM_NO_MEMORY. Freed with cm_verdict_free.
 */
CM_API int cm_check(const struct cm_result *const *results, size_t n,
                    const struct cm_check_options *options, struct cm_diagnostics *diagnostics,
                    struct cm_verdict **ret_verdict) CM_MUST_CHECK;
CM_API void cm_verdict_free(struct cm_verdict *verdict);

/* CM_OK, CM_IO, CM_NO_MEMORY. */
CM_API int cm_verdict_write_text(const struct cm_verdict *verdict,
                                 const struct cm_text_options *options,
                                 FILE *out) CM_MUST_CHECK;
CM_API int cm_verdict_write_json(const struct cm_verdict *verdict, FILE *out) CM_MUST_CHECK;
/* A table that fits a comment on a pull request. */
CM_API int cm_verdict_write_markdown(const struct cm_verdict *verdict, FILE *out) CM_MUST_CHECK;
/* JUnit's XML: a test case for each limit and batch. */
CM_API int cm_verdict_write_junit(const struct cm_verdict *verdict, FILE *out) CM_MUST_CHECK;
/* SARIF 2.1.0: a result for each case that did not pass. */
CM_API int cm_verdict_write_sarif(const struct cm_verdict *verdict, FILE *out) CM_MUST_CHECK;
/* Commands of GitHub's workflows: an annotation for each case that did not pass. */
CM_API int cm_verdict_write_github(const struct cm_verdict *verdict, FILE *out) CM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
