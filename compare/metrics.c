/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics that can be compared: the columns of every report, and behind them those that
 * only a whole model has, a row each. Reports of changes and limits go by this table alone.
 */
#include "costmodel/compare.h"

#include <string.h>

#include "report/columns.h"
#include "support/text.h"

#include "support/banned.h"

#define NOWHERE SIZE_MAX

struct extra {
    const char *key;
    const char *heading;
    enum cm_unit unit;
    bool of_training;   /* only of a result that has a training step */
    size_t in_result;   /* where the int64_t stands in struct cm_result */
    size_t in_module;   /* in struct cm_module; `of_training`: in its struct cm_step */
    size_t in_operator; /* in struct cm_operator */
    bool is_sum;
};

#define IN_RESULT(member)   offsetof(struct cm_result, member)
#define IN_MODULE(member)   offsetof(struct cm_module, member)
#define IN_STEP(member)     offsetof(struct cm_step, member)
#define IN_OPERATOR(member) offsetof(struct cm_operator, member)

/* clang-format off */
static const struct extra extras[] = {
    {"peak_activation_bytes", "peak activations", CM_UNIT_BYTES, false,
     IN_RESULT(memory.peak_activation_bytes), IN_MODULE(peak_activation_bytes), NOWHERE, false},
    {"peak_in_place_bytes", "peak in place", CM_UNIT_BYTES, false,
     IN_RESULT(memory.peak_in_place_bytes), NOWHERE, NOWHERE, false},
    {"arena_bytes", "arena", CM_UNIT_BYTES, false,
     IN_RESULT(memory.arena_bytes), NOWHERE, NOWHERE, false},
    {"arena_in_place_bytes", "arena in place", CM_UNIT_BYTES, false,
     IN_RESULT(memory.arena_in_place_bytes), NOWHERE, NOWHERE, false},
    {"required_bytes", "required", CM_UNIT_BYTES, false,
     IN_RESULT(memory.required_bytes), NOWHERE, NOWHERE, false},
    {"nodes", "nodes", CM_UNIT_ELEMENTS, false,
     IN_RESULT(coverage.nodes), NOWHERE, IN_OPERATOR(nodes), false},
    {"training.backward_macs", "bwd MACs", CM_UNIT_MACS, true,
     IN_RESULT(training.backward_macs), IN_STEP(backward_macs), NOWHERE, true},
    {"training.backward_flops", "bwd flops", CM_UNIT_FLOPS, true,
     IN_RESULT(training.backward_flops), NOWHERE, NOWHERE, false},
    {"training.iteration_flops", "iteration flops", CM_UNIT_FLOPS, true,
     IN_RESULT(training.iteration_flops), NOWHERE, NOWHERE, false},
    {"training.kept_bytes", "kept for backward", CM_UNIT_BYTES, true,
     IN_RESULT(training.kept_bytes), IN_STEP(kept_bytes), NOWHERE, true},
    {"training.gradient_bytes", "gradients", CM_UNIT_BYTES, true,
     IN_RESULT(training.gradient_bytes), NOWHERE, NOWHERE, false},
    {"training.optimizer_bytes", "optimizer states", CM_UNIT_BYTES, true,
     IN_RESULT(training.optimizer_bytes), NOWHERE, NOWHERE, false},
    {"training.peak_bytes", "peak of a step", CM_UNIT_BYTES, true,
     IN_RESULT(training.peak_bytes), NOWHERE, NOWHERE, false},
};
/* clang-format on */

#define N_EXTRAS (sizeof(extras) / sizeof(extras[0]))

static const enum cm_unit units[] = {
    [NUMBER_PARAMS] = CM_UNIT_ELEMENTS, [NUMBER_MACS] = CM_UNIT_MACS,
    [NUMBER_FLOPS] = CM_UNIT_FLOPS,     [NUMBER_TIME] = CM_UNIT_PS,
    [NUMBER_BYTES] = CM_UNIT_BYTES,
};

static int64_t read_at(const void *base, size_t offset) {
    int64_t value = 0;
    memcpy(&value, (const char *)base + offset, sizeof(value));
    return value;
}

bool cm_metric_at(size_t metric, struct cm_metric *ret) {
    if (metric < n_columns) {
        const struct column *column = &columns[metric];
        *ret = (struct cm_metric){
            .key = column->key,
            .heading = column->heading,
            .unit = units[column->unit],
            .of_modules = true,
            .of_operators = column->of_operator != 0,
            .is_sum = true,
            .timed = column->timed,
            .is_part = column->part,
        };
        return true;
    }
    if (metric - n_columns >= N_EXTRAS) return false;
    const struct extra *extra = &extras[metric - n_columns];
    *ret = (struct cm_metric){
        .key = extra->key,
        .heading = extra->heading,
        .unit = extra->unit,
        .of_modules = extra->in_module != NOWHERE,
        .of_operators = extra->in_operator != NOWHERE,
        .is_sum = extra->is_sum,
    };
    return true;
}

size_t cm_metric_find(const char *key) {
    struct cm_metric metric;
    for (size_t i = 0; cm_metric_at(i, &metric); i++)
        if (text_equal(metric.key, key)) return i;
    return CM_NO_INDEX;
}

/* The row of a metric that is no column; NULL: there is none, or the result has none of it. */
static const struct extra *extra_at(size_t metric, const struct cm_result *result) {
    if (metric < n_columns || metric - n_columns >= N_EXTRAS) return NULL;
    const struct extra *extra = &extras[metric - n_columns];
    return extra->of_training && !result->training.present ? NULL : extra;
}

bool cm_metric_of_total(size_t metric, const struct cm_result *result, int64_t *ret) {
    if (metric < n_columns) {
        if (!column_is_there(&columns[metric], result)) return false;
        *ret = column_get(&columns[metric], &result->totals);
        return true;
    }
    const struct extra *extra = extra_at(metric, result);
    if (extra == NULL) return false;
    *ret = read_at(result, extra->in_result);
    return true;
}

bool cm_metric_of_module(size_t metric, const struct cm_result *result, size_t module,
                         int64_t *ret) {
    if (metric < n_columns) {
        if (!column_is_there(&columns[metric], result)) return false;
        *ret = column_get(&columns[metric], &result->modules[module].costs);
        return true;
    }
    const struct extra *extra = extra_at(metric, result);
    if (extra == NULL || extra->in_module == NOWHERE) return false;
    const struct cm_module *row = &result->modules[module];
    if (extra->of_training && row->training == NULL) return false;
    *ret = read_at(extra->of_training ? (const void *)row->training : row, extra->in_module);
    return true;
}

bool cm_metric_of_operator(size_t metric, const struct cm_result *result, size_t operator_index,
                           int64_t *ret) {
    const struct cm_operator *row = &result->operators[operator_index];
    if (metric < n_columns) {
        const struct column *column = &columns[metric];
        if (column->of_operator == 0 || !column_is_there(column, result)) return false;
        *ret = read_at(row, column->of_operator);
        return true;
    }
    const struct extra *extra = extra_at(metric, result);
    if (extra == NULL || extra->in_operator == NOWHERE) return false;
    *ret = read_at(row, extra->in_operator);
    return true;
}
