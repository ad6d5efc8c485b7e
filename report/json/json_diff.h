/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison in the structure of its JSON document. report/diff/diff_json.c fills it, and the
 * tables of report/json/json_schema_diff.c describe how it is written. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/compare.h"

struct cm_name_count;

struct diff_side {
    const char *path;
    int64_t batch; /* CM_UNKNOWN if the inputs have no batch axis */
    const char *convention;
    const char *precision; /* NULL: unknown */
    const char *mode;
    int64_t modules;
    int64_t nodes;
    size_t n_custom_ops;
    const struct cm_name_count *custom_ops;
};

struct diff_condition {
    const char *key;
    const char *old_value;
    const char *new_value;
    const char *breaks; /* effect: "none", "incomplete", "times", "incomparable" */
};

struct diff_metric {
    const char *key; /* the first member, as JSON_KEYED requires */
    struct cm_change change;
};

/* NULL texts are omitted. */
struct diff_module {
    const char *status; /* "same", "changed", "renamed", "added", "removed" */
    const char *path;
    const char *old_path;
    const char *type;
    const char *old_type;
    const char *arguments;
    const char *old_arguments;
    bool is_tree;         /* added or removed; false: no `modules` */
    int64_t modules;      /* modules that were added or removed with it, including itself */
    bool is_cost;         /* accounts for a part of the change; false: no `accounts_for` */
    int64_t accounts_for; /* its part of the change of diff_document.sorted_by */
    size_t n_metrics;
    const struct diff_metric *metrics;
};

struct diff_operator {
    const char *op;
    size_t n_metrics;
    const struct diff_metric *metrics;
};

struct diff_document {
    struct diff_side old_side;
    struct diff_side new_side;
    bool comparable;
    size_t n_conditions;
    const struct diff_condition *conditions;
    size_t n_totals;
    const struct diff_metric *totals;
    const char *sorted_by; /* key of the metric that orders the modules */
    size_t n_modules;
    const struct diff_module *modules;
    size_t n_operators;
    const struct diff_operator *operators;
};
