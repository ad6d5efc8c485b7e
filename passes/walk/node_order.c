/* SPDX-License-Identifier: Apache-2.0 */
/* Lists all nodes: see node_order.h. An explicit stack of bodies avoids C recursion. */
#include "passes/walk/node_order.h"

#include "ir/graph.h"
#include "support/arena.h"
#include "support/diag.h"

/* A graph being listed. */
struct level {
    uint32_t graph;
    size_t n_done;
    uint32_t body; /* next body of the last listed node, or ID_NONE */
};

int order_nodes(const struct model *model, struct arena *arena, size_t *ret_n,
                const uint32_t **ret_nodes) {
    /* bodies of each node, as linked lists */
    uint32_t *first_body = arena_array(arena, model->n_nodes, sizeof *first_body);
    uint32_t *next_body = arena_array(arena, model->n_graphs, sizeof *next_body);
    uint32_t *nodes = arena_array(arena, model->n_nodes, sizeof *nodes);
    struct level *stack = arena_array(arena, model->n_graphs, sizeof *stack);
    size_t n = 0;
    size_t depth = 1;
    if (!nodes || !stack || !first_body || !next_body) return CM_NO_MEMORY;
    for (size_t i = 0; i < model->n_nodes; i++) first_body[i] = ID_NONE;
    for (size_t i = model->n_graphs; i-- > 0;) {
        const uint32_t owner = model->graphs[i].owner;
        if (owner == ID_NONE) continue;
        next_body[i] = first_body[owner];
        first_body[owner] = (uint32_t)i;
    }
    stack[0] = (struct level){.graph = 0, .body = ID_NONE};
    while (depth > 0) {
        struct level *top = &stack[depth - 1];
        const struct graph *graph = &model->graphs[top->graph];
        if (top->body != ID_NONE) {
            uint32_t body = top->body;
            top->body = next_body[body];
            stack[depth++] = (struct level){.graph = body, .body = ID_NONE};
        } else if (top->n_done < graph->n_nodes) {
            uint32_t node = graph->nodes[top->n_done++];
            nodes[n++] = node;
            top->body = first_body[node];
        } else {
            depth--;
        }
    }
    BUG_ON(n > model->n_nodes);
    *ret_n = n;
    *ret_nodes = nodes;
    return CM_OK;
}
