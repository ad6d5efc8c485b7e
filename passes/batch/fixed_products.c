/* SPDX-License-Identifier: Apache-2.0 */
/* Walks back from the values that may hold a row per sample, through the nodes whose size does
 * not scale. */
#include "passes/batch/fixed_products.h"

#include <string.h>

#include "support/arena.h"

struct audit {
    const struct search *search;
    const struct model *model;
    const struct value_info *after;
    bool *is_seen;   /* by node */
    uint32_t *stack; /* nodes to visit */
    size_t n;
};

static bool scales(const struct audit *audit, uint32_t value) {
    return !shape_equal(&before(audit->search, value)->shape, &audit->after[value].shape);
}

/* Plans a visit of the node that computes the value, unless its size scales. */
static void visit_later(struct audit *audit, uint32_t value) {
    const uint32_t node = value == ID_NONE ? ID_NONE : audit->model->values[value].node;
    if (node == ID_NONE || audit->is_seen[node] || scales(audit, value)) return;
    audit->is_seen[node] = true;
    audit->stack[audit->n++] = node;
}

static void visit_inputs(struct audit *audit, const struct node *node) {
    for (size_t i = 0; i < node->n_inputs; i++) visit_later(audit, node->inputs[i]);
    for (size_t i = 0; i < node->n_attrs; i++) {
        const struct attr *attr = &node->attrs[i];
        if (attr->kind != ATTR_GRAPH) continue;
        const struct graph *body = &audit->model->graphs[attr->graphs[0]];
        for (size_t k = 0; k < body->n_outputs; k++) visit_later(audit, body->outputs[k]);
    }
}

/* Returns true if the value has size 1 along an axis of the result that scales. */
static bool is_broadcast(const struct audit *audit, uint32_t value, uint32_t result) {
    const struct shape *small = &before(audit->search, value)->shape;
    const struct shape *was = &before(audit->search, result)->shape;
    const struct shape *is = &audit->after[result].shape;
    if (!shape_has_rank(small) || was->rank != is->rank || !shape_has_rank(was)) return false;
    for (int i = 1; i <= small->rank && i <= was->rank; i++)
        if (was->dims[was->rank - i] != is->dims[is->rank - i] &&
            small->dims[small->rank - i] == 1)
            return true;
    return false;
}

/* Visits the operands that the nodes of the graph broadcast to the batch. */
static void visit_broadcasts(struct audit *audit, const struct graph *graph) {
    for (size_t k = 0; k < graph->n_nodes; k++) {
        const struct node *node = &audit->model->nodes[graph->nodes[k]];
        if (node->n_outputs == 0 || node->outputs[0] == ID_NONE) continue;
        for (size_t slot = 0; slot < node->n_inputs; slot++)
            if (node->inputs[slot] != ID_NONE &&
                is_broadcast(audit, node->inputs[slot], node->outputs[0]))
                visit_later(audit, node->inputs[slot]);
    }
}

static void visit_outputs(struct audit *audit) {
    const struct graph *graph = &audit->model->graphs[0];
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct shape *shape = &before(audit->search, graph->outputs[i])->shape;
        if (shape->rank >= 1 && shape->dims[0] == audit->search->probe.batch)
            visit_later(audit, graph->outputs[i]);
    }
}

/* Visits all planned nodes and those before them. Returns the first product that is in graph
 * `first_graph` or a later one; ID_NONE if there is none. */
static uint32_t find_product(struct audit *audit, uint32_t first_graph) {
    while (audit->n > 0) {
        const uint32_t id = audit->stack[--audit->n];
        const struct node *node = &audit->model->nodes[id];
        if (audit->search->probe.ops[id]->cost.macs && node->graph >= first_graph) return id;
        visit_inputs(audit, node);
    }
    return ID_NONE;
}

int fixed_products_find(const struct search *search, const struct value_info *after,
                        const struct change_list *changes, uint32_t *ret) {
    const struct model *model = search->analysis->model;
    struct arena *arena = search->probe.arena;
    struct audit audit = {.search = search,
                          .model = model,
                          .after = after,
                          .is_seen = arena_array(arena, model->n_nodes, sizeof(bool)),
                          .stack = arena_array(arena, model->n_nodes, sizeof(uint32_t))};
    if (!audit.is_seen || !audit.stack) return CM_NO_MEMORY;
    for (size_t i = 0; i < changes->n; i++)
        if (!changes->items[i].is_target)
            visit_later(&audit,
                        model->nodes[changes->items[i].node].inputs[changes->items[i].slot]);
    visit_outputs(&audit);
    for (size_t i = 1; i < model->n_graphs; i++) visit_broadcasts(&audit, &model->graphs[i]);
    *ret = find_product(&audit, 0);
    if (*ret != ID_NONE || model->n_graphs == 1) return CM_OK;
    memset(audit.is_seen, 0, model->n_nodes * sizeof(bool));
    visit_broadcasts(&audit, &model->graphs[0]);
    *ret = find_product(&audit, 1);
    return CM_OK;
}
