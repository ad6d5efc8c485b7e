/* SPDX-License-Identifier: Apache-2.0 */
/* See iterations.h. */
#include "passes/walk/iterations.h"

#include "ops/merge.h"
#include "passes/walk/walk.h"
#include "support/arena.h"

/* Lists the inputs of the graph and the outputs of its nodes. */
static int list_values(const struct model *model, struct arena *arena, uint32_t id,
                       struct iterations *ret) {
    const struct graph *graph = &model->graphs[id];
    size_t n = graph->n_inputs;
    for (size_t i = 0; i < graph->n_nodes; i++) n += model->nodes[graph->nodes[i]].n_outputs;
    uint32_t *values = arena_array(arena, n, sizeof *values);
    if (!values) return CM_NO_MEMORY;
    n = 0;
    for (size_t i = 0; i < graph->n_inputs; i++) values[n++] = graph->inputs[i];
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &model->nodes[graph->nodes[i]];
        for (size_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != ID_NONE) values[n++] = node->outputs[k];
    }
    ret->values = values;
    ret->n_values = n;
    return CM_OK;
}

struct iteration *iterations_add(const struct walk *walk, uint32_t graph) {
    struct infer_table *table = walk->table;
    if (!table->iterations)
        table->iterations =
            arena_array(walk->arena, walk->model->n_graphs, sizeof *table->iterations);
    struct iteration *iteration = arena_alloc(walk->arena, sizeof *iteration);
    if (!table->iterations || !iteration) return NULL;
    struct iterations *of_graph = &table->iterations[graph];
    if (!of_graph->values && list_values(walk->model, walk->arena, graph, of_graph) < 0)
        return NULL;
    *iteration = (struct iteration){
        .graph = graph, .outer = walk->run, .before = of_graph->last, .runs = 1};
    return of_graph->last = iteration;
}

int iterations_store(const struct walk *walk, struct iteration *iteration) {
    const struct iterations *of_graph = &walk->table->iterations[iteration->graph];
    struct value_info *infos = arena_array_raw(walk->arena, of_graph->n_values, sizeof *infos);
    if (!infos) return CM_NO_MEMORY;
    for (size_t i = 0; i < of_graph->n_values; i++)
        infos[i] = walk->table->infos[of_graph->values[i]];
    iteration->infos = infos;
    return CM_OK;
}

/* Returns true if the run or an enclosing run was dropped. */
static bool is_replaced(const struct iteration *run) {
    while (run && !run->is_dropped) run = run->outer;
    return run != NULL;
}

void iterations_drop(const struct walk *walk, uint32_t graph) {
    if (!walk->table->iterations) return;
    struct iteration **last = &walk->table->iterations[graph].last;
    for (; *last && ((*last)->outer == walk->run || is_replaced(*last));
         *last = (*last)->before)
        (*last)->is_dropped = true;
}

struct iteration *iterations_last(const struct infer_table *table, uint32_t graph) {
    return table->iterations ? table->iterations[graph].last : NULL;
}

bool iterations_exist(const struct infer_table *table, uint32_t graph) {
    return table->iterations && table->iterations[graph].is_executed;
}

void iterations_load(const struct infer_table *table, const struct iteration *iteration,
                     struct value_info *infos) {
    for (; iteration; iteration = iteration->outer) {
        const struct iterations *of_graph = &table->iterations[iteration->graph];
        for (size_t i = 0; i < of_graph->n_values; i++) {
            const uint32_t value = of_graph->values[i];
            infos[value] = iteration->infos[i];
            if (dtype_is_float(table->infos[value].dtype)) /* of --precision */
                infos[value].dtype = table->infos[value].dtype;
        }
    }
}

/* --- After the walk. --- */

/* Removes runs that happen 0 times, and runs inside a dropped run of the enclosing body. Sets
 * table->runs[graph] to the number of runs in one run of the enclosing body, at most. */
static void remove_replaced(const struct model *model, struct infer_table *table,
                            uint32_t graph) {
    const uint32_t parent = model->graphs[graph].parent;
    const bool in_executed = parent != ID_NONE && table->iterations[parent].is_executed;
    struct iterations *of_graph = &table->iterations[graph];
    struct iteration **link = &of_graph->last;
    int64_t max_runs = 0, sum = 0;
    bool some = false, all = true;
    const struct iteration *inside = NULL;
    while (*link) {
        const struct iteration *at = *link;
        if (at->runs == 0 || (at->outer ? at->outer->is_dropped : in_executed)) {
            (*link)->is_dropped = true;
            *link = at->before;
            continue;
        }
        sum = at->outer == inside ? sum + at->runs : at->runs;
        inside = at->outer;
        max_runs = sum > max_runs ? sum : max_runs;
        some = some || at->is_alternative;
        all = all && at->is_alternative;
        link = &(*link)->before;
    }
    of_graph->is_executed = in_executed || of_graph->last;
    if (!of_graph->is_executed) return;
    table->runs[graph] = max_runs;
    table->alternative[graph] = some && all;
    of_graph->is_mixed = some && !all;
}

/* Merges value i of the body over all runs of the body. A dim that differs between runs becomes
 * unknown, or with OP_UPPER_BOUND the largest. */
static int merge_runs(const struct walk *walk, const struct iterations *of_graph, size_t i,
                      enum op_bound bound, struct value_info *ret) {
    struct op_context context = {.model = walk->model, .arena = walk->arena, .bound = bound};
    struct value_info all = of_graph->last->infos[i];
    for (const struct iteration *at = of_graph->last->before; at; at = at->before) {
        const struct value_info *one = &at->infos[i];
        const bool same = constant_equal(all.value, one->value);
        const bool constant = all.is_constant && one->is_constant;
        const bool weight = all.is_weight && one->is_weight;
        const struct constant *value = same ? all.value : NULL;
        if (!merge_is_same(&all, one)) {
            const int status = merge_infos(&context, &all, one, &all);
            if (status == CM_NO_MEMORY) return status;
            if (status < 0) all = value_info_unknown();
        }
        all.value = value;
        all.is_constant = constant && same;
        all.is_weight = weight && same;
    }
    all.is_constant = all.is_constant || all.value;
    *ret = all;
    return CM_OK;
}

int iterations_finish(const struct walk *walk) {
    struct infer_table *table = walk->table;
    if (!table->iterations) return CM_OK;
    for (uint32_t graph = 0; graph < walk->model->n_graphs; graph++) {
        const struct iterations *of_graph = &table->iterations[graph];
        remove_replaced(walk->model, table, graph);
        for (size_t i = 0; of_graph->last && i < of_graph->n_values; i++) {
            struct value_info *all = &table->infos[of_graph->values[i]];
            if (merge_runs(walk, of_graph, i, OP_EXACT, all) < 0) return CM_NO_MEMORY;
            if (value_info_is_static(all)) continue;
            const struct iteration *at = of_graph->last;
            while (at && value_info_is_static(&at->infos[i])) at = at->before;
            all->varies = !at;
            table->is_open = true;
        }
    }
    return CM_OK;
}

int iterations_finish_upper(const struct walk *upper) {
    const struct infer_table *exact = upper->exact;
    if (!exact->iterations) return CM_OK;
    for (uint32_t graph = 0; graph < upper->model->n_graphs; graph++) {
        const struct iterations *of_graph = &exact->iterations[graph];
        for (size_t i = 0; of_graph->last && i < of_graph->n_values; i++) {
            const uint32_t id = of_graph->values[i];
            if (!exact->infos[id].varies) continue;
            struct value_info *all = &upper->table->infos[id];
            if (merge_runs(upper, of_graph, i, OP_UPPER_BOUND, all) < 0) return CM_NO_MEMORY;
        }
    }
    return CM_OK;
}
