/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of what has times: primitives, kernels, operators, advice. */
#include "report/json_rows.h"

#include "support/banned.h"

static const struct json_field achieved_fields[] = {
    VALUE("flops_per_s", JSON_COUNT, struct cm_achieved, flops_per_s),
    VALUE("bytes_per_s", JSON_COUNT, struct cm_achieved, bytes_per_s),
    VALUE("roofline", JSON_RATIO, struct cm_achieved, roofline),
    VALUE("bound", JSON_TEXT, struct cm_achieved, bound),
};

const struct json_record json_achieved = RECORD(struct cm_achieved, achieved_fields);

static const struct json_field kernel_run_fields[] = {
    VALUE("name", JSON_TEXT, struct cm_kernel_run, name),
    VALUE("calls", JSON_COUNT, struct cm_kernel_run, calls),
    VALUE("grid", JSON_TRIPLE, struct cm_kernel_run, grid),
    VALUE("block", JSON_TRIPLE, struct cm_kernel_run, block),
    VALUE("registers", JSON_COUNT, struct cm_kernel_run, registers),
    VALUE("shared_bytes", JSON_COUNT, struct cm_kernel_run, shared_bytes),
    VALUE("tensor_cores", JSON_TEXT, struct cm_kernel_run, tensor_cores),
    VALUE("rule", JSON_TEXT, struct cm_kernel_run, rule),
    VALUE("blocks_per_unit", JSON_RATIO, struct cm_kernel_run, blocks_per_unit),
    VALUE("occupancy", JSON_RATIO, struct cm_kernel_run, occupancy),
};

static const struct json_record kernel_run_record =
    RECORD(struct cm_kernel_run, kernel_run_fields);

static const struct json_field clocks_fields[] = {
    VALUE("unit_mhz", JSON_COUNT, struct cm_clock_state, unit_mhz),
    VALUE("unit_most_mhz", JSON_COUNT, struct cm_clock_state, unit_most_mhz),
    VALUE("memory_mhz", JSON_COUNT, struct cm_clock_state, memory_mhz),
    VALUE("temperature_c", JSON_COUNT, struct cm_clock_state, temperature_c),
    VALUE("power_mw", JSON_COUNT, struct cm_clock_state, power_mw),
    VALUE("throttle", JSON_TEXT, struct cm_clock_state, throttle),
};

static const struct json_record clocks_record = RECORD(struct cm_clock_state, clocks_fields);

static const struct json_field timed_fields[] = {
    VALUE("primitive", JSON_TEXT, struct cm_timed, primitive),
    VALUE("state", JSON_TEXT, struct cm_timed, state),
    VALUE("median_ps", JSON_COUNT, struct cm_timed, median_ps),
    VALUE("q1_ps", JSON_COUNT, struct cm_timed, q1_ps),
    VALUE("q3_ps", JSON_COUNT, struct cm_timed, q3_ps),
    VALUE("min_ps", JSON_COUNT, struct cm_timed, min_ps),
    VALUE("max_ps", JSON_COUNT, struct cm_timed, max_ps),
    VALUE("warm_ps", JSON_COUNT, struct cm_timed, warm_ps),
    VALUE("warm_q1_ps", JSON_COUNT, struct cm_timed, warm_q1_ps),
    VALUE("warm_q3_ps", JSON_COUNT, struct cm_timed, warm_q3_ps),
    VALUE("samples", JSON_COUNT, struct cm_timed, samples),
    VALUE("drift", JSON_RATIO, struct cm_timed, drift),
    OPTIONAL("unstable", JSON_FLAG, struct cm_timed, unstable),
    OPTIONAL("few_samples", JSON_FLAG, struct cm_timed, few_samples),
    OPTIONAL("not_cold", JSON_FLAG, struct cm_timed, not_cold),
    OPTIONAL("throttled", JSON_FLAG, struct cm_timed, throttled),
    OPTIONAL("launches", JSON_FLAG, struct cm_timed, launches),
    OPTIONAL("cached", JSON_FLAG, struct cm_timed, cached),
    VALUE("flops", JSON_COUNT, struct cm_timed, flops),
    VALUE("bytes", JSON_COUNT, struct cm_timed, bytes),
    PART("achieved", struct cm_timed, achieved, json_achieved),
    VALUE("provider", JSON_TEXT, struct cm_timed, provider),
    VALUE("algorithm", JSON_TEXT, struct cm_timed, algorithm),
    VALUE("tensor_cores", JSON_TEXT, struct cm_timed, tensor_cores),
    VALUE("plans_tried", JSON_COUNT, struct cm_timed, plans_tried),
    VALUE("sets", JSON_COUNT, struct cm_timed, sets),
    VALUE("workspace_bytes", JSON_COUNT, struct cm_timed, workspace_bytes),
    VALUE("plan_ps", JSON_COUNT, struct cm_timed, plan_ps),
    PART("clocks", struct cm_timed, clocks, clocks_record),
    OPTIONAL_MANY("kernels", JSON_LIST, struct cm_timed, kernels, n_kernels,
                  &kernel_run_record),
    VALUE("more_kernels", JSON_COUNT, struct cm_timed, more_kernels),
    VALUE("reason", JSON_TEXT, struct cm_timed, reason),
    MANY("nodes", JSON_INDICES, struct cm_timed, nodes, n_nodes),
};

static const struct json_record timed_record = RECORD(struct cm_timed, timed_fields);

static const struct json_field state_fields[] = {
    VALUE("state", JSON_TEXT, struct cm_state_share, state),
    VALUE("nodes", JSON_COUNT, struct cm_state_share, nodes),
    VALUE("macs", JSON_COUNT, struct cm_state_share, macs),
};

static const struct json_record state_record = RECORD(struct cm_state_share, state_fields);

static const struct json_field untimed_fields[] = {
    VALUE("op", JSON_TEXT, struct cm_untimed, op),
    VALUE("reason", JSON_TEXT, struct cm_untimed, reason),
    VALUE("nodes", JSON_COUNT, struct cm_untimed, nodes),
    VALUE("macs", JSON_COUNT, struct cm_untimed, macs),
};

static const struct json_record untimed_record = RECORD(struct cm_untimed, untimed_fields);

static const struct json_field bound_fields[] = {
    VALUE("bound", JSON_TEXT, struct cm_bound_share, bound),
    VALUE("nodes", JSON_COUNT, struct cm_bound_share, nodes),
    VALUE("latency_ps", JSON_COUNT, struct cm_bound_share, latency_ps),
};

static const struct json_record bound_record = RECORD(struct cm_bound_share, bound_fields);

static const struct json_field kernel_row_fields[] = {
    VALUE("name", JSON_TEXT, struct cm_kernel_row, name),
    VALUE("primitive", JSON_INDEX, struct cm_kernel_row, primitive),
    VALUE("tensor_cores", JSON_TEXT, struct cm_kernel_row, tensor_cores),
    VALUE("rule", JSON_TEXT, struct cm_kernel_row, rule),
    VALUE("calls", JSON_COUNT, struct cm_kernel_row, calls),
    VALUE("total_ps", JSON_COUNT, struct cm_kernel_row, total_ps),
    VALUE("mean_ps", JSON_COUNT, struct cm_kernel_row, mean_ps),
    VALUE("min_ps", JSON_COUNT, struct cm_kernel_row, min_ps),
    VALUE("max_ps", JSON_COUNT, struct cm_kernel_row, max_ps),
    VALUE("blocks_per_unit", JSON_RATIO, struct cm_kernel_row, blocks_per_unit),
    VALUE("occupancy", JSON_RATIO, struct cm_kernel_row, occupancy),
};

static const struct json_record kernel_row_record =
    RECORD(struct cm_kernel_row, kernel_row_fields);

static const struct json_field ceilings_fields[] = {
    VALUE("state", JSON_TEXT, struct cm_ceilings, state),
    VALUE("copy_bytes_per_s", JSON_COUNT, struct cm_ceilings, copy_bytes_per_s),
    VALUE("floor_ps", JSON_COUNT, struct cm_ceilings, floor_ps),
    MANY("flops_per_s", JSON_SIZES, struct cm_ceilings, flops_per_s, n_flops_per_s),
};

static const struct json_record ceilings_record = RECORD(struct cm_ceilings, ceilings_fields);

static const struct json_field end_to_end_fields[] = {
    VALUE("state", JSON_TEXT, struct cm_end_to_end, state),
    VALUE("median_ps", JSON_COUNT, struct cm_end_to_end, median_ps),
    VALUE("q1_ps", JSON_COUNT, struct cm_end_to_end, q1_ps),
    VALUE("q3_ps", JSON_COUNT, struct cm_end_to_end, q3_ps),
    VALUE("samples", JSON_COUNT, struct cm_end_to_end, samples),
    VALUE("sum_cold_ps", JSON_COUNT, struct cm_end_to_end, sum_cold_ps),
    VALUE("sum_warm_ps", JSON_COUNT, struct cm_end_to_end, sum_warm_ps),
    VALUE("nodes", JSON_COUNT, struct cm_end_to_end, nodes),
    VALUE("macs", JSON_COUNT, struct cm_end_to_end, macs),
    VALUE("reason", JSON_TEXT, struct cm_end_to_end, reason),
};

static const struct json_record end_to_end_record =
    RECORD(struct cm_end_to_end, end_to_end_fields);

static const struct json_field measure_fields[] = {
    VALUE("backend", JSON_TEXT, struct cm_measure, backend),
    VALUE("problem", JSON_TEXT, struct cm_measure, problem),
    VALUE("precision", JSON_TEXT, struct cm_measure, precision),
    VALUE("layout", JSON_TEXT, struct cm_measure, layout),
    VALUE("modelled", JSON_FLAG, struct cm_measure, modelled),
    OPTIONAL("invented", JSON_FLAG, struct cm_measure, invented),
    OPTIONAL("planned", JSON_FLAG, struct cm_measure, planned),
    VALUE("device", JSON_TEXT, struct cm_measure, device),
    VALUE("version", JSON_TEXT, struct cm_measure, version),
    VALUE("warning", JSON_TEXT, struct cm_measure, warning),
    VALUE("architecture", JSON_TEXT, struct cm_measure, architecture),
    VALUE("address", JSON_TEXT, struct cm_measure, address),
    VALUE("memory_bytes", JSON_COUNT, struct cm_measure, memory_bytes),
    VALUE("cache_bytes", JSON_COUNT, struct cm_measure, cache_bytes),
    VALUE("units", JSON_COUNT, struct cm_measure, units),
    VALUE("threads_per_unit", JSON_COUNT, struct cm_measure, threads_per_unit),
    VALUE("bandwidth", JSON_COUNT, struct cm_measure, bandwidth),
    VALUE("floor_ps", JSON_COUNT, struct cm_measure, floor_ps),
    OPTIONAL("has_tensor_cores", JSON_FLAG, struct cm_measure, has_tensor_cores),
    VALUE("measured_macs_share", JSON_RATIO, struct cm_measure, measured_macs_share),
    {"ceilings", JSON_POINTER, true, offsetof(struct cm_measure, ceilings), 0, &ceilings_record,
     NULL},
    {"end_to_end", JSON_POINTER, true, offsetof(struct cm_measure, end_to_end), 0,
     &end_to_end_record, NULL},
    VALUE("cached", JSON_COUNT, struct cm_measure, n_cached),
    VALUE("cached_since", JSON_TEXT, struct cm_measure, cached_since),
    LIST("states", struct cm_measure, states, n_states, state_record),
    LIST("untimed", struct cm_measure, untimed, n_untimed, untimed_record),
    LIST("bounds", struct cm_measure, bounds, n_bounds, bound_record),
    LIST("primitives", struct cm_measure, primitives, n_primitives, timed_record),
    OPTIONAL_MANY("kernels", JSON_LIST, struct cm_measure, kernels, n_kernels,
                  &kernel_row_record),
};

const struct json_record json_measure = RECORD(struct cm_measure, measure_fields);

static const struct json_field operator_fields[] = {
    VALUE("op", JSON_TEXT, struct cm_operator, op),
    VALUE("nodes", JSON_COUNT, struct cm_operator, nodes),
    VALUE("macs", JSON_COUNT, struct cm_operator, macs),
    VALUE("flops", JSON_COUNT, struct cm_operator, flops),
    VALUE("bytes_read", JSON_COUNT, struct cm_operator, bytes_read),
    VALUE("bytes_written", JSON_COUNT, struct cm_operator, bytes_written),
    VALUE("latency_ps", JSON_COUNT, struct cm_operator, latency_ps),
    OPTIONAL_MANY("states", JSON_LIST, struct cm_operator, states, n_states, &state_record),
};

const struct json_record json_operator = RECORD(struct cm_operator, operator_fields);

static const struct json_field advice_fields[] = {
    VALUE("rule", JSON_TEXT, struct cm_advice, rule),
    VALUE("name", JSON_TEXT, struct cm_advice, name),
    VALUE("text", JSON_TEXT, struct cm_advice, text),
    VALUE("gain_ps", JSON_COUNT, struct cm_advice, gain_ps),
    MANY("nodes", JSON_INDICES, struct cm_advice, nodes, n_nodes),
    MANY("modules", JSON_INDICES, struct cm_advice, modules, n_modules),
};

const struct json_record json_advice = RECORD(struct cm_advice, advice_fields);
