/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass breakdown: the costs of the model by operator, and its time by kernel. Nobody sees how
 * long a kernel took but where its primitive has no other: the time of several stays with the
 * primitive.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/primitive.h"
#include "passes/latency/estimate.h"
#include "passes/latency/untimed.h"
#include "passes/pass.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/text.h"

#include "support/banned.h"

static void add_known(int64_t *sum, int64_t value) {
    *sum = checked_add_known(*sum, value);
}

/* A sum of nothing that is known is not known. */
static void add_time(int64_t *sum, int64_t value) {
    if (value != DIM_UNKNOWN) *sum = *sum == DIM_UNKNOWN ? value : checked_add(*sum, value);
}

static void add_operator(const struct analysis *analysis, uint32_t node,
                         struct operator_row *row) {
    const struct cm_costs *costs = &analysis->count.nodes[node].costs;
    row->nodes++;
    row->costs.upper_bound |= costs->upper_bound;
    add_known(&row->costs.macs, costs->macs);
    add_known(&row->costs.int_macs, costs->int_macs);
    add_known(&row->costs.flops, costs->flops);
    add_known(&row->costs.int_ops, costs->int_ops);
    add_known(&row->costs.bytes_read, costs->bytes_read);
    add_known(&row->costs.bytes_written, costs->bytes_written);
    if (!analysis->estimate.done) return;
    add_time(&row->costs.latency_ps, costs->latency_ps);
    const enum cm_measure_state state = estimate_state(analysis, node);
    row->states[state].nodes++;
    add_known(&row->states[state].macs, costs->macs);
}

/* What takes longest first; without times, what does most. */
static int compare_operators(const void *left, const void *right) {
    const struct operator_row *a = left;
    const struct operator_row *b = right;
    const int64_t keys[][2] = {{a->costs.latency_ps, b->costs.latency_ps},
                               {a->costs.macs, b->costs.macs},
                               {a->costs.flops, b->costs.flops},
                               {a->costs.int_ops, b->costs.int_ops},
                               {a->nodes, b->nodes}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1]) return keys[i][0] > keys[i][1] ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void sum_states(struct breakdown_table *table) {
    int64_t macs = 0;
    for (size_t i = 0; i < table->n_operators; i++)
        for (size_t k = 0; k < CM_N_MEASURE_STATES; k++) {
            const struct state_total *from = &table->operators[i].states[k];
            table->states[k].nodes += from->nodes;
            table->states[k].macs = checked_add(table->states[k].macs, from->macs);
            macs = checked_add(macs, from->macs);
        }
    table->measured_share = -1;
    if (is_known(macs) && macs > 0)
        table->measured_share = (double)table->states[CM_MEASURED].macs / (double)macs;
}

/* Models of a million nodes have a hundred operators. */
static int add_row(const struct analysis *analysis, struct breakdown_table *table,
                   size_t *capacity, const char *name) {
    if (table->n_operators == *capacity) {
        size_t wider = *capacity ? *capacity * 2 : 32;
        struct operator_row *rows = arena_array(analysis->arena, wider, sizeof *rows);
        if (!rows) return CM_NO_MEMORY;
        if (*capacity) memcpy(rows, table->operators, *capacity * sizeof *rows);
        table->operators = rows;
        *capacity = wider;
    }
    table->operators[table->n_operators].name = name;
    table->operators[table->n_operators++].costs.latency_ps = DIM_UNKNOWN;
    return CM_OK;
}

static int list_operators(const struct analysis *analysis, struct breakdown_table *table) {
    const struct model *model = analysis->model;
    struct map index;
    map_init(&index, analysis->arena);
    size_t capacity = 0;
    for (uint32_t node = 0; node < model->n_nodes; node++) {
        const char *name = operator_name(analysis, &model->nodes[node]);
        uint32_t row = MAP_NONE;
        if (!name || map_add(&index, name, (uint32_t)table->n_operators, &row) < 0)
            return diag_no_memory(analysis->diag);
        if (row == MAP_NONE && add_row(analysis, table, &capacity, name) < 0)
            return diag_no_memory(analysis->diag);
        if (row == MAP_NONE) row = (uint32_t)table->n_operators - 1;
        add_operator(analysis, node, &table->operators[row]);
    }
    if (table->n_operators > 0)
        qsort(table->operators, table->n_operators, sizeof *table->operators,
              compare_operators);
    sum_states(table);
    return CM_OK;
}

/* How often each primitive runs in one pass through the model. */
static int64_t *count_runs(const struct analysis *analysis) {
    int64_t *runs = arena_array(analysis->arena, analysis->primitives.n, sizeof *runs);
    for (uint32_t node = 0; runs && node < analysis->model->n_nodes; node++) {
        const uint32_t primitive = analysis->primitives.of_node[node];
        const int64_t of_graph = analysis->count.runs[analysis->model->nodes[node].graph];
        if (primitive != ID_NONE) add_known(&runs[primitive], of_graph);
    }
    return runs;
}

/* A mean weighted by time, of what is known. */
static double mean(double so_far, int64_t time_so_far, double more, int64_t time) {
    const double all = (double)time_so_far + (double)time;
    if (more <= 0 || all <= 0) return so_far;
    return so_far < 0 ? more : (so_far * (double)time_so_far + more * (double)time) / all;
}

/* `calls` of the row in each of `runs`, in which the primitive took `median`. */
static void add_kernel(struct kernel_row *row, const struct cm_kernel *kernel, int64_t calls,
                       int64_t runs, int64_t median) {
    const int64_t total = checked_mul(median, runs);
    const int64_t each = median / calls;
    if (kernel) {
        row->blocks_per_unit =
            mean(row->blocks_per_unit, row->total_ps, kernel->blocks_per_unit, total);
        row->occupancy = mean(row->occupancy, row->total_ps, kernel->occupancy, total);
    }
    if (row->calls == 0 || each < row->min_ps) row->min_ps = each;
    if (each > row->max_ps) row->max_ps = each;
    add_known(&row->calls, checked_mul(calls, runs));
    add_known(&row->total_ps, total);
}

struct kernels {
    const struct analysis *analysis;
    struct breakdown_table *table;
    struct map index; /* by name */
    const int64_t *runs;
};

static struct kernel_row *new_row(struct kernels *kernels, const char *name,
                                  uint32_t primitive) {
    struct kernel_row *row = &kernels->table->kernels[kernels->table->n_kernels++];
    *row = (struct kernel_row){.name = name,
                               .primitive = primitive,
                               .rule = "",
                               .blocks_per_unit = -1,
                               .occupancy = -1};
    return row;
}

/* Its only kernel. */
static int add_one(struct kernels *kernels, uint32_t primitive, int64_t median) {
    const struct cm_kernel *kernel =
        &kernels->analysis->estimate.items[primitive].how.kernels[0];
    const int64_t calls = kernel->calls > 0 ? kernel->calls : 1;
    uint32_t existing = MAP_NONE;
    if (map_add(&kernels->index, kernel->name, (uint32_t)kernels->table->n_kernels, &existing) <
        0)
        return diag_no_memory(kernels->analysis->diag);
    struct kernel_row *row = existing == MAP_NONE ? new_row(kernels, kernel->name, ID_NONE)
                                                  : &kernels->table->kernels[existing];
    if (existing == MAP_NONE) {
        row->tensor_cores = kernel->tensor_cores;
        row->rule = kernel->rule;
    }
    add_kernel(row, kernel, calls, kernels->runs[primitive], median);
    return CM_OK;
}

static int add_whole(struct kernels *kernels, uint32_t primitive, int64_t median) {
    const struct analysis *analysis = kernels->analysis;
    struct text text;
    text_init(&text, analysis->arena);
    primitive_print(&analysis->primitives.items[primitive], &text);
    if (text.failed) return diag_no_memory(analysis->diag);
    struct kernel_row *row = new_row(kernels, text_string(&text), primitive);
    row->tensor_cores = analysis->estimate.items[primitive].how.tensor_cores;
    add_kernel(row, NULL, 1, kernels->runs[primitive], median);
    return CM_OK;
}

static int64_t mean_of(const struct kernel_row *row) {
    const bool has_mean = is_known(row->calls) && row->calls > 0 && is_known(row->total_ps);
    return has_mean ? row->total_ps / row->calls : DIM_UNKNOWN;
}

static int compare_kernels(const void *left, const void *right) {
    const struct kernel_row *a = left;
    const struct kernel_row *b = right;
    if (a->total_ps != b->total_ps) return a->total_ps > b->total_ps ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int list_kernels(const struct analysis *analysis, struct breakdown_table *table) {
    const size_t n = analysis->primitives.n;
    struct kernels kernels = {
        .analysis = analysis, .table = table, .runs = count_runs(analysis)};
    map_init(&kernels.index, analysis->arena);
    table->kernels = arena_array(analysis->arena, n, sizeof *table->kernels);
    if (!kernels.runs || !table->kernels) return diag_no_memory(analysis->diag);
    for (uint32_t i = 0; i < n; i++) {
        const struct cm_measurement *measurement = &analysis->estimate.items[i];
        const int64_t median = estimate_ps(measurement->cold.median);
        int status = CM_OK;
        if (!estimate_has_time(measurement) || !is_known(median) || kernels.runs[i] == 0)
            continue;
        if (measurement->how.n_kernels == 1 && measurement->how.kernels[0].name[0] != '\0')
            status = add_one(&kernels, i, median);
        else
            status = add_whole(&kernels, i, median);
        if (status < 0) return status;
    }
    for (size_t i = 0; i < table->n_kernels; i++)
        table->kernels[i].mean_ps = mean_of(&table->kernels[i]);
    if (table->n_kernels > 0)
        qsort(table->kernels, table->n_kernels, sizeof *table->kernels, compare_kernels);
    return CM_OK;
}

int pass_breakdown(const struct analysis *analysis, void *own) {
    int status = list_operators(analysis, own);
    if (status == CM_OK && analysis->estimate.done) status = untimed_list(analysis, own);
    const bool ran = analysis->estimate.done && !analysis->estimate.facts.modelled;
    return status == CM_OK && ran ? list_kernels(analysis, own) : status;
}
