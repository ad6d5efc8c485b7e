/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regression gate: limits on the costs of a model, a baseline to compare with, and the verdict,
 * as plain data (docs/gate.md).
 *
 * An unknown value passes no limit: its state is "not-compared", neither a pass nor a
 * regression. The same holds if the baseline is missing.
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

/* Limits and the options to profile with: schema "costmodel/budget/1". */
struct cm_budget {
    const char *convention; /* "": not set */
    size_t n_batches;       /* 0: those of the baseline, or the file's batch */
    const size_t *batches;
    size_t n_dims;
    const struct cm_named_size *dims;
    size_t n_limits;
    const char *const *limits; /* "macs <= 4.1G", "layer1.*: flops <= +0% | +1M" */
    void *arena;               /* private */
};

/* Conditions and spread of the times of a baseline, needed to compare them. */
struct cm_baseline_times {
    bool present;
    const char *state;       /* "measured", "modelled", "invented", "imported" */
    const char *device;      /* "NVIDIA H200" */
    const char *layout;      /* of images: "auto" */
    int64_t low_ps;          /* sum of first quartiles; equal to high_ps if modelled */
    int64_t high_ps;         /* sum of third quartiles */
    int64_t untimed_nodes;   /* nodes without a time */
    const char *other_shape; /* as in cm_measure: the times are never compared; NULL */
    const char *doubt;       /* why the times are unreliable: "unstable"; "" */
};

/* A model at one batch. `figures` holds only inputs, options, totals, coverage, memory sizes
 * and the training step. */
struct cm_baseline_profile {
    struct cm_result figures;
    struct cm_baseline_times times;
};

/* Spread of a time, in picoseconds: sums of first and of third quartiles. */
struct cm_baseline_spread {
    bool present;
    int64_t low_ps;
    int64_t high_ps;
};

struct cm_baseline_module {
    int64_t batch;                   /* of its profile; CM_UNKNOWN: no batch axis */
    struct cm_module module;         /* only path, type, arguments, calls, costs, peak */
    struct cm_baseline_spread times; /* of its timed nodes */
};

/* One update of a baseline. */
struct cm_baseline_change {
    const char *reason;
    int64_t batch; /* of `changes`: the first profiled batch */
    size_t n_changes;
    const struct cm_named_size *changes; /* metric key and difference */
};

/* Schema "costmodel/baseline/2". */
struct cm_baseline {
    const char *model;  /* file name without its directory */
    const char *commit; /* of the model; NULL: not known */
    size_t n_profiles;
    const struct cm_baseline_profile *profiles;
    size_t n_modules;
    const struct cm_baseline_module *modules; /* in the order of the profiles */
    size_t n_history;
    const struct cm_baseline_change *history; /* oldest first */
    void *arena;                              /* private */
};

struct cm_check_limit {
    const char *text;
    const char *source; /* "budget.json", "--limit" */
};

/* Accepts an excess over a limit until a date. A waiver that has expired accepts nothing. */
struct cm_check_waiver {
    const char *limit;  /* text of the limit, or key of a metric: "macs" */
    const char *reason; /* shown in the reports */
    const char *until;  /* last day: "2026-12-31" */
    bool is_expired;    /* that day is over */
};

struct cm_llm;

/* Options of cm_check. All members but `size` may be 0. */
struct cm_check_options {
    size_t size;                        /* sizeof(struct cm_check_options) */
    const struct cm_baseline *baseline; /* NULL: none */
    const char *no_baseline;            /* reason: "no baseline was given" */
    size_t n_limits;                    /* 0: no cost may increase over the baseline */
    const struct cm_check_limit *limits;
    size_t n_extra_profiles;  /* the last n_extra_profiles profiles are checked only against
                                 limits that name their batch */
    bool allow_incomplete;    /* check a model with unknown operators or shapes */
    bool fail_ambiguous;      /* exit 1 instead of 3 if measured times overlap */
    size_t top;               /* modules to report per regression */
    const char *accept;       /* command that accepts the new costs; "" */
    const struct cm_llm *llm; /* figures of the language model (costmodel/llm.h); NULL: none */
    const char *no_llm;       /* why there are none: "the model is a profile"; NULL */
    const char *commit;       /* of the model; NULL: not known */
    size_t n_waivers;
    const struct cm_check_waiver
        *waivers; /* the first of a limit that has not expired counts */
};

/* A module, or the whole model (path ""), checked against one limit. */
struct cm_check_finding {
    const char *path;
    const char *state;    /* as in cm_check_case */
    int64_t value;        /* CM_UNKNOWN: none */
    int64_t old;          /* baseline value; CM_UNKNOWN: none */
    int64_t allowed;      /* largest value that the limit allows; CM_UNKNOWN */
    int64_t over;         /* regression, waived: value - allowed; else CM_UNKNOWN */
    const char *because;  /* why it is not-compared or ambiguous; its waiver; "" */
    bool upper_bound;     /* value is an upper bound */
    bool old_upper_bound; /* old is an upper bound */
};

/* A module that causes a regression. */
struct cm_check_blame {
    const char *path;
    const char *was;      /* its path in the baseline; "": new */
    const char *change;   /* "changed", "added", "removed", "renamed" */
    int64_t value;        /* 0 if removed */
    int64_t old;          /* 0 if added */
    int64_t by;           /* value - old */
    bool upper_bound;     /* value is an upper bound */
    bool old_upper_bound; /* old is an upper bound */
};

/* One limit at one batch. */
struct cm_check_case {
    const char *limit;  /* its text */
    const char *source; /* as in cm_check_limit */
    const char *metric; /* key: "macs"; "": the model was refused */
    const char *unit;   /* "elements", "MACs", "flops", "bytes", "ps" */
    int64_t batch;      /* CM_UNKNOWN: no batch axis */
    const char *state;  /* "pass", "waived", "regression", "ambiguous", "not-compared" */
    int64_t compared;   /* modules that the limit applies to; 1 for the whole model */
    size_t n_findings;  /* modules that did not pass, worst first; 1 for the whole model */
    const struct cm_check_finding *findings;
    int64_t more_findings; /* findings that are not listed */
    size_t n_blame;        /* causes of a regression, largest change first */
    const struct cm_check_blame *blame;
    int64_t more_blame; /* causes that are not listed */
};

/* Schema "costmodel/check/2". */
struct cm_verdict {
    const char *model; /* path; "" if there are `models` */
    const char *state; /* worst state of the cases: "regression", "not-compared", "ambiguous",
                          "waived", "pass" */
    int64_t passed;    /* number of cases, by state */
    int64_t waived;
    int64_t regressions;
    int64_t ambiguous;
    int64_t not_compared;
    const char *convention;
    const char *precision; /* "": as in the file */
    bool fail_ambiguous;
    const char *baseline;        /* model name of the baseline; "": none */
    const char *commit;          /* of the model; NULL: not known */
    const char *baseline_commit; /* of the model of the baseline; NULL: not known */
    const char *times;           /* kind and device of the times: "modelled, NVIDIA H200"; "" */
    const char *accept;          /* command that accepts the new costs; "" */
    bool is_outdated; /* the baseline was counted by other rules: `accept` renews it */
    size_t n_unchecked;
    const size_t *unchecked; /* batches of the baseline without a new profile */
    size_t n_cases;
    const struct cm_check_case *cases; /* by batch, then limit; limits whose batch was
                                          not profiled are last */
    size_t n_models;                   /* of cm_verdict_join; 0: one model */
    const struct cm_verdict *models;   /* their verdicts; then there are no `cases` here */
    void *arena;                       /* private */
};

/* Returns the exit status of the check: 0 pass, 1 regression, 3 undecided (a limit is not
 * compared or ambiguous). */
static inline int cm_verdict_exit(const struct cm_verdict *verdict) {
    if (verdict == NULL) return 3;
    if (verdict->regressions > 0) return 1;
    if (verdict->ambiguous > 0 && verdict->fail_ambiguous) return 1;
    return verdict->not_compared > 0 || verdict->ambiguous > 0 ? 3 : 0;
}

/* Reads a budget; cm_check parses its limits. CM_OK, CM_REFUSED, CM_NO_MEMORY. */
CM_API int cm_budget_read_json(const char *text, size_t size, const char *name,
                               struct cm_diagnostics *diagnostics,
                               struct cm_budget **ret_budget) CM_MUST_CHECK;
CM_API void cm_budget_free(struct cm_budget *budget);

/*
 * Makes a baseline of `n` profiles of one model, each at another batch. Its history is that of
 * `old` (NULL: none) plus an entry with `reason` ("": no entry). The baseline borrows from all
 * arguments.
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
 * Comparison of two baselines, for the model and its modules, over all metrics that are costs
 * or have a limit, without times. A module that exists only in `now` and has no limit is
 * ignored.
 */
struct cm_baseline_trend {
    bool decreased;               /* some metric decreased */
    bool increased;               /* some metric increased */
    const char *increased_metric; /* key of the first metric that increased; NULL: none */
    const char *increased_module; /* its module, a path of `now`; "": the whole model */
    bool comparable; /* false: other batches or options; then only `incomplete` is valid */
    bool incomplete; /* `now` has unknown operators or unbounded shapes */
};

/* Compares two baselines. CM_OK, CM_USAGE (invalid limit), CM_REFUSED (modules do not form a
 * tree), CM_NO_MEMORY. */
CM_API int cm_baseline_compare(const struct cm_baseline *old, const struct cm_baseline *now,
                               size_t n_limits, const struct cm_check_limit *limits,
                               struct cm_diagnostics *diagnostics,
                               struct cm_baseline_trend *ret_trend) CM_MUST_CHECK;

/* Sets *ret_batch to the batch of a limit, 32 for "macs @ 32 <= 1G"; CM_UNKNOWN if the limit
 * applies to every batch. CM_OK, CM_USAGE (invalid limit), CM_NO_MEMORY. */
CM_API int cm_check_limit_batch(const struct cm_check_limit *limit,
                                struct cm_diagnostics *diagnostics,
                                int64_t *ret_batch) CM_MUST_CHECK;

/* Sets *ret_metric to the metric of a limit, an index for cm_metric_at. CM_OK, CM_USAGE
 * (invalid limit), CM_NO_MEMORY. */
CM_API int cm_check_limit_metric(const struct cm_check_limit *limit,
                                 struct cm_diagnostics *diagnostics,
                                 size_t *ret_metric) CM_MUST_CHECK;

/*
 * Checks profiles of one model, each at another batch, against the limits. CM_OK for every
 * verdict, CM_USAGE (invalid limit), CM_REFUSED (modules of the baseline do not form a tree),
 * CM_NO_MEMORY. Free with cm_verdict_free.
 */
CM_API int cm_check(const struct cm_result *const *results, size_t n,
                    const struct cm_check_options *options, struct cm_diagnostics *diagnostics,
                    struct cm_verdict **ret_verdict) CM_MUST_CHECK;
CM_API void cm_verdict_free(struct cm_verdict *verdict);

/* Makes one verdict of `n` verdicts of one model each, for one report of all. It borrows from
 * them. CM_OK, CM_USAGE (a verdict of several models), CM_NO_MEMORY. Free with
 * cm_verdict_free. */
CM_API int cm_verdict_join(const struct cm_verdict *const *verdicts, size_t n,
                           struct cm_diagnostics *diagnostics,
                           struct cm_verdict **ret_verdict) CM_MUST_CHECK;

/* Write the verdict as text or JSON. CM_OK, CM_IO, CM_NO_MEMORY. */
CM_API int cm_verdict_write_text(const struct cm_verdict *verdict,
                                 const struct cm_text_options *options,
                                 FILE *out) CM_MUST_CHECK;
CM_API int cm_verdict_write_json(const struct cm_verdict *verdict, FILE *out) CM_MUST_CHECK;
/* Writes a page of HTML (docs/report.md) that embeds the verdict, a profile, and the figures of
 * the baseline at its batch; NULL: none. Also CM_USAGE (cm_html_check, or the verdict is of
 * several models), CM_REFUSED (modules of the baseline do not form a tree). */
CM_API int cm_verdict_write_html(const struct cm_verdict *verdict,
                                 const struct cm_result *result,
                                 const struct cm_baseline *baseline,
                                 struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;
/* Writes a Markdown table that fits into a pull request comment. */
CM_API int cm_verdict_write_markdown(const struct cm_verdict *verdict, FILE *out) CM_MUST_CHECK;
/* Writes JUnit XML: one test case per limit and batch. */
CM_API int cm_verdict_write_junit(const struct cm_verdict *verdict, FILE *out) CM_MUST_CHECK;
/* Writes SARIF 2.1.0: one result per case that did not pass. */
CM_API int cm_verdict_write_sarif(const struct cm_verdict *verdict, FILE *out) CM_MUST_CHECK;
/* Writes GitHub workflow commands: one annotation per case that did not pass. */
CM_API int cm_verdict_write_github(const struct cm_verdict *verdict, FILE *out) CM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
