/* SPDX-License-Identifier: Apache-2.0 */
/* Schema tables of timed records: primitives, kernels, operators, advice. */
#include "report/json/json_rows.h"

/* clang-format off */
const struct json_record json_achieved = RECORD(struct cm_achieved, "achieved", "Work divided by time; for a module, sums over its nodes",
    VALUE("flops_per_s", JSON_COUNT, struct cm_achieved, flops_per_s, "FLOPs per second, by convention `exact`"),
    VALUE("bytes_per_s", JSON_COUNT, struct cm_achieved, bytes_per_s, "bytes read and written per second"),
    VALUE("roofline", JSON_RATIO, struct cm_achieved, roofline, "roofline time divided by the actual time; `null` if the ceilings of the device are unknown"),
    VALUE("limited_by", JSON_TEXT, struct cm_achieved, limited_by, "the limiting resource: `compute`, `memory`, `launch`, `occupancy`, `kernel`, `mixed` or `unknown` (docs/measuring.md)"));

static const struct json_record kernel_run_record = RECORD(struct cm_kernel_run, "kernel_run", "A kernel that ran on the device; 0 if a figure is unknown",
    VALUE("name", JSON_TEXT, struct cm_kernel_run, name, "name of the kernel"),
    VALUE("calls", JSON_COUNT, struct cm_kernel_run, calls, "launches in one execution of the primitive"),
    VALUE("grid", JSON_TRIPLE, struct cm_kernel_run, grid, "grid size, blocks"),
    VALUE("block", JSON_TRIPLE, struct cm_kernel_run, block, "block size, threads"),
    VALUE("registers", JSON_COUNT, struct cm_kernel_run, registers, "registers per thread"),
    VALUE("shared_bytes", JSON_COUNT, struct cm_kernel_run, shared_bytes, "shared memory per block"),
    VALUE("tensor_cores", JSON_TEXT, struct cm_kernel_run, tensor_cores, "`yes`, `no`, `unknown`"),
    VALUE("rule", JSON_TEXT, struct cm_kernel_run, rule, "rule that decided tensor_cores"),
    VALUE("blocks_per_unit", JSON_RATIO, struct cm_kernel_run, blocks_per_unit, "blocks of the grid divided by the number of multiprocessors"),
    VALUE("occupancy", JSON_RATIO, struct cm_kernel_run, occupancy, "resident threads divided by the maximum, for a grid of this size"),
    OPTIONAL("theoretical_occupancy", JSON_RATIO, struct cm_kernel_run, theoretical_occupancy, "the same for a grid that fills the device: limited by registers, shared memory and block size"),
    OPTIONAL("unit_efficiency", JSON_RATIO, struct cm_kernel_run, unit_efficiency, "multiprocessors that have a block divided by all (SM efficiency)"),
    OPTIONAL("time_ps", JSON_COUNT, struct cm_kernel_run, time_ps, "time of all calls in one execution: median of the time between events before and after them, in a run of its own; `null` if unknown"),
    OPTIONAL("share", JSON_RATIO, struct cm_kernel_run, share, "time_ps divided by the sum over the kernels of the primitive; missing if unknown"));

static const struct json_record clocks_record = RECORD(struct cm_clock_state, "clocks", "Clocks, temperature and power of a device",
    VALUE("unit_mhz", JSON_COUNT, struct cm_clock_state, unit_mhz, "clock of the multiprocessors"),
    VALUE("unit_most_mhz", JSON_COUNT, struct cm_clock_state, unit_most_mhz, "maximum clock of the multiprocessors"),
    VALUE("memory_mhz", JSON_COUNT, struct cm_clock_state, memory_mhz, "clock of the memory"),
    VALUE("temperature_c", JSON_COUNT, struct cm_clock_state, temperature_c, "temperature of the device"),
    VALUE("power_mw", JSON_COUNT, struct cm_clock_state, power_mw, "power draw"),
    VALUE("throttle", JSON_TEXT, struct cm_clock_state, throttle, "reason for throttling; empty: not throttled"));

static const struct json_record import_record = RECORD(struct cm_import, "import", "How the times of a layer were imported; present only if they were",
    VALUE("expected_ps", JSON_COUNT, struct cm_import, expected_ps, "time of its nodes on the device of `--device`, picoseconds; `null` without a device"),
    OPTIONAL("mean_ps", JSON_COUNT, struct cm_import, mean_ps, "mean over the runs that `median_ps` is the median of"),
    VALUE("module", JSON_INDEX, struct cm_import, module, "of a layer without nodes: index of the module that has its time; else `null`"),
    OPTIONAL_MANY("inside", JSON_INDICES, struct cm_import, inside, n_inside, NULL, "of an opaque block: indices of its nodes, which have no time of their own"));

static const struct json_record timed_record = RECORD(struct cm_timed, "timed", "A distinct piece of work and its time, in picoseconds; if times are imported, a layer of the other tool and its time in one run of the model",
    VALUE("primitive", JSON_TEXT, struct cm_timed, primitive, "description, one line; imported: the name of the layer"),
    VALUE("state", JSON_TEXT, struct cm_timed, state, "`measured`, `modelled`, `proxy`, `view`, `unsupported`, `out-of-memory`, `crashed`, `timed-out`, `planned` or `invented`; imported: `imported`, `split` over several nodes, `opaque`, `copy` or `unplaced` (docs/measuring.md, docs/import.md)"),
    VALUE("median_ps", JSON_COUNT, struct cm_timed, median_ps, "median of one execution with cold operands; this and the other times are `null` if not timed"),
    VALUE("q1_ps", JSON_COUNT, struct cm_timed, q1_ps, "first quartile"),
    VALUE("q3_ps", JSON_COUNT, struct cm_timed, q3_ps, "third quartile"),
    VALUE("min_ps", JSON_COUNT, struct cm_timed, min_ps, "minimum"),
    VALUE("max_ps", JSON_COUNT, struct cm_timed, max_ps, "maximum"),
    VALUE("warm_ps", JSON_COUNT, struct cm_timed, warm_ps, "median with warm operands (in cache from the previous execution)"),
    VALUE("warm_q1_ps", JSON_COUNT, struct cm_timed, warm_q1_ps, "first quartile of warm_ps"),
    VALUE("warm_q3_ps", JSON_COUNT, struct cm_timed, warm_q3_ps, "third quartile of warm_ps"),
    VALUE("samples", JSON_COUNT, struct cm_timed, samples, "number of samples; 0 for modelled times"),
    VALUE("drift", JSON_RATIO, struct cm_timed, drift, "relative difference between measurement rounds"),
    OPTIONAL("unstable", JSON_FLAG, struct cm_timed, unstable, "drift exceeds its limit"),
    OPTIONAL("few_samples", JSON_FLAG, struct cm_timed, few_samples, "fewer samples than required"),
    OPTIONAL("not_cold", JSON_FLAG, struct cm_timed, not_cold, "operands stayed in the cache"),
    OPTIONAL("throttled", JSON_FLAG, struct cm_timed, throttled, "the device was throttled"),
    OPTIONAL("launches", JSON_FLAG, struct cm_timed, launches, "the host launched each execution separately"),
    OPTIONAL("cached", JSON_FLAG, struct cm_timed, cached, "the time comes from the cache of an earlier run"),
    OPTIONAL("product", JSON_FLAG, struct cm_timed, product, "a matrix product or a convolution, which tensor cores can compute"),
    VALUE("flops", JSON_COUNT, struct cm_timed, flops, "FLOPs of one execution, by convention `exact`"),
    VALUE("bytes", JSON_COUNT, struct cm_timed, bytes, "bytes read and written by one execution"),
    POINTER("achieved", struct cm_timed, achieved, json_achieved, "achieved throughput"),
    VALUE("provider", JSON_TEXT, struct cm_timed, provider, "library of the backend; empty: none"),
    VALUE("algorithm", JSON_TEXT, struct cm_timed, algorithm, "algorithm; empty: none"),
    VALUE("tensor_cores", JSON_TEXT, struct cm_timed, tensor_cores, "`yes`, `no`, `unknown`"),
    VALUE("plans_tried", JSON_COUNT, struct cm_timed, plans_tried, "number of plans tried until one was accepted; 0 if unknown"),
    VALUE("sets", JSON_COUNT, struct cm_timed, sets, "number of operand sets through which cold executions rotate; 0 if unknown"),
    VALUE("workspace_bytes", JSON_COUNT, struct cm_timed, workspace_bytes, "workspace size"),
    VALUE("plan_ps", JSON_COUNT, struct cm_timed, plan_ps, "time to find and compile the plan; not included in the other times"),
    PART("clocks", struct cm_timed, clocks, clocks_record, "state of the device after the measurement"),
    OPTIONAL_MANY("kernels", JSON_LIST, struct cm_timed, kernels, n_kernels, &kernel_run_record, "kernels that ran"),
    PART("import", struct cm_timed, import, import_record, "only of imported layers"),
    PART("losses", struct cm_timed, losses, json_losses, "parts of median_ps, only if it is modelled (docs/times.md)"),
    VALUE("more_kernels", JSON_COUNT, struct cm_timed, more_kernels, "number of kernels not listed"),
    VALUE("reason", JSON_TEXT, struct cm_timed, reason, "why there is no time, which substitute ran, why not all of it is one graph, or what limits a modelled time"),
    MANY("nodes", JSON_INDICES, struct cm_timed, nodes, n_nodes, "indices of the nodes with this work; if they are fused, of all of them"));

static const struct json_record state_record = RECORD(struct cm_state_share, "state", "Nodes by the state of their time",
    VALUE("state", JSON_TEXT, struct cm_state_share, state, "as in primitives; `view`: no work"),
    VALUE("nodes", JSON_COUNT, struct cm_state_share, nodes, "number of nodes"),
    VALUE("macs", JSON_COUNT, struct cm_state_share, macs, "MACs of these nodes"));

static const struct json_record untimed_record = RECORD(struct cm_untimed, "untimed", "Nodes of one operator that have no time, by reason",
    VALUE("op", JSON_TEXT, struct cm_untimed, op, "`NonZero`, `com.microsoft::Gelu`"),
    VALUE("reason", JSON_TEXT, struct cm_untimed, reason, "why there is no time"),
    VALUE("nodes", JSON_COUNT, struct cm_untimed, nodes, "number of nodes"),
    VALUE("macs", JSON_COUNT, struct cm_untimed, macs, "MACs of these nodes"));

static const struct json_record limiter_record = RECORD(struct cm_limiter_share, "limiter", "Nodes by the resource that limits their speed",
    VALUE("limited_by", JSON_TEXT, struct cm_limiter_share, limited_by, "as in achieved"),
    VALUE("nodes", JSON_COUNT, struct cm_limiter_share, nodes, "number of nodes"),
    VALUE("latency_ps", JSON_COUNT, struct cm_limiter_share, latency_ps, "latency of these nodes"));

static const struct json_record kernel_row_record = RECORD(struct cm_kernel_row, "kernel_row", "A row of the kernel table",
    VALUE("name", JSON_TEXT, struct cm_kernel_row, name, "name of the kernel, or description of a primitive"),
    VALUE("primitive", JSON_INDEX, struct cm_kernel_row, primitive, "index into primitives if the row is a whole primitive, whose kernels are unknown or were not timed one by one; `null` if it is one kernel"),
    VALUE("tensor_cores", JSON_TEXT, struct cm_kernel_row, tensor_cores, "`yes`, `no`, `unknown`"),
    VALUE("rule", JSON_TEXT, struct cm_kernel_row, rule, "rule that decided tensor_cores"),
    VALUE("calls", JSON_COUNT, struct cm_kernel_row, calls, "calls in one forward pass"),
    VALUE("total_ps", JSON_COUNT, struct cm_kernel_row, total_ps, "time of all calls"),
    VALUE("mean_ps", JSON_COUNT, struct cm_kernel_row, mean_ps, "mean time of a call"),
    VALUE("min_ps", JSON_COUNT, struct cm_kernel_row, min_ps, "time of the shortest call: the median of its primitive, or the kernel's share of it"),
    VALUE("max_ps", JSON_COUNT, struct cm_kernel_row, max_ps, "time of the longest call, likewise"),
    VALUE("blocks_per_unit", JSON_RATIO, struct cm_kernel_row, blocks_per_unit, "mean weighted by time"),
    VALUE("occupancy", JSON_RATIO, struct cm_kernel_row, occupancy, "mean weighted by time"),
    OPTIONAL("theoretical_occupancy", JSON_RATIO, struct cm_kernel_row, theoretical_occupancy, "mean weighted by time"),
    OPTIONAL("unit_efficiency", JSON_RATIO, struct cm_kernel_row, unit_efficiency, "mean weighted by time"));

static const struct json_record ceilings_record = RECORD(struct cm_ceilings, "ceilings", "Peak rates of the device; `null` if not measured",
    VALUE("state", JSON_TEXT, struct cm_ceilings, state, "`measured`; `published` rates of a modelled device; `invented` by a table"),
    VALUE("copy_bytes_per_s", JSON_COUNT, struct cm_ceilings, copy_bytes_per_s, "bandwidth of a large copy, bytes read plus bytes written"),
    VALUE("floor_ps", JSON_COUNT, struct cm_ceilings, floor_ps, "time of the smallest primitive"),
    MANY("flops_per_s", JSON_SIZES, struct cm_ceilings, flops_per_s, n_flops_per_s, "FLOPs per second of a large matrix product by data type: `f32`, `tf32`, `f16`; published rates by `algorithm` of a primitive: `fp32`, `matrix_fp16`"));

static const struct json_record end_to_end_record = RECORD(struct cm_end_to_end, "end_to_end", "All measured nodes, run as one network",
    VALUE("state", JSON_TEXT, struct cm_end_to_end, state, "as in primitives"),
    VALUE("median_ps", JSON_COUNT, struct cm_end_to_end, median_ps, "warm median; this and the quartiles are `null` if not timed"),
    VALUE("q1_ps", JSON_COUNT, struct cm_end_to_end, q1_ps, "first quartile"),
    VALUE("q3_ps", JSON_COUNT, struct cm_end_to_end, q3_ps, "third quartile"),
    VALUE("samples", JSON_COUNT, struct cm_end_to_end, samples, "number of samples"),
    VALUE("sum_cold_ps", JSON_COUNT, struct cm_end_to_end, sum_cold_ps, "sum of the cold medians of the included nodes"),
    VALUE("sum_warm_ps", JSON_COUNT, struct cm_end_to_end, sum_warm_ps, "sum of the warm medians of the included nodes"),
    VALUE("nodes", JSON_COUNT, struct cm_end_to_end, nodes, "number of included nodes"),
    VALUE("macs", JSON_COUNT, struct cm_end_to_end, macs, "MACs of these nodes"),
    VALUE("reason", JSON_TEXT, struct cm_end_to_end, reason, "why there is no time"));

static const struct json_record region_record = RECORD(struct cm_quantized_region, "quantized_region", "Nodes one after the other, of which the products are all on 8-bit integers or all on floats",
    VALUE("state", JSON_TEXT, struct cm_quantized_region, state, "`int8` or `float`"),
    VALUE("reason", JSON_TEXT, struct cm_quantized_region, reason, "why it stays in float, or is slower than in float; empty: neither"),
    VALUE("module", JSON_INDEX, struct cm_quantized_region, module, "index of the smallest module with all its nodes"),
    VALUE("first", JSON_INDEX, struct cm_quantized_region, first, "index of the first node"),
    VALUE("last", JSON_INDEX, struct cm_quantized_region, last, "index of the last node"),
    VALUE("latency_ps", JSON_COUNT, struct cm_quantized_region, latency_ps, "sum over its nodes"),
    VALUE("float_latency_ps", JSON_COUNT, struct cm_quantized_region, float_latency_ps, "the same in the float model"));

static const struct json_record quantization_record = RECORD(struct cm_quantization, "quantization", "A quantized model compared with its float model on the same modelled device",
    VALUE("float_precision", JSON_TEXT, struct cm_quantization, float_precision, "of the float model, the faster one: `fp32` or `fp16`"),
    VALUE("float_latency_ps", JSON_COUNT, struct cm_quantization, float_latency_ps, "latency of the float model"),
    VALUE("gain", JSON_RATIO, struct cm_quantization, gain, "latency of the float model divided by that of the quantized one; below 1: int8 is slower"),
    VALUE("verdict", JSON_TEXT, struct cm_quantization, verdict, "the gain and what limits it, in sentences"),
    VALUE("conversion_bytes", JSON_COUNT, struct cm_quantization, conversion_bytes, "bytes that kernels move that only convert to int8 and back"),
    VALUE("conversion_ps", JSON_COUNT, struct cm_quantization, conversion_ps, "time of these kernels"),
    LIST("regions", struct cm_quantization, regions, n_regions, region_record, "the regions, the longest in float first"));

const struct json_record json_measure = RECORD(struct cm_measure, "measure", "Results of a backend",
    VALUE("backend", JSON_TEXT, struct cm_measure, backend, "value of --backend: `roofline:device=h200`"),
    VALUE("problem", JSON_TEXT, struct cm_measure, problem, "why there are no times; empty if there are times"),
    VALUE("layout", JSON_TEXT, struct cm_measure, layout, "image layout: `auto`, `nchw` or `nhwc`"),
    VALUE("modelled", JSON_FLAG, struct cm_measure, modelled, "all times are computed from a device description; none is measured"),
    OPTIONAL("runtime", JSON_NULLABLE, struct cm_measure, runtime, "runtime that is modelled: `tensorrt`; if times are measured or planned, `compiled` with fused products, else missing"),
    OPTIONAL("calibration", JSON_PRESENT, struct cm_measure, calibration, "measurements that the efficiencies of a modelled device were fitted to; `null` if it is not calibrated, or times are measured"),
    OPTIONAL("invented", JSON_FLAG, struct cm_measure, invented, "times come from a table, for tests"),
    OPTIONAL("planned", JSON_FLAG, struct cm_measure, planned, "kernels were planned but not run; there are no times"),
    VALUE("device", JSON_TEXT, struct cm_measure, device, "device name"),
    VALUE("version", JSON_TEXT, struct cm_measure, version, "version of the libraries that ran, or source of the device data"),
    VALUE("warning", JSON_TEXT, struct cm_measure, warning, "why the times may be inaccurate; empty: none"),
    VALUE("architecture", JSON_TEXT, struct cm_measure, architecture, "`sm_90`; empty if unknown"),
    VALUE("address", JSON_TEXT, struct cm_measure, address, "bus address of the device; empty if unknown"),
    VALUE("memory_bytes", JSON_COUNT, struct cm_measure, memory_bytes, "device memory; this and the next keys are `null` if unknown"),
    VALUE("cache_bytes", JSON_COUNT, struct cm_measure, cache_bytes, "size of the last-level cache"),
    VALUE("units", JSON_COUNT, struct cm_measure, units, "number of multiprocessors or CPU threads"),
    VALUE("threads_per_unit", JSON_COUNT, struct cm_measure, threads_per_unit, "maximum of resident threads per unit"),
    VALUE("bandwidth", JSON_COUNT, struct cm_measure, bandwidth, "memory bandwidth, bytes per second"),
    VALUE("floor_ps", JSON_COUNT, struct cm_measure, floor_ps, "minimum time of any primitive"),
    OPTIONAL("has_tensor_cores", JSON_FLAG, struct cm_measure, has_tensor_cores, "the device has tensor cores"),
    OPTIONAL("imported", JSON_FLAG, struct cm_measure, imported, "all times were measured by another tool (`--times`)"),
    OPTIONAL("placed_share", JSON_RATIO, struct cm_measure, placed_share, "imported: time of the layers that match the model divided by the time of all layers; only if times are imported"),
    OPTIONAL("run_ps", JSON_COUNT, struct cm_measure, run_ps, "imported: median time of a whole run of the model, as the other tool measured it; `null` if it did not"),
    OPTIONAL("other_shape", JSON_NULLABLE, struct cm_measure, other_shape, "imported: why the times belong to other shapes than those of the model, for example of another batch; there are no rates then (`achieved`); missing if they do not, or if their shapes are unknown"),
    VALUE("measured_macs_share", JSON_RATIO, struct cm_measure, measured_macs_share, "share of all MACs in nodes whose state is `measured`, `imported` or `split`; `null` if the model has no MACs"),
    POINTER("ceilings", struct cm_measure, ceilings, ceilings_record, "peak rates of the device: measured like layers, or published"),
    POINTER("end_to_end", struct cm_measure, end_to_end, end_to_end_record, "with --end-to-end: all measured nodes, run as one network"),
    POINTER("quantization", struct cm_measure, quantization, quantization_record, "of a quantized model on a modelled device; else missing"),
    VALUE("cached", JSON_COUNT, struct cm_measure, n_cached, "number of primitives measured in earlier runs"),
    VALUE("cached_since", JSON_TEXT, struct cm_measure, cached_since, "time of the earliest of these measurements: `2026-11-21T23:07:08Z`"),
    LIST("states", struct cm_measure, states, n_states, state_record, "nodes and MACs by the state of their time"),
    LIST("untimed", struct cm_measure, untimed, n_untimed, untimed_record, "nodes without a time, by operator and reason; most MACs first"),
    LIST("limiters", struct cm_measure, limiters, n_limiters, limiter_record, "latency by limiting resource"),
    LIST("primitives", struct cm_measure, primitives, n_primitives, timed_record, "each distinct piece of work once"),
    OPTIONAL_MANY("kernels", JSON_LIST, struct cm_measure, kernels, n_kernels, &kernel_row_record, "the kernel table, the largest total first"));

static const char *const operator_columns[] = {"macs", "flops", "int_macs", "int_ops", NULL};

const struct json_record json_operator = RECORD(struct cm_operator, "operator", "All nodes of one operator",
    VALUE("op", JSON_TEXT, struct cm_operator, op, "`Conv`; of another domain `com.microsoft::Gelu`"),
    VALUE("nodes", JSON_COUNT, struct cm_operator, nodes, "number of nodes"),
    COSTS_IF(JSON_FIRST, struct cm_operator, costs, operator_columns, of_operator),
    COSTS_IF(JSON_OTHERS, struct cm_operator, costs, operator_columns, of_operator),
    OPTIONAL("upper_bound", JSON_BOUNDS, struct cm_operator, costs.upper_bound, "keys of the figures that are upper bounds; missing if all are exact"),
    OPTIONAL("partial", JSON_BOUNDS, struct cm_operator, costs.partial, "keys of the times that omit nodes without a time; missing if they omit none"),
    OPTIONAL_MANY("states", JSON_LIST, struct cm_operator, states, n_states, &state_record, "as in measure; only with times"));

const struct json_record json_advice = RECORD(struct cm_advice, "advice", "A possible optimization, or a change without which the model does not run",
    VALUE("rule", JSON_TEXT, struct cm_advice, rule, "`R3`: docs/measuring.md"),
    VALUE("name", JSON_TEXT, struct cm_advice, name, "`channels-last`"),
    VALUE("text", JSON_TEXT, struct cm_advice, text, "finding and recommendation, in sentences"),
    VALUE("gain_ps", JSON_COUNT, struct cm_advice, gain_ps, "reduction of the total latency, on top of the advice before it: modelled, or estimated from the measurement; `null` if unknown"),
    MANY("nodes", JSON_INDICES, struct cm_advice, nodes, n_nodes, "indices of the affected nodes"),
    MANY("modules", JSON_INDICES, struct cm_advice, modules, n_modules, "indices of the modules that contain these nodes"));

static const struct json_record link_record = RECORD(struct cm_input_link, "input_link", "A kind of storage or network",
    VALUE("name", JSON_TEXT, struct cm_input_link, name, "`NVMe SSD, PCIe 4.0 x4`"),
    VALUE("bytes_per_s", JSON_COUNT, struct cm_input_link, bytes_per_s, "published rate of sequential reads"),
    VALUE("suffices", JSON_FLAG, struct cm_input_link, suffices, "`true` if the rate is at least the demand"),
    VALUE("source", JSON_TEXT, struct cm_input_link, source, "document of the rate"));

const struct json_record json_input_pipeline = RECORD(struct cm_input_pipeline, "input_pipeline", "The demand for input samples, and the links that can meet it",
    VALUE("sample_bytes", JSON_COUNT, struct cm_input_pipeline, sample_bytes, "value of --sample-bytes"),
    VALUE("samples", JSON_COUNT, struct cm_input_pipeline, samples, "samples per step: the batch; 1 if the inputs have no batch axis"),
    VALUE("step_ps", JSON_COUNT, struct cm_input_pipeline, step_ps, "time of a training step with --optimizer, if it is modelled, else of a forward pass, picoseconds"),
    VALUE("bytes_per_s", JSON_COUNT, struct cm_input_pipeline, bytes_per_s, "demand: samples * sample_bytes / step; `null` if the time is 0"),
    VALUE("host_link", JSON_COUNT, struct cm_input_pipeline, host_link, "bytes per second from the host to the device; `null`: unknown"),
    LIST("links", struct cm_input_pipeline, links, n_links, link_record, "storage and networks, slowest first"),
    VALUE("advice", JSON_TEXT, struct cm_input_pipeline, advice, "the slowest link that suffices, in sentences"));
/* clang-format on */
