/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass liveness: finds which values own bytes at run time, from which step to which step each
 * is alive, and the step with the most live bytes. A view shares the bytes of its root. Values
 * that are computed from the file alone, folded, or written by shape-only operators are not
 * activations: a runtime computes them once.
 */
#include "passes/memory/liveness.h"

#include "passes/infer/context.h"
#include "passes/memory/min_memory.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

static int store_outputs(const struct analysis *analysis, struct liveness_table *table,
                         const struct op_source *source, uint32_t node_id) {
    const struct node *node = &analysis->model->nodes[node_id];
    const enum op_memory memory = analysis->bind.ops[node_id]->memory;
    const uint32_t operand = node->n_inputs > 0 ? node->inputs[0] : ID_NONE;
    bool training = false;
    int status = context_trains(source, node_id, &training);
    if (status < 0) return status;
    const bool is_view =
        memory == MEMORY_VIEW || (memory == MEMORY_VIEW_UNLESS_TRAINING && !training);
    table->elementwise[node_id] =
        memory == MEMORY_IN_PLACE || (memory == MEMORY_IN_PLACE_UNLESS_TRAINING && !training);
    for (size_t i = 0; i < node->n_outputs; i++) {
        const uint32_t value = node->outputs[i];
        if (value == ID_NONE) continue;
        const struct value_info *info = &analysis->infer.infos[value];
        enum storage storage = STORAGE_ACTIVATION;
        if (info->is_weight)
            storage = STORAGE_WEIGHT;
        else if (info->is_constant || memory == MEMORY_SHAPE_ONLY)
            storage = STORAGE_CONSTANT;
        else if (info->kind != CM_TYPE_TENSOR && info->kind != CM_TYPE_UNKNOWN)
            storage = STORAGE_NONE;
        else if (i == 0 && operand != ID_NONE && is_view)
            storage = STORAGE_VIEW;
        table->storage[value] = storage;
        if (storage == STORAGE_VIEW) table->root[value] = table->root[operand];
    }
    return CM_OK;
}

static void number_graph(const struct model *model, uint32_t graph_id,
                         struct liveness_table *table);

/* Bodies run before their node. */
static void number_node(const struct model *model, uint32_t id, struct liveness_table *table) {
    const struct node *node = &model->nodes[id];
    for (size_t i = 0; i < node->n_attrs; i++) {
        const struct attr *attr = &node->attrs[i];
        if (attr->kind != ATTR_GRAPH && attr->kind != ATTR_GRAPHS) continue;
        for (size_t k = 0; k < attr->n; k++) number_graph(model, attr->graphs[k], table);
    }
    table->step_of[id] = table->n_steps;
    table->node_at[table->n_steps++] = id;
}

/* Recurses over bodies only, whose nesting the frontend caps. */
static void number_graph(const struct model *model, uint32_t graph_id,
                         struct liveness_table *table) {
    const struct graph *graph = &model->graphs[graph_id];
    for (size_t i = 0; i < graph->n_nodes; i++) number_node(model, graph->nodes[i], table);
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

/* Graph outputs of the model are alive to the end, outputs of a body until the
 * node that owns it has run. */
static void find_lifetimes(const struct model *model, struct liveness_table *table) {
    for (uint32_t id = 0; id < model->n_values; id++) table->last[id] = 0;
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct value *value = &model->values[id];
        const uint32_t owner = model->graphs[value->graph].owner;
        table->first[id] = value->node == ID_NONE ? 0 : table->step_of[value->node];
        extend(table, id, table->first[id]);
        for (uint32_t i = 0; i < value->n_uses; i++)
            extend(table, id,
                   liveness_use_ends(model, table, value->uses[i].node, value->graph));
        if (value->is_graph_output && table->n_steps > 0)
            extend(table, id, owner == ID_NONE ? table->n_steps - 1 : table->step_of[owner]);
    }
}

/* Sets upper_bound and peak_upper_bound. */
static void note_upper_bounds(const struct analysis *analysis, struct liveness_table *table) {
    const struct infer_table *upper = analysis->infer.upper;
    table->upper_bound = table->peak_upper_bound = false;
    if (upper == &analysis->infer || table->peak_node == ID_NONE) return;
    const uint32_t peak = table->step_of[table->peak_node];
    for (uint32_t id = 0; id < analysis->model->n_values; id++) {
        const int64_t bytes = liveness_counted(analysis, id);
        if (!upper->infos[id].is_upper_bound || !is_known(bytes) || bytes == 0) continue;
        table->upper_bound = true;
        if (table->first[id] <= peak && peak <= table->last[id]) table->peak_upper_bound = true;
    }
}

/* Computes the live bytes of each step and the peak. Unknown sizes are not included; an
 * overflow makes the peak overflow. */
static int find_peak(const struct analysis *analysis, struct liveness_table *table) {
    const struct model *model = analysis->model;
    int64_t *change =
        arena_array(analysis->scratch, (size_t)table->n_steps + 2, sizeof(*change));
    int64_t live = 0;
    if (!change) return diag_no_memory(analysis->diag);
    table->peak_node = ID_NONE;
    table->peak_bytes = 0;
    for (uint32_t id = 0; id < model->n_values; id++) {
        const int64_t bytes = liveness_counted(analysis, id);
        if (bytes == 0) continue;
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
    if (is_overflow(live)) {
        table->peak_bytes = DIM_OVERFLOW;
        table->peak_node = ID_NONE;
    }
    note_upper_bounds(analysis, table);
    return CM_OK;
}

/* Numbers the steps with the main graph's nodes in `order` (NULL: as in graph.nodes, the file's
 * order unless it had to be sorted), then computes lifetimes and peak. */
static int live_in_order(const struct analysis *analysis, const uint32_t *order,
                         struct liveness_table *table) {
    const struct graph *main = &analysis->model->graphs[0];
    table->n_steps = 0;
    for (uint32_t i = 0; i < main->n_nodes; i++)
        number_node(analysis->model, main->nodes[order ? order[i] : i], table);
    find_lifetimes(analysis->model, table);
    return find_peak(analysis, table);
}

static int reschedule(const struct analysis *analysis, struct liveness_table *table) {
    struct min_memory_order found;
    int status = min_memory_find(analysis, &found);
    if (status < 0) return status;
    if (found.order) status = live_in_order(analysis, found.order, table);
    if (status == CM_OK && found.order && table->peak_bytes >= table->file_peak_bytes)
        status = live_in_order(analysis, NULL, table);
    table->is_optimal = found.optimal && table->peak_bytes == found.peak && !table->upper_bound;
    return status;
}

int pass_liveness(const struct analysis *analysis, void *own) {
    struct liveness_table *table = own;
    const struct model *model = analysis->model;
    const struct op_source source = context_source(analysis);
    const size_t n_values = model->n_values;
    const size_t n_nodes = model->n_nodes;
    *table = (struct liveness_table){
        .storage = arena_array_raw(analysis->arena, n_values, sizeof(*table->storage)),
        .bytes = arena_array_raw(analysis->arena, n_values, sizeof(*table->bytes)),
        .root = arena_array_raw(analysis->arena, n_values, sizeof(*table->root)),
        .elementwise = arena_array(analysis->arena, n_nodes, sizeof(*table->elementwise)),
        .first = arena_array_raw(analysis->arena, n_values, sizeof(*table->first)),
        .last = arena_array_raw(analysis->arena, n_values, sizeof(*table->last)),
        .step_of = arena_array(analysis->arena, n_nodes, sizeof(*table->step_of)),
        .node_at = arena_array_raw(analysis->arena, n_nodes, sizeof(*table->node_at)),
        .live = arena_array_raw(analysis->arena, n_nodes, sizeof(*table->live)),
    };
    if (arena_failed(analysis->arena)) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < n_values; id++) {
        table->root[id] = id;
        table->storage[id] = STORAGE_NONE;
        if (model->values[id].constant) table->storage[id] = STORAGE_WEIGHT;
        if (analysis->batch.inputs[id]) table->storage[id] = STORAGE_INPUT;
    }
    number_graph(model, 0, table);
    for (uint32_t step = 0; step < table->n_steps; step++) {
        int status = store_outputs(analysis, table, &source, table->node_at[step]);
        if (status < 0) return status;
    }
    for (uint32_t id = 0; id < n_values; id++) {
        enum storage storage = table->storage[id];
        bool owns = storage == STORAGE_ACTIVATION || storage == STORAGE_INPUT;
        table->bytes[id] = owns ? liveness_bytes(&analysis->infer.upper->infos[id]) : 0;
    }
    int status = live_in_order(analysis, NULL, table);
    table->file_peak_bytes = table->peak_bytes;
    if (status < 0 || analysis->options->schedule != CM_SCHEDULE_MIN_MEMORY) return status;
    return reschedule(analysis, table);
}
