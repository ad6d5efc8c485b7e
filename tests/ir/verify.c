/* SPDX-License-Identifier: Apache-2.0 */
/* See verify.h. A linear walk over graphs, values and nodes. */
#include "tests/ir/verify.h"

#include <stdio.h>

#include "ir/graph.h"
#include "support/arena.h"
#include "support/diag.h"

/* The graph, value or node being checked, for messages. */
struct entry {
    const char *kind;
    size_t id;
};

/* Aborts with a message unless `holds`. */
static void demand(bool holds, struct entry entry, const char *what) {
    char message[160];
    if (holds) return;
    snprintf(message, sizeof message, "%s %zu: %s", entry.kind, entry.id, what);
    BUG(message);
}

/* Checks the parents, inputs and outputs of a graph. A body may have a smaller id than its
 * parent, but the chain of parents must end at the main graph. */
static void verify_graph(const struct model *model, uint32_t graph) {
    const struct graph *g = &model->graphs[graph];
    const struct entry entry = {"graph", graph};
    size_t levels = 0;
    for (uint32_t at = graph; at != 0; at = model->graphs[at].parent) {
        const struct graph *body = &model->graphs[at];
        demand(body->parent < model->n_graphs, entry, "parent out of range");
        demand(body->owner < model->n_nodes, entry, "owner out of range");
        demand(model->nodes[body->owner].graph == body->parent, entry,
               "owner is not a node of the parent");
        demand(++levels < model->n_graphs, entry, "is a body of itself");
    }
    for (size_t i = 0; i < g->n_inputs; i++) {
        demand(g->inputs[i] < model->n_values, entry, "input out of range");
        const struct value *input = &model->values[g->inputs[i]];
        demand(input->origin == VALUE_INPUT, entry, "input is not of origin input");
        demand(input->graph == graph, entry, "input belongs to another graph");
    }
    for (size_t i = 0; i < g->n_outputs; i++) {
        demand(g->outputs[i] < model->n_values, entry, "output out of range");
        demand(model->values[g->outputs[i]].is_graph_output, entry, "output is not marked");
    }
}

/* Checks all graphs. Sets position[node] to the index of the node in its graph; it stays
 * ID_NONE for a node that no graph lists. */
static void verify_graphs(const struct model *model, uint32_t *position) {
    demand(model->n_graphs > 0, (struct entry){"graph", 0}, "is missing");
    demand(model->graphs[0].parent == ID_NONE && model->graphs[0].owner == ID_NONE,
           (struct entry){"graph", 0}, "the main graph has a parent");
    for (uint32_t g = 0; g < model->n_graphs; g++) {
        const struct graph *graph = &model->graphs[g];
        const struct entry entry = {"graph", g};
        for (size_t i = 0; i < graph->n_nodes; i++) {
            const uint32_t node = graph->nodes[i];
            demand(node < model->n_nodes, entry, "node out of range");
            demand(model->nodes[node].graph == g, entry, "lists a node of another graph");
            demand(position[node] == ID_NONE, entry, "lists a node twice");
            position[node] = (uint32_t)i;
        }
    }
    for (uint32_t g = 0; g < model->n_graphs; g++) verify_graph(model, g);
}

static bool dims_are_sound(const struct shape *shape) {
    if (shape->rank < RANK_UNKNOWN || shape->rank > SHAPE_MAX_RANK) return false;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0 && shape->dims[i] != DIM_UNKNOWN) return false;
    }
    return true;
}

/* Checks a value except its uses. */
static void verify_value(const struct model *model, uint32_t id) {
    const struct value *value = &model->values[id];
    const struct constant *constant = value->constant;
    const struct entry entry = {"value", id};
    demand(value->name != NULL, entry, "has no name");
    demand(value->graph < model->n_graphs, entry, "graph out of range");
    demand(dims_are_sound(&value->type->shape), entry, "declared dims are not sound");
    if (value->origin != VALUE_OUTPUT) {
        demand(value->node == ID_NONE, entry, "has a producer and is not an output");
    } else {
        demand(value->node < model->n_nodes, entry, "producer out of range");
        const struct node *node = &model->nodes[value->node];
        demand(node->graph == value->graph, entry, "producer is of another graph");
        demand(value->slot < node->n_outputs && node->outputs[value->slot] == id, entry,
               "producer does not make it");
    }
    demand(value->origin != VALUE_INITIALIZER || constant != NULL, entry,
           "initializer without a constant");
    if (constant == NULL) return;
    demand(value->origin != VALUE_OUTPUT, entry, "output of a node with a constant");
    demand(shape_is_known(&constant->shape) && dims_are_sound(&constant->shape), entry,
           "constant with an unknown dim");
    demand(constant->n_elements == shape_elements(&constant->shape), entry,
           "constant whose count is not the product of its dims");
}

/* Checks that the uses of a value are valid and in ascending order, which excludes duplicates.
 * The use lists are then complete if there are as many uses as node inputs. */
static void verify_uses(const struct model *model, uint32_t id) {
    const struct value *value = &model->values[id];
    const struct entry entry = {"value", id};
    for (uint32_t i = 1; i < value->n_uses; i++) {
        const struct use a = value->uses[i - 1];
        const struct use b = value->uses[i];
        demand(a.node < b.node || (a.node == b.node && a.slot < b.slot), entry,
               "uses out of order");
    }
    for (uint32_t i = 0; i < value->n_uses; i++) {
        const struct use use = value->uses[i];
        demand(use.node < model->n_nodes, entry, "use by a node out of range");
        demand(use.slot < model->nodes[use.node].n_inputs, entry, "use of a slot out of range");
        demand(model->nodes[use.node].inputs[use.slot] == id, entry, "use that does not exist");
    }
}

/* Returns true if `value` exists when `node` runs. `at` is the node, or the owner of a body
 * around it, in the graph of the value: the producer of the value must come before `at`. */
static bool is_visible(const struct model *model, const uint32_t *position, uint32_t node,
                       const struct value *value) {
    uint32_t at = node;
    while (at != ID_NONE && model->nodes[at].graph != value->graph) {
        at = model->graphs[model->nodes[at].graph].owner;
    }
    if (at == ID_NONE) return false;
    return value->origin != VALUE_OUTPUT || position[value->node] < position[at];
}

static void verify_node(const struct model *model, const uint32_t *position, uint32_t id) {
    const struct node *node = &model->nodes[id];
    const struct entry entry = {"node", id};
    demand(position[id] != ID_NONE, entry, "is in no graph");
    for (size_t i = 0; i < node->n_outputs; i++) {
        if (node->outputs[i] == ID_NONE) continue;
        demand(node->outputs[i] < model->n_values, entry, "output out of range");
        const struct value *value = &model->values[node->outputs[i]];
        demand(value->origin == VALUE_OUTPUT && value->node == id && value->slot == i, entry,
               "output of another node");
    }
    for (size_t i = 0; i < node->n_attrs; i++) {
        const struct attr *attr = &node->attrs[i];
        if (attr->kind != ATTR_GRAPH && attr->kind != ATTR_GRAPHS) continue;
        for (size_t k = 0; k < attr->n; k++) {
            demand(attr->graphs[k] < model->n_graphs, entry, "body out of range");
            demand(model->graphs[attr->graphs[k]].owner == id, entry, "body of another node");
        }
    }
    for (size_t i = 0; i < node->n_inputs; i++)
        demand(node->inputs[i] == ID_NONE ||
                   is_visible(model, position, id, &model->values[node->inputs[i]]),
               entry, "reads a value before it is made");
}

/* Checks the ids that the other checks use as indices. Returns the number of operands. */
static size_t verify_ids(const struct model *model) {
    size_t n_operands = 0;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct node *node = &model->nodes[id];
        const struct entry entry = {"node", id};
        demand(node->name != NULL && node->type != NULL && node->domain != NULL, entry,
               "has no name, type or domain");
        demand(node->graph < model->n_graphs, entry, "graph out of range");
        demand(node->call == ID_NONE || node->call < model->n_calls, entry,
               "call out of range");
        for (size_t i = 0; i < node->n_inputs; i++) {
            if (node->inputs[i] == ID_NONE) continue;
            demand(node->inputs[i] < model->n_values, entry, "input out of range");
            n_operands++;
        }
    }
    return n_operands;
}

/* Checks nothing if out of memory, which the passes report. */
void verify_model(const struct model *model) {
    const struct arena_mark mark = arena_save(model->arena);
    uint32_t *position = arena_array(model->arena, model->n_nodes, sizeof *position);
    size_t n_uses = 0;
    if (position == NULL) return;
    for (size_t i = 0; i < model->n_nodes; i++) position[i] = ID_NONE;

    const size_t n_operands = verify_ids(model);
    verify_graphs(model, position);
    for (uint32_t id = 0; id < model->n_values; id++) {
        verify_value(model, id);
        verify_uses(model, id);
        n_uses += model->values[id].n_uses;
    }
    demand(n_uses == n_operands, (struct entry){"model", 0}, "use lists and inputs disagree");
    for (uint32_t id = 0; id < model->n_nodes; id++) verify_node(model, position, id);
    for (uint32_t id = 0; id < model->n_calls; id++)
        demand(model->calls[id].outer == ID_NONE || model->calls[id].outer < id,
               (struct entry){"call", id}, "comes before the call around it");
    arena_restore(model->arena, mark);
}
