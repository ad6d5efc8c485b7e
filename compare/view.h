/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a diff report in display order, and their text. All report formats use these. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/compare.h"

struct arena;
struct text;

/* A module that contributes to the change of view.metric or of another cost. */
struct view_module {
    struct cm_blame blame; /* contribution to the change of view.metric; values 0 if none */
    int64_t second;        /* contribution to the change of view.second */
};

/* Modules that were renamed, added, removed or reworked without a change of costs. A run of `n`
 * siblings with new numbers (3 -> 4, 4 -> 5) is one row. */
struct view_plain {
    size_t first; /* index into view.plain_rows */
    size_t n;
};

struct view_operator {
    size_t row;              /* index into cm_diff.operators */
    struct cm_change change; /* of view.operator_metric */
    struct cm_change nodes;  /* of the number of nodes */
};

struct view {
    size_t metric; /* index for cm_metric_at */
    struct cm_metric by;
    size_t second; /* second metric, shown in another column */
    struct cm_metric second_by;
    size_t n_modules;
    struct view_module *modules; /* largest change first */
    size_t n_plain;
    struct view_plain *plain;
    size_t *plain_rows;     /* indices into cm_diff.modules, ascending */
    size_t operator_metric; /* the metric of the view, or MACs if operators do not have it */
    struct cm_metric operator_by;
    size_t n_operators;
    struct view_operator *operators; /* largest change first */
};

/* Makes the rows, in `arena`. CM_OK, CM_NO_MEMORY. */
int view_make(const struct cm_diff *diff, const struct cm_diff_options *options,
              struct arena *arena, struct view *ret) __attribute__((warn_unused_result));

/* Returns true if both sides have the same custom operators, equally often. */
bool view_is_described_alike(const struct cm_diff *diff);

/* Returns how many of `n` rows to show. */
size_t view_shown(const struct cm_diff_options *options, size_t n);

/* Returns the number of modules that were added or removed with a row, including its own. */
size_t view_inside(const struct cm_diff *diff, size_t row);

/* Returns the new module of a row, or the old module if it was removed. */
const struct cm_module *view_module_of(const struct cm_diff *diff, size_t row);
/* Returns the old module of a row, which must have one. */
const struct cm_module *view_old_module_of(const struct cm_diff *diff, size_t row);

/* Number format of one metric. */
struct view_look {
    enum cm_units units;
    enum cm_unit unit;
    bool unicode; /* prefixes of bounds are in Unicode */
};

/* Append the old or new value: "14.07 GMACs", "<= 3.0 k" (an upper bound), ">= 1.2 ms" (a sum
 * that omits nodes), "?" if unknown, "-" if absent. */
void view_append_old(struct text *text, struct view_look look, const struct cm_change *change);
void view_append_new(struct text *text, struct view_look look, const struct cm_change *change);

/* Appends "+4.56 M", "-1", "=", "?". */
void view_append_difference(struct text *text, struct view_look look, int64_t difference);

/* Appends "+17.85%", "+<0.01%", "new" (old value absent or 0), "gone", "?", or nothing if
 * nothing changed. */
void view_append_percent(struct text *text, const struct cm_change *change);

/* Returns a contribution as a change. A contribution to an upper bound is an upper bound. */
struct cm_change view_blame_change(const struct cm_diff *diff, const struct cm_blame *blame,
                                   size_t metric);

/* Appends the label of a row with names as in the files: "layer1.0.conv1 Conv2d(64 -> 128)",
 * "body -> trunk Body", "added head Sequential, 3 modules". `arrow` separates old and new. The
 * caller escapes the text. */
void view_append_label(struct text *text, const struct cm_diff *diff, size_t row,
                       const char *arrow);
