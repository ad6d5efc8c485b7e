/* SPDX-License-Identifier: Apache-2.0 */
/* Pass liveness: finds which values own bytes at run time, from which step to which step each
 * is alive, and the step with the most live bytes. A view shares the bytes of its root. Values
 * that are computed from the file alone, folded, or written by shape-only operators are not
 * activations: a runtime computes them once.
 *
 * With --schedule min-memory, it also finds an order of the main graph's nodes with a lower
 * peak. These nodes are the tasks of the scheduler problem. A node reads the values that its
 * bodies read; the values of its bodies are additional bytes while it runs. Tensors are the
 * values that own bytes; a reader of a view reads the root of the view. */
#include "passes/memory/liveness.h"

#include "passes/batch/batch.h"
#include "passes/infer/infer.h"
#include "passes/memory/scheduler.h"
#include "passes/pass.h"
#include "passes/walk/bind.h"
#include "passes/walk/context.h"
#include "passes/walk/walk.h"
#include "passes/work.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

/* Sets the storage and the root of each output of a node. */
static int store_outputs(const struct analysis *analysis, struct liveness_table *table,
                         const struct op_source *source, uint32_t node_id) {
    const struct node *node = &analysis->model->nodes[node_id];
    const enum op_memory memory = analysis->bind->ops[node_id]->memory;
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
        const struct value_info *info = &analysis->infer->infos[value];
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

/* Numbers the steps of a node and its bodies, which run before it. */
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

/* Extends the lifetime of a value and of its root to `step`. */
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

/* Sets first and last. Graph outputs of the model are alive to the end, outputs of a body until
 * the node that owns it has run. */
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

/* Computes the live bytes of each step and the peak. Unknown sizes are not included; an
 * overflow makes the peak overflow. */
static int find_peak(const struct analysis *analysis, struct liveness_table *table) {
    const struct model *model = analysis->model;
    const struct infer_table *upper = analysis->infer->upper;
    int64_t *change =
        arena_array(analysis->scratch, (size_t)table->n_steps + 2, sizeof(*change));
    int64_t live = 0;
    if (!change) return diag_no_memory(analysis->diag);
    table->peak_node = ID_NONE;
    table->peak_bytes = 0;
    table->upper_bound = table->peak_upper_bound = false;
    for (uint32_t id = 0; id < model->n_values; id++) {
        const int64_t bytes = liveness_counted(analysis, id);
        if (bytes == 0) continue;
        checked_add_to(&change[table->first[id]], bytes);
        change[table->last[id] + 1] = checked_sub(change[table->last[id] + 1], bytes);
    }
    for (uint32_t step = 0; step < table->n_steps; step++) {
        checked_add_to(&live, change[step]);
        table->live[step] = live;
        if (!is_known(live) || live <= table->peak_bytes) continue;
        table->peak_bytes = live;
        table->peak_node = table->node_at[step];
    }
    if (is_overflow(live)) {
        table->peak_bytes = DIM_OVERFLOW;
        table->peak_node = ID_NONE;
    }
    if (upper == analysis->infer || table->peak_node == ID_NONE) return CM_OK;
    const uint32_t peak = table->step_of[table->peak_node];
    for (uint32_t id = 0; id < model->n_values; id++) {
        const int64_t bytes = liveness_counted(analysis, id);
        if (!upper->infos[id].is_upper_bound || !is_known(bytes) || bytes == 0) continue;
        table->upper_bound = true;
        if (table->first[id] <= peak && peak <= table->last[id]) table->peak_upper_bound = true;
    }
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

/* The scheduler problem under construction. */
struct builder {
    const struct analysis *analysis;
    uint32_t *task_of;    /* by node: its task, or that of the main graph's node around it */
    uint32_t *seen;       /* by task: the last tensor it was added to, plus one */
    uint32_t *next_view;  /* by value: another value of the same root, ID_NONE */
    uint32_t *first_view; /* by root: a value of that root */
    struct scheduler_tensor *tensors;
    uint32_t *members;
    struct scheduler_edge *edges;
    int64_t *extra_bytes;
    struct scheduler_problem problem;
};

/* Allocates the tables and sets task_of. */
static int builder_open(struct builder *builder, const struct analysis *analysis) {
    const struct model *model = analysis->model;
    const struct graph *main = &model->graphs[0];
    struct arena *arena = analysis->arena;
    size_t n_uses = 0;
    for (uint32_t id = 0; id < model->n_values; id++) n_uses += model->values[id].n_uses;
    for (uint32_t id = 1; id < model->n_graphs; id++) n_uses += model->graphs[id].n_outputs;
    *builder = (struct builder){
        .analysis = analysis,
        .task_of = arena_array(arena, model->n_nodes, sizeof(uint32_t)),
        .seen = arena_array(arena, model->n_nodes, sizeof(uint32_t)),
        .next_view = arena_array(arena, model->n_values, sizeof(uint32_t)),
        .first_view = arena_array(arena, model->n_values, sizeof(uint32_t)),
        .tensors = arena_array(arena, model->n_values, sizeof(struct scheduler_tensor)),
        .members = arena_array(arena, n_uses + model->n_values, sizeof(uint32_t)),
        .edges = arena_array(arena, n_uses, sizeof(struct scheduler_edge)),
        .extra_bytes = arena_array(arena, model->n_nodes, sizeof(int64_t)),
    };
    if (arena_failed(arena)) return diag_no_memory(analysis->diag);
    builder->problem = (struct scheduler_problem){.n_tasks = (uint32_t)main->n_nodes,
                                                  .extra_bytes = builder->extra_bytes,
                                                  .edges = builder->edges,
                                                  .tensors = builder->tensors,
                                                  .members = builder->members};
    for (uint32_t i = 0; i < main->n_nodes; i++) builder->task_of[main->nodes[i]] = i;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        uint32_t at = id;
        while (model->nodes[at].graph != 0) at = model->graphs[model->nodes[at].graph].owner;
        builder->task_of[id] = builder->task_of[at];
    }
    return CM_OK;
}

static void add_edge(struct builder *builder, uint32_t value, uint32_t task) {
    uint32_t node = builder->analysis->model->values[value].node;
    if (node == ID_NONE || builder->task_of[node] == task) return;
    builder->edges[builder->problem.n_edges++] =
        (struct scheduler_edge){builder->task_of[node], task};
}

/* Adds an edge per use of a value. If a body outputs a value of the main graph, the node that
 * owns the body reads it. */
static void add_edges(struct builder *builder) {
    const struct model *model = builder->analysis->model;
    for (uint32_t id = 0; id < model->n_values; id++)
        for (uint32_t i = 0; i < model->values[id].n_uses; i++)
            add_edge(builder, id, builder->task_of[model->values[id].uses[i].node]);
    for (uint32_t id = 1; id < model->n_graphs; id++)
        for (size_t i = 0; i < model->graphs[id].n_outputs; i++)
            add_edge(builder, model->graphs[id].outputs[i],
                     builder->task_of[model->graphs[id].owner]);
}

static void add_member(struct builder *builder, uint32_t tensor, uint32_t task) {
    if (builder->seen[task] == tensor + 1) return;
    builder->seen[task] = tensor + 1;
    builder->members[builder->problem.n_members++] = task;
    builder->tensors[tensor].n_members++;
}

/* Adds a root. Its members are the tasks that produce or read it or a view of it. */
static void add_tensor(struct builder *builder, uint32_t root, int64_t bytes) {
    const struct model *model = builder->analysis->model;
    uint32_t id = builder->problem.n_tensors++;
    builder->tensors[id] = (struct scheduler_tensor){
        .bytes = bytes,
        .from_start = model->values[root].node == ID_NONE,
        .members = (uint32_t)builder->problem.n_members,
    };
    for (uint32_t at = builder->first_view[root]; at != ID_NONE; at = builder->next_view[at]) {
        const struct value *value = &model->values[at];
        if (value->node != ID_NONE) add_member(builder, id, builder->task_of[value->node]);
        for (uint32_t i = 0; i < value->n_uses; i++)
            add_member(builder, id, builder->task_of[value->uses[i].node]);
        if (value->is_graph_output && value->graph == 0) builder->tensors[id].to_end = true;
    }
}

/* Adds the values of the main graph that own bytes, except inputs without readers: in any order
 * these are alive at the first step only. */
static void add_tensors(struct builder *builder) {
    const struct analysis *analysis = builder->analysis;
    const struct model *model = analysis->model;
    for (uint32_t id = 0; id < model->n_values; id++) builder->first_view[id] = ID_NONE;
    for (uint32_t id = 0; id < model->n_values; id++) {
        uint32_t root = analysis->liveness->root[id];
        builder->next_view[id] = builder->first_view[root];
        builder->first_view[root] = id;
    }
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct value *value = &model->values[id];
        bool matters = value->node != ID_NONE || value->n_uses > 0 || value->is_graph_output;
        int64_t bytes = liveness_counted(analysis, id);
        if (value->graph == 0 && bytes > 0 && matters) add_tensor(builder, id, bytes);
    }
}

/* Sets the additional bytes of each task: the peak of the values of its bodies. The scheduler
 * adds them to the outputs of the task; these do not exist while a body runs, so their bytes
 * are subtracted. */
static int add_extra_bytes(struct builder *builder) {
    const struct analysis *analysis = builder->analysis;
    const struct model *model = analysis->model;
    const struct liveness_table *liveness = analysis->liveness;
    int64_t *change =
        arena_array(analysis->arena, (size_t)liveness->n_steps + 1, sizeof *change);
    int64_t inside = 0;
    if (!change) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < model->n_values; id++) {
        if (model->values[id].graph == 0) continue;
        change[liveness->first[id]] += liveness_counted(analysis, id);
        change[liveness->last[id] + 1] -= liveness_counted(analysis, id);
    }
    for (uint32_t step = 0; step < liveness->n_steps; step++) {
        const uint32_t id = liveness->node_at[step];
        const uint32_t task = builder->task_of[id];
        inside += change[step];
        int64_t extra_bytes = inside;
        const struct node *owner = &model->nodes[model->graphs[0].nodes[task]];
        for (size_t i = 0; model->nodes[id].graph != 0 && i < owner->n_outputs; i++)
            if (owner->outputs[i] != ID_NONE)
                extra_bytes -= liveness_counted(analysis, owner->outputs[i]);
        if (extra_bytes > builder->extra_bytes[task]) builder->extra_bytes[task] = extra_bytes;
    }
    return CM_OK;
}

/* If the work is exhausted and the order of an earlier run has a lower peak, takes that order.
 * Stores the order of the first run for later runs. */
static int reuse_order(const struct analysis *analysis, const struct scheduler_problem *problem,
                       struct scheduler_result *found) {
    struct work *work = analysis->work;
    const uint32_t n = problem->n_tasks;
    int64_t peak = 0;
    if (!work) return CM_OK;
    if (!work->order) {
        work->order = arena_copy(work->arena, found->order, n * sizeof *found->order);
        return work->order ? CM_OK : CM_NO_MEMORY;
    }
    if (!work->is_exhausted || found->optimal) return CM_OK;
    uint32_t *places = arena_array(analysis->scratch, n, sizeof *places);
    if (!places) return CM_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) places[work->order[i]] = i;
    for (size_t i = 0; i < problem->n_edges; i++) /* is the order valid? */
        if (places[problem->edges[i].before] >= places[problem->edges[i].after]) return CM_OK;
    if (scheduler_peak(analysis->arena, problem, work->order, &peak, NULL) < 0)
        return CM_NO_MEMORY;
    if (peak >= found->peak) return CM_OK;
    found->peak = peak;
    found->order = arena_copy(analysis->arena, work->order, n * sizeof *found->order);
    return found->order ? CM_OK : CM_NO_MEMORY;
}

struct min_memory_order {
    const uint32_t
        *order;   /* indices into the main graph's nodes; NULL: keep the file's order */
    bool optimal; /* all sizes are known and no order has a lower peak */
    int64_t peak; /* bytes, of the order found, excluding inputs without readers */
};

/* Finds an order with a lower peak than the file's order, for which analysis->liveness was
 * computed. Bodies move with their nodes. */
static int find_order(const struct analysis *analysis, struct min_memory_order *ret) {
    const size_t n_values = analysis->model->n_values;
    struct builder builder;
    struct scheduler_result found;
    int64_t total = 0;
    bool all_known = true;
    *ret = (struct min_memory_order){0};
    for (uint32_t id = 0; id < n_values; id++) {
        checked_add_to(&total, liveness_counted(analysis, id));
        if (liveness_owned(analysis, id) == DIM_UNKNOWN) all_known = false;
    }
    if (!is_known(checked_mul(total, 2))) return CM_OK; /* the scheduler does not check sums */
    int status = builder_open(&builder, analysis);
    if (status < 0) return status;
    add_edges(&builder);
    add_tensors(&builder);
    status = add_extra_bytes(&builder);
    if (status < 0) return status;
    if (scheduler_find(analysis->arena, &builder.problem, analysis->work, &found) < 0 ||
        reuse_order(analysis, &builder.problem, &found) < 0)
        return diag_no_memory(analysis->diag);
    ret->optimal = found.optimal && all_known;
    ret->peak = found.peak;
    if (found.peak < found.given_peak) ret->order = found.order;
    return CM_OK;
}

static int reschedule(const struct analysis *analysis, struct liveness_table *table) {
    struct min_memory_order found;
    int status = find_order(analysis, &found);
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
    const struct op_source source = infer_source(analysis);
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
        if (analysis->batch->inputs[id]) table->storage[id] = STORAGE_INPUT;
    }
    number_graph(model, 0, table);
    for (uint32_t step = 0; step < table->n_steps; step++) {
        int status = store_outputs(analysis, table, &source, table->node_at[step]);
        if (status < 0) return status;
    }
    for (uint32_t id = 0; id < n_values; id++) {
        enum storage storage = table->storage[id];
        bool owns = storage == STORAGE_ACTIVATION || storage == STORAGE_INPUT;
        table->bytes[id] = owns ? liveness_bytes(&analysis->infer->upper->infos[id]) : 0;
    }
    int status = live_in_order(analysis, NULL, table);
    table->file_peak_bytes = table->peak_bytes;
    if (status < 0 || analysis->options->schedule != CM_SCHEDULE_MIN_MEMORY) return status;
    return reschedule(analysis, table);
}
