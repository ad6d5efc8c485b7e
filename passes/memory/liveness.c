/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass lifetime: which values own bytes at run time, from which step to which step each is
 * alive, and the step at which the most bytes are. A view lives in the bytes of its root; what
 * is computed from the file alone (or folded) is no activation, since every runtime does it
 * once.
 */
#include "passes/memory/liveness.h"

#include "passes/infer/context.h"
#include "passes/memory/schedule.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

/* Whether output 0 is operand 0 under another shape. */
static bool is_view(enum op_memory memory, bool training) {
    return memory == MEMORY_VIEW || (memory == MEMORY_VIEW_UNLESS_TRAINING && !training);
}

static bool is_elementwise(enum op_memory memory, bool training) {
    return memory == MEMORY_IN_PLACE ||
           (memory == MEMORY_IN_PLACE_UNLESS_TRAINING && !training);
}

static enum storage storage_of_output(const struct value_info *info, enum op_memory memory,
                                      bool views) {
    if (info->is_weight) return STORAGE_WEIGHT;
    if (info->is_constant || memory == MEMORY_SHAPE_ONLY) return STORAGE_CONSTANT;
    if (info->kind != CM_TYPE_TENSOR && info->kind != CM_TYPE_UNKNOWN) return STORAGE_NONE;
    return views ? STORAGE_VIEW : STORAGE_ACTIVATION;
}

static int store_outputs(const struct analysis *analysis, struct liveness_table *table,
                         const struct op_source *source, uint32_t node_id) {
    const struct node *node = &analysis->model->nodes[node_id];
    const enum op_memory memory = analysis->bind.ops[node_id]->memory;
    const uint32_t operand = node->n_inputs > 0 ? node->inputs[0] : ID_NONE;
    bool training = false;
    int status = context_trains(source, node_id, &training);
    if (status < 0) return status;
    table->elementwise[node_id] = is_elementwise(memory, training);
    for (size_t i = 0; i < node->n_outputs; i++) {
        uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        const bool views = i == 0 && operand != ID_NONE && is_view(memory, training);
        table->storage[value] = storage_of_output(&analysis->infer.facts[value], memory, views);
        if (table->storage[value] == STORAGE_VIEW) table->root[value] = table->root[operand];
    }
    return CM_OK;
}

static void store_sources(const struct analysis *analysis, struct liveness_table *table) {
    const struct model *model = analysis->model;
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct value *value = &model->values[id];
        table->root[id] = id;
        table->storage[id] = STORAGE_NONE;
        if (value->constant) table->storage[id] = STORAGE_WEIGHT;
        if (analysis->batch.inputs[id]) table->storage[id] = STORAGE_INPUT;
    }
}

static void find_bytes(const struct analysis *analysis, struct liveness_table *table) {
    for (uint32_t id = 0; id < analysis->model->n_values; id++) {
        enum storage storage = table->storage[id];
        bool owns = storage == STORAGE_ACTIVATION || storage == STORAGE_INPUT;
        table->bytes[id] = owns ? liveness_bytes(&analysis->infer.upper->facts[id]) : 0;
    }
}

static void number_graph(const struct model *model, uint32_t graph_id,
                         struct liveness_table *table);

static void number_bodies(const struct model *model, const struct node *node,
                          struct liveness_table *table) {
    for (size_t i = 0; i < node->n_attrs; i++) {
        const struct attr *attr = &node->attrs[i];
        if (attr->kind != ATTR_GRAPH && attr->kind != ATTR_GRAPHS) continue;
        for (size_t k = 0; k < attr->n; k++) number_graph(model, attr->graphs[k], table);
    }
}

/* The bodies first. */
static void number_node(const struct model *model, uint32_t id, struct liveness_table *table) {
    const struct node *node = &model->nodes[id];
    if (node->n_attrs > 0) number_bodies(model, node, table);
    table->step_of[id] = table->n_steps;
    table->node_at[table->n_steps++] = id;
}

/* Recurses over bodies only, whose nesting the frontend caps. */
static void number_graph(const struct model *model, uint32_t graph_id,
                         struct liveness_table *table) {
    const struct graph *graph = &model->graphs[graph_id];
    for (size_t i = 0; i < graph->n_nodes; i++) number_node(model, graph->nodes[i], table);
}

/* Steps of the main graph's nodes in an order of their places; NULL: that of the file. */
static void number_steps(const struct model *model, const uint32_t *order,
                         struct liveness_table *table) {
    const struct graph *main = &model->graphs[0];
    table->n_steps = 0;
    for (uint32_t i = 0; i < main->n_nodes; i++)
        number_node(model, main->nodes[order ? order[i] : i], table);
}

static void extend(struct liveness_table *table, uint32_t value, uint32_t step) {
    uint32_t root = table->root[value];
    if (step > table->last[value]) table->last[value] = step;
    if (step > table->last[root]) table->last[root] = step;
}

uint32_t liveness_use_ends(const struct model *model, const struct liveness_table *table,
                           uint32_t node, uint32_t home) {
    uint32_t graph = model->nodes[node].graph;
    while (graph != home && model->graphs[graph].owner != ID_NONE) {
        node = model->graphs[graph].owner;
        graph = model->nodes[node].graph;
    }
    return table->step_of[node];
}

/* Results stay: those of the model to the end, those of a body until its node hands them on. */
static void keep_result(const struct model *model, struct liveness_table *table, uint32_t id) {
    const struct value *value = &model->values[id];
    uint32_t owner = model->graphs[value->graph].owner;
    if (!value->is_graph_output || table->n_steps == 0) return;
    extend(table, id, owner == ID_NONE ? table->n_steps - 1 : table->step_of[owner]);
}

static void live_from_to(const struct model *model, struct liveness_table *table) {
    for (uint32_t id = 0; id < model->n_values; id++) table->last[id] = 0;
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct value *value = &model->values[id];
        uint32_t made = value->node == ID_NONE ? 0 : table->step_of[value->node];
        table->first[id] = made;
        extend(table, id, made);
        for (uint32_t i = 0; i < value->n_uses; i++)
            extend(table, id,
                   liveness_use_ends(model, table, value->uses[i].node, value->graph));
        keep_result(model, table, id);
    }
}

/* Whether the value owns bytes of which only the largest number is known. */
static bool is_bound(const struct analysis *analysis, uint32_t value) {
    const struct value_info *most = &analysis->infer.upper->facts[value];
    return most->is_upper_bound && is_known(liveness_counted(analysis, value)) &&
           liveness_counted(analysis, value) > 0;
}

static void note_bounds(const struct analysis *analysis, struct liveness_table *table) {
    table->upper_bound = table->peak_upper_bound = false;
    if (analysis->infer.upper == &analysis->infer || table->peak_node == ID_NONE) return;
    const uint32_t peak = table->step_of[table->peak_node];
    for (uint32_t id = 0; id < analysis->model->n_values; id++) {
        if (!is_bound(analysis, id)) continue;
        table->upper_bound = true;
        if (table->first[id] <= peak && peak <= table->last[id]) table->peak_upper_bound = true;
    }
}

/* Sums of live bytes over the steps, and the largest; unknown sizes are left out. */
static int find_peak(const struct analysis *analysis, struct liveness_table *table) {
    const struct model *model = analysis->model;
    int64_t *change =
        arena_array(analysis->scratch, (size_t)table->n_steps + 2, sizeof(*change));
    int64_t live = 0;
    if (!change) return diag_no_memory(analysis->diag);
    table->peak_node = ID_NONE;
    table->peak_bytes = 0;
    for (uint32_t id = 0; id < model->n_values; id++) {
        int64_t bytes = table->bytes[id];
        if (!is_known(bytes)) continue;
        change[table->first[id]] = checked_add(change[table->first[id]], bytes);
        change[table->last[id] + 1] = checked_sub(change[table->last[id] + 1], bytes);
    }
    for (uint32_t step = 0; step < table->n_steps; step++) {
        live = checked_add(live, change[step]);
        table->live[step] = live;
        if (!is_known(live) || live <= table->peak_bytes) continue;
        table->peak_bytes = live;
        table->peak_node = table->node_at[step];
    }
    if (is_overflow(live)) table->peak_bytes = DIM_OVERFLOW;
    note_bounds(analysis, table);
    return CM_OK;
}

static int allocate(const struct analysis *analysis, struct liveness_table *table) {
    size_t n_values = analysis->model->n_values;
    size_t n_nodes = analysis->model->n_nodes;
    table->storage = arena_array_raw(analysis->arena, n_values, sizeof(*table->storage));
    table->bytes = arena_array_raw(analysis->arena, n_values, sizeof(*table->bytes));
    table->root = arena_array_raw(analysis->arena, n_values, sizeof(*table->root));
    table->elementwise = arena_array(analysis->arena, n_nodes, sizeof(*table->elementwise));
    table->first = arena_array_raw(analysis->arena, n_values, sizeof(*table->first));
    table->last = arena_array_raw(analysis->arena, n_values, sizeof(*table->last));
    table->step_of = arena_array(analysis->arena, n_nodes, sizeof(*table->step_of));
    table->node_at = arena_array_raw(analysis->arena, n_nodes, sizeof(*table->node_at));
    table->live = arena_array_raw(analysis->arena, n_nodes, sizeof(*table->live));
    if (!table->storage || !table->bytes || !table->root || !table->first || !table->last ||
        !table->step_of || !table->node_at || !table->live || !table->elementwise)
        return diag_no_memory(analysis->diag);
    return CM_OK;
}

/* Steps in that order, and all that follows from them. */
static int live_in_order(const struct analysis *analysis, const uint32_t *order,
                         struct liveness_table *table) {
    number_steps(analysis->model, order, table);
    live_from_to(analysis->model, table);
    return find_peak(analysis, table);
}

static int reschedule(const struct analysis *analysis, struct liveness_table *table) {
    struct schedule schedule;
    int status = schedule_find(analysis, &schedule);
    if (status == CM_OK && schedule.order) {
        status = live_in_order(analysis, schedule.order, table);
        if (status == CM_OK && table->peak_bytes >= table->file_peak_bytes)
            status = live_in_order(analysis, NULL, table);
    }
    table->is_optimal =
        schedule.optimal && table->peak_bytes == schedule.peak && !table->upper_bound;
    return status;
}

int pass_liveness(const struct analysis *analysis, void *own) {
    struct liveness_table *table = own;
    const struct op_source source = context_source(analysis);
    int status = allocate(analysis, table);
    if (status < 0) return status;
    store_sources(analysis, table);
    number_steps(analysis->model, NULL, table);
    for (uint32_t step = 0; step < table->n_steps; step++) {
        status = store_outputs(analysis, table, &source, table->node_at[step]);
        if (status < 0) return status;
    }
    find_bytes(analysis, table);
    status = live_in_order(analysis, NULL, table);
    table->file_peak_bytes = table->peak_bytes;
    if (status < 0 || analysis->options->schedule != CM_SCHEDULE_MIN_MEMORY) return status;
    return reschedule(analysis, table);
}
