/* SPDX-License-Identifier: Apache-2.0 */
/* A condition on a column: "type=Conv*", "macs>=1.5M", "macs_share<1%", "latency_ps>10us".
 * Texts support = and != with a pattern (support/glob.h), figures all six comparisons. An
 * unknown figure is equal to "?" only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/table/fields.h"

struct cm_diagnostics;

/* The orders of figure and value for which a condition holds: >= has if_equal and if_more. */
struct comparison {
    bool if_less;
    bool if_equal;
    bool if_more;
};

struct filter {
    struct field field;
    struct comparison comparison;
    const char *pattern; /* for a text column */
    bool is_unknown;     /* the value is "?" */
    bool is_exact; /* the value is an integer, in `integer` and `real`; else only `real` */
    int64_t integer;
    double real;
};

/* Parses a condition. Returns CM_OK, CM_NO_MEMORY, or CM_USAGE with a message. */
int filter_parse(const char *text, enum rows rows, struct arena *arena,
                 struct cm_diagnostics *diag, struct filter *ret)
    __attribute__((warn_unused_result));

bool filter_holds(const struct filter *filter, const struct cell *cell);

/* Finds the column with the name key[0 .. length) or a former name. Returns CM_OK, CM_USAGE
 * (with a list of columns) or CM_NO_MEMORY. */
int filter_find_field(const char *key, size_t length, enum rows rows, struct arena *arena,
                      struct cm_diagnostics *diag, struct field *ret)
    __attribute__((warn_unused_result));
