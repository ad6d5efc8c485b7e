/* SPDX-License-Identifier: Apache-2.0 */
/* The tables. Rows are in the order in which keys are written, and read. */
#include "report/json/json_schema.h"

#include <string.h>

#include "report/json/json_rows.h"
#include "support/diag.h"

#include "support/banned.h"

_Static_assert(sizeof(struct cm_named_size) == sizeof(struct cm_name_count) &&
                   offsetof(struct cm_named_size, name) ==
                       offsetof(struct cm_name_count, name) &&
                   offsetof(struct cm_named_size, size) ==
                       offsetof(struct cm_name_count, count),
               "JSON_SIZES is both");

/* clang-format off */
static const struct json_field type_fields[] = {
    {"dtype", JSON_DTYPE, false, 0, 0, NULL, NULL, "ONNX's lower-case name (`float`, `int64`); an object for what is no plain tensor; `null` unknown"},
    {"shape", JSON_SHAPE, false, 0, 0, NULL, NULL, "dims, each an integer or `null` (unknown); `[]` is a scalar; `null` an unknown rank, or no plain tensor"},
    {"shape_upper_bound", JSON_MOST, true, 0, 0, NULL, NULL, "where dims are `null` because only data decide them: the same list, no dim larger than it says"},
};

const struct json_record json_type = RECORD(struct cm_type, type_fields, "type", "A type");

static const struct json_field value_fields[] = {
    VALUE("name", JSON_TEXT, struct cm_value, name, "empty for an optional output that is left out"),
    VALUE("dtype", JSON_DTYPE, struct cm_value, type, "ONNX's lower-case name (`float`, `int64`); an object for what is no plain tensor; `null` unknown"),
    VALUE("shape", JSON_SHAPE, struct cm_value, type, "dims, each an integer or `null` (unknown); `[]` is a scalar; `null` an unknown rank, or no plain tensor"),
    OPTIONAL("shape_upper_bound", JSON_MOST, struct cm_value, type, "where dims are `null` because only data decide them: the same list, no dim larger than it says"),
    OPTIONAL("bytes", JSON_COUNT, struct cm_value, bytes, "as stored: packed 4-bit elements take half a byte; of shape_upper_bound where that is there; `null` where a dim is unknown"),
};

const struct json_record json_value = RECORD(struct cm_value, value_fields, "value", "A tensor, or another value");

/* model and options are nameless structs, so their rows count from the result itself, and so
 * do those of totals, which stand in two structs. */
static const struct json_field model_fields[] = {
    VALUE("path", JSON_TEXT, struct cm_result, model.path, "as given; `<stdin>` is standard input"),
    VALUE("producer", JSON_TEXT, struct cm_result, model.producer, "name and version of the exporter; empty where the file does not say"),
    VALUE("ir_version", JSON_COUNT, struct cm_result, model.ir_version, "of ONNX"),
    MANY("opsets", JSON_OPSETS, struct cm_result, model.opsets, model.n_opsets, "domain to version; the default domain, empty in ONNX, is `ai.onnx`"),
    LIST("inputs", struct cm_result, model.inputs, model.n_inputs, json_value, "of the graph, initializers aside"),
    LIST("outputs", struct cm_result, model.outputs, model.n_outputs, json_value, "of the graph"),
};

static const struct json_record model_record = RECORD(struct cm_result, model_fields, "model", "The file");

static const struct json_field options_fields[] = {
    VALUE("batch", JSON_COUNT, struct cm_result, options.batch, "what was profiled; `null` where no axis of the inputs is a batch"),
    MANY("dims", JSON_SIZES, struct cm_result, options.dims, options.n_dims, "each free dim that was bound, and to what"),
    OPTIONAL_MANY("trip_counts", JSON_SIZES, struct cm_result, options.trip_counts, options.n_trip_counts, NULL, "how often a Loop was taken to run, where --trip-count said so"),
    VALUE("convention", JSON_TEXT, struct cm_result, options.convention, "whose rules count FLOPs: `deepspeed` or another that --convention takes"),
    VALUE("mode", JSON_TEXT, struct cm_result, options.mode, "`model` (as each node says of itself), `training` or `inference`"),
    OPTIONAL("schedule", JSON_TEXT, struct cm_result, options.schedule, "`file` or `min-memory`: in which order nodes run"),
    OPTIONAL("module_source", JSON_TEXT, struct cm_result, options.module_source, "the source of modules that alone was asked; empty: all in turn"),
    OPTIONAL("group", JSON_TEXT, struct cm_result, options.group, "the expression that modules were grouped by; empty: none"),
    OPTIONAL("given", JSON_NULLABLE, struct cm_result, options.given, "shapes and contents of inputs that the caller chose, dims aside: `x=1x3x64x64 k=2,2`"),
};

const struct json_record json_options = RECORD(struct cm_result, options_fields, "options", "How it was profiled");

static const char *const no_columns[] = {NULL};

/* What a model has and its nodes have not stands in `memory` too. */
static const struct json_field totals_fields[] = {
    {NULL, JSON_OTHERS, false, offsetof(struct cm_result, totals), 0, NULL, no_columns, NULL},
    OPTIONAL("peak_activation_bytes", JSON_COUNT, struct cm_result, memory.peak_activation_bytes, "the most that is alive at once; as in memory"),
    OPTIONAL("arena_bytes", JSON_COUNT, struct cm_result, memory.arena_bytes, "one arena in which all of it has a place; as in memory"),
    OPTIONAL("upper_bound", JSON_BOUNDS, struct cm_result, totals.upper_bound, "keys of those of these figures that are upper bounds; missing where all are exact"),
};

const struct json_record json_totals = RECORD(struct cm_result, totals_fields, "totals", "Figures of the whole model");

static const struct json_field step_fields[] = {
    VALUE("backward_macs", JSON_COUNT, struct cm_step, backward_macs, "of all gradients that are wanted"),
    VALUE("saved_bytes", JSON_COUNT, struct cm_step, saved_bytes, "what it made that stays from forward to backward; `null` where the operator is not known"),
};

const struct json_record json_step = RECORD(struct cm_step, step_fields, "step", "A share of a training step");

static const char *const module_columns[] = {"params",           "macs",         "flops",
                                             "activation_bytes", "weight_bytes", NULL};

static const struct json_field module_fields[] = {
    VALUE("path", JSON_TEXT, struct cm_module, path, "dotted, `layer1.0.conv1`; empty for the root"),
    VALUE("class", JSON_TEXT, struct cm_module, type, "as a framework prints it, `Conv1d`; the instance's name where the file does not tell"),
    VALUE("depth", JSON_DEPTH, struct cm_module, depth, "0 for the root"),
    VALUE("calls", JSON_COUNT, struct cm_module, calls, "how often its scope was entered; 0 where it only holds parameters"),
    COSTS(JSON_FIRST, struct cm_module, costs, module_columns),
    LIST("outputs", struct cm_module, outputs, n_outputs, json_value, "values of its first call that leave the module"),
    VALUE("name", JSON_TEXT, struct cm_module, name, "last part of the path; the graph's name for the root"),
    OPTIONAL("arguments", JSON_TEXT, struct cm_module, arguments, "what stands in its brackets: `3, 64, kernel_size=(1,)`"),
    VALUE("class_known", JSON_FLAG, struct cm_module, type_known, "`false` where class repeats the name"),
    VALUE("parent", JSON_INDEX, struct cm_module, parent, "index into modules; `null` for the root"),
    MANY("children", JSON_INDICES, struct cm_module, children, n_children, "indices into modules, in order of first use"),
    COSTS(JSON_OTHERS, struct cm_module, costs, module_columns),
    OPTIONAL("peak_activation_bytes", JSON_COUNT, struct cm_module, peak_activation_bytes, "the most bytes alive at once of what its nodes made; the root's are the model's, inputs included"),
    OPTIONAL("upper_bound", JSON_BOUNDS, struct cm_module, costs.upper_bound, "keys of those of these figures that are upper bounds; missing where all are exact"),
    POINTER("training", struct cm_module, training, json_step, "its share of a training step, children included"),
    POINTER("achieved", struct cm_module, achieved, json_achieved, "what its time makes of its work, where something inside has a time"),
};

static const struct json_record module_record = RECORD(struct cm_module, module_fields, "module", "A module; figures include its children, params are a union (a tensor that two children share counts once)");

static const char *const node_columns[] = {"macs", "flops", "bytes_read", "bytes_written",
                                           NULL};

static const struct json_field node_fields[] = {
    VALUE("index", JSON_INDEX, struct cm_node, index, "its place in nodes"),
    VALUE("name", JSON_TEXT, struct cm_node, name, "empty where the file gives none"),
    VALUE("op", JSON_TEXT, struct cm_node, op, "operator type: `Conv`"),
    VALUE("domain", JSON_TEXT, struct cm_node, domain, "empty is ai.onnx"),
    VALUE("module", JSON_MODULE, struct cm_node, module, "path of the module that it belongs to"),
    MANY("inputs", JSON_TEXTS, struct cm_node, inputs, n_inputs, "names of values; an empty one is an operand left out"),
    LIST("outputs", struct cm_node, outputs, n_outputs, json_value, "what it makes"),
    COSTS(JSON_FIRST, struct cm_node, costs, node_columns),
    COSTS(JSON_OTHERS, struct cm_node, costs, node_columns),
    OPTIONAL("upper_bound", JSON_BOUNDS, struct cm_node, costs.upper_bound, "keys of those of these figures that are upper bounds; missing where all are exact"),
    POINTER("training", struct cm_node, training, json_step, "its share of a training step"),
};

static const struct json_record node_record = RECORD(struct cm_node, node_fields, "node", "A node; params, buffers and weight_bytes are those of its own operands: a weight that two nodes use stands at both");

static const struct json_field fused_pattern_fields[] = {
    VALUE("name", JSON_TEXT, struct cm_fused_pattern, name, "as a framework prints the class: `LayerNorm`, `GELU`, `Conv+BN`"),
    VALUE("op", JSON_TEXT, struct cm_fused_pattern, op, "the operator by whose rule it is counted: `LayerNormalization`"),
    VALUE("module", JSON_MODULE, struct cm_fused_pattern, module, "path of the module of its last node"),
    VALUE("last", JSON_INDEX, struct cm_fused_pattern, last, "index into nodes: the one that makes its result"),
    MANY("nodes", JSON_INDICES, struct cm_fused_pattern, nodes, n_nodes, "indices of all of its nodes, ascending"),
    VALUE("foldable", JSON_FLAG, struct cm_fused_pattern, foldable, "`false`: it is one operation, whose flops stand at last, and 0 at its other nodes (unless the convention sees nodes: onnx-tool). `true`: its nodes are operations of their own and are counted so, but a runtime may make one of them"),
};

static const struct json_record fused_pattern_record = RECORD(struct cm_fused_pattern, fused_pattern_fields, "fused_pattern", "Nodes that an exporter made of one operation");

static const struct json_field description_fields[] = {
    VALUE("op", JSON_TEXT, struct cm_description, op, "`domain::Type`"),
    VALUE("digest", JSON_TEXT, struct cm_description, digest, "of what it is said to give and cost; notes and blanks aside"),
    OPTIONAL("replaces", JSON_FLAG, struct cm_description, replaces, "an operator that is built in"),
};

static const struct json_record description_record = RECORD(struct cm_description, description_fields, "description", "An operator that a file of --op-costs describes");

static const struct json_field coverage_fields[] = {
    VALUE("nodes", JSON_COUNT, struct cm_coverage, nodes, "how many the profile holds"),
    MANY("unknown_ops", JSON_SIZES, struct cm_coverage, unknown_ops, n_unknown_ops, "`domain::Type` to count, in order of first use; what they cost is in no figure"),
    OPTIONAL_MANY("custom_ops", JSON_SIZES, struct cm_coverage, custom_ops, n_custom_ops, NULL, "the same of operators that a file of --op-costs describes: their shapes and costs are what it says"),
    OPTIONAL_MANY("descriptions", JSON_LIST, struct cm_coverage, descriptions, n_descriptions, &description_record, "of these: two profiles are compared where they are the same"),
    OPTIONAL_MANY("unknown_gradients", JSON_SIZES, struct cm_coverage, unknown_gradients, n_unknown_gradients, NULL, "the same of operators of which no gradient is known, though a training step was asked for: what it keeps and computes for them is in no figure"),
    VALUE("unknown_shapes", JSON_COUNT, struct cm_coverage, unknown_shapes, "node outputs with an unknown rank or dim"),
    OPTIONAL("bounded_shapes", JSON_COUNT, struct cm_coverage, bounded_shapes, "of these, those of which every dim has an upper bound: what hangs on them is in the figures, which are marked upper_bound; what hangs on the others is in none"),
};

const struct json_record json_coverage = RECORD(struct cm_coverage, coverage_fields, "coverage", "What was not understood");

static const struct json_field live_fields[] = {
    VALUE("value", JSON_TEXT, struct cm_live, value, "its name"),
    VALUE("bytes", JSON_COUNT, struct cm_live, bytes, "of it"),
    VALUE("module", JSON_MODULE, struct cm_live, module, "path of the one that made it; empty for an input"),
};

static const struct json_record live_record = RECORD(struct cm_live, live_fields, "live", "A value that is alive at the peak");

static const struct json_field placed_fields[] = {
    VALUE("value", JSON_TEXT, struct cm_placed, value, "its name"),
    VALUE("offset", JSON_COUNT, struct cm_placed, offset, "in the arena"),
    VALUE("bytes", JSON_COUNT, struct cm_placed, bytes, "of it"),
    VALUE("made", JSON_INDEX, struct cm_placed, made, "the node that makes it; `null` for an input"),
    VALUE("last", JSON_INDEX, struct cm_placed, last, "the node that needs it last"),
};

static const struct json_record placed_record = RECORD(struct cm_placed, placed_fields, "placed", "A value's place in the arena");

static const struct json_field weights_fields[] = {
    VALUE("dtype", JSON_TEXT, struct cm_weights, dtype, "element type"),
    VALUE("storage", JSON_TEXT, struct cm_weights, storage, "how the file has them: `raw` (raw_data), `typed` (float_data and the like), `external` (another file), `computed` (from the file, once), `input` (fed), `absent` (sparse, or left out)"),
    VALUE("tensors", JSON_COUNT, struct cm_weights, tensors, "each once, however many parameters share it"),
    VALUE("elements", JSON_COUNT, struct cm_weights, elements, "of all of them"),
    VALUE("bytes", JSON_COUNT, struct cm_weights, bytes, "packed 4-bit elements take half of one"),
};

static const struct json_record weights_record = RECORD(struct cm_weights, weights_fields, "weights", "Weights of one element type that the file stores in one way");

static const struct json_field fit_fields[] = {
    VALUE("limit_bytes", JSON_COUNT, struct cm_fit, limit_bytes, "the limit"),
    VALUE("fits", JSON_FLAG, struct cm_fit, fits, "whether required_bytes of the profiled batch is within it"),
    VALUE("largest_batch", JSON_COUNT, struct cm_fit, largest_batch, "that fits; 0 where not even 1 does; `null` where search says why"),
    VALUE("largest_bytes", JSON_COUNT, struct cm_fit, largest_bytes, "required at that batch; `null`"),
    VALUE("next_bytes", JSON_COUNT, struct cm_fit, next_bytes, "required at the one after it, more than the limit; `null`"),
    VALUE("search", JSON_TEXT, struct cm_fit, search, "`exact`: both were profiled. `uneven`: the same, but a larger batch required less somewhere, so that one beyond it may fit. `none`: not even 1 fits. `unbounded`: a batch of 2^31 - 1 fits. `no-batch`: no axis of the inputs is one. `fixed`: no other batch can be profiled"),
    OPTIONAL("why", JSON_TEXT, struct cm_fit, why, "of `fixed`: the message"),
};

static const struct json_record fit_record = RECORD(struct cm_fit, fit_fields, "fit", "Whether required_bytes is within a limit");

static const struct json_field curve_fields[] = {
    VALUE("node", JSON_INDEX, struct cm_curve_point, node, "index into nodes"),
    VALUE("bytes", JSON_COUNT, struct cm_curve_point, bytes, "alive while it runs"),
};

static const struct json_record curve_record = RECORD(struct cm_curve_point, curve_fields, "curve", "What is alive while a node runs");

static const struct json_field memory_fields[] = {
    VALUE("peak_activation_bytes", JSON_COUNT, struct cm_memory, peak_activation_bytes, "the most bytes of activations and inputs alive at once, nodes run in the order of options.schedule, views sharing their source's bytes, nothing reused in place; weights and workspace are not in it"),
    VALUE("peak_node", JSON_INDEX, struct cm_memory, peak_node, "index of the node during which that is so; `null` where nothing is alive"),
    OPTIONAL("peak_in_place_bytes", JSON_COUNT, struct cm_memory, peak_in_place_bytes, "the same if every elementwise node wrote over an operand of its output's size that is read last there"),
    OPTIONAL("arena_bytes", JSON_COUNT, struct cm_memory, arena_bytes, "one arena in which each of them has a place; `null` where no plan could be made"),
    OPTIONAL("arena_in_place_bytes", JSON_COUNT, struct cm_memory, arena_in_place_bytes, "the same where elementwise nodes write over; never below peak_in_place_bytes"),
    OPTIONAL("alignment", JSON_COUNT, struct cm_memory, alignment, "places in the arena are multiples of it"),
    OPTIONAL("required_bytes", JSON_COUNT, struct cm_memory, required_bytes, "weights (but those of storage `input`, which are in the arena) and arena_bytes; with an optimizer the peak_bytes of training instead; workspace of kernels is not in it"),
    OPTIONAL("upper_bound", JSON_FLAG, struct cm_memory, upper_bound, "tensors are counted of which only the largest size is known: arena_bytes, required_bytes and the peaks of modules whose activation_bytes are upper_bound are upper bounds"),
    OPTIONAL("peak_upper_bound", JSON_FLAG, struct cm_memory, peak_upper_bound, "one of these is alive at the peak, which is then an upper bound too"),
    POINTER("fit", struct cm_memory, fit, fit_record, "with --memory-limit: does it fit"),
    OPTIONAL_MANY("weights", JSON_LIST, struct cm_memory, weights, n_weights, &weights_record, "all that stands in the file and is read or handed out, be it a parameter or not"),
    OPTIONAL_MANY("planners", JSON_SIZES, struct cm_memory, planners, n_planners, NULL, "arena size of each planner alone: `greedy_by_size`, `two_ends`; `null` if it did not run"),
    OPTIONAL("file_order_peak_bytes", JSON_COUNT, struct cm_memory, file_order_peak_bytes, "peak_activation_bytes in the order of the file"),
    OPTIONAL("schedule_optimal", JSON_FLAG, struct cm_memory, schedule_optimal, "`true` with --schedule min-memory where no order has a lower peak"),
    OPTIONAL_MANY("schedule", JSON_INDICES, struct cm_memory, schedule, n_schedule, NULL, "with --schedule min-memory: indices of the nodes as they run, those of a body before their node"),
    OPTIONAL_MANY("live_at_peak", JSON_LIST, struct cm_memory, live, n_live, &live_record, "the largest first"),
    OPTIONAL_MANY("curve", JSON_LIST, struct cm_memory, curve, n_curve, &curve_record, "with --memory-curve: a node each in the order in which they run"),
    OPTIONAL_MANY("plan", JSON_LIST, struct cm_memory, placed, n_placed, &placed_record, "with --memory-plan: a place in the arena for each value"),
};

static const struct json_record memory_record = RECORD(struct cm_memory, memory_fields, "memory", "What is alive at once");

#define FIGURE(member, about) VALUE(#member, JSON_COUNT, struct cm_training, member, about)

static const struct json_field training_fields[] = {
    VALUE("optimizer", JSON_TEXT, struct cm_training, optimizer, "as asked for: `sgd`, `momentum`, `adam`, `adamw`"),
    VALUE("amp", JSON_FLAG, struct cm_training, amp, "mixed precision"),
    MANY("freeze", JSON_TEXTS, struct cm_training, freeze, n_freeze, "patterns of parameters that do not learn"),
    MANY("checkpoint", JSON_TEXTS, struct cm_training, checkpoint, n_checkpoint, "patterns of modules that are run again"),
    FIGURE(learned, "params that the optimizer changes"),
    FIGURE(frozen, "params that it does not"),
    FIGURE(backward_macs, "of all gradients that are wanted"),
    FIGURE(backward_flops, "of the same, by the convention"),
    FIGURE(recompute_macs, "of checkpointed modules, run again"),
    FIGURE(recompute_flops, "of the same, by the convention"),
    OPTIONAL("recompute_int_ops", JSON_COUNT, struct cm_training, recompute_int_ops, "of the same, operations on integers"),
    FIGURE(step_flops, "of the optimizer"),
    FIGURE(iteration_flops, "forward, recomputed, backward and step"),
    OPTIONAL("iteration_int_ops", JSON_COUNT, struct cm_training, iteration_int_ops, "operations on integers, forward and recomputed: no gradient passes through them"),
    FIGURE(weight_bytes, "params and buffers"),
    FIGURE(gradient_bytes, "gradients of params"),
    FIGURE(optimizer_bytes, "states of the optimizer"),
    FIGURE(master_bytes, "4-byte copies of params, in mixed precision"),
    VALUE("saved_bytes", JSON_COUNT, struct cm_training, saved_bytes, "activations, inputs and statistics kept from forward to backward"),
    FIGURE(peak_bytes, "the most of all that at once"),
    VALUE("peak_phase", JSON_TEXT, struct cm_training, peak_phase, "when that is: `forward`, `recompute`, `backward` or `step`"),
    VALUE("peak_node", JSON_INDEX, struct cm_training, peak_node, "index of the node that runs then; `null` during `step`"),
};

const struct json_record json_training = RECORD(struct cm_training, training_fields, "training", "One training step");

static const struct json_field rebatched_fields[] = {
    VALUE("node", JSON_TEXT, struct cm_rebatched, node_name, "name of the node that uses the constant"),
    VALUE("op", JSON_TEXT, struct cm_rebatched, op, "its type"),
    VALUE("input", JSON_TEXT, struct cm_rebatched, input, "name of the constant"),
    VALUE("what", JSON_TEXT, struct cm_rebatched, what, "what it says: `target` (of a reshape), `repeats`, `dims`"),
    VALUE("axis", JSON_COUNT, struct cm_rebatched, axis, "which of its elements, or which axis of the tensor"),
    VALUE("from", JSON_COUNT, struct cm_rebatched, from, "what stood there"),
    VALUE("to", JSON_COUNT, struct cm_rebatched, to, "what it became"),
    VALUE("node_index", JSON_INDEX, struct cm_rebatched, node, "index into nodes"),
};

static const struct json_record rebatched_record = RECORD(struct cm_rebatched, rebatched_fields, "rebatched", "A constant that had the file's own batch baked in");

static const struct json_field diagnostic_fields[] = {
    VALUE("severity", JSON_SEVERITY, struct cm_diagnostic, severity, "how bad"),
    VALUE("code", JSON_TEXT, struct cm_diagnostic, code, "which kind: docs/errors.md"),
    VALUE("message", JSON_TEXT, struct cm_diagnostic, message, "one line"),
    VALUE("node", JSON_NULLABLE, struct cm_diagnostic, node, "the node at fault; `null` where there is none"),
    VALUE("hint", JSON_NULLABLE, struct cm_diagnostic, hint, "what to do about it; `null`"),
    OPTIONAL("place", JSON_TEXT, struct cm_diagnostic, place, "where, a line each, outermost first"),
};

static const struct json_record diagnostic_record = RECORD(struct cm_diagnostic, diagnostic_fields, "diagnostic", "A note or a warning");

static const struct json_field term_fields[] = {
    VALUE("factor", JSON_COUNT, struct cm_term, factor, "this many"),
    VALUE("of", JSON_TEXT, struct cm_term, of, "of what: `MACs`, `input elements`"),
    VALUE("count", JSON_COUNT, struct cm_term, count, "for each of so many"),
    OPTIONAL("of_integers", JSON_FLAG, struct cm_term, of_integers, "`true`: a term of int_ops, not of flops"),
};

static const struct json_record term_record = RECORD(struct cm_term, term_fields, "term", "A factor for each of a count");

static const struct json_field explained_node_fields[] = {
    VALUE("node", JSON_INDEX, struct cm_explained_node, node, "index into nodes"),
    VALUE("runs", JSON_COUNT, struct cm_explained_node, runs, "in one pass through the model; 0 of a branch that is not charged"),
    MANY("macs", JSON_SIZES, struct cm_explained_node, factors, n_factors, "the factors whose product they are, of one run"),
    LIST("flops", struct cm_explained_node, terms, n_terms, term_record, "the terms whose sum they are, of one run, by options.convention, and those of int_ops"),
};

static const struct json_record explained_node_record = RECORD(struct cm_explained_node, explained_node_fields, "explained_node", "How the figures of a node come about");

static const struct json_field explained_by_fields[] = {
    VALUE("convention", JSON_TEXT, struct cm_explained_by, convention, "its name"),
    VALUE("unit", JSON_TEXT, struct cm_explained_by, unit, "as the tool calls what it prints"),
    VALUE("flops", JSON_COUNT, struct cm_explained_by, flops, "of all runs"),
    OPTIONAL("int_ops", JSON_COUNT, struct cm_explained_by, int_ops, "operations on integers, by `exact`"),
    OPTIONAL_MANY("terms", JSON_LIST, struct cm_explained_by, terms, n_terms, &term_record, "of one run of a node; none of a module"),
};

static const struct json_record explained_by_record = RECORD(struct cm_explained_by, explained_by_fields, "explained_by", "What a convention makes of it");

static const struct json_field explanation_fields[] = {
    VALUE("name", JSON_TEXT, struct cm_explanation, name, "as it was asked for"),
    VALUE("of_module", JSON_FLAG, struct cm_explanation, of_module, "whether it is a module"),
    VALUE("module", JSON_MODULE, struct cm_explanation, module, "path of it, or of the node's"),
    LIST("nodes", struct cm_explanation, nodes, n_nodes, explained_node_record, "one, or those of the module that have MACs or operations"),
    VALUE("free_nodes", JSON_COUNT, struct cm_explanation, n_free, "nodes of the module that have neither by the convention of the report; another may count them"),
    LIST("by_convention", struct cm_explanation, by, n_by, explained_by_record, "what each convention makes of it"),
};

static const struct json_record explanation_record = RECORD(struct cm_explanation, explanation_fields, "explanation", "How the figures of a node or a module come about");

/* Modules stand before nodes: a node's module is looked up by its path. */
static const struct json_field result_fields[] = {
    {"model", JSON_OBJECT, false, 0, 0, &model_record, NULL, "the file that was profiled"},
    {"options", JSON_OBJECT, false, 0, 0, &json_options, NULL, "how it was profiled"},
    {"totals", JSON_OBJECT, false, 0, 0, &json_totals, NULL, "the figures of the whole model"},
    LIST("modules", struct cm_result, modules, n_modules, module_record, "the module tree as a list, parents before children; the first is the root"),
    LIST("nodes", struct cm_result, nodes, n_nodes, node_record, "every node in the file's order, bodies of control flow after their node"),
    OPTIONAL_MANY("fused_patterns", JSON_LIST, struct cm_result, fused_patterns, n_fused_patterns, &fused_pattern_record, "nodes that the exporter made of one operation, in the order of the results"),
    OBJECT("coverage", struct cm_result, coverage, json_coverage, "what was not understood"),
    LIST("rebatched", struct cm_result, rebatched, n_rebatched, rebatched_record, "constants that held the file's own batch, and what they became"),
    LIST("diagnostics", struct cm_result, diagnostics, n_diagnostics, diagnostic_record, "notes and warnings"),
    OBJECT("memory", struct cm_result, memory, memory_record, "what is alive at once"),
    PART("training", struct cm_result, training, json_training, "with --optimizer: one training step"),
    OPTIONAL_MANY("explanations", JSON_LIST, struct cm_result, explanations, n_explanations, &explanation_record, "with --explain: one for each that was asked about"),
    OPTIONAL_MANY("modules_from", JSON_SIZES, struct cm_result, module_sources, n_module_sources, NULL, "each source that told modules, and of how many nodes; then `joined` and `none`"),
    OPTIONAL_MANY("operators", JSON_LIST, struct cm_result, operators, n_operators, &json_operator, "the same costs by operator, the longest latency first (without times: the most MACs); sums leave out what is unknown"),
    POINTER("measure", struct cm_result, measure, json_measure, "with --measure, --device or --backend: what a backend said"),
    OPTIONAL_MANY("advice", JSON_LIST, struct cm_result, advice, n_advice, &json_advice, "with times: what would make it faster, the largest gain first"),
};

const struct json_record json_result = RECORD(struct cm_result, result_fields, "result", "What an ONNX model costs");

static const struct json_field sweep_row_fields[] = {
    VALUE("batch", JSON_COUNT, struct cm_sweep_row, batch, "of this row"),
    VALUE("state", JSON_TEXT, struct cm_sweep_row, state, "`done`; `incomplete` (operators are not known, or times are missing); `misfit` (more than the limit); and without figures `refused`, `usage`, `failed`"),
    VALUE("problem", JSON_TEXT, struct cm_sweep_row, problem, "the first message where it is not done"),
    VALUE("params", JSON_COUNT, struct cm_sweep_row, costs.params, "as in a profile, and so the rest"),
    VALUE("macs", JSON_COUNT, struct cm_sweep_row, costs.macs, "multiply-adds"),
    OPTIONAL("int_macs", JSON_COUNT, struct cm_sweep_row, costs.int_macs, "those of them that multiply integers"),
    VALUE("flops", JSON_COUNT, struct cm_sweep_row, costs.flops, "by the convention"),
    OPTIONAL("int_ops", JSON_COUNT, struct cm_sweep_row, costs.int_ops, "operations on integers, by `exact`"),
    VALUE("peak_activation_bytes", JSON_COUNT, struct cm_sweep_row, peak_activation_bytes, "the most that is alive at once"),
    VALUE("arena_bytes", JSON_COUNT, struct cm_sweep_row, arena_bytes, "one arena in which all of it has a place"),
    VALUE("required_bytes", JSON_COUNT, struct cm_sweep_row, required_bytes, "weights and arena, or the peak of a training step"),
    VALUE("latency_ps", JSON_COUNT, struct cm_sweep_row, costs.latency_ps, "cold; `null` without times"),
    VALUE("timed_macs", JSON_COUNT, struct cm_sweep_row, timed_macs, "of nodes that have a time"),
    OPTIONAL("untimed_nodes", JSON_COUNT, struct cm_sweep_row, untimed_nodes, "how many have work and no time, so that latency_ps leaves them out; `null` without times"),
    VALUE("cached", JSON_COUNT, struct cm_sweep_row, cached, "how many primitives were measured in earlier runs"),
    OPTIONAL("upper_bound", JSON_BOUNDS, struct cm_sweep_row, costs.upper_bound, "keys of those of macs, int_macs, flops and int_ops that are upper bounds; missing where all are exact"),
    OPTIONAL("peak_upper_bound", JSON_FLAG, struct cm_sweep_row, peak_upper_bound, "peak_activation_bytes is an upper bound"),
    OPTIONAL("memory_upper_bound", JSON_FLAG, struct cm_sweep_row, memory_upper_bound, "arena_bytes and required_bytes are upper bounds"),
};

static const struct json_record sweep_row_record = RECORD(struct cm_sweep_row, sweep_row_fields, "sweep_row", "A model at one batch; what is `null` is not known");

static const struct json_field sweep_fields[] = {
    VALUE("model", JSON_TEXT, struct cm_sweep, model, "path"),
    VALUE("convention", JSON_TEXT, struct cm_sweep, convention, "whose rules count FLOPs"),
    VALUE("backend", JSON_TEXT, struct cm_sweep, backend, "as it was asked for; empty: none"),
    VALUE("device", JSON_TEXT, struct cm_sweep, device, "of the times"),
    VALUE("times", JSON_TEXT, struct cm_sweep, times, "what they are: `measured`, `proxy`, `modelled`, `invented`; empty: none"),
    VALUE("memory_limit", JSON_COUNT, struct cm_sweep, memory_limit, "bytes; `null`: not asked"),
    OPTIONAL_MANY("custom_ops", JSON_SIZES, struct cm_sweep, custom_ops, n_custom_ops, NULL, "as in `coverage` of a profile, of the first batch that has some"),
    OPTIONAL_MANY("diagnostics", JSON_LIST, struct cm_sweep, diagnostics, n_diagnostics, &diagnostic_record, "notes and warnings, of all batches, each once, but those that a row has as its problem"),
    LIST("sweep", struct cm_sweep, rows, n_rows, sweep_row_record, "a row a batch, in the order that was asked for"),
};

static const struct json_record sweep_record = RECORD(struct cm_sweep, sweep_fields, "sweep", "What an ONNX model costs at several batches");

const struct json_document json_profile = {"costmodel/profile/2", "costmodel/profile/1", "profile", &json_result, offsetof(struct cm_result, arena)};
const struct json_document json_sweep = {"costmodel/sweep/2", "costmodel/sweep/1", "sweep", &sweep_record, offsetof(struct cm_sweep, arena)};
/* clang-format on */

static const char *const wrappers[] = {
    [CM_TYPE_UNKNOWN] = NULL,
    [CM_TYPE_TENSOR] = NULL,
    [CM_TYPE_SPARSE_TENSOR] = "sparse_tensor",
    [CM_TYPE_SEQUENCE] = "sequence",
    [CM_TYPE_OPTIONAL] = "optional",
    [CM_TYPE_MAP] = "map",
};

const char *json_type_wrapper(enum cm_type_kind kind) {
    return wrappers[kind];
}

const struct json_document *const json_documents[] = {
    &json_profile, &json_sweep,  &json_formula,  &json_diff,
    &json_verdict, &json_budget, &json_baseline, &json_op_costs};
const size_t json_n_documents = N(json_documents);

const char *const json_severities[] = {
    [CM_NOTE] = "note", [CM_WARNING] = "warning", [CM_ERROR] = "error"};
const size_t json_n_severities = N(json_severities);

static bool is_named(const struct json_field *field, const struct column *column) {
    for (const char *const *key = field->first; *key != NULL; key++)
        if (strcmp(*key, column->key) == 0) return true;
    return false;
}

static const struct column *find_column(const char *key) {
    for (size_t i = 0; i < n_columns; i++)
        if (strcmp(columns[i].key, key) == 0) return &columns[i];
    BUG("a row of the schema names a column that does not exist");
}

const struct column *json_column(const struct json_field *field, size_t i) {
    if (field->kind == JSON_FIRST) {
        size_t n = 0;
        while (field->first[n] != NULL) n++;
        return i < n ? find_column(field->first[i]) : NULL;
    }
    for (size_t k = 0; k < n_columns; k++)
        if (!is_named(field, &columns[k]) && i-- == 0) return &columns[k];
    return NULL;
}
