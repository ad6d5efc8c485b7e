/* SPDX-License-Identifier: Apache-2.0 */
/* The table of metrics, in the order of the summary and of the totals in JSON. */
#include "report/table/columns.h"

#include <string.h>

#include "costmodel/result.h"
#include "ops/flops/names/convention_names.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#define AT(member) offsetof(struct cm_costs, member)

/* clang-format off */
const struct column columns[] = {
    /* key, heading, ranking, unit, offset, flags, about */
    {"params", "params", "params", NUMBER_PARAMS, AT(params), .of_batch = true,
     .about = "elements of learned tensors, each tensor counted once"},
    {"buffers", "buffers", NULL, NUMBER_PARAMS, AT(buffers),
     .about = "elements of named tensors that are not learned, such as statistics and masks"},
    {"macs", "fwd MACs", "MACs", NUMBER_MACS, AT(macs), .of_operator = true, .of_batch = true, .sums = true,
     .about = "multiply-adds"},
    {"int_macs", "int MACs", NULL, NUMBER_MACS, AT(int_macs), .of_operator = true, .of_batch = true, .sums = true, .part = true, .recent = true,
     .about = "multiply-adds of integers, included in macs"},
    {"flops", "fwd flops", "flops", NUMBER_FLOPS, AT(flops), .of_operator = true, .of_batch = true, .sums = true,
     .about = "FLOPs by the convention; `exact` excludes integer operations"},
    {"int_ops", "int ops", NULL, NUMBER_FLOPS, AT(int_ops), .of_operator = true, .of_batch = true, .sums = true, .part = true, .recent = true,
     .about = "integer operations by convention `exact`, for every convention"},
    {"bytes_read", "bytes read", NULL, NUMBER_BYTES, AT(bytes_read), .of_operator = true, .sums = true,
     .about = "bytes of the operands of the nodes"},
    {"bytes_written", "bytes written", NULL, NUMBER_BYTES, AT(bytes_written), .of_operator = true, .sums = true,
     .about = "bytes of the outputs of the nodes"},
    {"weight_bytes", "weight bytes", NULL, NUMBER_BYTES, AT(weight_bytes),
     .about = "stored size of params and buffers, each tensor counted once"},
    {"activation_bytes", "activation bytes", NULL, NUMBER_BYTES, AT(activation_bytes), .sums = true,
     .about = "newly allocated node outputs: without views, constants and shape arithmetic"},
    {"latency_ps", "fwd latency", "fwd latency", NUMBER_TIME, AT(latency_ps), .of_operator = true, .of_batch = true, .sums = true, .timed = true,
     .about = "time of all runs with cold caches, picoseconds; modelled: the expected time; `null` for a node without a time, which sums omit"},
    {"lower_bound_ps", "lower bound", NULL, NUMBER_TIME, AT(lower_bound_ps), .of_operator = true, .of_batch = true, .sums = true, .timed = true, .modelled = true, .recent = true,
     .about = "modelled time that nothing with the kernels of the runtime undercuts, picoseconds; `null` as in latency_ps"},
};
/* clang-format on */

const size_t n_columns = sizeof(columns) / sizeof(columns[0]);

bool column_is_there(const struct column *column, const struct cm_result *result) {
    if (column->timed && !cm_result_timed(result)) return false;
    if (column->modelled && !cm_result_modelled(result)) return false;
    return !column->recent || column_get(column, &result->totals) != CM_UNKNOWN;
}

void columns_clear_missing(const struct cm_result *result, struct cm_costs *costs) {
    for (size_t i = 0; i < n_columns; i++) {
        if (column_is_there(&columns[i], result)) continue;
        column_set(&columns[i], costs, CM_UNKNOWN);
        costs->upper_bound &= ~column_bit(&columns[i]);
        costs->partial &= ~column_bit(&columns[i]);
    }
}

int64_t column_get(const struct column *column, const struct cm_costs *costs) {
    int64_t value = 0;
    memcpy(&value, (const char *)costs + column->offset, sizeof(value));
    return value;
}

uint32_t column_bit(const struct column *column) {
    return UINT32_C(1) << (column->offset / sizeof(int64_t));
}

enum number_bound column_bound(const struct column *column, const struct cm_costs *costs) {
    return number_bound_of((costs->upper_bound & column_bit(column)) != 0,
                           (costs->partial & column_bit(column)) != 0);
}

int64_t column_operations(const struct cm_result *result, int64_t flops, int64_t int_ops) {
    const bool separates = conventions_separate_integers(result->options.convention);
    return separates ? checked_add_known(flops, int_ops) : flops;
}

bool column_is_printed(const struct column *column, const struct cm_costs *costs) {
    return !column->part || column_get(column, costs) != 0;
}

void column_set(const struct column *column, struct cm_costs *costs, int64_t value) {
    memcpy((char *)costs + column->offset, &value, sizeof(value));
}

void columns_add(struct cm_costs *sum, const struct cm_costs *more) {
    sum->upper_bound |= more->upper_bound;
    sum->partial |= more->partial;
    for (size_t i = 0; i < n_columns; i++) {
        const int64_t value = column_get(&columns[i], more);
        const int64_t so_far = column_get(&columns[i], sum);
        if (value != CM_UNKNOWN)
            column_set(&columns[i], sum,
                       so_far == CM_UNKNOWN ? value : checked_add(so_far, value));
    }
}

void columns_limit_unions(struct cm_costs *costs, const struct cm_costs *whole) {
    for (size_t i = 0; i < n_columns; i++)
        if (!columns[i].sums && column_get(&columns[i], costs) > column_get(&columns[i], whole))
            column_set(&columns[i], costs, column_get(&columns[i], whole));
}

const struct column *column_named(const char *key) {
    for (size_t i = 0; i < n_columns; i++)
        if (text_equal(columns[i].key, key)) return &columns[i];
    BUG("unknown metric");
}

int columns_find_sum(const char *key, struct cm_diagnostics *diag, const struct column **ret) {
    if (key == NULL) key = "macs";
    for (size_t i = 0; i < n_columns; i++)
        if (columns[i].sums && text_equal(columns[i].key, key)) {
            *ret = &columns[i];
            return CM_OK;
        }
    struct arena *arena = arena_new("metrics", 0);
    if (arena == NULL) return diag_no_memory(diag);
    struct text known = {.arena = arena};
    for (size_t i = 0; i < n_columns; i++)
        if (columns[i].sums)
            text_printf(&known, "%s%s", known.length > 0 ? ", " : "", columns[i].key);
    int status = CM_NO_MEMORY;
    if (!arena_failed(arena))
        status = diag_error(diag, DIAG_USAGE,
                            "the metric of folded stacks must be one of %s, got '%s'",
                            text_string(&known), key);
    arena_free(arena);
    return diag_finish(diag, status);
}

int rank_compare(const void *left, const void *right) {
    const struct rank *a = left;
    const struct rank *b = right;
    if (a->value != b->value) return a->value > b->value ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}
