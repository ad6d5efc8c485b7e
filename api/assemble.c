/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the public result from the tables of the passes. It copies and converts; it does not
 * compute figures.
 */
#include "api/assemble.h"

#include <inttypes.h>
#include <string.h>

#include "api/assembly.h"
#include "passes/costs.h"
#include "passes/memory/liveness.h"
#include "passes/training/optimizers.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

static const int64_t *copy_dims(struct assembly *assembly, const struct shape *shape) {
    size_t n = (size_t)shape->rank;
    int64_t *dims = assembly_array(assembly, n, sizeof(*dims));
    for (size_t i = 0; dims && i < n; i++) dims[i] = public_count(shape->dims[i]);
    return dims;
}

/* Recurses over nested types, whose depth ops/merge.c limits. `upper` is the upper bound of
 * `info`. */
static void copy_type(struct assembly *assembly, const struct value_info *info,
                      const struct value_info *upper, struct cm_type *type) {
    *type = (struct cm_type){.kind = info->kind, .rank = -1};
    if (info->dtype != DTYPE_UNDEFINED) type->dtype = dtype_name(info->dtype);
    if (shape_has_rank(&info->shape)) {
        type->rank = info->shape.rank;
        type->dims = copy_dims(assembly, &info->shape);
        if (upper->is_upper_bound && upper->shape.rank == info->shape.rank)
            type->dims_upper_bound = copy_dims(assembly, &upper->shape);
    }
    if (info->element) {
        struct cm_type *element = assembly_array(assembly, 1, sizeof(*element));
        const struct value_info *within = upper->element ? upper->element : info->element;
        if (element) copy_type(assembly, info->element, within, element);
        type->element = element;
    }
}

/* Compares plain tensors only: nested types are rare. */
static bool is_same_type(const struct value_info *a, const struct value_info *b) {
    return a->kind == CM_TYPE_TENSOR && b->kind == CM_TYPE_TENSOR && a->dtype == b->dtype &&
           a->is_upper_bound == b->is_upper_bound && shape_equal(&a->shape, &b->shape);
}

/* `before` is the previous value, or NULL: if both have the same type, they share its dims. */
static void copy_value(struct assembly *assembly, uint32_t id, const struct cm_value *before) {
    const struct infer_table *infer = &assembly->analysis->infer;
    const struct value_info *info = &infer->infos[id];
    const struct value_info *upper = &infer->upper->infos[id];
    struct cm_value *value = &assembly->values[id];
    if (before && is_same_type(info, info - 1) &&
        (upper == info || is_same_type(upper, upper - 1))) {
        *value = *before;
    } else {
        value->bytes = public_count(liveness_bytes(upper));
        copy_type(assembly, info, upper, &value->type);
    }
    value->name = assembly_text(assembly, assembly->analysis->model->values[id].name);
}

/* Adds the parameters and buffers that the node reads. */
static void add_params(const struct assembly *assembly, uint32_t id, struct cm_costs *costs) {
    const struct params_table *params = &assembly->analysis->params;
    for (size_t i = 0; i < params->n_used[id]; i++) {
        const struct param *param = &params->params[params->used[id][i]];
        if (param->kind == PARAM_LEARNED)
            costs->params = checked_add(costs->params, param->elements);
        else
            costs->buffers = checked_add(costs->buffers, param->elements);
        costs->weight_bytes = checked_add(costs->weight_bytes, param->bytes);
    }
}

/* `from` is indexed by node or module; NULL if there is no training step. */
static struct cm_step *copy_steps(struct assembly *assembly, const struct cm_step *from,
                                  size_t n) {
    struct cm_step *steps = from ? assembly_array(assembly, n, sizeof(*steps)) : NULL;
    for (size_t i = 0; steps && i < n; i++)
        steps[i] = (struct cm_step){.backward_macs = public_count(from[i].backward_macs),
                                    .saved_bytes = public_count(from[i].saved_bytes)};
    return steps;
}

/* Adds names, operands and parameters to a row of pass count. `inputs` is an array for the
 * names of the inputs. */
static void complete_node(struct assembly *assembly, uint32_t id, const char **inputs,
                          struct cm_node *ret) {
    const struct analysis *analysis = assembly->analysis;
    const struct node *node = &analysis->model->nodes[id];
    for (size_t i = 0; i < node->n_inputs; i++)
        inputs[i] = node->inputs[i] == ID_NONE ? "" : assembly->values[node->inputs[i]].name;
    ret->index = id;
    ret->name = assembly_text(assembly, node->name);
    ret->op = assembly_shared(assembly, node->type);
    ret->domain = assembly_shared(assembly, node->domain);
    ret->module = analysis->modules.of_node[id];
    ret->n_inputs = node->n_inputs;
    ret->inputs = inputs;
    ret->n_outputs = node->n_outputs;
    ret->outputs = assembly_values(assembly, node->outputs, node->n_outputs);
    add_params(assembly, id, &ret->costs);
    costs_publish(&ret->costs);
}

static size_t count_inputs(const struct model *model) {
    size_t n = 0;
    for (size_t i = 0; i < model->n_nodes; i++) n += model->nodes[i].n_inputs;
    return n;
}

/* Completes the rows that pass count created in the result's arena. */
static void complete_nodes(struct assembly *assembly) {
    const struct model *model = assembly->analysis->model;
    const size_t n = model->n_nodes;
    struct cm_node *nodes = assembly->analysis->count.nodes;
    const char **inputs = assembly_array(assembly, count_inputs(model), sizeof(*inputs));
    const struct cm_step *steps = copy_steps(assembly, assembly->analysis->training.of_node, n);
    for (uint32_t id = 0; id < n && !assembly->failed; id++) {
        complete_node(assembly, id, inputs, &nodes[id]);
        nodes[id].training = steps ? &steps[id] : NULL;
        inputs += model->nodes[id].n_inputs;
    }
    assembly->result->n_nodes = n;
    assembly->result->nodes = nodes;
}

/* Adds the figures of later passes to a row of pass modules. */
static void complete_module(struct assembly *assembly, size_t index, struct cm_module *module) {
    const struct analysis *analysis = assembly->analysis;
    const struct modules_table *table = &analysis->modules;
    const uint32_t first = table->first_output[index];
    module->n_outputs = table->first_output[index + 1] - first;
    module->outputs = assembly_values(assembly, table->outputs + first, module->n_outputs);
    module->peak_activation_bytes = public_count(analysis->peak_memory.of_module[index]);
    if (analysis->roofline_bounds.done)
        module->achieved =
            assembly_achieved(assembly, &analysis->roofline_bounds.of_module[index]);
    costs_publish(&module->costs);
}

/* Completes the rows that pass modules created in the result's arena. */
static void complete_modules(struct assembly *assembly) {
    const struct modules_table *table = &assembly->analysis->modules;
    struct cm_result *result = assembly->result;
    const struct cm_step *steps =
        copy_steps(assembly, assembly->analysis->training.of_module, table->n_modules);
    for (size_t i = 0; i < table->n_modules && !assembly->failed; i++) {
        complete_module(assembly, i, &table->modules[i]);
        table->modules[i].training = steps ? &steps[i] : NULL;
    }
    result->n_modules = table->n_modules;
    result->modules = table->modules;
    result->n_module_sources = table->n_sources;
    result->module_sources = table->sources;
    result->totals = table->modules[0].costs;
}

static void copy_framework(struct assembly *assembly) {
    const struct framework_table *table = &assembly->analysis->params.framework;
    assembly->result->framework = (struct cm_framework){
        .params = public_count(table->elements),
        .n_absent = (int64_t)table->n_absent,
        .n_unknown = (int64_t)table->n_unknown,
        .unknown = assembly_text(assembly, table->unknown ? table->unknown : ""),
        .shared = assembly_text(assembly, table->shared ? table->shared : ""),
        .n_sharing = (int64_t)table->n_sharing,
    };
}

static const size_t *node_list(struct assembly *assembly,
                               const struct fused_pattern *fused_pattern) {
    size_t *nodes = assembly_array(assembly, fused_pattern->n_nodes, sizeof(*nodes));
    for (size_t i = 0; nodes && i < fused_pattern->n_nodes; i++)
        nodes[i] = fused_pattern->nodes[i];
    return nodes;
}

static void copy_fused_patterns(struct assembly *assembly) {
    const struct fused_patterns_table *table = &assembly->analysis->fused_patterns;
    struct cm_fused_pattern *list = assembly_array(assembly, table->n, sizeof(*list));
    for (size_t i = 0; list && i < table->n; i++) {
        const struct fused_pattern *from = &table->items[i];
        list[i] = (struct cm_fused_pattern){
            .name = assembly_text(assembly, from->name),
            .op = assembly_text(assembly, from->op->type),
            .module = assembly->analysis->modules.of_node[from->last],
            .last = from->last,
            .n_nodes = from->n_nodes,
            .nodes = node_list(assembly, from),
            .foldable = from->foldable,
        };
    }
    assembly->result->n_fused_patterns = table->n;
    assembly->result->fused_patterns = list;
}

static void copy_inputs(struct assembly *assembly) {
    const struct model *model = assembly->analysis->model;
    const struct graph *graph = &model->graphs[0];
    struct cm_value *list = assembly_array(assembly, graph->n_inputs, sizeof(*list));
    size_t n = 0;
    for (size_t i = 0; list && i < graph->n_inputs; i++)
        if (!model->values[graph->inputs[i]].constant)
            list[n++] = assembly->values[graph->inputs[i]];
    assembly->result->model.n_inputs = n;
    assembly->result->model.inputs = list;
}

static void copy_model(struct assembly *assembly) {
    const struct model *model = assembly->analysis->model;
    struct cm_result *result = assembly->result;
    struct cm_named_size *opsets = assembly_array(assembly, model->n_opsets, sizeof(*opsets));
    for (size_t i = 0; opsets && i < model->n_opsets; i++)
        opsets[i] = (struct cm_named_size){assembly_text(assembly, model->opsets[i].domain),
                                           model->opsets[i].version};
    result->model.path = assembly_text(assembly, model->path);
    result->model.producer = assembly_text(assembly, model->producer);
    result->model.ir_version = model->ir_version;
    result->model.n_opsets = model->n_opsets;
    result->model.opsets = opsets;
    result->model.n_outputs = model->graphs[0].n_outputs;
    result->model.outputs =
        assembly_values(assembly, model->graphs[0].outputs, model->graphs[0].n_outputs);
    copy_inputs(assembly);
}

static const char *mode_name(enum cm_mode mode) {
    switch (mode) {
    case CM_MODE_TRAINING:
        return "training";
    case CM_MODE_INFERENCE:
        return "inference";
    default:
        return "model";
    }
}

static const char *option_text(struct assembly *assembly, const char *text) {
    return text ? assembly_text(assembly, text) : "";
}

/* Returns input shapes and values as on the command line; NULL: none. */
static const char *given_text(struct assembly *assembly, const struct cm_options *options) {
    if (options->n_inputs == 0 && options->n_values == 0) return NULL;
    struct text text = {.arena = assembly->arena};
    for (size_t i = 0; i < options->n_inputs; i++) {
        const struct cm_input_option *input = &options->inputs[i];
        text_printf(&text, "%s%s=", i > 0 ? " " : "", input->name);
        for (int k = 0; k < input->rank; k++)
            text_printf(&text, "%s%" PRId64, k > 0 ? "x" : "", input->dims[k]);
    }
    for (size_t i = 0; i < options->n_values; i++) {
        const struct cm_value_option *value = &options->values[i];
        text_printf(&text, "%s%s=", i + options->n_inputs > 0 ? " " : "", value->name);
        for (size_t k = 0; k < value->n; k++)
            text_printf(&text, "%s%s", k > 0 ? "," : "", value->elements[k]);
    }
    if (text.failed) assembly->failed = true;
    return text_string(&text);
}

static void copy_options(struct assembly *assembly) {
    const struct cm_options *options = assembly->analysis->options;
    const struct batch_table *batch = &assembly->analysis->batch;
    struct cm_result *result = assembly->result;
    struct cm_named_size *dims = assembly_array(assembly, batch->n_symbols, sizeof(*dims));
    for (size_t i = 0; dims && i < batch->n_symbols; i++)
        dims[i] = (struct cm_named_size){assembly_text(assembly, batch->symbols[i].name),
                                         public_count(batch->symbols[i].size)};
    result->options.batch = public_count(batch->batch);
    result->options.n_dims = batch->n_symbols;
    result->options.dims = dims;
    const size_t n = options->n_trip_counts;
    struct cm_named_size *trips = assembly_array(assembly, n, sizeof(*trips));
    for (size_t i = 0; trips && i < n; i++)
        trips[i] = (struct cm_named_size){assembly_text(assembly, options->trip_counts[i].name),
                                          options->trip_counts[i].size};
    assembly->result->options.n_trip_counts = n;
    assembly->result->options.trip_counts = trips;
    result->options.convention = assembly_text(assembly, options->convention);
    result->options.mode = mode_name(options->mode);
    result->options.schedule =
        options->schedule == CM_SCHEDULE_MIN_MEMORY ? "min-memory" : "file";
    result->options.module_source = option_text(assembly, options->module_source);
    result->options.group = option_text(assembly, options->group);
    result->options.given = given_text(assembly, options);
}

static void copy_rebatched(struct assembly *assembly) {
    const struct analysis *analysis = assembly->analysis;
    const struct batch_table *batch = &analysis->batch;
    struct cm_rebatched *list = assembly_array(assembly, batch->n_rebatched, sizeof(*list));
    for (size_t i = 0; list && i < batch->n_rebatched; i++) {
        const struct rebatched *from = &batch->rebatched[i];
        const struct node *node = &analysis->model->nodes[from->node];
        list[i] = (struct cm_rebatched){
            .node = from->node,
            .node_name = assembly_text(assembly, node->name),
            .op = assembly_text(assembly, node->type),
            .input = assembly_value(assembly, node->inputs[from->slot]).name,
            .what = from->what,
            .axis = from->axis,
            .from = public_count(from->from),
            .to = public_count(from->to),
        };
    }
    assembly->result->n_rebatched = batch->n_rebatched;
    assembly->result->rebatched = list;
}

static const char *const phase_names[] = {
    [PHASE_FORWARD] = "forward",
    [PHASE_RECOMPUTE] = "recompute",
    [PHASE_BACKWARD] = "backward",
    [PHASE_STEP] = "step",
};

static const char *const *copy_patterns(struct assembly *assembly, const char *const *patterns,
                                        size_t n) {
    const char **list = assembly_array(assembly, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++) list[i] = assembly_text(assembly, patterns[i]);
    return list;
}

static void copy_training(struct assembly *assembly) {
    const struct analysis *analysis = assembly->analysis;
    const struct cm_options *options = analysis->options;
    const struct training_table *table = &analysis->training;
    const struct gradient_kernels_table *times = &analysis->gradient_kernels;
    if (!table->optimizer) return;
    assembly->result->training = (struct cm_training){
        .present = true,
        .optimizer = assembly_text(assembly, table->optimizer->name),
        .amp = options->amp,
        .n_freeze = options->n_freeze,
        .freeze = copy_patterns(assembly, options->freeze, options->n_freeze),
        .n_checkpoint = options->n_checkpoint,
        .checkpoint = copy_patterns(assembly, options->checkpoint, options->n_checkpoint),
        .learned = public_count(table->learned),
        .frozen = public_count(table->frozen),
        .backward_macs = public_count(table->backward_macs),
        .backward_flops = public_count(table->backward_flops),
        .recompute_macs = public_count(table->recompute_macs),
        .recompute_flops = public_count(table->recompute_flops),
        .recompute_int_ops = public_count(table->recompute_int_ops),
        .step_flops = public_count(table->step_flops),
        .iteration_flops = public_count(table->iteration_flops),
        .iteration_int_ops = public_count(table->iteration_int_ops),
        .backward_ps = public_count(times->backward_ps),
        .update_ps = public_count(times->update_ps),
        .iteration_ps = public_count(times->iteration_ps),
        .iteration_lower_bound_ps = public_count(times->iteration_lower_bound_ps),
        .weight_bytes = public_count(table->weight_bytes),
        .gradient_bytes = public_count(table->gradient_bytes),
        .optimizer_bytes = public_count(table->optimizer_bytes),
        .master_bytes = public_count(table->master_bytes),
        .saved_bytes = public_count(table->saved_bytes),
        .peak_bytes = public_count(table->peak_bytes),
        .peak_phase = phase_names[table->peak_phase],
        .peak_node = table->peak_node == ID_NONE ? CM_NO_INDEX : table->peak_node,
    };
}

/* Sets the lists whose rows passes have created in the result's arena. */
static void set_rows(struct assembly *assembly) {
    const struct analysis *analysis = assembly->analysis;
    struct cm_result *result = assembly->result;
    result->n_explanations = analysis->explain.n;
    result->explanations = analysis->explain.items;
    result->n_operators = analysis->breakdown.n_operators;
    result->operators = analysis->breakdown.operators;
    result->n_advice = analysis->advice.n;
    result->advice = analysis->advice.items;
    result->input_pipeline = analysis->input_pipeline.pipeline;
}

static const char *optional_text(struct arena *arena, const char *text, bool *failed) {
    if (!text) return NULL;
    const char *copy = arena_strdup(arena, text);
    if (!copy) *failed = true;
    return copy;
}

static int copy_message(struct arena *arena, const struct cm_diagnostic *from,
                        struct cm_diagnostic *to) {
    bool failed = false;
    *to = (struct cm_diagnostic){
        .severity = from->severity,
        .code = from->code,
        .message = optional_text(arena, from->message, &failed),
        .place = optional_text(arena, from->place, &failed),
        .node = optional_text(arena, from->node, &failed),
        .hint = optional_text(arena, from->hint, &failed),
    };
    return failed ? CM_NO_MEMORY : CM_OK;
}

int assemble_messages(struct cm_diagnostics *diagnostics, size_t from, struct arena *arena,
                      struct message_list *ret) {
    if (diag_starved(diagnostics)) return diag_no_memory(diagnostics);
    size_t n = cm_diagnostics_count(diagnostics);
    struct cm_diagnostic *items = arena_array(arena, n - from, sizeof(*items));
    ret->n = 0;
    ret->items = items;
    if (!items) return CM_NO_MEMORY;
    for (size_t i = from; i < n; i++)
        if (copy_message(arena, cm_diagnostics_get(diagnostics, i), &items[ret->n++]) < 0)
            return CM_NO_MEMORY;
    return CM_OK;
}

static void copy_messages(struct assembly *assembly, const struct message_list *first,
                          const struct message_list *then) {
    struct cm_diagnostic *items = assembly_array(assembly, first->n + then->n, sizeof(*items));
    size_t n = 0;
    for (size_t i = 0; items && i < first->n + then->n; i++) {
        const struct cm_diagnostic *from =
            i < first->n ? &first->items[i] : &then->items[i - first->n];
        if (copy_message(assembly->arena, from, &items[n++]) < 0) assembly->failed = true;
    }
    assembly->result->n_diagnostics = n;
    assembly->result->diagnostics = items;
}

int assemble_result(const struct analysis *analysis, const struct assemble_extras *extras,
                    struct cm_result **ret) {
    struct assembly assembly = {
        .analysis = analysis, .arena = analysis->result_arena, .fit = extras->fit};
    assembly.result = assembly_array(&assembly, 1, sizeof(*assembly.result));
    size_t n = assembly.analysis->model->n_values;
    assembly.values = assembly_array(&assembly, n, sizeof(*assembly.values));
    for (uint32_t id = 0; id < n && !assembly.failed; id++)
        copy_value(&assembly, id, id > 0 ? &assembly.values[id - 1] : NULL);
    if (!assembly.failed) {
        assembly.result->arena = assembly.arena;
        assembly.result->coverage = extras->coverage;
        copy_model(&assembly);
        copy_options(&assembly);
        complete_nodes(&assembly);
        complete_modules(&assembly);
        copy_framework(&assembly);
        copy_fused_patterns(&assembly);
        copy_rebatched(&assembly);
        assemble_memory(&assembly);
        copy_training(&assembly);
        assemble_measure(&assembly);
        set_rows(&assembly);
        copy_messages(&assembly, &extras->loading, &extras->analysis);
    }
    if (assembly.failed || arena_failed(assembly.arena) || arena_failed(analysis->arena))
        return diag_no_memory(analysis->diag);
    *ret = assembly.result;
    return CM_OK;
}
