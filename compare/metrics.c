/* SPDX-License-Identifier: Apache-2.0 */
/* The table of comparable metrics: the columns of the reports, then other metrics.
 * Diff and check use this table only. */
#include "costmodel/compare.h"

#include <string.h>

#include "costmodel/llm.h"
#include "report/names.h"
#include "report/table/columns.h"

#define NOWHERE SIZE_MAX /* offset of a member that does not exist */

/* Relation of a metric to the training step:
 *     STEP_NEVER       always describes the forward pass
 *     STEP_IF_PRESENT  describes the training step if the result has one
 *     STEP_ONLY        describes the training step; absent from a result without one
 *     STEP_TIMED       as STEP_ONLY; also absent if the step has no times
 *     STEP_NEVER_MODEL as STEP_NEVER; absent if times are not modelled
 *     STEP_LLM         a figure of a language model: `in_result` is an offset in struct
 *     cm_llm */
enum of_step { STEP_NEVER, STEP_IF_PRESENT, STEP_ONLY, STEP_TIMED, STEP_NEVER_MODEL, STEP_LLM };

struct extra {
    const char *key;
    const char *heading;
    enum cm_unit unit;
    enum of_step of_step;
    size_t in_result;   /* offset of the int64_t in struct cm_result */
    size_t upper_bound; /* offset of its upper_bound flag; NOWHERE: never an upper bound */
    size_t in_module;   /* offset in struct cm_module; STEP_ONLY: in struct cm_step */
    size_t in_operator; /* offset in struct cm_operator */
    bool is_sum;
    bool is_cost;
};

#define IN_RESULT(member)   offsetof(struct cm_result, member)
#define IN_LLM(member)      offsetof(struct cm_llm, member)
#define IN_MODULE(member)   offsetof(struct cm_module, member)
#define IN_STEP(member)     offsetof(struct cm_step, member)
#define IN_OPERATOR(member) offsetof(struct cm_operator, member)

/* clang-format off */
static const struct extra extras[] = {
    /* key, heading, unit, of_step,
       in_result, upper_bound, in_module, in_operator, is_sum, is_cost */
    {"peak_activation_bytes", "peak activations", CM_UNIT_BYTES, STEP_NEVER,
     IN_RESULT(memory.peak_activation_bytes), IN_RESULT(memory.peak_upper_bound), IN_MODULE(peak_activation_bytes), NOWHERE, false, true},
    {"peak_in_place_bytes", "peak in place", CM_UNIT_BYTES, STEP_NEVER,
     IN_RESULT(memory.peak_in_place_bytes), IN_RESULT(memory.upper_bound), NOWHERE, NOWHERE, false, true},
    {"arena_bytes", "arena", CM_UNIT_BYTES, STEP_NEVER,
     IN_RESULT(memory.arena_bytes), IN_RESULT(memory.upper_bound), NOWHERE, NOWHERE, false, true},
    {"arena_in_place_bytes", "arena in place", CM_UNIT_BYTES, STEP_NEVER,
     IN_RESULT(memory.arena_in_place_bytes), IN_RESULT(memory.upper_bound), NOWHERE, NOWHERE, false, true},
    {"required_bytes", "required", CM_UNIT_BYTES, STEP_IF_PRESENT,
     IN_RESULT(memory.required_bytes), IN_RESULT(memory.upper_bound), NOWHERE, NOWHERE, false, true},
    {"device_memory", "device memory", CM_UNIT_BYTES, STEP_ONLY,
     IN_RESULT(device_memory.bytes), NOWHERE, NOWHERE, NOWHERE, false, true},
    {"device_memory_high", "device memory, at most", CM_UNIT_BYTES, STEP_ONLY,
     IN_RESULT(device_memory.high_bytes), NOWHERE, NOWHERE, NOWHERE, false, true},
    {"nodes", "nodes", CM_UNIT_ELEMENTS, STEP_NEVER,
     IN_RESULT(coverage.nodes), NOWHERE, NOWHERE, IN_OPERATOR(nodes), false, false},
    {"training.backward_macs", "bwd MACs", CM_UNIT_MACS, STEP_ONLY,
     IN_RESULT(training.backward_macs), NOWHERE, IN_STEP(backward_macs), NOWHERE, true, true},
    {"training.backward_flops", "bwd flops", CM_UNIT_FLOPS, STEP_ONLY,
     IN_RESULT(training.backward_flops), NOWHERE, NOWHERE, NOWHERE, false, true},
    {"training.iteration_flops", "iteration flops", CM_UNIT_FLOPS, STEP_ONLY,
     IN_RESULT(training.iteration_flops), NOWHERE, NOWHERE, NOWHERE, false, true},
    {"latency_low_ps", "latency, at least", CM_UNIT_PS, STEP_NEVER_MODEL,
     IN_RESULT(time_error.latency_low_ps), NOWHERE, NOWHERE, NOWHERE, false, true},
    {"latency_high_ps", "latency, at most", CM_UNIT_PS, STEP_NEVER_MODEL,
     IN_RESULT(time_error.latency_high_ps), NOWHERE, NOWHERE, NOWHERE, false, true},
    {"training.iteration_ps", "iteration time", CM_UNIT_PS, STEP_TIMED,
     IN_RESULT(training.iteration_ps), NOWHERE, NOWHERE, NOWHERE, false, true},
    {"training.iteration_lower_bound_ps", "iteration lower bound", CM_UNIT_PS, STEP_TIMED,
     IN_RESULT(training.iteration_lower_bound_ps), NOWHERE, NOWHERE, NOWHERE, false, true},
    {"training.saved_bytes", "saved activations", CM_UNIT_BYTES, STEP_ONLY,
     IN_RESULT(training.saved_bytes), NOWHERE, IN_STEP(saved_bytes), NOWHERE, true, true},
    {"training.gradient_bytes", "gradients", CM_UNIT_BYTES, STEP_ONLY,
     IN_RESULT(training.gradient_bytes), NOWHERE, NOWHERE, NOWHERE, false, true},
    {"training.optimizer_bytes", "optimizer states", CM_UNIT_BYTES, STEP_ONLY,
     IN_RESULT(training.optimizer_bytes), NOWHERE, NOWHERE, NOWHERE, false, true},
    {"training.peak_bytes", "peak of a step", CM_UNIT_BYTES, STEP_ONLY,
     IN_RESULT(training.peak_bytes), NOWHERE, NOWHERE, NOWHERE, false, true},
    {"kv_bytes_per_token", "KV cache per token", CM_UNIT_BYTES, STEP_LLM,
     IN_LLM(kv_bytes_per_token), NOWHERE, NOWHERE, NOWHERE, false, false},
    {"kv_bytes_per_token_window", "KV cache per token in windows", CM_UNIT_BYTES, STEP_LLM,
     IN_LLM(kv_bytes_per_token_window), NOWHERE, NOWHERE, NOWHERE, false, false},
    {"kv_bytes_per_token_latent", "KV cache per token, latent", CM_UNIT_BYTES, STEP_LLM,
     IN_LLM(kv_bytes_per_token_latent), NOWHERE, NOWHERE, NOWHERE, false, false},
    {"kv_bytes_per_token_expanded", "KV cache per token, expanded", CM_UNIT_BYTES, STEP_LLM,
     IN_LLM(kv_bytes_per_token_expanded), NOWHERE, NOWHERE, NOWHERE, false, false},
    {"cross_bytes_per_token", "cross-attention cache per token", CM_UNIT_BYTES, STEP_LLM,
     IN_LLM(cross_bytes_per_token), NOWHERE, NOWHERE, NOWHERE, false, false},
    {"state_bytes_per_sequence", "state per sequence", CM_UNIT_BYTES, STEP_LLM,
     IN_LLM(state_bytes_per_sequence), NOWHERE, NOWHERE, NOWHERE, false, false},
    {"stored_bytes", "stored tensors", CM_UNIT_BYTES, STEP_LLM,
     IN_LLM(stored_bytes), NOWHERE, NOWHERE, NOWHERE, false, false},
    {"active_params", "active params", CM_UNIT_ELEMENTS, STEP_LLM,
     IN_LLM(active_params), NOWHERE, NOWHERE, NOWHERE, false, false},
    {"active_without_input_embedding", "active params without input embedding", CM_UNIT_ELEMENTS, STEP_LLM,
     IN_LLM(active_without_input_embedding), NOWHERE, NOWHERE, NOWHERE, false, false},
    {"expert_params", "expert params", CM_UNIT_ELEMENTS, STEP_LLM,
     IN_LLM(expert_params), NOWHERE, NOWHERE, NOWHERE, false, false},
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
    if (ret == NULL) return false;
    if (metric < n_columns) {
        const struct column *column = &columns[metric];
        *ret = (struct cm_metric){
            .key = column->key,
            .heading = column->heading,
            .unit = units[column->unit],
            .of_modules = true,
            .of_operators = column->of_operator,
            .is_sum = true,
            .timed = column->timed,
            .modelled = column->modelled,
            .is_part = column->part,
            .is_cost = !column->part,
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
        .is_cost = extra->is_cost,
    };
    return true;
}

size_t cm_metric_find(const char *key) {
    if (key == NULL) return CM_NO_INDEX;
    struct cm_metric metric;
    for (size_t i = 0; cm_metric_at(i, &metric); i++)
        if (names_match(metric.key, key, strlen(key))) return i;
    return CM_NO_INDEX;
}

/* Returns the row of a metric; NULL if it is a column or the result does not have it. */
static const struct extra *extra_at(size_t metric, const struct cm_result *result) {
    if (metric < n_columns || metric - n_columns >= N_EXTRAS) return NULL;
    const struct extra *extra = &extras[metric - n_columns];
    const bool is_of_step = extra->of_step == STEP_ONLY || extra->of_step == STEP_TIMED;
    if (extra->of_step == STEP_LLM) return NULL;
    if (is_of_step && !result->training.present) return NULL;
    if (extra->of_step == STEP_NEVER_MODEL && !result->time_error.present) return NULL;
    if (extra->of_step == STEP_TIMED && result->training.iteration_ps == CM_UNKNOWN)
        return NULL;
    return extra;
}

bool cm_metric_is_of_step(size_t metric, const struct cm_result *result) {
    if (result == NULL) return false;
    const struct extra *extra = extra_at(metric, result);
    return extra != NULL && extra->of_step != STEP_NEVER &&
           extra->of_step != STEP_NEVER_MODEL && result->training.present;
}

/* Returns false if the result does not have the column. */
static bool column_figure(const struct column *column, const struct cm_result *result,
                          const struct cm_costs *costs, struct cm_figure *ret) {
    if (!column_is_there(column, result)) return false;
    *ret = (struct cm_figure){.value = column_get(column, costs),
                              .upper_bound = (costs->upper_bound & column_bit(column)) != 0,
                              .partial = (costs->partial & column_bit(column)) != 0};
    return true;
}

bool cm_metric_of_total(size_t metric, const struct cm_result *result, struct cm_figure *ret) {
    if (result == NULL || ret == NULL) return false;
    if (metric < n_columns)
        return column_figure(&columns[metric], result, &result->totals, ret);
    const struct extra *extra = extra_at(metric, result);
    if (extra == NULL) return false;
    *ret = (struct cm_figure){.value = read_at(result, extra->in_result)};
    /* Metrics of a training step omit tensors with only an upper bound, so they are never upper
     * bounds. */
    const bool is_of_step = extra->of_step == STEP_IF_PRESENT && result->training.present;
    if (extra->upper_bound != NOWHERE && !is_of_step)
        memcpy(&ret->upper_bound, (const char *)result + extra->upper_bound, sizeof(bool));
    return true;
}

bool cm_metric_of_llm(size_t metric, const struct cm_llm *llm, struct cm_figure *ret) {
    if (ret == NULL || metric < n_columns || metric - n_columns >= N_EXTRAS) return false;
    const struct extra *extra = &extras[metric - n_columns];
    if (extra->of_step != STEP_LLM) return false;
    *ret = (struct cm_figure){.value = llm ? read_at(llm, extra->in_result) : CM_UNKNOWN};
    return true;
}

/* The peak of a module is an upper bound if its activation_bytes is. */
bool cm_metric_of_module(size_t metric, const struct cm_result *result, size_t module,
                         struct cm_figure *ret) {
    if (result == NULL || module >= result->n_modules || ret == NULL) return false;
    const struct cm_module *row = &result->modules[module];
    if (metric < n_columns) return column_figure(&columns[metric], result, &row->costs, ret);
    const struct extra *extra = extra_at(metric, result);
    if (extra == NULL || extra->in_module == NOWHERE) return false;
    const bool is_of_step = extra->of_step == STEP_ONLY;
    if (is_of_step && row->training == NULL) return false;
    *ret = (struct cm_figure){
        .value = read_at(is_of_step ? (const void *)row->training : row, extra->in_module),
        .upper_bound = extra->upper_bound != NOWHERE &&
                       (row->costs.upper_bound & CM_COST_BIT(activation_bytes)) != 0,
    };
    return true;
}

bool cm_metric_of_operator(size_t metric, const struct cm_result *result, size_t operator_index,
                           struct cm_figure *ret) {
    if (result == NULL || operator_index >= result->n_operators || ret == NULL) return false;
    const struct cm_operator *row = &result->operators[operator_index];
    if (metric < n_columns)
        return columns[metric].of_operator &&
               column_figure(&columns[metric], result, &row->costs, ret);
    const struct extra *extra = extra_at(metric, result);
    if (extra == NULL || extra->in_operator == NOWHERE) return false;
    *ret = (struct cm_figure){.value = read_at(row, extra->in_operator)};
    return true;
}
