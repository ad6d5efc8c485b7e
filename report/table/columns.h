/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of a profile, one row each: key, heading, unit and member of struct cm_costs. All
 * reports use this table, so a new metric is one member and one row. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/number.h"

struct cm_costs;
struct cm_diagnostics;
struct cm_result;

struct column {
    const char *key;     /* name in JSON and in options: "macs" */
    const char *heading; /* label in the text summary */
    const char *ranking; /* label in the aggregated profile; NULL: does not rank modules */
    enum number_unit unit;
    size_t offset;     /* of the int64_t in struct cm_costs */
    bool of_operator;  /* operators have this figure */
    bool of_batch;     /* a sweep has this figure */
    bool sums;         /* the total is the sum over nodes; false: each tensor counts once */
    bool timed;        /* only of a result that has times */
    bool modelled;     /* only of a result whose times are modelled */
    bool part;         /* integer MACs or operations, which reports omit if 0 */
    bool recent;       /* missing in documents of earlier versions, read as CM_UNKNOWN */
    const char *about; /* for docs and schema */
};

/* The value of a metric, to sort rows: largest first, unknown last, equal values by index. */
struct rank {
    int64_t value;
    size_t index;
};

int rank_compare(const void *left, const void *right);

extern const struct column columns[];
extern const size_t n_columns;

/* Returns true if the result has this metric. */
bool column_is_there(const struct column *column, const struct cm_result *result);

/* Sets the metrics that the result does not have to CM_UNKNOWN. */
void columns_clear_missing(const struct cm_result *result, struct cm_costs *costs);

int64_t column_get(const struct column *column, const struct cm_costs *costs);
void column_set(const struct column *column, struct cm_costs *costs, int64_t value);
/* Adds each known metric of `more` to `sum`, in which an unknown metric counts as 0. */
void columns_add(struct cm_costs *sum, const struct cm_costs *more);
/* Limits metrics that are not sums (parameters) to those of the whole: modules that share a
 * tensor count it once each, their parent once. */
void columns_limit_unions(struct cm_costs *costs, const struct cm_costs *whole);
/* Returns the metric with this key, which must exist. */
const struct column *column_named(const char *key);
/* Finds the metric with this key (NULL: MACs) for folded stacks; it must be a sum over nodes.
 * Returns CM_OK, CM_NO_MEMORY, or CM_USAGE with a message. */
int columns_find_sum(const char *key, struct cm_diagnostics *diag, const struct column **ret)
    __attribute__((warn_unused_result));
/* Returns whether the figure is exact, an upper bound or a sum that omits nodes. */
enum number_bound column_bound(const struct column *column, const struct cm_costs *costs);
/* Returns the bit of a metric in cm_costs.upper_bound and cm_costs.partial. */
uint32_t column_bit(const struct column *column);
/* Returns all operations: `flops`, plus `int_ops` if the convention excludes them. */
int64_t column_operations(const struct cm_result *result, int64_t flops, int64_t int_ops);
/* Returns false if `part` is set and the value is 0: reports omit it. */
bool column_is_printed(const struct column *column, const struct cm_costs *costs);
