/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two results beside each other: what became dearer, where, and whether they can be compared.
 *
 *     struct cm_diff *diff = NULL;
 *     if (cm_diff_make(before, after, diagnostics, &diff) == CM_OK && cm_diff_comparable(diff))
 *         ... cm_diff_total(diff, cm_metric_find("macs")).difference ...
 *     cm_diff_free(diff);
 */
#ifndef COSTMODEL_COMPARE_H
#define COSTMODEL_COMPARE_H

#include "costmodel/costmodel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum cm_unit { CM_UNIT_ELEMENTS, CM_UNIT_MACS, CM_UNIT_FLOPS, CM_UNIT_BYTES, CM_UNIT_PS };

/* A figure of a model, of a module or of an operator that can be compared with another's. */
struct cm_metric {
    const char *key; /* as in JSON: "macs", "peak_activation_bytes", "training.peak_bytes" */
    const char *heading; /* for people: "fwd MACs" */
    enum cm_unit unit;
    bool of_modules;   /* a module has one, too */
    bool of_operators; /* an operator (struct cm_operator) has one, too */
    bool is_sum;       /* a parent's is that of its children and of its own nodes */
    bool timed;        /* has a spread: equal models differ in it */
    bool is_part;      /* says more of another one: of no interest where it is 0 */
    bool is_cost;      /* less of it is better, so that a ratchet goes by it */
};

/* The metrics that there are, the same for every result, in the order of reports; false past
 * the last. */
CM_API bool cm_metric_at(size_t metric, struct cm_metric *ret);
/* By key; CM_NO_INDEX: there is none. */
CM_API size_t cm_metric_find(const char *key);

/* What a result says of a metric. */
struct cm_figure {
    int64_t value;    /* CM_UNKNOWN: not known */
    bool upper_bound; /* it is an upper bound: what is only data decide is counted at its
                         largest */
};

/*
 * False, and *ret untouched: the result has no such figure at all (no times, no training step;
 * not a figure of modules, or operators).
 */
CM_API bool cm_metric_of_total(size_t metric, const struct cm_result *result,
                               struct cm_figure *ret);
CM_API bool cm_metric_of_module(size_t metric, const struct cm_result *result, size_t module,
                                struct cm_figure *ret);
CM_API bool cm_metric_of_operator(size_t metric, const struct cm_result *result,
                                  size_t operator_index, struct cm_figure *ret);

/*
 * Whether the figure is of a training step in this result, as `required_bytes` is where it has
 * one. Those leave out what has only a bound (cm_coverage.bounded_shapes).
 */
CM_API bool cm_metric_is_of_step(size_t metric, const struct cm_result *result);

/* One metric of one thing on both sides. */
struct cm_change {
    bool in_old; /* the old side has the thing, and the thing the metric */
    bool in_new;
    int64_t old_value; /* CM_UNKNOWN: not known; 0 unless in_old */
    int64_t new_value;
    int64_t difference; /* new - old, of what is missing 0; CM_UNKNOWN where one is not known */
    bool old_upper_bound; /* old_value is an upper bound, */
    bool new_upper_bound; /* new_value: the difference is then that of what is known */
};

enum cm_diff_status {
    CM_DIFF_SAME,    /* its path, class, arguments and figures; times aside */
    CM_DIFF_CHANGED, /* the path is the same, or changed only with that of a parent */
    CM_DIFF_RENAMED, /* it has another name or another parent, perhaps other figures too */
    CM_DIFF_ADDED,
    CM_DIFF_REMOVED,
};

/* A module of one side, or of both. Indices are into the results' modules. */
struct cm_diff_module {
    enum cm_diff_status status;
    size_t old_module; /* CM_NO_INDEX: added */
    size_t new_module; /* CM_NO_INDEX: removed */
    size_t parent;     /* index into cm_diff.modules; CM_NO_INDEX of the root */
    int depth;
    bool is_part;  /* of a parent that was added or removed as a whole, which says it all */
    bool reworked; /* it has another class or other arguments */
};

struct cm_diff_operator {
    const char *op;      /* "Conv", "com.microsoft::Gelu" */
    size_t old_operator; /* index into the result's operators; CM_NO_INDEX */
    size_t new_operator;
};

/* What a difference in how both were profiled does to a comparison. */
enum cm_condition_weight {
    CM_CONDITION_NOTE,       /* nothing: it is said */
    CM_CONDITION_INCOMPLETE, /* sums of a side leave out what is not known there */
    CM_CONDITION_TIMES,      /* times cannot be compared, the rest can */
    CM_CONDITION_BREAKS,     /* nothing can be compared */
};

/* Something that holds of one side and not of the other, or that makes figures doubtful. */
struct cm_condition {
    enum cm_condition_weight weight;
    const char *key; /* "convention", "batch", "dims.seq", "mode", "device", "coverage" */
    const char *old_value;
    const char *new_value;
};

struct cm_diff {
    const struct cm_result *old_result; /* borrowed: both must outlive the diff */
    const struct cm_result *new_result;
    size_t n_conditions;
    const struct cm_condition *conditions; /* the heaviest first */
    size_t n_metrics;
    const size_t *metrics; /* of which a side has a total, as cm_metric_at counts; times only
                              where they can be compared */
    size_t n_modules; /* parents before children, as the new side has them; [0] is the root */
    const struct cm_diff_module *modules;
    size_t n_operators;
    const struct cm_diff_operator *operators; /* of either side, in the new side's order */
    void *arena;                              /* the library's */
};

/* Compares all that there is, whatever the conditions. CM_OK, CM_NO_MEMORY. */
CM_API int cm_diff_make(const struct cm_result *old_result, const struct cm_result *new_result,
                        struct cm_diagnostics *diagnostics,
                        struct cm_diff **ret_diff) CM_MUST_CHECK;
CM_API void cm_diff_free(struct cm_diff *diff);

/* Whether no condition is CM_CONDITION_BREAKS. */
CM_API bool cm_diff_comparable(const struct cm_diff *diff);
/* Whether anything differs that is not a time: a total, an operator, a module. */
CM_API bool cm_diff_differs(const struct cm_diff *diff);

/* One metric, as cm_metric_at counts: of the whole, of a row of modules, of one of operators.
 */
CM_API struct cm_change cm_diff_total(const struct cm_diff *diff, size_t metric);
CM_API struct cm_change cm_diff_of_module(const struct cm_diff *diff, size_t row,
                                          size_t metric);
CM_API struct cm_change cm_diff_of_operator(const struct cm_diff *diff, size_t row,
                                            size_t metric);

/* A module that accounts for a part of a change. */
struct cm_blame {
    size_t module;      /* index into cm_diff.modules */
    int64_t old_value;  /* what it accounts for of the old side's figure, */
    int64_t new_value;  /* and of the new side's: without what others account for */
    int64_t difference; /* CM_UNKNOWN where one is not known */
    bool is_rest;       /* not all of its own change: children account for theirs */
};

/*
 * Who accounts for the change of a metric, the largest first. Of a metric that is a sum, the
 * parts of all of them add up to the change of the total: a module counts what no child counts.
 * Of another one, each is the deepest module that changed. Modules deeper than `depth` count as
 * part of their parent at that depth; -1: there are none. `ret` has room for cm_diff.n_modules;
 * gives how many there are.
 */
CM_API size_t cm_diff_blame(const struct cm_diff *diff, size_t metric, int depth,
                            struct cm_blame *ret);

/* How a comparison is written. cm_diff_options_init gives the defaults. */
struct cm_diff_options {
    size_t metric; /* what modules and operators are sorted by; CM_NO_INDEX: MACs, or what
                      changed instead */
    int depth;     /* of modules; deeper ones count as part of their parent there; -1 all */
    int top;       /* modules and operators that are listed; 0 all; JSON has all */
    enum cm_units units; /* CM_UNITS_AUTO: as the text report has them */
    bool color;          /* ANSI colours */
};

CM_API void cm_diff_options_init(struct cm_diff_options *options);

/* Totals, then modules and operators by the size of their change. CM_OK, CM_IO, CM_NO_MEMORY.
 */
CM_API int cm_diff_write_text(const struct cm_diff *diff, const struct cm_diff_options *options,
                              FILE *out) CM_MUST_CHECK;

/* One JSON object, schema "costmodel/diff/2" (docs/json.md), every row and all figures exact;
 * of the options only `depth` and the order matter. */
CM_API int cm_diff_write_json(const struct cm_diff *diff, const struct cm_diff_options *options,
                              FILE *out) CM_MUST_CHECK;

/* For a comment to a pull request, which it is cut to fit. */
CM_API int cm_diff_write_markdown(const struct cm_diff *diff,
                                  const struct cm_diff_options *options,
                                  FILE *out) CM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
