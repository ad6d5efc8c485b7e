/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks are the nodes of the main graph; what a body reads is read by the node that owns it,
 * and the bytes of its own values are wanted only while that node runs. Tensors are the values
 * that own bytes; a reader of a view reads what it is a view of.
 */
#include "passes/memory/schedule.h"

#include "passes/memory/liveness.h"
#include "passes/memory/scheduler.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

struct builder {
    const struct analysis *analysis;
    uint32_t *task_of;   /* by node: the task that it is or runs inside of */
    uint32_t *seen;      /* by task: the tensor that has it as its newest member, plus one */
    uint32_t *next_use;  /* by value: another value of the same root, ID_NONE */
    uint32_t *first_use; /* by root: a value of that root */
    struct scheduler_tensor *tensors;
    uint32_t *members;
    struct scheduler_edge *edges;
    int64_t *work;
    struct scheduler_problem problem;
};

static void find_tasks(struct builder *builder) {
    const struct model *model = builder->analysis->model;
    const struct graph *main = &model->graphs[0];
    for (uint32_t i = 0; i < main->n_nodes; i++) builder->task_of[main->nodes[i]] = i;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        uint32_t at = id;
        while (model->nodes[at].graph != 0) at = model->graphs[model->nodes[at].graph].owner;
        builder->task_of[id] = builder->task_of[at];
    }
    builder->problem.n_tasks = (uint32_t)main->n_nodes;
}

static void add_edge(struct builder *builder, uint32_t value, uint32_t task) {
    uint32_t node = builder->analysis->model->values[value].node;
    if (node == ID_NONE || builder->task_of[node] == task) return;
    builder->edges[builder->problem.n_edges++] =
        (struct scheduler_edge){builder->task_of[node], task};
}

/* Values of the main graph that are handed out of a body are read by the body's node. */
static void add_handed_out(struct builder *builder) {
    const struct model *model = builder->analysis->model;
    for (uint32_t id = 1; id < model->n_graphs; id++)
        for (size_t i = 0; i < model->graphs[id].n_outputs; i++)
            add_edge(builder, model->graphs[id].outputs[i],
                     builder->task_of[model->graphs[id].owner]);
}

static void add_edges(struct builder *builder) {
    const struct model *model = builder->analysis->model;
    for (uint32_t id = 0; id < model->n_values; id++)
        for (uint32_t i = 0; i < model->values[id].n_uses; i++)
            add_edge(builder, id, builder->task_of[model->values[id].uses[i].node]);
    add_handed_out(builder);
}

static void add_member(struct builder *builder, uint32_t tensor, uint32_t task) {
    if (builder->seen[task] == tensor + 1) return;
    builder->seen[task] = tensor + 1;
    builder->members[builder->problem.n_members++] = task;
    builder->tensors[tensor].n_members++;
}

/* The tasks that make or read a value or a view of it. What a body hands out stays no longer
 * than its node, which is a reader. */
static void add_tensor(struct builder *builder, uint32_t root, int64_t bytes) {
    const struct model *model = builder->analysis->model;
    uint32_t id = builder->problem.n_tensors++;
    builder->tensors[id] = (struct scheduler_tensor){
        .bytes = bytes,
        .from_start = model->values[root].node == ID_NONE,
        .members = (uint32_t)builder->problem.n_members,
    };
    for (uint32_t at = builder->first_use[root]; at != ID_NONE; at = builder->next_use[at]) {
        const struct value *value = &model->values[at];
        if (value->node != ID_NONE) add_member(builder, id, builder->task_of[value->node]);
        for (uint32_t i = 0; i < value->n_uses; i++)
            add_member(builder, id, builder->task_of[value->uses[i].node]);
        if (value->is_graph_output && value->graph == 0) builder->tensors[id].to_end = true;
    }
}

/* An input that nobody reads is alive at the first step only, whichever that is: the search
 * does not see it. */
static void add_tensors(struct builder *builder) {
    const struct analysis *analysis = builder->analysis;
    const struct model *model = analysis->model;
    for (uint32_t id = 0; id < model->n_values; id++) builder->first_use[id] = ID_NONE;
    for (uint32_t id = 0; id < model->n_values; id++) {
        uint32_t root = analysis->liveness.root[id];
        builder->next_use[id] = builder->first_use[root];
        builder->first_use[root] = id;
    }
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct value *value = &model->values[id];
        bool matters = value->node != ID_NONE || value->n_uses > 0 || value->is_graph_output;
        int64_t bytes = liveness_counted(analysis, id);
        if (value->graph == 0 && bytes > 0 && matters) add_tensor(builder, id, bytes);
    }
}

/* Bytes of values of bodies alive at each step of the file's order. */
static void sum_bodies(const struct analysis *analysis, int64_t *inside) {
    const struct liveness_table *liveness = &analysis->liveness;
    for (uint32_t id = 0; id < analysis->model->n_values; id++) {
        int64_t bytes = liveness_counted(analysis, id);
        if (analysis->model->values[id].graph == 0 || bytes == 0) continue;
        inside[liveness->first[id]] += bytes;
        inside[liveness->last[id] + 1] -= bytes;
    }
    for (uint32_t step = 1; step < liveness->n_steps; step++) inside[step] += inside[step - 1];
}

static int64_t bytes_made(const struct analysis *analysis, uint32_t node_id) {
    const struct node *node = &analysis->model->nodes[node_id];
    int64_t made = 0;
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE) made += liveness_counted(analysis, node->outputs[i]);
    return made;
}

/* While a body runs its node's outputs are not there yet: it may want as much for nothing. */
static void add_work(struct builder *builder, const int64_t *inside) {
    const struct liveness_table *liveness = &builder->analysis->liveness;
    for (uint32_t step = 0; step < liveness->n_steps; step++) {
        uint32_t node = liveness->node_at[step];
        int64_t work = inside[step];
        int64_t *most = &builder->work[builder->task_of[node]];
        if (builder->analysis->model->nodes[node].graph != 0) {
            uint32_t owner = builder->analysis->model->graphs[0].nodes[builder->task_of[node]];
            work -= bytes_made(builder->analysis, owner);
        }
        if (work > *most) *most = work;
    }
}

static size_t count_uses(const struct model *model) {
    size_t n = 0;
    for (uint32_t id = 0; id < model->n_values; id++) n += model->values[id].n_uses;
    for (uint32_t id = 1; id < model->n_graphs; id++) n += model->graphs[id].n_outputs;
    return n;
}

static bool allocate(struct builder *builder) {
    const struct model *model = builder->analysis->model;
    struct arena *arena = builder->analysis->arena;
    size_t n_uses = count_uses(model);
    builder->task_of = arena_array(arena, model->n_nodes, sizeof *builder->task_of);
    builder->seen = arena_array(arena, model->n_nodes, sizeof *builder->seen);
    builder->next_use = arena_array(arena, model->n_values, sizeof *builder->next_use);
    builder->first_use = arena_array(arena, model->n_values, sizeof *builder->first_use);
    builder->tensors = arena_array(arena, model->n_values, sizeof *builder->tensors);
    builder->members = arena_array(arena, n_uses + model->n_values, sizeof *builder->members);
    builder->edges = arena_array(arena, n_uses, sizeof *builder->edges);
    builder->work = arena_array(arena, model->n_nodes, sizeof *builder->work);
    return builder->task_of && builder->seen && builder->next_use && builder->first_use &&
           builder->tensors && builder->members && builder->edges && builder->work;
}

static bool is_all_known(const struct analysis *analysis) {
    for (uint32_t id = 0; id < analysis->model->n_values; id++)
        if (liveness_owned(analysis, id) == DIM_UNKNOWN) return false;
    return true;
}

/* Whether sums of all bytes fit into int64, so that the search need not look. */
static bool is_countable(const struct analysis *analysis) {
    int64_t total = 0;
    for (uint32_t id = 0; id < analysis->model->n_values; id++)
        total = checked_add(total, liveness_counted(analysis, id));
    return is_known(checked_mul(total, 2));
}

int schedule_find(const struct analysis *analysis, struct schedule *ret) {
    struct builder builder = {.analysis = analysis};
    struct scheduler_result found;
    size_t n_steps = (size_t)analysis->liveness.n_steps + 1;
    int64_t *inside = arena_array(analysis->arena, n_steps, sizeof *inside);
    *ret = (struct schedule){0};
    if (!is_countable(analysis)) return CM_OK;
    if (!inside || !allocate(&builder)) return diag_no_memory(analysis->diag);
    find_tasks(&builder);
    add_edges(&builder);
    add_tensors(&builder);
    sum_bodies(analysis, inside);
    add_work(&builder, inside);
    builder.problem.edges = builder.edges;
    builder.problem.tensors = builder.tensors;
    builder.problem.members = builder.members;
    builder.problem.work = builder.work;
    if (scheduler_find(analysis->arena, &builder.problem, &found) < 0)
        return diag_no_memory(analysis->diag);
    ret->optimal = found.optimal && is_all_known(analysis);
    ret->peak = found.peak;
    if (found.peak < found.given_peak) ret->order = found.order;
    return CM_OK;
}
