/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the public result out of the tables of the passes. It copies and names, and computes
 * nothing: a figure that is not in a table does not belong here.
 */
#include "lib/assemble.h"

#include "lib/coverage.h"
#include "passes/lifetime.h"
#include "passes/packing.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

/* The result under construction. Once `failed` is set nothing is read any more. */
struct assembly {
    const struct analysis *analysis;
    struct arena *arena;
    struct cm_result *result;
    struct cm_value *values; /* by value id, in the result's arena */
    bool failed;             /* out of memory */
};

static void *take_array(struct assembly *assembly, size_t n, size_t size) {
    void *items = assembly->failed ? NULL : arena_array(assembly->arena, n, size);
    if (!items) assembly->failed = true;
    return items;
}

static const char *take_text(struct assembly *assembly, const char *text) {
    const char *copy =
        assembly->failed ? NULL : arena_strdup(assembly->arena, text ? text : "");
    if (!copy) assembly->failed = true;
    return copy;
}

static int64_t public_count(int64_t value) {
    return is_known(value) ? value : CM_UNKNOWN;
}

static void public_costs(const struct cm_costs *from, struct cm_costs *to) {
    to->params = public_count(from->params);
    to->buffers = public_count(from->buffers);
    to->macs = public_count(from->macs);
    to->flops = public_count(from->flops);
    to->bytes_read = public_count(from->bytes_read);
    to->bytes_written = public_count(from->bytes_written);
    to->weight_bytes = public_count(from->weight_bytes);
    to->activation_bytes = public_count(from->activation_bytes);
}

/* Types nest (a sequence of optionals of …) only as deep as ops/merge.c lets them. */
static void take_type(struct assembly *assembly, const struct fact *fact,
                      struct cm_type *type) {
    *type = (struct cm_type){.kind = fact->kind, .rank = -1};
    if (fact->dtype != DTYPE_UNDEFINED) type->dtype = dtype_name(fact->dtype);
    if (shape_has_rank(&fact->shape)) {
        type->rank = fact->shape.rank;
        int64_t *dims = take_array(assembly, (size_t)fact->shape.rank, sizeof(*dims));
        for (int i = 0; dims && i < type->rank; i++)
            dims[i] = public_count(fact->shape.dims[i]);
        type->dims = dims;
    }
    if (fact->element) {
        struct cm_type *element = take_array(assembly, 1, sizeof(*element));
        if (element) take_type(assembly, fact->element, element);
        type->element = element;
    }
}

static void take_value(struct assembly *assembly, uint32_t id) {
    const struct fact *fact = &assembly->analysis->infer.facts[id];
    struct cm_value *value = &assembly->values[id];
    value->name = take_text(assembly, assembly->analysis->model->values[id].name);
    value->bytes = public_count(lifetime_bytes(fact));
    take_type(assembly, fact, &value->type);
}

static void take_values(struct assembly *assembly) {
    size_t n = assembly->analysis->model->n_values;
    assembly->values = take_array(assembly, n, sizeof(*assembly->values));
    for (uint32_t id = 0; id < n && !assembly->failed; id++) take_value(assembly, id);
}

static struct cm_value value_at(const struct assembly *assembly, uint32_t id) {
    if (id != ID_NONE) return assembly->values[id];
    return (struct cm_value){.name = "", .type = {.rank = -1}, .bytes = CM_UNKNOWN};
}

static const struct cm_value *value_list(struct assembly *assembly, const uint32_t *ids,
                                         size_t n) {
    struct cm_value *list = take_array(assembly, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++) list[i] = value_at(assembly, ids[i]);
    return list;
}

/* Params and buffers of the node's own operands. */
static void add_params(const struct assembly *assembly, uint32_t id, struct cm_costs *costs) {
    const struct params_table *params = &assembly->analysis->params;
    costs->params = costs->buffers = costs->weight_bytes = 0;
    for (size_t i = 0; i < params->n_used[id]; i++) {
        const struct param *param = &params->params[params->used[id][i]];
        if (param->kind == PARAM_LEARNED)
            costs->params = checked_add(costs->params, param->elements);
        else
            costs->buffers = checked_add(costs->buffers, param->elements);
        costs->weight_bytes = checked_add(costs->weight_bytes, param->bytes);
    }
}

static void take_node(struct assembly *assembly, uint32_t id, struct cm_node *ret) {
    const struct analysis *analysis = assembly->analysis;
    const struct node *node = &analysis->model->nodes[id];
    const char **inputs = take_array(assembly, node->n_inputs, sizeof(*inputs));
    struct cm_costs costs = analysis->count.costs[id];
    for (size_t i = 0; inputs && i < node->n_inputs; i++)
        inputs[i] = value_at(assembly, node->inputs[i]).name;
    add_params(assembly, id, &costs);
    *ret = (struct cm_node){
        .index = id,
        .name = take_text(assembly, node->name),
        .op = take_text(assembly, node->type),
        .domain = take_text(assembly, node->domain),
        .module = analysis->modules.of_node[id],
        .n_inputs = node->n_inputs,
        .inputs = inputs,
        .n_outputs = node->n_outputs,
        .outputs = value_list(assembly, node->outputs, node->n_outputs),
    };
    public_costs(&costs, &ret->costs);
}

static void take_nodes(struct assembly *assembly) {
    size_t n = assembly->analysis->model->n_nodes;
    struct cm_node *nodes = take_array(assembly, n, sizeof(*nodes));
    for (uint32_t id = 0; id < n && !assembly->failed; id++)
        take_node(assembly, id, &nodes[id]);
    assembly->result->n_nodes = n;
    assembly->result->nodes = nodes;
}

static const size_t *child_list(struct assembly *assembly, const struct module *module) {
    size_t *children = take_array(assembly, module->n_children, sizeof(*children));
    for (size_t i = 0; children && i < module->n_children; i++)
        children[i] = module->children[i];
    return children;
}

static void take_module(struct assembly *assembly, const struct module *module, int64_t peak,
                        struct cm_module *ret) {
    *ret = (struct cm_module){
        .path = take_text(assembly, module->path),
        .name = take_text(assembly, module->name),
        .type = take_text(assembly, module->type),
        .arguments = take_text(assembly, module->arguments),
        .type_known = module->type_known,
        .depth = module->depth,
        .parent = module->parent == ID_NONE ? CM_NO_INDEX : module->parent,
        .n_children = module->n_children,
        .children = child_list(assembly, module),
        .calls = module->calls,
        .n_outputs = module->n_outputs,
        .outputs = value_list(assembly, module->outputs, module->n_outputs),
    };
    ret->peak_activation_bytes = public_count(peak);
    public_costs(&module->costs, &ret->costs);
}

static void take_modules(struct assembly *assembly) {
    const struct modules_table *table = &assembly->analysis->modules;
    struct cm_module *modules = take_array(assembly, table->n_modules, sizeof(*modules));
    for (size_t i = 0; i < table->n_modules && !assembly->failed; i++)
        take_module(assembly, &table->modules[i], assembly->analysis->memory.of_module[i],
                    &modules[i]);
    assembly->result->n_modules = table->n_modules;
    assembly->result->modules = modules;
    if (!assembly->failed) assembly->result->totals = modules[0].costs;
}

static void take_inputs(struct assembly *assembly) {
    const struct model *model = assembly->analysis->model;
    const struct graph *graph = &model->graphs[0];
    struct cm_value *list = take_array(assembly, graph->n_inputs, sizeof(*list));
    size_t n = 0;
    for (size_t i = 0; list && i < graph->n_inputs; i++)
        if (!model->values[graph->inputs[i]].constant)
            list[n++] = assembly->values[graph->inputs[i]];
    assembly->result->model.n_inputs = n;
    assembly->result->model.inputs = list;
}

static void take_model(struct assembly *assembly) {
    const struct model *model = assembly->analysis->model;
    struct cm_result *result = assembly->result;
    struct cm_named_size *opsets = take_array(assembly, model->n_opsets, sizeof(*opsets));
    for (size_t i = 0; opsets && i < model->n_opsets; i++)
        opsets[i] = (struct cm_named_size){take_text(assembly, model->opsets[i].domain),
                                           model->opsets[i].version};
    result->model.path = take_text(assembly, model->path);
    result->model.producer = take_text(assembly, model->producer);
    result->model.ir_version = model->ir_version;
    result->model.n_opsets = model->n_opsets;
    result->model.opsets = opsets;
    result->model.n_outputs = model->graphs[0].n_outputs;
    result->model.outputs =
        value_list(assembly, model->graphs[0].outputs, model->graphs[0].n_outputs);
    take_inputs(assembly);
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

static const char *schedule_name(enum cm_schedule schedule) {
    return schedule == CM_SCHEDULE_MIN_MEMORY ? "min-memory" : "file";
}

static void take_options(struct assembly *assembly) {
    const struct batch_table *batch = &assembly->analysis->batch;
    struct cm_result *result = assembly->result;
    struct cm_named_size *dims = take_array(assembly, batch->n_symbols, sizeof(*dims));
    for (size_t i = 0; dims && i < batch->n_symbols; i++)
        dims[i] = (struct cm_named_size){take_text(assembly, batch->symbols[i].name),
                                         public_count(batch->symbols[i].size)};
    result->options.batch = public_count(batch->batch);
    result->options.n_dims = batch->n_symbols;
    result->options.dims = dims;
    result->options.convention = take_text(assembly, assembly->analysis->options->convention);
    result->options.mode = mode_name(assembly->analysis->options->mode);
    result->options.schedule = schedule_name(assembly->analysis->options->schedule);
}

static void take_rebatched(struct assembly *assembly) {
    const struct analysis *analysis = assembly->analysis;
    const struct batch_table *batch = &analysis->batch;
    struct cm_rebatched *list = take_array(assembly, batch->n_rebatched, sizeof(*list));
    for (size_t i = 0; list && i < batch->n_rebatched; i++) {
        const struct rebatched *from = &batch->rebatched[i];
        const struct node *node = &analysis->model->nodes[from->node];
        list[i] = (struct cm_rebatched){
            .node = from->node,
            .node_name = take_text(assembly, node->name),
            .op = take_text(assembly, node->type),
            .input = value_at(assembly, node->inputs[from->slot]).name,
            .what = from->what,
            .axis = from->axis,
            .from = public_count(from->from),
            .to = public_count(from->to),
        };
    }
    assembly->result->n_rebatched = batch->n_rebatched;
    assembly->result->rebatched = list;
}

static void take_live(struct assembly *assembly, struct cm_memory *memory) {
    const struct memory_table *table = &assembly->analysis->memory;
    struct cm_live *live = take_array(assembly, table->n_live, sizeof(*live));
    for (size_t i = 0; live && i < table->n_live; i++)
        live[i] = (struct cm_live){value_at(assembly, table->live[i].value).name,
                                   table->live[i].bytes, table->live[i].module};
    memory->n_live = table->n_live;
    memory->live = live;
}

static void take_planners(struct assembly *assembly, struct cm_memory *memory) {
    const int64_t *bytes = assembly->analysis->plan.by_planner;
    size_t n = bytes ? PACKING_N_PLANNERS : 0;
    struct cm_name_count *list = take_array(assembly, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++)
        list[i] = (struct cm_name_count){packing_planner_name((enum packing_planner)i),
                                         public_count(bytes[i])};
    memory->n_planners = n;
    memory->planners = list;
}

/* A model without nodes has no last one. */
static size_t last_node(const struct analysis *analysis, uint32_t value) {
    const struct lifetime_table *lifetime = &analysis->lifetime;
    return lifetime->n_steps == 0 ? CM_NO_INDEX : lifetime->node_at[lifetime->last[value]];
}

/* Every value that has a place, in the order in which the file names them. */
static void take_plan(struct assembly *assembly, struct cm_memory *memory) {
    const struct analysis *analysis = assembly->analysis;
    size_t n = analysis->options->memory_plan ? analysis->model->n_values : 0;
    struct cm_placed *placed = take_array(assembly, n, sizeof(*placed));
    memory->placed = placed;
    for (uint32_t id = 0; placed && id < n; id++) {
        uint32_t node = analysis->model->values[id].node;
        if (!is_known(analysis->plan.offsets[id])) continue;
        placed[memory->n_placed++] = (struct cm_placed){
            .value = value_at(assembly, id).name,
            .offset = analysis->plan.offsets[id],
            .bytes = value_at(assembly, id).bytes,
            .made = node == ID_NONE ? CM_NO_INDEX : node,
            .last = last_node(analysis, id),
        };
    }
}

/* What was asked for stands there even where it is the order of the file. */
static void take_schedule(struct assembly *assembly, struct cm_memory *memory) {
    const struct lifetime_table *lifetime = &assembly->analysis->lifetime;
    bool asked = assembly->analysis->options->schedule == CM_SCHEDULE_MIN_MEMORY;
    size_t n = asked ? lifetime->n_steps : 0;
    size_t *nodes = take_array(assembly, n, sizeof(*nodes));
    for (size_t i = 0; nodes && i < n; i++) nodes[i] = lifetime->node_at[i];
    memory->file_order_peak_bytes = public_count(lifetime->file_peak_bytes);
    memory->schedule_optimal = lifetime->is_optimal;
    memory->n_schedule = n;
    memory->schedule = nodes;
}

static void take_memory(struct assembly *assembly) {
    const struct lifetime_table *lifetime = &assembly->analysis->lifetime;
    const struct plan_table *plan = &assembly->analysis->plan;
    struct cm_memory *memory = &assembly->result->memory;
    uint32_t node = lifetime->peak_node;
    *memory = (struct cm_memory){
        .peak_activation_bytes = public_count(lifetime->peak_bytes),
        .peak_in_place_bytes = public_count(assembly->analysis->in_place.peak_bytes),
        .arena_bytes = public_count(plan->arena_bytes),
        .arena_in_place_bytes = public_count(plan->arena_in_place_bytes),
        .peak_node = node == ID_NONE ? CM_NO_INDEX : node,
    };
    take_schedule(assembly, memory);
    take_live(assembly, memory);
    take_planners(assembly, memory);
    take_plan(assembly, memory);
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

int assemble_messages(const struct cm_diagnostics *diagnostics, size_t from,
                      struct arena *arena, struct message_list *ret) {
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

static void take_messages(struct assembly *assembly, const struct message_list *first,
                          const struct message_list *then) {
    struct cm_diagnostic *items = take_array(assembly, first->n + then->n, sizeof(*items));
    size_t n = 0;
    for (size_t i = 0; items && i < first->n + then->n; i++) {
        const struct cm_diagnostic *from =
            i < first->n ? &first->items[i] : &then->items[i - first->n];
        if (copy_message(assembly->arena, from, &items[n++]) < 0) assembly->failed = true;
    }
    assembly->result->n_diagnostics = n;
    assembly->result->diagnostics = items;
}

int assemble_result(const struct analysis *analysis, const struct message_list *first,
                    const struct message_list *then, struct cm_result **ret) {
    struct assembly assembly = {.analysis = analysis, .arena = arena_new("result", 0)};
    if (!assembly.arena) return diag_no_memory(analysis->diag);
    assembly.result = take_array(&assembly, 1, sizeof(*assembly.result));
    take_values(&assembly);
    if (!assembly.failed) {
        assembly.result->arena = assembly.arena;
        take_model(&assembly);
        take_options(&assembly);
        take_nodes(&assembly);
        take_modules(&assembly);
        take_rebatched(&assembly);
        take_memory(&assembly);
        take_messages(&assembly, first, then);
    }
    if (assembly.failed ||
        coverage_of(analysis, assembly.arena, &assembly.result->coverage) < 0) {
        arena_free(assembly.arena);
        return diag_no_memory(analysis->diag);
    }
    *ret = assembly.result;
    return CM_OK;
}
