/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparison of two results: which costs changed, in which modules and operators, and whether
 * the two are comparable.
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

/* A comparable metric of a model, a module or an operator. */
struct cm_metric {
    const char *key; /* as in JSON: "macs", "peak_activation_bytes", "training.peak_bytes" */
    const char *heading; /* in reports: "fwd MACs" */
    enum cm_unit unit;
    bool of_modules;   /* defined for modules */
    bool of_operators; /* defined for operators (struct cm_operator) */
    bool is_sum;       /* a parent's value is the sum over its children and own nodes */
    bool timed;        /* a time measured with a spread: differs even for equal models */
    bool modelled;     /* only results with modelled times have it */
    bool is_part;      /* part of another metric; not reported if 0 */
    bool is_cost;      /* smaller is better: used by --ratchet */
};

/* Gets a metric by index, in report order; the order is the same for every result. Returns
 * false past the last. */
CM_API bool cm_metric_at(size_t metric, struct cm_metric *ret);
/* Returns the index of a key; CM_NO_INDEX if there is none. */
CM_API size_t cm_metric_find(const char *key);

/* The value of a metric in a result. */
struct cm_figure {
    int64_t value;    /* CM_UNKNOWN: unknown */
    bool upper_bound; /* value is an upper bound: data-dependent dims at their maximum */
    bool partial;     /* value leaves something out: unknown costs, nodes without a time */
};

/*
 * Get the value of a metric. Return false, with *ret unchanged, if the result does not have it
 * (no times, no training step, not defined for modules or operators, or a figure of a language
 * model: cm_metric_of_llm).
 */
CM_API bool cm_metric_of_total(size_t metric, const struct cm_result *result,
                               struct cm_figure *ret);
CM_API bool cm_metric_of_module(size_t metric, const struct cm_result *result, size_t module,
                                struct cm_figure *ret);
CM_API bool cm_metric_of_operator(size_t metric, const struct cm_result *result,
                                  size_t operator_index, struct cm_figure *ret);

struct cm_llm;
/* Gets the figure of a language model (costmodel/llm.h); CM_UNKNOWN if `llm` is NULL. Returns
 * false, with *ret unchanged, if the metric is that of a result. */
CM_API bool cm_metric_of_llm(size_t metric, const struct cm_llm *llm, struct cm_figure *ret);

/*
 * Returns true if the metric describes a training step in this result (`required_bytes` does if
 * the result has one). Such metrics skip tensors that only have an upper bound
 * (cm_coverage.bounded_shapes).
 */
CM_API bool cm_metric_is_of_step(size_t metric, const struct cm_result *result);

/* One metric of one object on both sides. */
struct cm_change {
    bool in_old; /* the old side has the object and the metric */
    bool in_new;
    int64_t old_value; /* CM_UNKNOWN: unknown; 0 unless in_old */
    int64_t new_value;
    int64_t difference;   /* new - old, a missing side is 0; CM_UNKNOWN if either is unknown */
    bool old_upper_bound; /* old_value is an upper bound */
    bool new_upper_bound; /* new_value is an upper bound */
    bool old_partial; /* old_value leaves something out: unknown costs, nodes without a time */
    bool new_partial; /* new_value is such a sum */
};

enum cm_diff_status {
    CM_DIFF_SAME,    /* equal path, class, arguments and costs; times are ignored */
    CM_DIFF_CHANGED, /* equal path, or only a parent was renamed; costs differ */
    CM_DIFF_RENAMED, /* another name or parent; costs may differ too */
    CM_DIFF_ADDED,
    CM_DIFF_REMOVED,
};

/* A module of one side or both. Indices are into the modules of the results. */
struct cm_diff_module {
    enum cm_diff_status status;
    size_t old_module; /* CM_NO_INDEX: added */
    size_t new_module; /* CM_NO_INDEX: removed */
    size_t parent;     /* index into cm_diff.modules; CM_NO_INDEX: root */
    int depth;
    bool is_part;  /* its parent was added or removed as a whole: not reported itself */
    bool reworked; /* class or arguments changed */
};

struct cm_diff_operator {
    const char *op;      /* "Conv", "com.microsoft::Gelu" */
    size_t old_operator; /* index into the result's operators; CM_NO_INDEX */
    size_t new_operator;
};

/* Effect of a difference in profiling conditions. */
enum cm_condition_weight {
    CM_CONDITION_NOTE,       /* no effect: reported only */
    CM_CONDITION_INCOMPLETE, /* sums of one side skip unknown values */
    CM_CONDITION_TIMES,      /* times are not comparable */
    CM_CONDITION_BREAKS,     /* nothing is comparable */
};

/* A profiling condition that differs between the sides or makes values unreliable. */
struct cm_condition {
    enum cm_condition_weight weight;
    const char *key; /* "convention", "batch", "dims.seq", "mode", "device", "coverage" */
    const char *old_value;
    const char *new_value;
};

struct cm_diff {
    const struct cm_result *old_result; /* borrowed: must outlive the diff */
    const struct cm_result *new_result;
    size_t n_conditions;
    const struct cm_condition *conditions; /* strongest effect first */
    size_t n_metrics;
    const size_t *metrics; /* indices for cm_metric_at: metrics that a side has; times only if
                              comparable */
    size_t n_modules; /* parents before children, in the order of the new side; [0]: root */
    const struct cm_diff_module *modules;
    size_t n_operators;
    const struct cm_diff_operator *operators; /* of both sides, in the order of the new side */
    void *arena;                              /* private */
};

/* Compares two results under any conditions; see cm_diff_comparable. CM_OK, CM_NO_MEMORY. */
CM_API int cm_diff_make(const struct cm_result *old_result, const struct cm_result *new_result,
                        struct cm_diagnostics *diagnostics,
                        struct cm_diff **ret_diff) CM_MUST_CHECK;
CM_API void cm_diff_free(struct cm_diff *diff);

/* Returns true if no condition is CM_CONDITION_BREAKS. */
CM_API bool cm_diff_comparable(const struct cm_diff *diff);
/* Returns true if a total, an operator or a module differs; times are ignored. */
CM_API bool cm_diff_differs(const struct cm_diff *diff);

/* Return the change of one metric (index for cm_metric_at) of the model, of a row of
 * cm_diff.modules, or of a row of cm_diff.operators. */
CM_API struct cm_change cm_diff_total(const struct cm_diff *diff, size_t metric);
CM_API struct cm_change cm_diff_of_module(const struct cm_diff *diff, size_t row,
                                          size_t metric);
CM_API struct cm_change cm_diff_of_operator(const struct cm_diff *diff, size_t row,
                                            size_t metric);

/* A module and its contribution to a change. */
struct cm_blame {
    size_t module;      /* index into cm_diff.modules */
    int64_t old_value;  /* its contribution to the old value, without other listed modules */
    int64_t new_value;  /* its contribution to the new value, without other listed modules */
    int64_t difference; /* CM_UNKNOWN if either is unknown */
    bool is_rest;       /* excludes its children, whose changes are listed separately */
};

/*
 * Attributes the change of a metric to modules, largest contribution first. For a metric that
 * is a sum, the contributions add up to the change of the total: each module gets the part that
 * no child accounts for. For other metrics, each entry is a deepest module that changed.
 * Modules deeper than `depth` are merged into their ancestor at that depth; -1: no limit. `ret`
 * has room for cm_diff.n_modules entries. Returns the number of entries.
 */
CM_API size_t cm_diff_blame(const struct cm_diff *diff, size_t metric, int depth,
                            struct cm_blame *ret);

/* Options of a diff report. cm_diff_options_init sets the defaults. */
struct cm_diff_options {
    size_t size;   /* sizeof(struct cm_diff_options), set by cm_diff_options_init */
    size_t metric; /* sort key of modules and operators; CM_NO_INDEX: MACs, or the first metric
                      that changed */
    int depth;     /* largest module depth; deeper ones are merged into an ancestor; -1: all */
    int top;       /* listed modules and operators; 0: all; JSON always lists all */
    enum cm_units units; /* CM_UNITS_AUTO: as in the text report */
    bool color;          /* use ANSI colours */
    int width; /* text: characters, at which long lines wrap and into which tables must fit; 0:
                  any */
};

CM_API void cm_diff_options_init_sized(struct cm_diff_options *options, size_t size);
static inline void cm_diff_options_init(struct cm_diff_options *options) {
    cm_diff_options_init_sized(options, sizeof(*options));
}

/* Writes the totals, then modules and operators, largest change first. CM_OK, CM_IO,
 * CM_NO_MEMORY. */
CM_API int cm_diff_write_text(const struct cm_diff *diff, const struct cm_diff_options *options,
                              FILE *out) CM_MUST_CHECK;

/* Writes one JSON object, schema "costmodel/diff/2" (docs/json.md), with all rows and exact
 * values; uses only options->metric and ->depth. */
CM_API int cm_diff_write_json(const struct cm_diff *diff, const struct cm_diff_options *options,
                              FILE *out) CM_MUST_CHECK;

/* Writes a page of HTML (docs/report.md) that embeds both profiles and the JSON above. CM_OK,
 * CM_USAGE (cm_html_check), CM_IO, CM_NO_MEMORY. */
CM_API int cm_diff_write_html(const struct cm_diff *diff, const struct cm_diff_options *options,
                              struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;

/* Writes Markdown, truncated to fit into a pull request comment. */
CM_API int cm_diff_write_markdown(const struct cm_diff *diff,
                                  const struct cm_diff_options *options,
                                  FILE *out) CM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
