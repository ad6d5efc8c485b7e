/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes rules and places of nodes: see rules.h. It is the one file that knows how a node's
 * operands become facts, overrides included.
 */
#include "passes/rules.h"

#include "ir/print.h"
#include "support/arena.h"
#include "support/text.h"

#include "support/banned.h"

static const struct fact *operand(const struct rule_source *source, uint32_t node,
                                  size_t slot) {
    const struct override *override = source->overrides ? source->overrides[node] : NULL;
    for (; override; override = override->next)
        if (override->slot == slot) return override->fact;
    uint32_t value = source->model->nodes[node].inputs[slot];
    return value == ID_NONE ? NULL : &source->facts[value];
}

static bool trains(const struct rule_source *source, const struct rule *rule) {
    if (!rule->op->trains) return false;
    if (source->mode == CM_MODE_TRAINING) return true;
    if (source->mode == CM_MODE_INFERENCE) return false;
    return rule->op->trains(rule);
}

struct rule_source rules_source(const struct analysis *analysis) {
    return (struct rule_source){
        .model = analysis->model,
        .ops = analysis->bind.ops,
        .overrides = analysis->batch.overrides,
        .facts = analysis->infer.facts,
        .mode = analysis->options->mode,
        .arena = analysis->arena,
        .diag = analysis->diag,
    };
}

/* A rule of that node by that row: its outputs are unknown, its inputs to be set. */
static int make(const struct rule_source *source, const struct node *node, const struct op *op,
                struct rule *ret, const struct fact ***ret_inputs) {
    struct arena *lists = source->scratch ? source->scratch : source->arena;
    const struct fact **inputs = arena_array(lists, node->n_inputs, sizeof(*inputs));
    struct fact *outputs = arena_array(lists, node->n_outputs, sizeof(*outputs));
    if (!inputs || !outputs) return diag_no_memory(source->diag);
    for (size_t i = 0; i < node->n_outputs; i++) outputs[i] = fact_unknown();
    *ret = (struct rule){
        .model = source->model,
        .node = node,
        .op = op,
        .n_inputs = node->n_inputs,
        .inputs = inputs,
        .n_outputs = node->n_outputs,
        .outputs = outputs,
        .arena = source->arena,
        .diag = source->diag,
    };
    *ret_inputs = inputs;
    return CM_OK;
}

static void take_outputs(const struct rule_source *source, struct rule *ret) {
    const struct node *node = ret->node;
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE) ret->outputs[i] = source->facts[node->outputs[i]];
}

int rules_make(const struct rule_source *source, uint32_t node_id, struct rule *ret) {
    const struct node *node = &source->model->nodes[node_id];
    const struct fact **inputs = NULL;
    int status = make(source, node, source->ops[node_id], ret, &inputs);
    if (status < 0) return status;
    for (size_t i = 0; i < node->n_inputs; i++) inputs[i] = operand(source, node_id, i);
    ret->node_id = node_id;
    ret->training = trains(source, ret);
    return CM_OK;
}

int rules_make_done(const struct rule_source *source, uint32_t node_id, struct rule *ret) {
    int status = rules_make(source, node_id, ret);
    if (status == CM_OK) take_outputs(source, ret);
    return status;
}

/* As the node of the composite that reads it sees the value, overrides included. */
static const struct fact *operand_of_composite(const struct rule_source *source,
                                               const struct composite *composite,
                                               uint32_t value) {
    for (size_t i = 0; value != ID_NONE && i < composite->n_nodes; i++) {
        const struct node *node = &source->model->nodes[composite->nodes[i]];
        for (size_t slot = 0; slot < node->n_inputs; slot++)
            if (node->inputs[slot] == value) return operand(source, composite->nodes[i], slot);
    }
    return value == ID_NONE ? NULL : &source->facts[value];
}

int rules_make_composite(const struct rule_source *source, const struct composite *composite,
                         struct rule *ret) {
    const struct node *node = composite->node;
    const struct fact **inputs = NULL;
    int status = make(source, node, composite->op, ret, &inputs);
    if (status < 0) return status;
    for (size_t i = 0; i < node->n_inputs; i++)
        inputs[i] = operand_of_composite(source, composite, node->inputs[i]);
    take_outputs(source, ret);
    ret->node_id = composite->last;
    ret->training = trains(source, ret);
    return CM_OK;
}

static void print_place(const struct diag_frame *frame, struct text *out) {
    const struct node_place *place = frame->context;
    const struct node *node = &place->model->nodes[place->node];
    text_printf(out, "%u", place->node);
    if (node->name[0]) {
        text_append(out, " \"");
        text_append_label(out, node->name);
        text_append(out, "\"");
    }
    text_append(out, ", ");
    text_append_label(out, node->type);
    if (place->op && place->op->since) text_printf(out, "-%d", place->op->since);
    text_printf(out, ", pass %s\n", place->pass);
    print_node(place->model, place->node, place->facts, out);
}

void node_place_push(struct node_place *place, struct cm_diagnostics *diag) {
    place->frame = (struct diag_frame){
        .label = "at node",
        .print = print_place,
        .node = place->model->nodes[place->node].name,
        .node_index = place->node,
        .context = place,
    };
    diag_push(diag, &place->frame);
}

void node_place_pop(const struct node_place *place, struct cm_diagnostics *diag) {
    diag_pop(diag, &place->frame);
}
