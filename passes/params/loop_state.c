/* SPDX-License-Identifier: Apache-2.0 */
/* Unchanging loop-carried state: see loop_state.h. */
#include "passes/params/loop_state.h"

#include "passes/pass.h"

#include "support/banned.h"

/* At most this many Identity nodes are skipped between an input and an output of a body. */
#define MAX_COPIES 8

/* Index of the first state among the operands of a Loop: M, cond, states. A state that is
 * operand i of the node is input i of the body, output i - 1 of the body, and output i - 2 of
 * the node. */
#define FIRST_STATE 2

/* Returns the value of which this one is a copy. */
static uint32_t copied_from(const struct analysis *analysis, uint32_t value) {
    const struct model *model = analysis->model;
    for (int i = 0; i < MAX_COPIES && value != ID_NONE; i++) {
        const uint32_t producer = model->values[value].node;
        if (producer == ID_NONE) break;
        const struct node *node = &model->nodes[producer];
        if (analysis->bind.ops[producer]->memory != MEMORY_VIEW || node->n_inputs != 1) break;
        value = node->inputs[0];
    }
    return value;
}

bool loop_state_find(const struct analysis *analysis, uint32_t id, size_t slot,
                     struct loop_state *ret) {
    const struct model *model = analysis->model;
    const struct node *node = &model->nodes[id];
    const struct attr *attr = node_attr(node, "body");
    if (slot < FIRST_STATE || op_role(analysis->bind.ops[id], slot) != 'c' || !attr ||
        attr->kind != ATTR_GRAPH)
        return false;
    const struct graph *body = &model->graphs[attr->graphs[0]];
    const size_t output = slot - FIRST_STATE;
    if (slot >= body->n_inputs || output + 1 >= body->n_outputs) return false;
    ret->inside = body->inputs[slot];
    ret->after = output < node->n_outputs ? node->outputs[output] : ID_NONE;
    return copied_from(analysis, body->outputs[output + 1]) == ret->inside;
}
