/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the public result from the tables of the passes. It copies and converts; it does not
 * compute figures. */
#include "api/assemble.h"

#include <inttypes.h>

#include "api/assembly.h"
#include "api/half.h"
#include "passes/batch/batch.h"
#include "passes/cost/count.h"
#include "passes/costs.h"
#include "passes/device/device_memory.h"
#include "passes/fusion/fuse_patterns.h"
#include "passes/memory/arena_plan.h"
#include "passes/memory/arena_planner.h"
#include "passes/memory/in_place.h"
#include "passes/memory/liveness.h"
#include "passes/modules/modules.h"
#include "passes/params/params.h"
#include "passes/summary/explain.h"
#include "passes/summary/memory_required.h"
#include "passes/summary/operators.h"
#include "passes/summary/peak_memory.h"
#include "passes/training/optimizers.h"
#include "passes/training/training.h"
#include "passes/walk/context.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/option_names.h"
#include "support/text.h"

static const int64_t *copy_dims(struct assembly *assembly, const struct shape *shape) {
    size_t n = (size_t)shape->rank;
    int64_t *dims = arena_array(assembly->arena, n, sizeof(*dims));
    for (size_t i = 0; dims && i < n; i++) dims[i] = public_count(shape->dims[i]);
    return dims;
}

/* Recurses into element types; ops/merge.c limits the depth. `upper`: bounds of `info`. */
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
        struct cm_type *element = arena_array(assembly->arena, 1, sizeof(*element));
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

/* `before` is value id - 1, or NULL. If both values have the same type, they share the dims. */
static void copy_value(struct assembly *assembly, uint32_t id, const struct cm_value *before) {
    const struct infer_table *infer = assembly->analysis->infer;
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
    const struct params_table *params = assembly->analysis->params;
    for (size_t i = 0; i < params->n_used[id]; i++) {
        const struct param *param = &params->params[params->used[id][i]];
        if (param->kind == PARAM_LEARNED)
            checked_add_to(&costs->params, param->elements);
        else
            checked_add_to(&costs->buffers, param->elements);
        checked_add_to(&costs->weight_bytes, param->bytes);
    }
}

/* Copies `from`, indexed by node or module; it is NULL if there is no training step. */
static struct cm_step *copy_steps(struct assembly *assembly, const struct cm_step *from,
                                  size_t n) {
    struct cm_step *steps = from ? arena_array(assembly->arena, n, sizeof(*steps)) : NULL;
    for (size_t i = 0; steps && i < n; i++)
        steps[i] = (struct cm_step){.backward_macs = public_count(from[i].backward_macs),
                                    .saved_bytes = public_count(from[i].saved_bytes)};
    return steps;
}

/* Completes the rows that pass count created in the result's arena. */
static void complete_nodes(struct assembly *assembly) {
    const struct analysis *analysis = assembly->analysis;
    const size_t n = analysis->model->n_nodes;
    struct cm_node *nodes = analysis->count->nodes;
    size_t n_inputs = 0;
    for (size_t i = 0; i < n; i++) n_inputs += analysis->model->nodes[i].n_inputs;
    const char **inputs = arena_array(assembly->arena, n_inputs, sizeof(*inputs));
    const struct cm_step *steps = copy_steps(assembly, analysis->training->of_node, n);
    for (uint32_t id = 0; id < n && !arena_failed(assembly->arena); id++) {
        const struct node *node = &analysis->model->nodes[id];
        struct cm_node *ret = &nodes[id];
        for (size_t i = 0; i < node->n_inputs; i++)
            inputs[i] =
                node->inputs[i] == ID_NONE ? "" : assembly->values[node->inputs[i]].name;
        ret->index = id;
        ret->name = assembly_text(assembly, node->name);
        ret->op = assembly_shared(assembly, node->type);
        ret->domain = assembly_shared(assembly, node->domain);
        ret->module = analysis->modules->of_node[id];
        ret->n_inputs = node->n_inputs;
        ret->inputs = inputs;
        ret->n_outputs = node->n_outputs;
        ret->outputs = assembly_values(assembly, node->outputs, node->n_outputs);
        ret->training = steps ? &steps[id] : NULL;
        ret->kernel = CM_NO_INDEX;
        add_params(assembly, id, &ret->costs);
        costs_publish(&ret->costs);
        inputs += node->n_inputs;
    }
    assembly->result->n_nodes = n;
    assembly->result->nodes = nodes;
}

/* Completes the rows that pass modules created in the result's arena. */
static void complete_modules(struct assembly *assembly) {
    const struct analysis *analysis = assembly->analysis;
    const struct modules_table *table = analysis->modules;
    struct cm_result *result = assembly->result;
    const struct cm_step *steps =
        copy_steps(assembly, analysis->training->of_module, table->n_modules);
    for (size_t i = 0; i < table->n_modules && !arena_failed(assembly->arena); i++) {
        struct cm_module *module = &table->modules[i];
        const uint32_t first = table->first_output[i];
        module->n_outputs = table->first_output[i + 1] - first;
        module->outputs = assembly_values(assembly, table->outputs + first, module->n_outputs);
        module->peak_activation_bytes = public_count(analysis->peak_memory->of_module[i]);
        module->achieved = NULL;
        module->training = steps ? &steps[i] : NULL;
        costs_publish(&module->costs);
    }
    result->n_modules = table->n_modules;
    result->modules = table->modules;
    result->n_module_sources = table->n_sources;
    result->module_sources = table->sources;
    result->totals = table->modules[0].costs;
}

static void copy_framework(struct assembly *assembly) {
    const struct framework_table *table = &assembly->analysis->params->framework;
    const char **unknown = arena_array(assembly->arena, table->n_unknown, sizeof *unknown);
    for (size_t i = 0; unknown && i < table->n_unknown; i++)
        unknown[i] = assembly_text(assembly, table->unknown[i]);
    assembly->result->framework = (struct cm_framework){
        .params = public_count(table->elements),
        .n_absent = (int64_t)table->n_absent,
        .n_unknown = table->n_unknown,
        .unknown = unknown,
        .shared = assembly_text(assembly, table->shared),
        .n_sharing = (int64_t)table->n_sharing,
    };
}

static void copy_fused_patterns(struct assembly *assembly) {
    const struct fused_patterns_table *table = assembly->analysis->fused_patterns;
    struct cm_fused_pattern *list = arena_array(assembly->arena, table->n, sizeof(*list));
    for (size_t i = 0; list && i < table->n; i++) {
        const struct fused_pattern *from = &table->items[i];
        list[i] = (struct cm_fused_pattern){
            .name = assembly_text(assembly, from->name),
            .op = assembly_text(assembly, from->op->type),
            .module = assembly->analysis->modules->of_node[from->last],
            .last = from->last,
            .n_nodes = from->n_nodes,
            .nodes = assembly_indices(assembly, from->nodes, from->n_nodes),
            .foldable = from->foldable,
        };
    }
    assembly->result->n_fused_patterns = table->n;
    assembly->result->fused_patterns = list;
}

static void copy_model(struct assembly *assembly) {
    const struct model *model = assembly->analysis->model;
    struct cm_result *result = assembly->result;
    struct cm_named_size *opsets =
        arena_array(assembly->arena, model->n_opsets, sizeof(*opsets));
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
    const struct graph *graph = &model->graphs[0];
    struct cm_value *inputs = arena_array(assembly->arena, graph->n_inputs, sizeof(*inputs));
    for (size_t i = 0; inputs && i < graph->n_inputs; i++)
        if (!model->values[graph->inputs[i]].constant)
            inputs[result->model.n_inputs++] = assembly->values[graph->inputs[i]];
    result->model.inputs = inputs;
}

/* Returns the given input shapes and values: "x=1x3x8 n=2,4"; NULL if none are given. */
static const char *given_text(struct assembly *assembly, const struct cm_options *options) {
    if (options->n_inputs == 0 && options->n_values == 0) return NULL;
    struct text text = {.arena = assembly->arena};
    for (size_t i = 0; i < options->n_inputs; i++) {
        const struct cm_input_option *input = &options->inputs[i];
        text_printf(&text, "%s%s=", i > 0 ? " " : "", input->name);
        for (size_t k = 0; k < input->n_dims; k++)
            text_printf(&text, "%s%" PRId64, k > 0 ? "x" : "", input->dims[k]);
    }
    for (size_t i = 0; i < options->n_values; i++) {
        const struct cm_value_option *value = &options->values[i];
        text_printf(&text, "%s%s=", i + options->n_inputs > 0 ? " " : "", value->name);
        for (size_t k = 0; k < value->n; k++)
            text_printf(&text, "%s%s", k > 0 ? "," : "", value->elements[k]);
    }
    if (text.failed) arena_set_failed(assembly->arena);
    return text_string(&text);
}

static const char *file_precision(const struct analysis *analysis) {
    const enum dtype dtype = analysis->infer->file_dtype;
    if (dtype == DTYPE_BFLOAT16) return "bf16";
    return dtype == DTYPE_FLOAT16 ? "fp16" : "fp32";
}

static void copy_options(struct assembly *assembly) {
    const struct cm_options *options = assembly->analysis->options;
    const struct batch_table *batch = assembly->analysis->batch;
    struct cm_result *result = assembly->result;
    struct cm_named_size *dims = arena_array(assembly->arena, batch->n_symbols, sizeof(*dims));
    for (size_t i = 0; dims && i < batch->n_symbols; i++)
        dims[i] = (struct cm_named_size){assembly_text(assembly, batch->symbols[i].name),
                                         public_count(batch->symbols[i].size)};
    result->options.batch =
        public_count(checked_mul(batch->batch, pass_micro_batches(assembly->analysis)));
    result->options.n_dims = batch->n_symbols;
    result->options.dims = dims;
    const size_t n = options->n_trip_counts;
    struct cm_named_size *trips = arena_array(assembly->arena, n, sizeof(*trips));
    for (size_t i = 0; trips && i < n; i++)
        trips[i] = (struct cm_named_size){assembly_text(assembly, options->trip_counts[i].name),
                                          options->trip_counts[i].size};
    result->options.n_trip_counts = n;
    result->options.trip_counts = trips;
    result->options.counting = CM_COUNTING_VERSION;
    result->options.file_precision = file_precision(assembly->analysis);
    result->options.precision = options->precision == CM_PRECISION_AS_STORED
                                    ? result->options.file_precision
                                    : option_precision_name((int32_t)options->precision);
    result->options.convention = assembly_text(assembly, options->convention);
    result->options.mode = "model";
    if (options->mode == CM_MODE_TRAINING) result->options.mode = "training";
    if (options->mode == CM_MODE_INFERENCE) result->options.mode = "inference";
    result->options.schedule =
        options->schedule == CM_SCHEDULE_MIN_MEMORY ? "min-memory" : "file";
    result->options.module_source = assembly_text(assembly, options->module_source);
    result->options.group = assembly_text(assembly, options->group);
    result->options.given = given_text(assembly, options);
}

static void copy_rebatched(struct assembly *assembly) {
    const struct analysis *analysis = assembly->analysis;
    const struct batch_table *batch = analysis->batch;
    struct cm_rebatched *list = arena_array(assembly->arena, batch->n_rebatched, sizeof(*list));
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
    const char **list = arena_array(assembly->arena, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++) list[i] = assembly_text(assembly, patterns[i]);
    return list;
}

static const char *const part_names[N_TRAINING_PARTS] = {
    [PART_ACTIVATION] = "activations",  [PART_SAVED] = "saved",
    [PART_HELD] = "inputs and outputs", [PART_CAST] = "cast copies",
    [PART_GRADIENT] = "gradients",
};

/* Copies the blocks of one part. Blocks of one node that follow each other and are alive
 * together become one entry. Positions are events without event 0. */
static struct cm_step_tensors copy_blocks(struct assembly *assembly, enum training_part part) {
    const struct training_table *table = assembly->analysis->training;
    size_t n = 0;
    for (size_t i = 0; i < table->n_blocks; i++) n += table->blocks[i].part == part;
    size_t *nodes = arena_array(assembly->arena, 4 * n, sizeof(*nodes));
    if (!nodes) return (struct cm_step_tensors){0};
    size_t *from = nodes + n;
    size_t *to = from + n;
    size_t *bytes = to + n;
    size_t count = 0;
    const struct training_block *last = NULL;
    for (size_t i = 0; i < table->n_blocks; i++) {
        const struct training_block *block = &table->blocks[i];
        if (block->part != part) continue;
        const bool is_same = last && last->node == block->node && last->from == block->from &&
                             last->to == block->to;
        count += !is_same;
        nodes[count - 1] = block->node == ID_NONE ? 0 : block->node;
        from[count - 1] = block->from - 1;
        to[count - 1] = block->to - 1;
        bytes[count - 1] += (size_t)block->bytes;
        last = block;
    }
    return (struct cm_step_tensors){
        part_names[part], count, nodes, count, from, count, to, count, bytes};
}

/* Returns NULL if no curve is requested. */
static const struct cm_step_curve *copy_step_curve(struct assembly *assembly) {
    const struct training_table *table = assembly->analysis->training;
    if (!assembly->analysis->options->memory_curve || !is_known(table->peak_bytes)) return NULL;
    struct cm_step_curve *curve = arena_alloc(assembly->arena, sizeof *curve);
    struct cm_step_tensors *tensors =
        arena_array(assembly->arena, N_TRAINING_PARTS, sizeof *tensors);
    if (!curve || !tensors) return NULL;
    *curve = (struct cm_step_curve){
        .n_forward = table->first_back - 1,
        .held_bytes = public_count(table->held_bytes),
        .n_order = table->n_events - 1,
        .order = assembly_indices(assembly, table->node_at + 1, table->n_events - 1),
        .tensors = tensors,
    };
    for (enum training_part part = 0; part < N_TRAINING_PARTS; part++) {
        tensors[curve->n_tensors] = copy_blocks(assembly, part);
        curve->n_tensors += tensors[curve->n_tensors].n_nodes > 0;
    }
    return curve;
}

static void copy_training(struct assembly *assembly) {
    const struct analysis *analysis = assembly->analysis;
    const struct cm_options *options = analysis->options;
    const struct training_table *table = analysis->training;
    if (!table->optimizer) return;
    assembly->result->training = (struct cm_training){
        .present = true,
        .optimizer = assembly_text(assembly, table->optimizer->name),
        .shard_gpus = options->shard_gpus,
        .zero_stage = options->shard_gpus > 0 ? options->zero_stage : 0,
        .offload =
            options->shard_gpus > 0 ? option_offload_name((int32_t)options->offload) : "",
        .micro_batches = pass_micro_batches(analysis),
        .n_freeze = options->n_freeze,
        .freeze = copy_patterns(assembly, options->freeze, options->n_freeze),
        .n_trainable = options->n_trainable,
        .trainable = copy_patterns(assembly, options->trainable, options->n_trainable),
        .n_checkpoint = options->n_checkpoint,
        .checkpoint = copy_patterns(assembly, options->checkpoint, options->n_checkpoint),
        .restored_norms = (int64_t)analysis->model->n_restored_norms,
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
        .backward_ps = CM_UNKNOWN,
        .update_ps = CM_UNKNOWN,
        .iteration_ps = CM_UNKNOWN,
        .iteration_lower_bound_ps = CM_UNKNOWN,
        .weight_bytes = public_count(table->weight_bytes),
        .gradient_bytes = public_count(table->gradient_bytes),
        .optimizer_bytes = public_count(table->optimizer_bytes),
        .host_bytes = public_count(table->host_bytes),
        .master_bytes = public_count(table->master_bytes),
        .gather_bytes = public_count(table->gather_bytes),
        .model_state_bytes =
            public_count(checked_add(table->held_bytes, table->whole_gradient_bytes)),
        .weight_copy_bytes = public_count(table->weight_copy_bytes),
        .saved_bytes = public_count(table->saved_bytes),
        .peak_bytes = public_count(table->peak_bytes),
        .peak_phase = phase_names[table->peak_phase],
        .peak_node = table->peak_node == ID_NONE ? CM_NO_INDEX : table->peak_node,
        .curve = copy_step_curve(assembly),
    };
}

static const char *optional_text(struct arena *arena, const char *text) {
    return text ? arena_strdup(arena, text) : NULL;
}

/* An allocation failure is sticky in the arena. */
static struct cm_diagnostic copy_message(struct arena *arena,
                                         const struct cm_diagnostic *from) {
    return (struct cm_diagnostic){
        .severity = from->severity,
        .code = from->code,
        .message = optional_text(arena, from->message),
        .place = optional_text(arena, from->place),
        .node = optional_text(arena, from->node),
        .hint = optional_text(arena, from->hint),
    };
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
        items[ret->n++] = copy_message(arena, cm_diagnostics_get(diagnostics, i));
    return arena_failed(arena) ? CM_NO_MEMORY : CM_OK;
}

static void copy_messages(struct assembly *assembly, const struct message_list *first,
                          const struct message_list *then) {
    const size_t n = first->n + then->n;
    struct cm_diagnostic *items = arena_array(assembly->arena, n, sizeof(*items));
    for (size_t i = 0; items && i < n; i++)
        items[i] = copy_message(assembly->arena,
                                i < first->n ? &first->items[i] : &then->items[i - first->n]);
    assembly->result->n_diagnostics = n;
    assembly->result->diagnostics = items;
}

/* Lists every value with an offset in the arena, in the order of the file. */
static void copy_arena_plan(struct assembly *assembly, struct cm_memory *memory) {
    const struct analysis *analysis = assembly->analysis;
    size_t n = analysis->options->memory_plan ? analysis->model->n_values : 0;
    struct cm_placed *placed = arena_array(assembly->arena, n, sizeof(*placed));
    memory->placed = placed;
    for (uint32_t id = 0; placed && id < n; id++) {
        uint32_t node = analysis->model->values[id].node;
        if (!is_known(analysis->arena_plan->offsets[id])) continue;
        placed[memory->n_placed++] = (struct cm_placed){
            .value = assembly_value(assembly, id).name,
            .offset = analysis->arena_plan->offsets[id],
            .bytes = assembly_value(assembly, id).bytes,
            .made = node == ID_NONE ? CM_NO_INDEX : node,
            .last = analysis->liveness->n_steps == 0
                        ? CM_NO_INDEX
                        : analysis->liveness->node_at[analysis->liveness->last[id]],
        };
    }
}

/* Copies the lists of `memory`. With --schedule min-memory, lists the schedule even if it
 * equals the order of the file. */
static void copy_memory_lists(struct assembly *assembly, struct cm_memory *memory) {
    const struct analysis *analysis = assembly->analysis;
    const struct cm_options *options = analysis->options;
    const struct liveness_table *liveness = analysis->liveness;
    const struct peak_memory_table *peak = analysis->peak_memory;
    const int64_t *planned = analysis->arena_plan->by_planner;
    memory->n_schedule = options->schedule == CM_SCHEDULE_MIN_MEMORY ? liveness->n_steps : 0;
    memory->schedule = assembly_indices(assembly, liveness->node_at, memory->n_schedule);
    memory->n_curve = options->memory_curve ? liveness->n_steps : 0;
    struct cm_curve_point *curve =
        arena_array(assembly->arena, memory->n_curve, sizeof(*curve));
    for (size_t i = 0; curve && i < memory->n_curve; i++)
        curve[i] =
            (struct cm_curve_point){liveness->node_at[i], public_count(liveness->live[i])};
    memory->curve = curve;
    memory->n_live = peak->n_live;
    struct cm_live *live = arena_array(assembly->arena, peak->n_live, sizeof(*live));
    for (size_t i = 0; live && i < peak->n_live; i++)
        live[i] = (struct cm_live){assembly_value(assembly, peak->live[i].value).name,
                                   peak->live[i].bytes, peak->live[i].module};
    memory->live = live;
    memory->n_planners = planned ? N_ARENA_PLANNERS : 0;
    struct cm_name_count *planners =
        arena_array(assembly->arena, memory->n_planners, sizeof(*planners));
    for (size_t i = 0; planners && i < memory->n_planners; i++)
        planners[i] = (struct cm_name_count){arena_planner_name((enum arena_planner)i),
                                             public_count(planned[i])};
    memory->planners = planners;
}

static void assemble_memory(struct assembly *assembly) {
    const struct liveness_table *liveness = assembly->analysis->liveness;
    const struct arena_plan_table *plan = assembly->analysis->arena_plan;
    const struct memory_required_table *required = assembly->analysis->memory_required;
    struct cm_memory *memory = &assembly->result->memory;
    int64_t alignment = assembly->analysis->options->memory_alignment;
    uint32_t node = liveness->peak_node;
    *memory = (struct cm_memory){
        .peak_activation_bytes = public_count(liveness->peak_bytes),
        .peak_in_place_bytes = public_count(assembly->analysis->in_place->peak_bytes),
        .arena_bytes = public_count(plan->arena_bytes),
        .arena_in_place_bytes = public_count(plan->arena_in_place_bytes),
        .alignment = alignment > 1 ? alignment : 1,
        .upper_bound = liveness->upper_bound,
        .peak_upper_bound = liveness->peak_upper_bound,
        .n_weights = required->n_weights,
        .weights = required->weights,
        .required_bytes = public_count(required->required_bytes),
        .peak_node = node == ID_NONE ? CM_NO_INDEX : node,
        .file_order_peak_bytes = public_count(liveness->file_peak_bytes),
        .schedule_optimal = liveness->is_optimal,
    };
    copy_memory_lists(assembly, memory);
    copy_arena_plan(assembly, memory);
    if (!assembly->fit) return;
    struct cm_fit *fit = arena_copy(assembly->arena, assembly->fit, sizeof(*fit));
    if (fit) fit->why = assembly_text(assembly, fit->why);
    memory->fit = fit;
}

int assemble_result(const struct analysis *analysis, const struct assemble_extras *extras,
                    struct cm_result **ret) {
    struct assembly assembly = {
        .analysis = analysis, .arena = analysis->result_arena, .fit = extras->fit};
    const size_t n = analysis->model->n_values;
    struct cm_result *result = arena_alloc(assembly.arena, sizeof(*result));
    assembly.result = result;
    assembly.values = arena_array(assembly.arena, n, sizeof(*assembly.values));
    for (uint32_t id = 0; id < n && !arena_failed(assembly.arena); id++)
        copy_value(&assembly, id, id > 0 ? &assembly.values[id - 1] : NULL);
    if (arena_failed(assembly.arena)) return diag_no_memory(analysis->diag);
    result->arena = assembly.arena;
    result->coverage = extras->coverage;
    copy_model(&assembly);
    copy_options(&assembly);
    complete_nodes(&assembly);
    complete_modules(&assembly);
    copy_framework(&assembly);
    copy_fused_patterns(&assembly);
    copy_rebatched(&assembly);
    assemble_memory(&assembly);
    copy_training(&assembly);
    result->device_memory = analysis->device_memory->estimate;
    copy_messages(&assembly, &extras->loading, &extras->analysis);
    /* Passes have created these rows in the result's arena. */
    result->n_explanations = analysis->explain->n;
    result->explanations = analysis->explain->items;
    result->n_operators = analysis->operators->n;
    result->operators = analysis->operators->items;
    if (extras->timing) half_assemble(&assembly, extras->timing);
    if (arena_failed(assembly.arena) || arena_failed(analysis->arena))
        return diag_no_memory(analysis->diag);
    *ret = result;
    return CM_OK;
}
