/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a match: what makes a value, what may be part, and whether anybody looks in. */
#include "passes/fusion/match_inner.h"

#include "support/banned.h"

const struct node *match_node(const struct match *match, uint32_t node) {
    return &match->source->model->nodes[node];
}

const struct value_info *match_fact(const struct match *match, uint32_t value) {
    return &match->source->facts[value];
}

/* The node that makes the value as its first output, and that a match may take; or ID_NONE. */
uint32_t match_producer(const struct match *match, uint32_t value) {
    if (value == ID_NONE) return ID_NONE;
    const struct value *at = &match->source->model->values[value];
    bool fits = at->origin == VALUE_OUTPUT && at->slot == 0 && at->node != ID_NONE &&
                match_node(match, at->node)->graph == match->graph &&
                match->taken[at->node] == ID_NONE;
    return fits ? at->node : ID_NONE;
}

enum op_algebra match_algebra(const struct match *match, uint32_t node) {
    return node == ID_NONE ? ALGEBRA_NONE : match->source->ops[node]->algebra;
}

bool match_take(struct match *match, uint32_t node) {
    for (size_t i = 0; i < match->n_nodes; i++)
        if (match->nodes[i] == node) return true;
    if (match->n_nodes == MATCH_MAX_NODES) return false;
    match->nodes[match->n_nodes++] = node;
    return true;
}

uint32_t match_input(const struct match *match, uint32_t node, size_t slot) {
    const struct node *at = match_node(match, node);
    return slot < at->n_inputs ? at->inputs[slot] : ID_NONE;
}

/* A cast to integers and back rounds. */
static bool keeps_numbers(const struct value_info *from, const struct value_info *to) {
    return from->dtype == to->dtype ||
           (dtype_is_float(from->dtype) && dtype_is_float(to->dtype));
}

bool match_hands_on(const struct match *match, uint32_t node) {
    if (node == ID_NONE || match_input(match, node, 0) == ID_NONE) return false;
    const struct op *op = match->source->ops[node];
    const struct value_info *from = match_fact(match, match_input(match, node, 0));
    const struct value_info *to = match_fact(match, match_node(match, node)->outputs[0]);
    if (op->algebra == ALGEBRA_IDENTITY) return keeps_numbers(from, to);
    return match->pattern->row->views && op->memory == MEMORY_VIEW &&
           match_keeps_last_dim(&from->shape, &to->shape);
}

/* What the value is before its casts, which become part of the match; itself where it has none.
 */
uint32_t match_before(struct match *match, uint32_t value) {
    uint32_t node = match_producer(match, value);
    if (!match_hands_on(match, node) || !match_take(match, node)) return value;
    return match_input(match, node, 0);
}

static bool is_inside(const struct match *match, uint32_t node) {
    for (size_t i = 0; i < match->n_nodes; i++)
        if (match->nodes[i] == node) return true;
    return false;
}

/* Nobody but the match reads what its inner nodes make. */
bool match_is_closed(const struct match *match, uint32_t result) {
    const struct model *model = match->source->model;
    for (size_t i = 0; i < match->n_nodes; i++) {
        const struct node *node = match_node(match, match->nodes[i]);
        for (size_t k = 0; k < node->n_outputs; k++) {
            if (node->outputs[k] == ID_NONE || node->outputs[k] == result) continue;
            const struct value *value = &model->values[node->outputs[k]];
            if (value->is_graph_output || value->n_uses > MATCH_MAX_NODES) return false;
            for (uint32_t use = 0; use < value->n_uses; use++)
                if (!is_inside(match, value->uses[use].node)) return false;
        }
    }
    return true;
}
