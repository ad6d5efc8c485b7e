/* SPDX-License-Identifier: Apache-2.0 */
/* The order of all nodes: see node_order.h. An explicit stack of bodies avoids C recursion. */
#include "passes/infer/node_order.h"

#include "ir/graph.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

/* Bodies of each node, as linked lists. */
struct bodies {
    uint32_t *first; /* by node: graph or ID_NONE */
    uint32_t *next;  /* by graph */
};

/* A graph being listed. */
struct level {
    uint32_t graph;
    size_t n_done;
    uint32_t body; /* next body of the last listed node, or ID_NONE */
};

static int find_bodies(const struct model *model, struct arena *arena, struct bodies *ret) {
    ret->first = arena_array(arena, model->n_nodes, sizeof *ret->first);
    ret->next = arena_array(arena, model->n_graphs, sizeof *ret->next);
    if (!ret->first || !ret->next) return CM_NO_MEMORY;
    for (size_t i = 0; i < model->n_nodes; i++) ret->first[i] = ID_NONE;
    for (size_t i = model->n_graphs; i-- > 0;) {
        uint32_t owner = model->graphs[i].owner;
        ret->next[i] = ID_NONE;
        if (owner == ID_NONE) continue;
        ret->next[i] = ret->first[owner];
        ret->first[owner] = (uint32_t)i;
    }
    return CM_OK;
}

int order_nodes(const struct model *model, struct arena *arena, size_t *ret_n,
                const uint32_t **ret_nodes) {
    struct bodies bodies;
    uint32_t *nodes = arena_array(arena, model->n_nodes, sizeof *nodes);
    struct level *stack = arena_array(arena, model->n_graphs, sizeof *stack);
    size_t n = 0;
    size_t depth = 1;
    if (!nodes || !stack || find_bodies(model, arena, &bodies) < 0) return CM_NO_MEMORY;
    stack[0] = (struct level){.graph = 0, .body = ID_NONE};
    while (depth > 0) {
        struct level *top = &stack[depth - 1];
        const struct graph *graph = &model->graphs[top->graph];
        if (top->body != ID_NONE) {
            uint32_t body = top->body;
            top->body = bodies.next[body];
            stack[depth++] = (struct level){.graph = body, .body = ID_NONE};
        } else if (top->n_done < graph->n_nodes) {
            uint32_t node = graph->nodes[top->n_done++];
            nodes[n++] = node;
            top->body = bodies.first[node];
        } else {
            depth--;
        }
    }
    BUG_ON(n > model->n_nodes);
    *ret_n = n;
    *ret_nodes = nodes;
    return CM_OK;
}
