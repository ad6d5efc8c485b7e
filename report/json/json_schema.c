/* SPDX-License-Identifier: Apache-2.0 */
/* Schema tables of profiles and sweeps. Keys are written and read in the order of the rows. */
#include "report/json/json_schema.h"

#include <string.h>

#include "report/json/json_rows.h"

_Static_assert(sizeof(struct cm_named_size) == sizeof(struct cm_name_count) &&
                   offsetof(struct cm_named_size, name) ==
                       offsetof(struct cm_name_count, name) &&
                   offsetof(struct cm_named_size, size) ==
                       offsetof(struct cm_name_count, count),
               "JSON_SIZES handles both structs");

/* clang-format off */
const struct json_record json_type = RECORD(struct cm_type, "type", "The type of a value. If it is not a dense tensor, `dtype` is an object: `{\"sequence\": {\"dtype\": \"float\", \"shape\": [1, null]}}`, likewise `optional` and `sparse_tensor`, or `{\"map\": {\"dtype\": \"float\", \"shape\": [], \"key\": \"int64\"}}` of value and key types; types nest",
    VALUE("dtype", JSON_DTYPE, struct cm_type, kind, "ONNX data type in lower case (`float`, `int64`); an object (see type) if the value is not a dense tensor; `null` if unknown"),
    VALUE("shape", JSON_SHAPE, struct cm_type, kind, "dims, each an integer or `null` (unknown); `[]` for a scalar; `null` if the rank is unknown or the value is not a dense tensor"),
    OPTIONAL("shape_upper_bound", JSON_UPPER_BOUNDS, struct cm_type, kind, "shape with an upper bound for each data-dependent dim; `null` for dims without a bound; only if some dim has one"));

const struct json_record json_value = RECORD(struct cm_value, "value", "A tensor or another ONNX value",
    VALUE("name", JSON_TEXT, struct cm_value, name, "empty for an omitted optional output"),
    VALUE("dtype", JSON_DTYPE, struct cm_value, type, "ONNX data type in lower case (`float`, `int64`); an object (see type) if the value is not a dense tensor; `null` if unknown"),
    VALUE("shape", JSON_SHAPE, struct cm_value, type, "dims, each an integer or `null` (unknown); `[]` for a scalar; `null` if the rank is unknown or the value is not a dense tensor"),
    OPTIONAL("shape_upper_bound", JSON_UPPER_BOUNDS, struct cm_value, type, "shape with an upper bound for each data-dependent dim; `null` for dims without a bound; only if some dim has one"),
    OPTIONAL("bytes", JSON_COUNT, struct cm_value, bytes, "stored size; a packed 4-bit element takes half a byte; computed from shape_upper_bound if present; `null` if a dim is unknown"));

/* model and options are anonymous structs, and totals come from two structs, so the offsets of
 * their rows are relative to struct cm_result. */
static const struct json_record model_record = RECORD(struct cm_result, "model", "The file",
    VALUE("path", JSON_TEXT, struct cm_result, model.path, "path as given on the command line; `<stdin>` for standard input"),
    VALUE("producer", JSON_TEXT, struct cm_result, model.producer, "name and version of the exporter; empty if not recorded in the file"),
    VALUE("ir_version", JSON_COUNT, struct cm_result, model.ir_version, "ONNX IR version"),
    MANY("opsets", JSON_OPSETS, struct cm_result, model.opsets, model.n_opsets, "opset version by domain; `ai.onnx` is the default domain (empty in ONNX)"),
    LIST("inputs", struct cm_result, model.inputs, model.n_inputs, json_value, "graph inputs without initializers"),
    LIST("outputs", struct cm_result, model.outputs, model.n_outputs, json_value, "graph outputs"));

const struct json_record json_options = RECORD(struct cm_result, "options", "Options of the profile",
    VALUE("batch", JSON_COUNT, struct cm_result, options.batch, "profiled batch size; `null` if the inputs have no batch axis"),
    MANY("dims", JSON_SIZES, struct cm_result, options.dims, options.n_dims, "value of each symbolic dim that was bound, by name"),
    OPTIONAL_MANY("trip_counts", JSON_SIZES, struct cm_result, options.trip_counts, options.n_trip_counts, NULL, "trip counts set with --trip-count, by Loop"),
    OPTIONAL("counting", JSON_COUNT, struct cm_result, options.counting, "version of the counting rules: figures of equal models and options are comparable only if it is equal; `null`: not recorded"),
    OPTIONAL("precision", JSON_NULLABLE, struct cm_result, options.precision, "precision of all bytes, times and limits of the document: `fp32`, `tf32`, `fp16`, `bf16`, `int8`, `fp8` or `amp` (docs/precision.md)"),
    OPTIONAL("file_precision", JSON_NULLABLE, struct cm_result, options.file_precision, "precision of most floats in the file: `fp32`, `fp16` or `bf16`"),
    VALUE("convention", JSON_TEXT, struct cm_result, options.convention, "FLOP counting convention: `deepspeed` or another value of --convention"),
    VALUE("mode", JSON_TEXT, struct cm_result, options.mode, "`model` (the mode that each node specifies), `training` or `inference`"),
    OPTIONAL("schedule", JSON_TEXT, struct cm_result, options.schedule, "execution order of the nodes: `file` or `min-memory`"),
    OPTIONAL("module_source", JSON_TEXT, struct cm_result, options.module_source, "the only module source used; empty: all sources in turn"),
    OPTIONAL("group", JSON_TEXT, struct cm_result, options.group, "expression by which modules were grouped; empty: none"),
    OPTIONAL("given", JSON_NULLABLE, struct cm_result, options.given, "input shapes and input values set by the user: `x=1x3x64x64 k=2,2`"));

static const char *const no_columns[] = {NULL};

/* The peak and the size of the arena are in the record `memory`, too. */
const struct json_record json_totals = RECORD(struct cm_result, "totals", "Figures of the whole model",
    {NULL, JSON_OTHERS, false, offsetof(struct cm_result, totals), 0, NULL, no_columns, NULL},
    OPTIONAL("peak_activation_bytes", JSON_COUNT, struct cm_result, memory.peak_activation_bytes, "peak of live activation bytes; as in memory"),
    OPTIONAL("arena_bytes", JSON_COUNT, struct cm_result, memory.arena_bytes, "size of the arena that holds all activations; as in memory"),
    OPTIONAL("framework_params", JSON_COUNT, struct cm_result, framework.params, "elements of the parameters of the framework's model, before the exporter folded and merged tensors; `null` if the exporter did not list them or the file does not determine their sizes"),
    OPTIONAL_MANY("framework_unknown", JSON_TEXTS, struct cm_result, framework.unknown, framework.n_unknown, NULL, "parameters whose size the file does not determine, if the exporter listed them"),
    OPTIONAL("upper_bound", JSON_BOUNDS, struct cm_result, totals.upper_bound, "keys of the figures above that are upper bounds; missing if all are exact"),
    OPTIONAL("partial", JSON_BOUNDS, struct cm_result, totals.partial, "keys of the figures above that leave out nodes or iterations; missing if none does"));

const struct json_record json_step = RECORD(struct cm_step, "step", "A share of a training step",
    VALUE("backward_macs", JSON_COUNT, struct cm_step, backward_macs, "MACs of all required gradients"),
    VALUE("saved_bytes", JSON_COUNT, struct cm_step, saved_bytes, "outputs saved for backward, bytes; `null` if the operator is unknown"));

static const char *const module_columns[] = {"params",           "macs",         "flops",
                                             "activation_bytes", "weight_bytes", NULL};

static const struct json_record module_record = RECORD(struct cm_module, "module", "A module. Figures include its children; a parameter shared by two children counts once",
    VALUE("path", JSON_TEXT, struct cm_module, path, "dotted path, `layer1.0.conv1`; empty for the root"),
    VALUE("class", JSON_TEXT, struct cm_module, type, "class as printed by the framework, `Conv1d`; the name of the instance if the class is unknown"),
    VALUE("depth", JSON_DEPTH, struct cm_module, depth, "0 for the root"),
    VALUE("calls", JSON_COUNT, struct cm_module, calls, "number of calls; 0 if the module only holds parameters"),
    COSTS(JSON_FIRST, struct cm_module, costs, module_columns),
    LIST("outputs", struct cm_module, outputs, n_outputs, json_value, "outputs of the first call that are used outside the module"),
    VALUE("name", JSON_TEXT, struct cm_module, name, "last part of the path; the graph's name for the root"),
    OPTIONAL("arguments", JSON_TEXT, struct cm_module, arguments, "constructor arguments: `3, 64, kernel_size=(1,)`"),
    VALUE("class_known", JSON_FLAG, struct cm_module, type_known, "`false` if class repeats the name"),
    VALUE("parent", JSON_INDEX, struct cm_module, parent, "index into modules; `null` for the root"),
    MANY("children", JSON_INDICES, struct cm_module, children, n_children, "indices into modules, in order of first use"),
    COSTS(JSON_OTHERS, struct cm_module, costs, module_columns),
    OPTIONAL("peak_activation_bytes", JSON_COUNT, struct cm_module, peak_activation_bytes, "peak of live bytes of the outputs of its nodes; for the root the peak of the model, with inputs"),
    OPTIONAL("upper_bound", JSON_BOUNDS, struct cm_module, costs.upper_bound, "keys of the figures above that are upper bounds; missing if all are exact"),
    OPTIONAL("partial", JSON_BOUNDS, struct cm_module, costs.partial, "keys of the figures above that leave out nodes or iterations; missing if none does"),
    POINTER("training", struct cm_module, training, json_step, "its share of a training step, children included"),
    POINTER("achieved", struct cm_module, achieved, json_achieved, "achieved throughput; only if a node of the module has a time"));

static const char *const node_columns[] = {"macs", "flops", "bytes_read", "bytes_written",
                                           NULL};

static const struct json_record node_record = RECORD(struct cm_node, "node", "A node. params, buffers and weight_bytes are those of its operands: a weight that two nodes use is counted for both",
    VALUE("index", JSON_INDEX, struct cm_node, index, "index in nodes"),
    VALUE("name", JSON_TEXT, struct cm_node, name, "empty if the node has no name"),
    VALUE("op", JSON_TEXT, struct cm_node, op, "operator type: `Conv`"),
    VALUE("domain", JSON_TEXT, struct cm_node, domain, "operator domain; empty for ai.onnx"),
    VALUE("module", JSON_MODULE, struct cm_node, module, "path of the module that contains the node"),
    MANY("inputs", JSON_TEXTS, struct cm_node, inputs, n_inputs, "names of values; empty for an omitted operand"),
    LIST("outputs", struct cm_node, outputs, n_outputs, json_value, "outputs of the node"),
    COSTS(JSON_FIRST, struct cm_node, costs, node_columns),
    COSTS(JSON_OTHERS, struct cm_node, costs, node_columns),
    OPTIONAL("upper_bound", JSON_BOUNDS, struct cm_node, costs.upper_bound, "keys of the figures above that are upper bounds; missing if all are exact"),
    POINTER("training", struct cm_node, training, json_step, "its share of a training step"),
    OPTIONAL("kernel", JSON_INDEX, struct cm_node, kernel, "of a node that is fused into the kernel of another node, on a modelled device: index of that node; missing: a kernel of its own, or none"));

static const struct json_record fused_pattern_record = RECORD(struct cm_fused_pattern, "fused_pattern", "Nodes that an exporter wrote for one operation",
    VALUE("name", JSON_TEXT, struct cm_fused_pattern, name, "class as printed by the framework: `LayerNorm`, `GELU`, `Conv+BN`"),
    VALUE("op", JSON_TEXT, struct cm_fused_pattern, op, "operator whose cost function is used: `LayerNormalization`"),
    VALUE("module", JSON_MODULE, struct cm_fused_pattern, module, "path of the module of its last node"),
    VALUE("last", JSON_INDEX, struct cm_fused_pattern, last, "index of the node that computes the result"),
    MANY("nodes", JSON_INDICES, struct cm_fused_pattern, nodes, n_nodes, "indices of all its nodes, ascending"),
    VALUE("foldable", JSON_FLAG, struct cm_fused_pattern, foldable, "`false`: counted as one operation; `last` has all its flops and the other nodes have 0 (except in conventions that count each node, such as onnx-tool). `true`: each node is counted, but a runtime may fold them into one"));

static const struct json_record description_record = RECORD(struct cm_description, "description", "A custom operator from an --op-costs file",
    VALUE("op", JSON_TEXT, struct cm_description, op, "`domain::Type`"),
    VALUE("digest", JSON_TEXT, struct cm_description, digest, "hash of the described outputs and costs; notes and whitespace are ignored"),
    OPTIONAL("replaces", JSON_FLAG, struct cm_description, replaces, "`true`: replaces a built-in operator"));

static const struct json_record json_incomplete = RECORD(struct cm_incomplete, "incomplete", "Nodes whose costs sums leave out, as a whole or in part",
    VALUE("unknown_operators", JSON_COUNT, struct cm_incomplete, unknown_operators, "their operator is unknown"),
    VALUE("unknown_shapes", JSON_COUNT, struct cm_incomplete, unknown_shapes, "an operand or output has an unknown shape without an upper bound"),
    VALUE("unknown_trip_counts", JSON_COUNT, struct cm_incomplete, unknown_trip_counts, "they are in a Loop whose trip count is unknown: one iteration is counted (see --trip-count)"),
    VALUE("unknown_gradients", JSON_COUNT, struct cm_incomplete, unknown_gradients, "the gradient of their operator is unknown: backward is left out"));

const struct json_record json_coverage = RECORD(struct cm_coverage, "coverage", "Operators and shapes that could not be analyzed",
    VALUE("nodes", JSON_COUNT, struct cm_coverage, nodes, "number of nodes in the profile"),
    MANY("unknown_ops", JSON_SIZES, struct cm_coverage, unknown_ops, n_unknown_ops, "node count by `domain::Type`, in order of first use; their costs are not included in any figure"),
    OPTIONAL_MANY("custom_ops", JSON_SIZES, struct cm_coverage, custom_ops, n_custom_ops, NULL, "node count of custom operators, whose shapes and costs come from an --op-costs file"),
    OPTIONAL_MANY("descriptions", JSON_LIST, struct cm_coverage, descriptions, n_descriptions, &description_record, "hashes of the custom operators; two profiles are comparable only if they are equal"),
    OPTIONAL_MANY("unknown_gradients", JSON_SIZES, struct cm_coverage, unknown_gradients, n_unknown_gradients, NULL, "node count of operators with an unknown gradient, with --optimizer; their backward costs and saved activations are not included"),
    VALUE("unknown_shapes", JSON_COUNT, struct cm_coverage, unknown_shapes, "node outputs with an unknown rank or dim"),
    OPTIONAL("bounded_shapes", JSON_COUNT, struct cm_coverage, bounded_shapes, "those of unknown_shapes whose dims all have an upper bound: costs that depend on them are included and marked upper_bound; costs that depend on the others are not included"),
    POINTER("incomplete", struct cm_coverage, incomplete, json_incomplete, "nodes that totals leave out, by reason; then totals are lower bounds (see `partial`), and the exit status is 3; missing if totals are complete"));

static const struct json_record live_record = RECORD(struct cm_live, "live", "A value that is live at the peak",
    VALUE("value", JSON_TEXT, struct cm_live, value, "name"),
    VALUE("bytes", JSON_COUNT, struct cm_live, bytes, "size"),
    VALUE("module", JSON_MODULE, struct cm_live, module, "path of the module that computes it; empty for an input"));

static const struct json_record placed_record = RECORD(struct cm_placed, "placed", "The offset of a value in the arena",
    VALUE("value", JSON_TEXT, struct cm_placed, value, "name"),
    VALUE("offset", JSON_COUNT, struct cm_placed, offset, "offset in the arena, bytes"),
    VALUE("bytes", JSON_COUNT, struct cm_placed, bytes, "size"),
    VALUE("made", JSON_INDEX, struct cm_placed, made, "index of the node that computes it; `null` for an input"),
    VALUE("last", JSON_INDEX, struct cm_placed, last, "index of the last node that reads it"));

static const struct json_record weights_record = RECORD(struct cm_weights, "weights", "Weights of one element type that the file stores in one way",
    VALUE("dtype", JSON_TEXT, struct cm_weights, dtype, "element type"),
    VALUE("storage", JSON_TEXT, struct cm_weights, storage, "storage in the file: `raw` (raw_data), `typed` (float_data etc.), `external` (another file), `computed` (by constant folding), `input` (fed by the caller), `absent` (sparse or omitted)"),
    VALUE("tensors", JSON_COUNT, struct cm_weights, tensors, "number of distinct tensors"),
    VALUE("elements", JSON_COUNT, struct cm_weights, elements, "number of elements"),
    VALUE("bytes", JSON_COUNT, struct cm_weights, bytes, "stored size; a packed 4-bit element takes half a byte"));

static const struct json_record fit_record = RECORD(struct cm_fit, "fit", "Whether required_bytes is within a limit",
    VALUE("limit_bytes", JSON_COUNT, struct cm_fit, limit_bytes, "the limit, bytes"),
    VALUE("fits", JSON_FLAG, struct cm_fit, fits, "`true` if required_bytes of the profiled batch is within the limit"),
    VALUE("largest_batch", JSON_COUNT, struct cm_fit, largest_batch, "largest batch that fits; 0 if batch 1 does not fit; `null` if not determined (see search)"),
    VALUE("largest_bytes", JSON_COUNT, struct cm_fit, largest_bytes, "required_bytes at that batch; `null` if not determined"),
    VALUE("next_bytes", JSON_COUNT, struct cm_fit, next_bytes, "required_bytes at the next batch, which exceeds the limit; `null` if not determined"),
    OPTIONAL("confident_batch", JSON_COUNT, struct cm_fit, confident_batch, "with --optimizer: largest batch of which high_bytes of device_memory is within the limit; `null` if not determined"),
    VALUE("search", JSON_TEXT, struct cm_fit, search, "`exact`: both batches were profiled. `uneven`: as `exact`, but required_bytes is not monotonic in the batch, so a larger batch may fit. `exhausted`: the work budget is exhausted; largest_batch fits, a larger batch may fit too. `none`: batch 1 does not fit. `unbounded`: a batch of 2^31 - 1 fits. `no-batch`: the inputs have no batch axis. `fixed`: the batch cannot be changed"),
    OPTIONAL("why", JSON_TEXT, struct cm_fit, why, "reason for `fixed`"));

static const struct json_record curve_record = RECORD(struct cm_curve_point, "curve", "Live bytes while a node runs",
    VALUE("node", JSON_INDEX, struct cm_curve_point, node, "index into nodes"),
    VALUE("bytes", JSON_COUNT, struct cm_curve_point, bytes, "live bytes while the node runs"));

static const struct json_record memory_record = RECORD(struct cm_memory, "memory", "Peak memory and liveness",
    VALUE("peak_activation_bytes", JSON_COUNT, struct cm_memory, peak_activation_bytes, "peak of live activation and input bytes in the order of options.schedule; views share the bytes of their source; no in-place reuse; weights and workspace are not included"),
    VALUE("peak_node", JSON_INDEX, struct cm_memory, peak_node, "index of the node that runs at the peak; `null` if no value is live"),
    OPTIONAL("peak_in_place_bytes", JSON_COUNT, struct cm_memory, peak_in_place_bytes, "the same with in-place reuse: an elementwise node overwrites an operand of equal size that has no later use"),
    OPTIONAL("arena_bytes", JSON_COUNT, struct cm_memory, arena_bytes, "size of the arena that holds all activations and inputs; `null` if planning failed"),
    OPTIONAL("arena_in_place_bytes", JSON_COUNT, struct cm_memory, arena_in_place_bytes, "the same with in-place reuse; at least peak_in_place_bytes"),
    OPTIONAL("alignment", JSON_COUNT, struct cm_memory, alignment, "alignment of arena offsets, bytes"),
    OPTIONAL("required_bytes", JSON_COUNT, struct cm_memory, required_bytes, "arena_bytes and weights (except those of storage `input`, which are in the arena); without kernel workspace; with --optimizer bytes of device_memory"),
    OPTIONAL("upper_bound", JSON_FLAG, struct cm_memory, upper_bound, "some tensors are counted at the upper bound of their size: arena_bytes, required_bytes and the peaks of modules whose activation_bytes is an upper bound are upper bounds"),
    OPTIONAL("peak_upper_bound", JSON_FLAG, struct cm_memory, peak_upper_bound, "such a tensor is live at the peak: peak_activation_bytes is an upper bound"),
    POINTER("fit", struct cm_memory, fit, fit_record, "with --memory-limit: whether the model fits"),
    OPTIONAL_MANY("weights", JSON_LIST, struct cm_memory, weights, n_weights, &weights_record, "all tensors of the file that are read or are graph outputs, including those that are not parameters"),
    OPTIONAL_MANY("planners", JSON_SIZES, struct cm_memory, planners, n_planners, NULL, "arena size of each planner alone: `greedy_by_size`, `two_ends`; `null` if it did not run"),
    OPTIONAL("file_order_peak_bytes", JSON_COUNT, struct cm_memory, file_order_peak_bytes, "peak_activation_bytes in file order"),
    OPTIONAL("schedule_optimal", JSON_FLAG, struct cm_memory, schedule_optimal, "with --schedule min-memory: `true` if the order is proven to have the lowest peak"),
    OPTIONAL_MANY("schedule", JSON_INDICES, struct cm_memory, schedule, n_schedule, NULL, "with --schedule min-memory: indices of the nodes in execution order, the nodes of a body before the node that contains it"),
    OPTIONAL_MANY("live_at_peak", JSON_LIST, struct cm_memory, live, n_live, &live_record, "values live at the peak, largest first"),
    OPTIONAL_MANY("curve", JSON_LIST, struct cm_memory, curve, n_curve, &curve_record, "with --memory-curve: one entry per node in execution order"),
    OPTIONAL_MANY("plan", JSON_LIST, struct cm_memory, placed, n_placed, &placed_record, "with --memory-plan: the arena offset of each value"));

const struct json_record json_losses = RECORD(struct cm_losses, "losses", "Parts of an expected time",
    VALUE("launch_ps", JSON_COUNT, struct cm_losses, launch_ps, "kernel launches"),
    VALUE("traffic_ps", JSON_COUNT, struct cm_losses, traffic_ps, "memory traffic that fusion avoids, and kernels around products: casts, changes of layout, quantization"),
    VALUE("utilization_ps", JSON_COUNT, struct cm_losses, utilization_ps, "compute and memory below the rates of the lower bound: tiles, waves, efficiency of kernels"),
    VALUE("bound_ps", JSON_COUNT, struct cm_losses, bound_ps, "the lower bound"));

static const struct json_record step_tensors_record = RECORD(struct cm_step_tensors, "step_tensors", "Tensors of one kind that are alive for a part of a training step: lists of equal length. Tensors of one node with equal positions are one entry",
    VALUE("kind", JSON_TEXT, struct cm_step_tensors, kind, "`activations` (and their gradients), `saved` for backward, `inputs and outputs`, `cast copies` (saved, made by autocast) or `gradients` (of parameters)"),
    MANY("nodes", JSON_INDICES, struct cm_step_tensors, nodes, n_nodes, "indices into nodes: the node that made it, or whose gradient it is; of an input of the model a node that reads it"),
    MANY("from", JSON_INDICES, struct cm_step_tensors, from, n_from, "first positions at which they are alive"),
    MANY("to", JSON_INDICES, struct cm_step_tensors, to, n_to, "last positions"),
    MANY("bytes", JSON_INDICES, struct cm_step_tensors, bytes, n_bytes, "sizes"));

static const struct json_record step_curve_record = RECORD(struct cm_step_curve, "step_curve", "Memory over a training step. A position is the run of a node; the last one is the update, when model_state_bytes are alive",
    VALUE("forward", JSON_COUNT, struct cm_step_curve, n_forward, "number of positions of the forward pass, the first ones"),
    VALUE("held_bytes", JSON_COUNT, struct cm_step_curve, held_bytes, "what is alive at every position besides the tensors: weights, optimizer states, fp32 copies, gathered weights and sharded gradients"),
    MANY("order", JSON_INDICES, struct cm_step_curve, order, n_order, "index of the node that runs at each position before the update"),
    LIST("tensors", struct cm_step_curve, tensors, n_tensors, step_tensors_record, "all other memory, by kind"));

#define FIGURE(member, about) VALUE(#member, JSON_COUNT, struct cm_training, member, about)

const struct json_record json_training = RECORD(struct cm_training, "training", "One training step",
    VALUE("optimizer", JSON_TEXT, struct cm_training, optimizer, "name of the optimizer (docs/training.md)"),
    OPTIONAL("shard_gpus", JSON_COUNT, struct cm_training, shard_gpus, "with --shard: GPUs over which the step is divided; its figures are those of one; else 0"),
    OPTIONAL("zero_stage", JSON_COUNT, struct cm_training, zero_stage, "with --shard: stage of ZeRO, else 0"),
    OPTIONAL("offload", JSON_TEXT, struct cm_training, offload, "with --shard: `optimizer` or `all` if the host keeps them"),
    OPTIONAL("micro_batches", JSON_COUNT, struct cm_training, micro_batches, "forward and backward passes of the step, each with an equal part of the batch"),
    MANY("freeze", JSON_TEXTS, struct cm_training, freeze, n_freeze, "patterns of frozen parameters"),
    OPTIONAL_MANY("trainable", JSON_TEXTS, struct cm_training, trainable, n_trainable, NULL, "patterns of the parameters that are trained; none: all that are not frozen"),
    MANY("checkpoint", JSON_TEXTS, struct cm_training, checkpoint, n_checkpoint, "patterns of modules with activation checkpointing"),
    OPTIONAL("restored_norms", JSON_COUNT, struct cm_training, restored_norms, "number of BatchNormalizations that the exporter had folded into other layers and that the step has"),
    FIGURE(learned, "number of learned parameters that are not frozen"),
    FIGURE(frozen, "number of frozen parameters"),
    FIGURE(backward_macs, "MACs of all required gradients"),
    FIGURE(backward_flops, "the corresponding FLOPs, by the convention"),
    FIGURE(recompute_macs, "MACs of recomputing checkpointed modules"),
    FIGURE(recompute_flops, "the corresponding FLOPs, by the convention"),
    OPTIONAL("recompute_int_ops", JSON_COUNT, struct cm_training, recompute_int_ops, "the corresponding integer operations"),
    FIGURE(step_flops, "FLOPs of the optimizer"),
    FIGURE(iteration_flops, "FLOPs of forward, recomputation, backward and optimizer step"),
    OPTIONAL("iteration_int_ops", JSON_COUNT, struct cm_training, iteration_int_ops, "integer operations of forward and recomputation; integers have no gradients"),
    OPTIONAL("backward_ps", JSON_COUNT, struct cm_training, backward_ps, "picoseconds of backward and recomputation on a modelled device, expected"),
    OPTIONAL("update_ps", JSON_COUNT, struct cm_training, update_ps, "the same of the optimizer"),
    OPTIONAL("iteration_ps", JSON_COUNT, struct cm_training, iteration_ps, "the same of forward, backward and optimizer"),
    OPTIONAL("iteration_lower_bound_ps", JSON_COUNT, struct cm_training, iteration_lower_bound_ps, "picoseconds that no step with the kernels of the runtime undercuts on the modelled device"),
    PART("losses", struct cm_training, losses, json_losses, "parts of iteration_ps; the rest of it is the wait for the host"),
    FIGURE(weight_bytes, "params and buffers"),
    FIGURE(gradient_bytes, "gradients of params"),
    FIGURE(optimizer_bytes, "optimizer states on the device"),
    OPTIONAL("host_bytes", JSON_COUNT, struct cm_training, host_bytes, "what the host keeps: paged states, and with --shard what is offloaded"),
    OPTIONAL("master_bytes", JSON_COUNT, struct cm_training, master_bytes, "with --shard: fp32 copies of weights of 16 bits"),
    OPTIONAL("gather_bytes", JSON_COUNT, struct cm_training, gather_bytes, "with --shard zero=3: weights and gradients of the largest module, which are gathered"),
    OPTIONAL("model_state_bytes", JSON_COUNT, struct cm_training, model_state_bytes, "weights, gradients, optimizer states, fp32 copies and gathered weights together"),
    OPTIONAL("weight_copy_bytes", JSON_COUNT, struct cm_training, weight_copy_bytes, "2-byte copies of weights that torch.autocast caches, a part of saved_bytes; 0 unless precision is `amp`"),
    VALUE("saved_bytes", JSON_COUNT, struct cm_training, saved_bytes, "saved activations, inputs and statistics"),
    FIGURE(peak_bytes, "peak of all of the above"),
    VALUE("peak_phase", JSON_TEXT, struct cm_training, peak_phase, "phase of the peak: `forward`, `recompute`, `backward` or `step`"),
    VALUE("peak_node", JSON_INDEX, struct cm_training, peak_node, "index of the node that runs at the peak; `null` during `step`"),
    POINTER("curve", struct cm_training, curve, step_curve_record, "with --memory-curve"));

static const struct json_record memory_part_record = RECORD(struct cm_memory_part, "memory_part", "A part of the device memory, when most bytes are allocated",
    VALUE("name", JSON_TEXT, struct cm_memory_part, name, "`weights`, `saved activations`, `allocator`, `context`, …"),
    VALUE("bytes", JSON_COUNT, struct cm_memory_part, bytes, "size, rounded as the allocator does"),
    VALUE("source", JSON_TEXT, struct cm_memory_part, source, "where the number comes from: the file, a rule, a replay, a fit or a measurement"));

static const struct json_record price_record = RECORD(struct cm_price, "price", "Price and energy of 1000 samples",
    VALUE("price", JSON_RATIO, struct cm_price, price, "at the price of --price; `null` without it, or without times"),
    VALUE("least_price", JSON_RATIO, struct cm_price, least_price, "at the lower bound of the time"),
    VALUE("joules", JSON_RATIO, struct cm_price, joules, "if the device always draws the power of --watts"),
    VALUE("least_joules", JSON_RATIO, struct cm_price, least_joules, "at the lower bound of the time"));

const struct json_record json_time_error = RECORD(struct cm_time_error, "time_error", "Error of the expected times of a modelled device",
    VALUE("latency_low_ps", JSON_COUNT, struct cm_time_error, latency_low_ps, "eight of ten measured times are between latency_low_ps and latency_high_ps"),
    VALUE("latency_high_ps", JSON_COUNT, struct cm_time_error, latency_high_ps, "see latency_low_ps"),
    OPTIONAL("iteration_low_ps", JSON_COUNT, struct cm_time_error, iteration_low_ps, "the same of iteration_ps of training"),
    OPTIONAL("iteration_high_ps", JSON_COUNT, struct cm_time_error, iteration_high_ps, "see iteration_low_ps"),
    VALUE("host_ps", JSON_COUNT, struct cm_time_error, host_ps, "part of the latency of the model in which the device waits for the host; no node has it"),
    VALUE("mostly", JSON_TEXT, struct cm_time_error, mostly, "what takes most of the time: `convolution`, `grouped` (convolutions), `product`, `other` or `launch` (and the host)"),
    VALUE("calibration", JSON_TEXT, struct cm_time_error, calibration, "what the device was fitted to: times of `this runtime and precision`, `this runtime in another precision`, `another runtime`, or `none`"),
    OPTIONAL("times", JSON_COUNT, struct cm_time_error, n_times, "number of measured times of the calibration"),
    OPTIONAL("median_error", JSON_RATIO, struct cm_time_error, median_error, "median of |expected / measured - 1|, each for a fit without the model's family"),
    OPTIONAL("p90_error", JSON_RATIO, struct cm_time_error, p90_error, "its 90th percentile"),
    OPTIONAL("coverage", JSON_RATIO, struct cm_time_error, coverage, "share of these times within their interval"));

const struct json_record json_device_memory = RECORD(struct cm_device_memory, "device_memory", "Estimate of the device memory of a process, as the driver reports it",
    VALUE("bytes", JSON_COUNT, struct cm_device_memory, bytes, "the estimate, sum of the parts"),
    VALUE("low_bytes", JSON_COUNT, struct cm_device_memory, low_bytes, "nine of ten processes need between low_bytes and high_bytes"),
    VALUE("high_bytes", JSON_COUNT, struct cm_device_memory, high_bytes, "see low_bytes"),
    LIST("parts", struct cm_device_memory, parts, n_parts, memory_part_record, "what the memory holds"));

static const struct json_record rebatched_record = RECORD(struct cm_rebatched, "rebatched", "A constant that contained the batch size of the file",
    VALUE("node", JSON_TEXT, struct cm_rebatched, node_name, "name of the node that uses the constant"),
    VALUE("op", JSON_TEXT, struct cm_rebatched, op, "its type"),
    VALUE("input", JSON_TEXT, struct cm_rebatched, input, "name of the constant"),
    VALUE("what", JSON_TEXT, struct cm_rebatched, what, "role of the constant: `target` (of a reshape), `repeats`, `dims`"),
    VALUE("axis", JSON_COUNT, struct cm_rebatched, axis, "index of the changed element, or axis of the tensor"),
    VALUE("from", JSON_COUNT, struct cm_rebatched, from, "old value"),
    VALUE("to", JSON_COUNT, struct cm_rebatched, to, "new value"),
    VALUE("node_index", JSON_INDEX, struct cm_rebatched, node, "index into nodes"));

static const struct json_record diagnostic_record = RECORD(struct cm_diagnostic, "diagnostic", "A note or a warning",
    VALUE("severity", JSON_SEVERITY, struct cm_diagnostic, severity, "severity"),
    VALUE("code", JSON_TEXT, struct cm_diagnostic, code, "code of the message, see docs/errors.md"),
    VALUE("message", JSON_TEXT, struct cm_diagnostic, message, "one line"),
    VALUE("node", JSON_NULLABLE, struct cm_diagnostic, node, "name of the node; `null` if the message is not about a node"),
    VALUE("hint", JSON_NULLABLE, struct cm_diagnostic, hint, "how to fix it; `null`: none"),
    OPTIONAL("place", JSON_TEXT, struct cm_diagnostic, place, "location, one line per level, outermost first"));

static const struct json_record term_record = RECORD(struct cm_term, "term", "One term of a cost: factor * count",
    VALUE("factor", JSON_COUNT, struct cm_term, factor, "factor"),
    VALUE("of", JSON_TEXT, struct cm_term, of, "what is counted: `MACs`, `input elements`"),
    VALUE("count", JSON_COUNT, struct cm_term, count, "count"),
    OPTIONAL("of_integers", JSON_FLAG, struct cm_term, of_integers, "`true`: a term of int_ops, not of flops"));

static const struct json_record explained_time_record = RECORD(struct cm_explained_time, "explained_time", "How a modelled device runs a node",
    VALUE("latency_ps", JSON_COUNT, struct cm_explained_time, latency_ps, "expected time of one run"),
    VALUE("compute_ps", JSON_COUNT, struct cm_explained_time, compute_ps, "arithmetic; overlaps with memory_ps"),
    VALUE("memory_ps", JSON_COUNT, struct cm_explained_time, memory_ps, "memory traffic"),
    VALUE("extra_ps", JSON_COUNT, struct cm_explained_time, extra_ps, "kernels around it: casts, changes of layout, quantization"),
    VALUE("launch_ps", JSON_COUNT, struct cm_explained_time, launch_ps, "launches"),
    VALUE("launches", JSON_COUNT, struct cm_explained_time, launches, "number of launches; 0: part of another node's kernel"),
    VALUE("host_ps", JSON_COUNT, struct cm_explained_time, host_ps, "time in which the host launches them"),
    VALUE("tile_m", JSON_COUNT, struct cm_explained_time, tile_m, "rows of a tile; `null` if the product is not cut into tiles"),
    VALUE("tile_n", JSON_COUNT, struct cm_explained_time, tile_n, "columns of a tile"),
    VALUE("splits", JSON_COUNT, struct cm_explained_time, splits, "parts of the sum"),
    VALUE("tiles", JSON_COUNT, struct cm_explained_time, tiles, "number of tiles"),
    VALUE("waves", JSON_COUNT, struct cm_explained_time, waves, "waves of tiles: each multiprocessor computes one tile per wave"),
    VALUE("memory_bytes", JSON_COUNT, struct cm_explained_time, memory_bytes, "bytes from and to memory"),
    VALUE("cache_bytes", JSON_COUNT, struct cm_explained_time, cache_bytes, "bytes from and to the last-level cache"),
    VALUE("bandwidth_share", JSON_RATIO, struct cm_explained_time, bandwidth_share, "share of the peak bandwidth"),
    VALUE("rate", JSON_TEXT, struct cm_explained_time, rate, "peak rate of the arithmetic: `matrix_fp16`"),
    VALUE("rate_share", JSON_RATIO, struct cm_explained_time, rate_share, "share of this rate that the arithmetic reaches"),
    VALUE("limited_by", JSON_TEXT, struct cm_explained_time, limited_by, "as in achieved"),
    VALUE("without_ps", JSON_COUNT, struct cm_explained_time, without_ps, "expected time without the part that limits it"),
    VALUE("next", JSON_TEXT, struct cm_explained_time, next, "what then limits it"));

static const struct json_record explained_node_record = RECORD(struct cm_explained_node, "explained_node", "How the figures of a node are computed",
    VALUE("node", JSON_INDEX, struct cm_explained_node, node, "index into nodes"),
    VALUE("runs", JSON_COUNT, struct cm_explained_node, runs, "runs in one forward pass; 0 for a branch that is not counted"),
    MANY("macs", JSON_SIZES, struct cm_explained_node, factors, n_factors, "factors of the MACs of one run"),
    LIST("flops", struct cm_explained_node, terms, n_terms, term_record, "terms of the flops of one run, by options.convention, and the terms of int_ops"),
    POINTER("time", struct cm_explained_node, time, explained_time_record, "on a modelled device, if the node has a kernel"));

static const struct json_record explained_by_record = RECORD(struct cm_explained_by, "explained_by", "The result of one convention",
    VALUE("convention", JSON_TEXT, struct cm_explained_by, convention, "name"),
    VALUE("unit", JSON_TEXT, struct cm_explained_by, unit, "unit as printed by the tool of this convention"),
    VALUE("flops", JSON_COUNT, struct cm_explained_by, flops, "FLOPs of all runs"),
    OPTIONAL("int_ops", JSON_COUNT, struct cm_explained_by, int_ops, "operations on integers, by `exact`"),
    OPTIONAL_MANY("terms", JSON_LIST, struct cm_explained_by, terms, n_terms, &term_record, "terms of one run of a node; missing for a module"));

static const struct json_record explanation_record = RECORD(struct cm_explanation, "explanation", "How the figures of a node or a module are computed",
    VALUE("name", JSON_TEXT, struct cm_explanation, name, "name as given to --explain"),
    VALUE("of_module", JSON_FLAG, struct cm_explanation, of_module, "`true` for a module"),
    VALUE("module", JSON_MODULE, struct cm_explanation, module, "path of the module, or of the module of the node"),
    LIST("nodes", struct cm_explanation, nodes, n_nodes, explained_node_record, "the node, or all nodes of the module that have MACs or operations"),
    VALUE("free_nodes", JSON_COUNT, struct cm_explanation, n_free, "number of nodes of the module without MACs and operations in the convention of the report"),
    LIST("by_convention", struct cm_explanation, by, n_by, explained_by_record, "the result of each convention"));

#define WHOLE(key, record, about) { key, JSON_OBJECT, false, 0, 0, &(record), NULL, about }

/* Modules precede nodes because the reader resolves the module of a node by its path. */
const struct json_record json_result = RECORD(struct cm_result, "result", "Costs of an ONNX model",
    WHOLE("model", model_record, "the file that was profiled"),
    WHOLE("options", json_options, "options of the profile"),
    WHOLE("totals", json_totals, "figures of the whole model"),
    LIST("modules", struct cm_result, modules, n_modules, module_record, "the module tree as a list, parents before children; the first is the root (docs/modules.md)"),
    LIST("nodes", struct cm_result, nodes, n_nodes, node_record, "all nodes in file order; the nodes of a control-flow body follow the node that contains it"),
    OPTIONAL_MANY("fused_patterns", JSON_LIST, struct cm_result, fused_patterns, n_fused_patterns, &fused_pattern_record, "nodes that the exporter wrote for one operation, in the order of their results (docs/counting.md)"),
    OBJECT("coverage", struct cm_result, coverage, json_coverage, "operators and shapes that could not be analyzed"),
    LIST("rebatched", struct cm_result, rebatched, n_rebatched, rebatched_record, "constants that contained the batch size of the file, with old and new values (docs/counting.md)"),
    LIST("diagnostics", struct cm_result, diagnostics, n_diagnostics, diagnostic_record, "notes and warnings"),
    OBJECT("memory", struct cm_result, memory, memory_record, "peak memory and liveness (docs/memory.md)"),
    PART("training", struct cm_result, training, json_training, "with --optimizer: one training step (docs/training.md)"),
    PART("device_memory", struct cm_result, device_memory, json_device_memory, "with --optimizer: what the process holds (docs/memory.md)"),
    PART("price", struct cm_result, price, price_record, "with --price or --watts, and times"),
    PART("time_error", struct cm_result, time_error, json_time_error, "with --device: how sure the expected times are (docs/times.md)"),
    PART("losses", struct cm_result, losses, json_losses, "with --device: parts of the latency of the model, besides host_ps of time_error (docs/times.md)"),
    OPTIONAL_MANY("explanations", JSON_LIST, struct cm_result, explanations, n_explanations, &explanation_record, "with --explain: one entry per argument (docs/conventions.md)"),
    OPTIONAL_MANY("modules_from", JSON_SIZES, struct cm_result, module_sources, n_module_sources, NULL, "number of nodes assigned to modules by each module source, then `joined` and `none`"),
    OPTIONAL_MANY("operators", JSON_LIST, struct cm_result, operators, n_operators, &json_operator, "costs by operator, highest latency first (without times: most MACs); sums omit unknown values"),
    POINTER("measure", struct cm_result, measure, json_measure, "with --measure, --device, --times or --backend: the times and what they depend on (docs/measuring.md, docs/times.md, docs/import.md)"),
    OPTIONAL_MANY("advice", JSON_LIST, struct cm_result, advice, n_advice, &json_advice, "with times: possible optimizations, each on top of those before it"),
    POINTER("input_pipeline", struct cm_result, input_pipeline, json_input_pipeline, "with --sample-bytes and times: the demand for input samples (docs/measuring.md)"));

static const struct json_record sweep_plans_record = RECORD(struct cm_sweep_plans, "sweep_plans", "The plans of one row of a sweep",
    VALUE("planned_macs", JSON_COUNT, struct cm_sweep_plans, planned_macs, "MACs of the nodes that have a plan"),
    VALUE("workspace_bytes", JSON_COUNT, struct cm_sweep_plans, workspace_bytes, "largest workspace of a plan"));

static const char *const sweep_columns[] = {"params", "macs", "int_macs", "flops", "int_ops", NULL};

const struct json_record json_sweep_row = RECORD(struct cm_sweep_row, "sweep_row", "A model at one batch and precision; `null` figures are unknown",
    OPTIONAL("combination", JSON_INDEX, struct cm_sweep_row, combination, "number of the combination of a campaign, from 0"),
    OPTIONAL("key", JSON_NULLABLE, struct cm_sweep_row, key, "in the file of a shard: hash of the combination, the options and the file of the model"),
    OPTIONAL("model", JSON_NULLABLE, struct cm_sweep_row, model, "path, in a campaign"),
    OPTIONAL("device", JSON_NULLABLE, struct cm_sweep_row, device, "device of the times; in a campaign the name that was given, or the device that was measured"),
    OPTIONAL("times", JSON_NULLABLE, struct cm_sweep_row, times, "source of the times, as `times` of the sweep"),
    OPTIONAL("precision", JSON_NULLABLE, struct cm_sweep_row, precision, "precision; `null`: as in the file"),
    OPTIONAL_MANY("dims", JSON_SIZES, struct cm_sweep_row, dims, n_dims, NULL, "symbolic dims that a campaign varies, by name"),
    VALUE("batch", JSON_COUNT, struct cm_sweep_row, batch, "batch size; `null`: the inputs have no batch axis, or that of the file if there are no figures"),
    VALUE("state", JSON_TEXT, struct cm_sweep_row, state, "`done`; `incomplete` (figures leave something out, or times are missing); `misfit` (exceeds the memory limit); without figures: `refused`, `usage`, `failed`"),
    VALUE("problem", JSON_TEXT, struct cm_sweep_row, problem, "the first message if the state is not `done`"),
    COSTS_IF(JSON_FIRST, struct cm_sweep_row, costs, sweep_columns, of_batch),
    VALUE("peak_activation_bytes", JSON_COUNT, struct cm_sweep_row, peak_activation_bytes, "peak of live activation bytes"),
    VALUE("arena_bytes", JSON_COUNT, struct cm_sweep_row, arena_bytes, "size of the arena that holds all activations"),
    VALUE("required_bytes", JSON_COUNT, struct cm_sweep_row, required_bytes, "weights and arena, or with --optimizer bytes of device_memory"),
    COSTS_IF(JSON_OTHERS, struct cm_sweep_row, costs, sweep_columns, of_batch),
    VALUE("timed_macs", JSON_COUNT, struct cm_sweep_row, timed_macs, "MACs of the nodes that have a time"),
    OPTIONAL("untimed_nodes", JSON_COUNT, struct cm_sweep_row, untimed_nodes, "number of nodes with work and without a time, which latency_ps omits; `null` without times"),
    VALUE("cached", JSON_COUNT, struct cm_sweep_row, cached, "number of primitives measured in earlier runs"),
    OPTIONAL("upper_bound", JSON_BOUNDS, struct cm_sweep_row, costs.upper_bound, "keys of the metrics above that are upper bounds; missing if all are exact"),
    OPTIONAL("partial", JSON_BOUNDS, struct cm_sweep_row, costs.partial, "keys of the figures above that leave out nodes or iterations; missing if none does"),
    OPTIONAL("peak_upper_bound", JSON_FLAG, struct cm_sweep_row, peak_upper_bound, "peak_activation_bytes is an upper bound"),
    OPTIONAL("memory_upper_bound", JSON_FLAG, struct cm_sweep_row, memory_upper_bound, "arena_bytes and required_bytes are upper bounds"),
    OPTIONAL("device_bytes", JSON_COUNT, struct cm_sweep_row, device_bytes, "memory of the device of the times; `null`: unknown"),
    OPTIONAL("latency_low_ps", JSON_COUNT, struct cm_sweep_row, latency_low_ps, "eight of ten measured times are between latency_low_ps and latency_high_ps; only if times are modelled"),
    OPTIONAL("latency_high_ps", JSON_COUNT, struct cm_sweep_row, latency_high_ps, "see latency_low_ps"),
    OPTIONAL("speedup", JSON_RATIO, struct cm_sweep_row, speedup, "with `layers`: samples per second divided by those of the first row; `null` if the nodes with a time differ"),
    POINTER("plans", struct cm_sweep_row, plans, sweep_plans_record, "with --cudnn-plan: the plans of the layers (docs/planning.md)"));

static const struct json_record layer_plan_record = RECORD(struct cm_layer_plan, "layer_plan", "The plan of a layer in one row of a sweep",
    VALUE("workspace_bytes", JSON_COUNT, struct cm_layer_plan, workspace_bytes, "workspace of the plan"),
    VALUE("reason", JSON_TEXT, struct cm_layer_plan, reason, "why there is no plan, or what was planned instead; empty: none"));

static const struct json_record layer_time_record = RECORD(struct cm_layer_time, "layer_time", "A layer in one row of a sweep",
    VALUE("latency_ps", JSON_COUNT, struct cm_layer_time, latency_ps, "picoseconds of all its nodes; `null` without a time"),
    VALUE("speedup", JSON_RATIO, struct cm_layer_time, speedup, "time per sample in the first row divided by that in this row"),
    VALUE("state", JSON_TEXT, struct cm_layer_time, state, "as in primitives of a profile; empty: no work of its own in this row"),
    VALUE("primitive", JSON_TEXT, struct cm_layer_time, primitive, "description of the work of one node, one line"),
    VALUE("provider", JSON_TEXT, struct cm_layer_time, provider, "library of the backend; empty: none"),
    VALUE("algorithm", JSON_TEXT, struct cm_layer_time, algorithm, "algorithm; empty: none"),
    VALUE("tensor_cores", JSON_TEXT, struct cm_layer_time, tensor_cores, "`yes`, `no`, `unknown`"),
    POINTER("plan", struct cm_layer_time, plan, layer_plan_record, "with --cudnn-plan: more about the plan"));

static const struct json_record sweep_layer_record = RECORD(struct cm_sweep_layer, "sweep_layer", "Nodes with the same work in every row of a sweep",
    VALUE("op", JSON_TEXT, struct cm_sweep_layer, op, "operator of the first node"),
    VALUE("path", JSON_TEXT, struct cm_sweep_layer, path, "path of its module; empty: the root"),
    VALUE("node", JSON_TEXT, struct cm_sweep_layer, node, "its name; empty: none"),
    VALUE("nodes", JSON_COUNT, struct cm_sweep_layer, nodes, "number of nodes"),
    LIST("times", struct cm_sweep_layer, times, n_times, layer_time_record, "one entry per row, in the same order"));

static const struct json_record sweep_record = RECORD(struct cm_sweep, "sweep", "Costs of an ONNX model at several batches or precisions, or of a campaign (docs/cluster.md)",
    VALUE("model", JSON_TEXT, struct cm_sweep, model, "path; empty: each row of a campaign has its own"),
    VALUE("convention", JSON_TEXT, struct cm_sweep, convention, "FLOP counting convention"),
    VALUE("backend", JSON_TEXT, struct cm_sweep, backend, "value of --backend; empty: none"),
    VALUE("device", JSON_TEXT, struct cm_sweep, device, "device of the times"),
    VALUE("times", JSON_TEXT, struct cm_sweep, times, "source of the times: `measured`, `proxy`, `modelled`, `invented`; `planned`: plans, no times; empty: none"),
    VALUE("memory_limit", JSON_COUNT, struct cm_sweep, memory_limit, "bytes; `null`: no limit"),
    OPTIONAL_MANY("custom_ops", JSON_SIZES, struct cm_sweep, custom_ops, n_custom_ops, NULL, "as in `coverage` of a profile, of the first batch that has custom operators"),
    OPTIONAL_MANY("diagnostics", JSON_LIST, struct cm_sweep, diagnostics, n_diagnostics, &diagnostic_record, "distinct notes and warnings of all batches, except those reported in `problem` of a row"),
    LIST("sweep", struct cm_sweep, rows, n_rows, json_sweep_row, "one row per batch or precision, in the order of --batch or --precision, or per combination of a campaign"),
    OPTIONAL_MANY("layers", JSON_LIST, struct cm_sweep, layers, n_layers, &sweep_layer_record, "with --layers, or several precisions: the layers and their times, longest in the first row first"));

const struct json_document json_profile = {"costmodel/profile/2", "costmodel/profile/1", "profile", &json_result, offsetof(struct cm_result, arena)};
const struct json_document json_sweep = {"costmodel/sweep/2", "costmodel/sweep/1", "sweep", &sweep_record, offsetof(struct cm_sweep, arena)};
/* clang-format on */

const char *const json_type_wrappers[] = {
    [CM_TYPE_UNKNOWN] = NULL,
    [CM_TYPE_TENSOR] = NULL,
    [CM_TYPE_SPARSE_TENSOR] = "sparse_tensor",
    [CM_TYPE_SEQUENCE] = "sequence",
    [CM_TYPE_OPTIONAL] = "optional",
    [CM_TYPE_MAP] = "map",
};

const struct json_document *const json_documents[] = {
    &json_profile,  &json_sweep,    &json_formula,  &json_diff, &json_verdict,   &json_budget,
    &json_baseline, &json_op_costs, &json_campaign, &json_llm,  &json_llm_sweep, NULL};

const char *const json_severities[] = {
    [CM_NOTE] = "note", [CM_WARNING] = "warning", [CM_ERROR] = "error", [CM_ERROR + 1] = NULL};

/* Returns true if the row selects the column (count_offset) and `first` does not name it. */
static bool is_other(const struct json_field *field, const struct column *column) {
    bool chosen = true;
    if (field->count_offset > 0)
        memcpy(&chosen, (const char *)column + field->count_offset, sizeof(chosen));
    for (const char *const *key = field->first; *key != NULL; key++)
        if (strcmp(*key, column->key) == 0) return false;
    return chosen;
}

const struct column *json_column(const struct json_field *field, size_t i) {
    if (field->kind == JSON_FIRST) {
        for (size_t k = 0; k <= i; k++)
            if (field->first[k] == NULL) return NULL;
        return column_named(field->first[i]);
    }
    for (size_t k = 0; k < n_columns; k++)
        if (is_other(field, &columns[k]) && i-- == 0) return &columns[k];
    return NULL;
}

bool json_column_is_required(const struct json_field *field, const struct column *column) {
    return !field->optional && !column->recent && (!column->timed || field->count_offset > 0);
}
