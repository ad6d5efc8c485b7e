/* SPDX-License-Identifier: Apache-2.0 */
/* The tables. Rows are in the order in which keys are written, and read. */
#include "report/json_schema.h"

#include <string.h>

#include "report/json_rows.h"
#include "support/diag.h"

#include "support/banned.h"

_Static_assert(sizeof(struct cm_named_size) == sizeof(struct cm_name_count) &&
                   offsetof(struct cm_named_size, name) ==
                       offsetof(struct cm_name_count, name) &&
                   offsetof(struct cm_named_size, size) ==
                       offsetof(struct cm_name_count, count),
               "JSON_SIZES is both");

static const struct json_field type_fields[] = {
    {"dtype", JSON_DTYPE, false, 0, 0, NULL, NULL},
    {"shape", JSON_SHAPE, false, 0, 0, NULL, NULL},
    {"shape_at_most", JSON_MOST, true, 0, 0, NULL, NULL},
};

const struct json_record json_type = RECORD(struct cm_type, type_fields);

static const struct json_field value_fields[] = {
    VALUE("name", JSON_TEXT, struct cm_value, name),
    VALUE("dtype", JSON_DTYPE, struct cm_value, type),
    VALUE("shape", JSON_SHAPE, struct cm_value, type),
    OPTIONAL("shape_at_most", JSON_MOST, struct cm_value, type),
    OPTIONAL("bytes", JSON_COUNT, struct cm_value, bytes),
};

static const struct json_record value_record = RECORD(struct cm_value, value_fields);

/* model and options are nameless structs, so their rows count from the result itself, and so
 * do those of totals, which stand in two structs. */
static const struct json_field model_fields[] = {
    VALUE("path", JSON_TEXT, struct cm_result, model.path),
    VALUE("producer", JSON_TEXT, struct cm_result, model.producer),
    VALUE("ir_version", JSON_COUNT, struct cm_result, model.ir_version),
    MANY("opsets", JSON_OPSETS, struct cm_result, model.opsets, model.n_opsets),
    LIST("inputs", struct cm_result, model.inputs, model.n_inputs, value_record),
    LIST("outputs", struct cm_result, model.outputs, model.n_outputs, value_record),
};

static const struct json_record model_record = RECORD(struct cm_result, model_fields);

static const struct json_field options_fields[] = {
    VALUE("batch", JSON_COUNT, struct cm_result, options.batch),
    MANY("dims", JSON_SIZES, struct cm_result, options.dims, options.n_dims),
    VALUE("convention", JSON_TEXT, struct cm_result, options.convention),
    VALUE("mode", JSON_TEXT, struct cm_result, options.mode),
    OPTIONAL("schedule", JSON_TEXT, struct cm_result, options.schedule),
    OPTIONAL("module_source", JSON_TEXT, struct cm_result, options.module_source),
    OPTIONAL("group", JSON_TEXT, struct cm_result, options.group),
};

static const struct json_record options_record = RECORD(struct cm_result, options_fields);

static const char *const no_columns[] = {NULL};

/* What a model has and its nodes have not stands in `memory` too. */
static const struct json_field totals_fields[] = {
    {NULL, JSON_OTHERS, false, offsetof(struct cm_result, totals), 0, NULL, no_columns},
    OPTIONAL("peak_activation_bytes", JSON_COUNT, struct cm_result,
             memory.peak_activation_bytes),
    OPTIONAL("arena_bytes", JSON_COUNT, struct cm_result, memory.arena_bytes),
    OPTIONAL("at_most", JSON_BOUNDS, struct cm_result, totals.at_most),
};

static const struct json_record totals_record = RECORD(struct cm_result, totals_fields);

static const struct json_field step_fields[] = {
    VALUE("backward_macs", JSON_COUNT, struct cm_step, backward_macs),
    VALUE("kept_bytes", JSON_COUNT, struct cm_step, kept_bytes),
};

static const struct json_record step_record = RECORD(struct cm_step, step_fields);

static const char *const module_columns[] = {"params",           "macs",         "flops",
                                             "activation_bytes", "weight_bytes", NULL};

static const struct json_field module_fields[] = {
    VALUE("path", JSON_TEXT, struct cm_module, path),
    VALUE("class", JSON_TEXT, struct cm_module, type),
    VALUE("depth", JSON_DEPTH, struct cm_module, depth),
    VALUE("calls", JSON_COUNT, struct cm_module, calls),
    COSTS(JSON_FIRST, struct cm_module, costs, module_columns),
    LIST("outputs", struct cm_module, outputs, n_outputs, value_record),
    VALUE("name", JSON_TEXT, struct cm_module, name),
    OPTIONAL("arguments", JSON_TEXT, struct cm_module, arguments),
    VALUE("class_known", JSON_FLAG, struct cm_module, type_known),
    VALUE("parent", JSON_INDEX, struct cm_module, parent),
    MANY("children", JSON_INDICES, struct cm_module, children, n_children),
    COSTS(JSON_OTHERS, struct cm_module, costs, module_columns),
    OPTIONAL("peak_activation_bytes", JSON_COUNT, struct cm_module, peak_activation_bytes),
    OPTIONAL("at_most", JSON_BOUNDS, struct cm_module, costs.at_most),
    PART("training", struct cm_module, training, step_record),
    PART("achieved", struct cm_module, achieved, json_achieved),
};

static const struct json_record module_record = RECORD(struct cm_module, module_fields);

static const char *const node_columns[] = {"macs", "flops", "bytes_read", "bytes_written",
                                           NULL};

static const struct json_field node_fields[] = {
    VALUE("index", JSON_INDEX, struct cm_node, index),
    VALUE("name", JSON_TEXT, struct cm_node, name),
    VALUE("op", JSON_TEXT, struct cm_node, op),
    VALUE("domain", JSON_TEXT, struct cm_node, domain),
    VALUE("module", JSON_MODULE, struct cm_node, module),
    MANY("inputs", JSON_TEXTS, struct cm_node, inputs, n_inputs),
    LIST("outputs", struct cm_node, outputs, n_outputs, value_record),
    COSTS(JSON_FIRST, struct cm_node, costs, node_columns),
    COSTS(JSON_OTHERS, struct cm_node, costs, node_columns),
    OPTIONAL("at_most", JSON_BOUNDS, struct cm_node, costs.at_most),
    PART("training", struct cm_node, training, step_record),
};

static const struct json_record node_record = RECORD(struct cm_node, node_fields);

static const struct json_field composite_fields[] = {
    VALUE("name", JSON_TEXT, struct cm_composite, name),
    VALUE("op", JSON_TEXT, struct cm_composite, op),
    VALUE("module", JSON_MODULE, struct cm_composite, module),
    VALUE("last", JSON_INDEX, struct cm_composite, last),
    MANY("nodes", JSON_INDICES, struct cm_composite, nodes, n_nodes),
    VALUE("foldable", JSON_FLAG, struct cm_composite, foldable),
};

static const struct json_record composite_record =
    RECORD(struct cm_composite, composite_fields);

static const struct json_field coverage_fields[] = {
    VALUE("nodes", JSON_COUNT, struct cm_coverage, nodes),
    MANY("unknown_ops", JSON_SIZES, struct cm_coverage, unknown_ops, n_unknown_ops),
    VALUE("unknown_shapes", JSON_COUNT, struct cm_coverage, unknown_shapes),
    OPTIONAL("bounded_shapes", JSON_COUNT, struct cm_coverage, bounded_shapes),
};

static const struct json_record coverage_record = RECORD(struct cm_coverage, coverage_fields);

static const struct json_field live_fields[] = {
    VALUE("value", JSON_TEXT, struct cm_live, value),
    VALUE("bytes", JSON_COUNT, struct cm_live, bytes),
    VALUE("module", JSON_MODULE, struct cm_live, module),
};

static const struct json_record live_record = RECORD(struct cm_live, live_fields);

static const struct json_field placed_fields[] = {
    VALUE("value", JSON_TEXT, struct cm_placed, value),
    VALUE("offset", JSON_COUNT, struct cm_placed, offset),
    VALUE("bytes", JSON_COUNT, struct cm_placed, bytes),
    VALUE("made", JSON_INDEX, struct cm_placed, made),
    VALUE("last", JSON_INDEX, struct cm_placed, last),
};

static const struct json_record placed_record = RECORD(struct cm_placed, placed_fields);

static const struct json_field weights_fields[] = {
    VALUE("dtype", JSON_TEXT, struct cm_weights, dtype),
    VALUE("storage", JSON_TEXT, struct cm_weights, storage),
    VALUE("tensors", JSON_COUNT, struct cm_weights, tensors),
    VALUE("elements", JSON_COUNT, struct cm_weights, elements),
    VALUE("bytes", JSON_COUNT, struct cm_weights, bytes),
};

static const struct json_record weights_record = RECORD(struct cm_weights, weights_fields);

static const struct json_field fit_fields[] = {
    VALUE("limit_bytes", JSON_COUNT, struct cm_fit, limit_bytes),
    VALUE("fits", JSON_FLAG, struct cm_fit, fits),
    VALUE("largest_batch", JSON_COUNT, struct cm_fit, largest_batch),
    VALUE("largest_bytes", JSON_COUNT, struct cm_fit, largest_bytes),
    VALUE("next_bytes", JSON_COUNT, struct cm_fit, next_bytes),
    VALUE("search", JSON_TEXT, struct cm_fit, search),
    OPTIONAL("why", JSON_TEXT, struct cm_fit, why),
};

static const struct json_record fit_record = RECORD(struct cm_fit, fit_fields);

static const struct json_field curve_fields[] = {
    VALUE("node", JSON_INDEX, struct cm_curve_point, node),
    VALUE("bytes", JSON_COUNT, struct cm_curve_point, bytes),
};

static const struct json_record curve_record = RECORD(struct cm_curve_point, curve_fields);

static const struct json_field memory_fields[] = {
    VALUE("peak_activation_bytes", JSON_COUNT, struct cm_memory, peak_activation_bytes),
    VALUE("peak_node", JSON_INDEX, struct cm_memory, peak_node),
    OPTIONAL("peak_in_place_bytes", JSON_COUNT, struct cm_memory, peak_in_place_bytes),
    OPTIONAL("arena_bytes", JSON_COUNT, struct cm_memory, arena_bytes),
    OPTIONAL("arena_in_place_bytes", JSON_COUNT, struct cm_memory, arena_in_place_bytes),
    OPTIONAL("alignment", JSON_COUNT, struct cm_memory, alignment),
    OPTIONAL("required_bytes", JSON_COUNT, struct cm_memory, required_bytes),
    OPTIONAL("at_most", JSON_FLAG, struct cm_memory, at_most),
    OPTIONAL("peak_at_most", JSON_FLAG, struct cm_memory, peak_at_most),
    {"fit", JSON_POINTER, true, offsetof(struct cm_memory, fit), 0, &fit_record, NULL},
    OPTIONAL_MANY("weights", JSON_LIST, struct cm_memory, weights, n_weights, &weights_record),
    OPTIONAL_MANY("planners", JSON_SIZES, struct cm_memory, planners, n_planners, NULL),
    OPTIONAL("file_order_peak_bytes", JSON_COUNT, struct cm_memory, file_order_peak_bytes),
    OPTIONAL("schedule_optimal", JSON_FLAG, struct cm_memory, schedule_optimal),
    OPTIONAL_MANY("schedule", JSON_INDICES, struct cm_memory, schedule, n_schedule, NULL),
    OPTIONAL_MANY("live_at_peak", JSON_LIST, struct cm_memory, live, n_live, &live_record),
    OPTIONAL_MANY("curve", JSON_LIST, struct cm_memory, curve, n_curve, &curve_record),
    OPTIONAL_MANY("plan", JSON_LIST, struct cm_memory, placed, n_placed, &placed_record),
};

static const struct json_record memory_record = RECORD(struct cm_memory, memory_fields);

#define FIGURE(member) VALUE(#member, JSON_COUNT, struct cm_training, member)

static const struct json_field training_fields[] = {
    VALUE("optimizer", JSON_TEXT, struct cm_training, optimizer),
    VALUE("amp", JSON_FLAG, struct cm_training, amp),
    MANY("freeze", JSON_TEXTS, struct cm_training, freeze, n_freeze),
    MANY("checkpoint", JSON_TEXTS, struct cm_training, checkpoint, n_checkpoint),
    FIGURE(learned),
    FIGURE(frozen),
    FIGURE(backward_macs),
    FIGURE(backward_flops),
    FIGURE(recompute_macs),
    FIGURE(recompute_flops),
    FIGURE(step_flops),
    FIGURE(iteration_flops),
    FIGURE(weight_bytes),
    FIGURE(gradient_bytes),
    FIGURE(optimizer_bytes),
    FIGURE(master_bytes),
    FIGURE(kept_bytes),
    FIGURE(peak_bytes),
    VALUE("peak_phase", JSON_TEXT, struct cm_training, peak_phase),
    VALUE("peak_node", JSON_INDEX, struct cm_training, peak_node),
};

static const struct json_record training_record = RECORD(struct cm_training, training_fields);

static const struct json_field rebatched_fields[] = {
    VALUE("node", JSON_TEXT, struct cm_rebatched, node_name),
    VALUE("op", JSON_TEXT, struct cm_rebatched, op),
    VALUE("input", JSON_TEXT, struct cm_rebatched, input),
    VALUE("what", JSON_TEXT, struct cm_rebatched, what),
    VALUE("axis", JSON_COUNT, struct cm_rebatched, axis),
    VALUE("from", JSON_COUNT, struct cm_rebatched, from),
    VALUE("to", JSON_COUNT, struct cm_rebatched, to),
    VALUE("node_index", JSON_INDEX, struct cm_rebatched, node),
};

static const struct json_record rebatched_record =
    RECORD(struct cm_rebatched, rebatched_fields);

static const struct json_field diagnostic_fields[] = {
    VALUE("severity", JSON_SEVERITY, struct cm_diagnostic, severity),
    VALUE("code", JSON_TEXT, struct cm_diagnostic, code),
    VALUE("message", JSON_TEXT, struct cm_diagnostic, message),
    VALUE("node", JSON_NULLABLE, struct cm_diagnostic, node),
    VALUE("hint", JSON_NULLABLE, struct cm_diagnostic, hint),
    OPTIONAL("place", JSON_TEXT, struct cm_diagnostic, place),
};

static const struct json_record diagnostic_record =
    RECORD(struct cm_diagnostic, diagnostic_fields);

static const struct json_field term_fields[] = {
    VALUE("factor", JSON_COUNT, struct cm_term, factor),
    VALUE("of", JSON_TEXT, struct cm_term, of),
    VALUE("count", JSON_COUNT, struct cm_term, count),
};

static const struct json_record term_record = RECORD(struct cm_term, term_fields);

static const struct json_field explained_node_fields[] = {
    VALUE("node", JSON_INDEX, struct cm_explained_node, node),
    VALUE("runs", JSON_COUNT, struct cm_explained_node, runs),
    MANY("macs", JSON_SIZES, struct cm_explained_node, factors, n_factors),
    LIST("flops", struct cm_explained_node, terms, n_terms, term_record),
};

static const struct json_record explained_node_record =
    RECORD(struct cm_explained_node, explained_node_fields);

static const struct json_field explained_by_fields[] = {
    VALUE("convention", JSON_TEXT, struct cm_explained_by, convention),
    VALUE("unit", JSON_TEXT, struct cm_explained_by, unit),
    VALUE("flops", JSON_COUNT, struct cm_explained_by, flops),
    OPTIONAL_MANY("terms", JSON_LIST, struct cm_explained_by, terms, n_terms, &term_record),
};

static const struct json_record explained_by_record =
    RECORD(struct cm_explained_by, explained_by_fields);

static const struct json_field explanation_fields[] = {
    VALUE("name", JSON_TEXT, struct cm_explanation, name),
    VALUE("of_module", JSON_FLAG, struct cm_explanation, of_module),
    VALUE("module", JSON_MODULE, struct cm_explanation, module),
    LIST("nodes", struct cm_explanation, nodes, n_nodes, explained_node_record),
    VALUE("free_nodes", JSON_COUNT, struct cm_explanation, n_free),
    LIST("by_convention", struct cm_explanation, by, n_by, explained_by_record),
};

static const struct json_record explanation_record =
    RECORD(struct cm_explanation, explanation_fields);

/* Modules stand before nodes: a node's module is looked up by its path. */
static const struct json_field result_fields[] = {
    {"model", JSON_OBJECT, false, 0, 0, &model_record, NULL},
    {"options", JSON_OBJECT, false, 0, 0, &options_record, NULL},
    {"totals", JSON_OBJECT, false, 0, 0, &totals_record, NULL},
    LIST("modules", struct cm_result, modules, n_modules, module_record),
    LIST("nodes", struct cm_result, nodes, n_nodes, node_record),
    OPTIONAL_MANY("composites", JSON_LIST, struct cm_result, composites, n_composites,
                  &composite_record),
    OBJECT("coverage", struct cm_result, coverage, coverage_record),
    LIST("rebatched", struct cm_result, rebatched, n_rebatched, rebatched_record),
    LIST("diagnostics", struct cm_result, diagnostics, n_diagnostics, diagnostic_record),
    OBJECT("memory", struct cm_result, memory, memory_record),
    PART("training", struct cm_result, training, training_record),
    OPTIONAL_MANY("explanations", JSON_LIST, struct cm_result, explanations, n_explanations,
                  &explanation_record),
    OPTIONAL_MANY("modules_from", JSON_SIZES, struct cm_result, module_sources,
                  n_module_sources, NULL),
    OPTIONAL_MANY("operators", JSON_LIST, struct cm_result, operators, n_operators,
                  &json_operator),
    {"measure", JSON_POINTER, true, offsetof(struct cm_result, measure), 0, &json_measure,
     NULL},
    OPTIONAL_MANY("advice", JSON_LIST, struct cm_result, advice, n_advice, &json_advice),
};

const struct json_record json_result = RECORD(struct cm_result, result_fields);

static const struct json_field sweep_row_fields[] = {
    VALUE("batch", JSON_COUNT, struct cm_sweep_row, batch),
    VALUE("state", JSON_TEXT, struct cm_sweep_row, state),
    VALUE("problem", JSON_TEXT, struct cm_sweep_row, problem),
    VALUE("params", JSON_COUNT, struct cm_sweep_row, params),
    VALUE("macs", JSON_COUNT, struct cm_sweep_row, macs),
    VALUE("flops", JSON_COUNT, struct cm_sweep_row, flops),
    VALUE("peak_activation_bytes", JSON_COUNT, struct cm_sweep_row, peak_activation_bytes),
    VALUE("arena_bytes", JSON_COUNT, struct cm_sweep_row, arena_bytes),
    VALUE("required_bytes", JSON_COUNT, struct cm_sweep_row, required_bytes),
    VALUE("latency_ps", JSON_COUNT, struct cm_sweep_row, latency_ps),
    VALUE("timed_macs", JSON_COUNT, struct cm_sweep_row, timed_macs),
    VALUE("cached", JSON_COUNT, struct cm_sweep_row, cached),
};

static const struct json_record sweep_row_record =
    RECORD(struct cm_sweep_row, sweep_row_fields);

static const struct json_field sweep_fields[] = {
    VALUE("model", JSON_TEXT, struct cm_sweep, model),
    VALUE("convention", JSON_TEXT, struct cm_sweep, convention),
    VALUE("backend", JSON_TEXT, struct cm_sweep, backend),
    VALUE("device", JSON_TEXT, struct cm_sweep, device),
    VALUE("times", JSON_TEXT, struct cm_sweep, times),
    VALUE("memory_limit", JSON_COUNT, struct cm_sweep, memory_limit),
    LIST("sweep", struct cm_sweep, rows, n_rows, sweep_row_record),
};

static const struct json_record sweep_record = RECORD(struct cm_sweep, sweep_fields);

const struct json_document json_profile = {"costmodel/profile/1", "profile", &json_result};
const struct json_document json_sweep = {"costmodel/sweep/1", "sweep", &sweep_record};

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
