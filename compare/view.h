/* SPDX-License-Identifier: Apache-2.0 */
/* What every report of a diff shows, in the order in which it does. */
#ifndef COMPARE_VIEW_H
#define COMPARE_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/compare.h"

struct arena;
struct text;

/* A module that changed what something costs: in the metric of the view, or in another one. */
struct view_module {
    struct cm_blame blame; /* by the metric of the view; all 0 where another one changed */
    int64_t beside;        /* its part of the change of view.beside */
};

/* Modules that are called otherwise, came, went or were reworked, and cost as much as before:
 * `n` neighbours whose numbers were shifted alike are one row. */
struct view_plain {
    size_t first; /* in view.plain_rows */
    size_t n;
};

struct view_operator {
    size_t row; /* of the diff */
    struct cm_change change;
    struct cm_change nodes;
};

struct view {
    size_t metric;
    struct cm_metric by;
    size_t beside; /* another metric that people look at first */
    struct cm_metric beside_by;
    size_t n_modules;
    struct view_module *modules;
    size_t n_plain;
    struct view_plain *plain;
    size_t *plain_rows;     /* rows of the diff, in their order */
    size_t operator_metric; /* that of the view, or where operators have none another one */
    struct cm_metric operator_by;
    size_t n_operators;
    struct view_operator *operators;
};

/* CM_OK, CM_NO_MEMORY. */
int view_make(const struct cm_diff *diff, const struct cm_diff_options *options,
              struct arena *arena, struct view *ret) __attribute__((warn_unused_result));

/* Whether both sides have the same operators, as often, that somebody describes. */
bool view_is_described_alike(const struct cm_diff *diff);

/* How many of `n` rows to show. */
size_t view_shown(const struct cm_diff_options *options, size_t n);

/* How many modules stand in a row that was added or removed, itself too. */
size_t view_inside(const struct cm_diff *diff, size_t row);

/* The module of a row as a report prints it; the old one where there is no new one. */
const struct cm_module *view_module_of(const struct cm_diff *diff, size_t row);
const struct cm_module *view_old_module_of(const struct cm_diff *diff, size_t row);

#endif
