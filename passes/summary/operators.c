/* SPDX-License-Identifier: Apache-2.0 */
#include "passes/summary/operators.h"

#include <stdlib.h>
#include <string.h>

#include "passes/cost/count.h"
#include "passes/costs.h"
#include "passes/walk/bind.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/map.h"
#include "support/sort.h"
#include "support/text.h"

/* The figures that are sums over nodes and have a meaning for an operator. */
#define OPERATOR_COSTS (~(COSTS_OF_PARAMS | CM_COST_BIT(activation_bytes)))

/* Returns "Conv" or "com.microsoft::Gelu"; NULL: out of memory. */
static const char *operator_name(const struct analysis *analysis, uint32_t id) {
    const struct node *node = &analysis->model->nodes[id];
    if (node->domain[0] == '\0' || text_equal(node->domain, "ai.onnx")) return node->type;
    return arena_printf(analysis->arena, "%s::%s", node->domain, node->type);
}

/* An operator, and its index in order of first use. */
struct ranked {
    struct cm_operator row;
    uint32_t index;
};

static int compare_work(const void *left, const void *right) {
    const struct cm_operator *a = &((const struct ranked *)left)->row;
    const struct cm_operator *b = &((const struct ranked *)right)->row;
    const int64_t keys[][2] = {{a->costs.macs, b->costs.macs},
                               {a->costs.flops, b->costs.flops},
                               {a->costs.int_ops, b->costs.int_ops},
                               {a->nodes, b->nodes}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1]) return keys[i][0] > keys[i][1] ? -1 : 1;
    return strcmp(a->op, b->op);
}

/* Sums the costs by operator, in order of first use. */
static int sum_operators(const struct analysis *analysis, struct ranked *sums,
                         struct operators_table *table) {
    struct map index;
    map_init(&index, analysis->arena);
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++) {
        const char *name = operator_name(analysis, id);
        uint32_t at = MAP_NONE;
        if (!name || map_add(&index, name, (uint32_t)table->n, &at) < 0) return CM_NO_MEMORY;
        if (at == MAP_NONE) {
            at = (uint32_t)table->n++;
            sums[at] = (struct ranked){
                .row = {.op = arena_strdup(analysis->result_arena, name)}, .index = at};
            if (!sums[at].row.op) return CM_NO_MEMORY;
        }
        table->of_node[id] = at;
        sums[at].row.nodes++;
        costs_add(&sums[at].row.costs, &analysis->count->nodes[id].costs, OPERATOR_COSTS);
    }
    return CM_OK;
}

int pass_operators(const struct analysis *analysis, void *own) {
    struct operators_table *table = own;
    const size_t capacity = analysis->bind->n_kinds; /* some kinds have equal names */
    struct ranked *sums = arena_array(analysis->scratch, capacity, sizeof *sums);
    uint32_t *position = arena_array(analysis->scratch, capacity, sizeof *position);
    table->items = arena_array(analysis->result_arena, capacity, sizeof *table->items);
    table->of_node =
        arena_array(analysis->arena, analysis->model->n_nodes, sizeof *table->of_node);
    if (!sums || !position || !table->items || !table->of_node ||
        sum_operators(analysis, sums, table) < 0)
        return diag_no_memory(analysis->diag);
    if (table->n > 0) sort_stable(sums, table->n, sizeof *sums, compare_work);
    for (uint32_t i = 0; i < table->n; i++) {
        position[sums[i].index] = i;
        table->items[i] = sums[i].row;
        table->items[i].costs.upper_bound &= OPERATOR_COSTS;
        costs_publish(&table->items[i].costs);
    }
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++)
        table->of_node[id] = position[table->of_node[id]];
    return CM_OK;
}
