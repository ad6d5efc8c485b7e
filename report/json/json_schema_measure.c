/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of what has times: primitives, kernels, operators, advice. */
#include "report/json/json_rows.h"

#include "support/banned.h"

/* clang-format off */
static const struct json_field achieved_fields[] = {
    VALUE("flops_per_s", JSON_COUNT, struct cm_achieved, flops_per_s, "operations by the exact convention"),
    VALUE("bytes_per_s", JSON_COUNT, struct cm_achieved, bytes_per_s, "read and written"),
    VALUE("roofline", JSON_RATIO, struct cm_achieved, roofline, "the least time that the device's ceilings allow, by the time that it took; `null` where they are not known"),
    VALUE("limited_by", JSON_TEXT, struct cm_achieved, limited_by, "the limiting resource: `compute`, `memory`, `launch`, `occupancy`, `mixed` or `unknown`"),
};

const struct json_record json_achieved = RECORD(struct cm_achieved, achieved_fields, "achieved", "Work by time; of a module the sums of what is inside");

static const struct json_field kernel_run_fields[] = {
    VALUE("name", JSON_TEXT, struct cm_kernel_run, name, "of the function"),
    VALUE("calls", JSON_COUNT, struct cm_kernel_run, calls, "in one execution of the primitive"),
    VALUE("grid", JSON_TRIPLE, struct cm_kernel_run, grid, "blocks"),
    VALUE("block", JSON_TRIPLE, struct cm_kernel_run, block, "threads"),
    VALUE("registers", JSON_COUNT, struct cm_kernel_run, registers, "of a thread"),
    VALUE("shared_bytes", JSON_COUNT, struct cm_kernel_run, shared_bytes, "of a block"),
    VALUE("tensor_cores", JSON_TEXT, struct cm_kernel_run, tensor_cores, "`yes`, `no`, `unknown`"),
    VALUE("rule", JSON_TEXT, struct cm_kernel_run, rule, "by what that was decided"),
    VALUE("blocks_per_unit", JSON_RATIO, struct cm_kernel_run, blocks_per_unit, "blocks of the grid by multiprocessors"),
    VALUE("occupancy", JSON_RATIO, struct cm_kernel_run, occupancy, "resident threads by those there is room for"),
};

static const struct json_record kernel_run_record = RECORD(struct cm_kernel_run, kernel_run_fields, "kernel_run", "A function that ran on the device; 0 where a figure is not known");

static const struct json_field clocks_fields[] = {
    VALUE("unit_mhz", JSON_COUNT, struct cm_clock_state, unit_mhz, "of the multiprocessors"),
    VALUE("unit_most_mhz", JSON_COUNT, struct cm_clock_state, unit_most_mhz, "the most that they do"),
    VALUE("memory_mhz", JSON_COUNT, struct cm_clock_state, memory_mhz, "of the memory"),
    VALUE("temperature_c", JSON_COUNT, struct cm_clock_state, temperature_c, "of the device"),
    VALUE("power_mw", JSON_COUNT, struct cm_clock_state, power_mw, "that it draws"),
    VALUE("throttle", JSON_TEXT, struct cm_clock_state, throttle, "why it holds its clock back; empty: it does not"),
};

static const struct json_record clocks_record = RECORD(struct cm_clock_state, clocks_fields, "clocks", "The state of a device");

static const struct json_field timed_fields[] = {
    VALUE("primitive", JSON_TEXT, struct cm_timed, primitive, "what it is, in one line"),
    VALUE("state", JSON_TEXT, struct cm_timed, state, "`measured`, `modelled`, `proxy`, `view`, `unsupported`, `out-of-memory`, `crashed`, `timed-out`, `planned` or `invented`"),
    VALUE("median_ps", JSON_COUNT, struct cm_timed, median_ps, "of one execution, operands cold; this and the rest `null` without a time"),
    VALUE("q1_ps", JSON_COUNT, struct cm_timed, q1_ps, "first quartile"),
    VALUE("q3_ps", JSON_COUNT, struct cm_timed, q3_ps, "third quartile"),
    VALUE("min_ps", JSON_COUNT, struct cm_timed, min_ps, "the least"),
    VALUE("max_ps", JSON_COUNT, struct cm_timed, max_ps, "the most"),
    VALUE("warm_ps", JSON_COUNT, struct cm_timed, warm_ps, "median with operands where the execution before left them"),
    VALUE("warm_q1_ps", JSON_COUNT, struct cm_timed, warm_q1_ps, "its first quartile"),
    VALUE("warm_q3_ps", JSON_COUNT, struct cm_timed, warm_q3_ps, "its third quartile"),
    VALUE("samples", JSON_COUNT, struct cm_timed, samples, "how many; 0 of a model"),
    VALUE("drift", JSON_RATIO, struct cm_timed, drift, "how far the rounds were apart"),
    OPTIONAL("unstable", JSON_FLAG, struct cm_timed, unstable, "they were far apart"),
    OPTIONAL("few_samples", JSON_FLAG, struct cm_timed, few_samples, "less than are wanted"),
    OPTIONAL("not_cold", JSON_FLAG, struct cm_timed, not_cold, "operands stayed in the cache"),
    OPTIONAL("throttled", JSON_FLAG, struct cm_timed, throttled, "the device was throttled"),
    OPTIONAL("launches", JSON_FLAG, struct cm_timed, launches, "each execution was launched by the host"),
    OPTIONAL("cached", JSON_FLAG, struct cm_timed, cached, "it ran in an earlier call of the program"),
    VALUE("flops", JSON_COUNT, struct cm_timed, flops, "of one execution, by the exact convention"),
    VALUE("bytes", JSON_COUNT, struct cm_timed, bytes, "of one execution, read and written"),
    POINTER("achieved", struct cm_timed, achieved, json_achieved, "what the time makes of the work"),
    VALUE("provider", JSON_TEXT, struct cm_timed, provider, "which part of the backend; empty"),
    VALUE("algorithm", JSON_TEXT, struct cm_timed, algorithm, "which of its algorithms; empty"),
    VALUE("tensor_cores", JSON_TEXT, struct cm_timed, tensor_cores, "`yes`, `no`, `unknown`"),
    VALUE("plans_tried", JSON_COUNT, struct cm_timed, plans_tried, "until one was accepted; 0 not known"),
    VALUE("sets", JSON_COUNT, struct cm_timed, sets, "of operands that cold executions went round; 0 not known"),
    VALUE("workspace_bytes", JSON_COUNT, struct cm_timed, workspace_bytes, "that it was given"),
    VALUE("plan_ps", JSON_COUNT, struct cm_timed, plan_ps, "to find and compile the plan; in no other time"),
    PART("clocks", struct cm_timed, clocks, clocks_record, "the device's state right after"),
    OPTIONAL_MANY("kernels", JSON_LIST, struct cm_timed, kernels, n_kernels, &kernel_run_record, "what ran"),
    VALUE("more_kernels", JSON_COUNT, struct cm_timed, more_kernels, "how many are not listed"),
    VALUE("reason", JSON_TEXT, struct cm_timed, reason, "why there is no time, what ran in its place, or what bounds a modelled one"),
    MANY("nodes", JSON_INDICES, struct cm_timed, nodes, n_nodes, "indices of the nodes that do this work"),
};

static const struct json_record timed_record = RECORD(struct cm_timed, timed_fields, "timed", "A distinct piece of work and its time, in picoseconds");

static const struct json_field state_fields[] = {
    VALUE("state", JSON_TEXT, struct cm_state_share, state, "as of primitives; `view`: nothing to do"),
    VALUE("nodes", JSON_COUNT, struct cm_state_share, nodes, "how many"),
    VALUE("macs", JSON_COUNT, struct cm_state_share, macs, "of them"),
};

static const struct json_record state_record = RECORD(struct cm_state_share, state_fields, "state", "Nodes by the sort of their time");

static const struct json_field untimed_fields[] = {
    VALUE("op", JSON_TEXT, struct cm_untimed, op, "`NonZero`, `com.microsoft::Gelu`"),
    VALUE("reason", JSON_TEXT, struct cm_untimed, reason, "why there is no time"),
    VALUE("nodes", JSON_COUNT, struct cm_untimed, nodes, "how many"),
    VALUE("macs", JSON_COUNT, struct cm_untimed, macs, "of them"),
};

static const struct json_record untimed_record = RECORD(struct cm_untimed, untimed_fields, "untimed", "Nodes of one operator that have no time, for one reason");

static const struct json_field limiter_fields[] = {
    VALUE("limited_by", JSON_TEXT, struct cm_limiter_share, limited_by, "as in achieved"),
    VALUE("nodes", JSON_COUNT, struct cm_limiter_share, nodes, "how many"),
    VALUE("latency_ps", JSON_COUNT, struct cm_limiter_share, latency_ps, "of them"),
};

static const struct json_record limiter_record = RECORD(struct cm_limiter_share, limiter_fields, "limiter", "Nodes by the resource that limits their speed");

static const struct json_field kernel_row_fields[] = {
    VALUE("name", JSON_TEXT, struct cm_kernel_row, name, "of the kernel; or the line of a primitive"),
    VALUE("primitive", JSON_INDEX, struct cm_kernel_row, primitive, "index into primitives where the time is that of several kernels, or of nobody knows which; `null`: a kernel's own"),
    VALUE("tensor_cores", JSON_TEXT, struct cm_kernel_row, tensor_cores, "`yes`, `no`, `unknown`"),
    VALUE("rule", JSON_TEXT, struct cm_kernel_row, rule, "by what that was decided"),
    VALUE("calls", JSON_COUNT, struct cm_kernel_row, calls, "in one pass through the model"),
    VALUE("total_ps", JSON_COUNT, struct cm_kernel_row, total_ps, "of all calls"),
    VALUE("mean_ps", JSON_COUNT, struct cm_kernel_row, mean_ps, "of one call"),
    VALUE("min_ps", JSON_COUNT, struct cm_kernel_row, min_ps, "of a call: the least of the medians of the primitives that it is in"),
    VALUE("max_ps", JSON_COUNT, struct cm_kernel_row, max_ps, "of a call: the most of them"),
    VALUE("blocks_per_unit", JSON_RATIO, struct cm_kernel_row, blocks_per_unit, "a mean weighted by time"),
    VALUE("occupancy", JSON_RATIO, struct cm_kernel_row, occupancy, "a mean weighted by time"),
};

static const struct json_record kernel_row_record = RECORD(struct cm_kernel_row, kernel_row_fields, "kernel_row", "A row of the kernel table");

static const struct json_field ceilings_fields[] = {
    VALUE("state", JSON_TEXT, struct cm_ceilings, state, "`measured`, or `invented` by a table"),
    VALUE("copy_bytes_per_s", JSON_COUNT, struct cm_ceilings, copy_bytes_per_s, "of a large copy: read and written, both counted"),
    VALUE("floor_ps", JSON_COUNT, struct cm_ceilings, floor_ps, "of the smallest primitive"),
    MANY("flops_per_s", JSON_SIZES, struct cm_ceilings, flops_per_s, n_flops_per_s, "element to operations a second of a large product: `f32`, `tf32`, `f16`"),
};

static const struct json_record ceilings_record = RECORD(struct cm_ceilings, ceilings_fields, "ceilings", "What the device reaches at its best; `null` where it was not measured");

static const struct json_field end_to_end_fields[] = {
    VALUE("state", JSON_TEXT, struct cm_end_to_end, state, "as of primitives"),
    VALUE("median_ps", JSON_COUNT, struct cm_end_to_end, median_ps, "warm; this and the quartiles `null` without a time"),
    VALUE("q1_ps", JSON_COUNT, struct cm_end_to_end, q1_ps, "first quartile"),
    VALUE("q3_ps", JSON_COUNT, struct cm_end_to_end, q3_ps, "third quartile"),
    VALUE("samples", JSON_COUNT, struct cm_end_to_end, samples, "how many"),
    VALUE("sum_cold_ps", JSON_COUNT, struct cm_end_to_end, sum_cold_ps, "of the medians of exactly the nodes that are in it"),
    VALUE("sum_warm_ps", JSON_COUNT, struct cm_end_to_end, sum_warm_ps, "the same, warm"),
    VALUE("nodes", JSON_COUNT, struct cm_end_to_end, nodes, "how many are in it"),
    VALUE("macs", JSON_COUNT, struct cm_end_to_end, macs, "of them"),
    VALUE("reason", JSON_TEXT, struct cm_end_to_end, reason, "why there is no time"),
};

static const struct json_record end_to_end_record = RECORD(struct cm_end_to_end, end_to_end_fields, "end_to_end", "All nodes that were measured, run as one network");

static const struct json_field measure_fields[] = {
    VALUE("backend", JSON_TEXT, struct cm_measure, backend, "as it was asked for: `roofline:device=h200`"),
    VALUE("problem", JSON_TEXT, struct cm_measure, problem, "why there are no times; empty: there are"),
    VALUE("precision", JSON_TEXT, struct cm_measure, precision, "what fp32 was computed in: `fp32`, `tf32`, `fp16`, `bf16`, `int8` or `fp8`"),
    VALUE("layout", JSON_TEXT, struct cm_measure, layout, "of images: `auto`, `nchw` or `nhwc`"),
    VALUE("modelled", JSON_FLAG, struct cm_measure, modelled, "no time was measured, all are computed from a description of the device"),
    OPTIONAL("invented", JSON_FLAG, struct cm_measure, invented, "times stand in a table, for tests"),
    OPTIONAL("planned", JSON_FLAG, struct cm_measure, planned, "nothing ran, and no time is known"),
    VALUE("device", JSON_TEXT, struct cm_measure, device, "what it is"),
    VALUE("version", JSON_TEXT, struct cm_measure, version, "of what ran, or where the figures of a model stand"),
    VALUE("warning", JSON_TEXT, struct cm_measure, warning, "what makes the times doubtful; empty"),
    VALUE("architecture", JSON_TEXT, struct cm_measure, architecture, "`sm_90`; empty"),
    VALUE("address", JSON_TEXT, struct cm_measure, address, "the device's place in its machine; empty"),
    VALUE("memory_bytes", JSON_COUNT, struct cm_measure, memory_bytes, "of the device; this and the next `null` where not known"),
    VALUE("cache_bytes", JSON_COUNT, struct cm_measure, cache_bytes, "of the last level"),
    VALUE("units", JSON_COUNT, struct cm_measure, units, "multiprocessors, threads"),
    VALUE("threads_per_unit", JSON_COUNT, struct cm_measure, threads_per_unit, "that are resident at once"),
    VALUE("bandwidth", JSON_COUNT, struct cm_measure, bandwidth, "bytes a second"),
    VALUE("floor_ps", JSON_COUNT, struct cm_measure, floor_ps, "the shortest that anything takes"),
    OPTIONAL("has_tensor_cores", JSON_FLAG, struct cm_measure, has_tensor_cores, "it has units that only multiply matrices"),
    VALUE("measured_macs_share", JSON_RATIO, struct cm_measure, measured_macs_share, "of all MACs those of nodes that are `measured`; `null` where there are none"),
    POINTER("ceilings", struct cm_measure, ceilings, ceilings_record, "what the device reaches at its best, measured as layers are"),
    POINTER("end_to_end", struct cm_measure, end_to_end, end_to_end_record, "with --end-to-end: all that was measured as one network"),
    VALUE("cached", JSON_COUNT, struct cm_measure, n_cached, "how many of the primitives were measured in earlier runs"),
    VALUE("cached_since", JSON_TEXT, struct cm_measure, cached_since, "when the first of them was: `2026-11-21T23:07:08Z`"),
    LIST("states", struct cm_measure, states, n_states, state_record, "how many nodes, and how much of the work, has a time of which sort"),
    LIST("untimed", struct cm_measure, untimed, n_untimed, untimed_record, "what has no time, and why; what does most of the work first"),
    LIST("limiters", struct cm_measure, limiters, n_limiters, limiter_record, "latency by limiting resource"),
    LIST("primitives", struct cm_measure, primitives, n_primitives, timed_record, "each distinct piece of work once"),
    OPTIONAL_MANY("kernels", JSON_LIST, struct cm_measure, kernels, n_kernels, &kernel_row_record, "the kernel table, the largest total first"),
};

const struct json_record json_measure = RECORD(struct cm_measure, measure_fields, "measure", "What a backend said");

static const struct json_field operator_fields[] = {
    VALUE("op", JSON_TEXT, struct cm_operator, op, "`Conv`; of another domain `com.microsoft::Gelu`"),
    VALUE("nodes", JSON_COUNT, struct cm_operator, nodes, "how many"),
    VALUE("macs", JSON_COUNT, struct cm_operator, costs.macs, "multiply-adds"),
    VALUE("flops", JSON_COUNT, struct cm_operator, costs.flops, "by the convention"),
    OPTIONAL("int_macs", JSON_COUNT, struct cm_operator, costs.int_macs, "those of macs that multiply integers"),
    OPTIONAL("int_ops", JSON_COUNT, struct cm_operator, costs.int_ops, "operations on integers, by `exact`"),
    VALUE("bytes_read", JSON_COUNT, struct cm_operator, costs.bytes_read, "operands"),
    VALUE("bytes_written", JSON_COUNT, struct cm_operator, costs.bytes_written, "outputs"),
    VALUE("latency_ps", JSON_COUNT, struct cm_operator, costs.latency_ps, "`null` without times"),
    OPTIONAL("upper_bound", JSON_BOUNDS, struct cm_operator, costs.upper_bound, "keys of those of these figures that are upper bounds; missing where all are exact"),
    OPTIONAL_MANY("states", JSON_LIST, struct cm_operator, states, n_states, &state_record, "as in measure; only with times"),
};

const struct json_record json_operator = RECORD(struct cm_operator, operator_fields, "operator", "All nodes of one operator");

static const struct json_field advice_fields[] = {
    VALUE("rule", JSON_TEXT, struct cm_advice, rule, "`R3`: docs/measuring.md"),
    VALUE("name", JSON_TEXT, struct cm_advice, name, "`channels-last`"),
    VALUE("text", JSON_TEXT, struct cm_advice, text, "what was seen and what to do, in sentences"),
    VALUE("gain_ps", JSON_COUNT, struct cm_advice, gain_ps, "of the total latency, an estimate as good as the times are; `null` where none can be made"),
    MANY("nodes", JSON_INDICES, struct cm_advice, nodes, n_nodes, "indices of the nodes that it is about"),
    MANY("modules", JSON_INDICES, struct cm_advice, modules, n_modules, "indices of the modules that they stand in"),
};

const struct json_record json_advice = RECORD(struct cm_advice, advice_fields, "advice", "Something that would make the model faster, or let it run at all");
/* clang-format on */
