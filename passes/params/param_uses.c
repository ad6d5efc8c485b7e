/* SPDX-License-Identifier: Apache-2.0 */
/* Where tensors come from and what they are used for: see param_uses.h. Forwards from what a
 * file stores to what is made of it, then backwards with the purposes. */
#include "passes/params/param_uses.h"

#include "passes/infer/bind.h"
#include "passes/infer/node_order.h"
#include "passes/params/dequantized.h"
#include "passes/params/names.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* Whether a tensor that may be a parameter enters the node, be it under another shape. */
static bool reads_sources(const struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    for (size_t slot = 0; slot < node->n_inputs; slot++)
        if (node->inputs[slot] != ID_NONE && study->carries[node->inputs[slot]]) return true;
    return false;
}

static char role_of(const struct param_study *study, uint32_t node, size_t slot) {
    const struct op *op = study->analysis->bind.ops[node];
    return bind_is_unknown(op) ? 'e' : op_role(op, slot);
}

static bool is_static_tensor(const struct type *type) {
    if (type->kind != CM_TYPE_TENSOR || !shape_has_rank(&type->shape)) return false;
    for (int axis = 0; axis < type->shape.rank; axis++)
        if ((type->symbols && type->symbols[axis]) || !is_known(type->shape.dims[axis]))
            return false;
    return true;
}

/* The first input is data; a later one of fixed shape may be a weight, as its use will tell. */
static void find_inputs(struct param_study *study) {
    const struct graph *main = &study->model->graphs[0];
    bool first = true;
    for (size_t i = 0; i < main->n_inputs; i++) {
        uint32_t id = main->inputs[i];
        const struct value *value = &study->model->values[id];
        if (value->constant) continue;
        if (!first && is_static_tensor(value->type)) study->sources[id] = SOURCE_INPUT;
        first = false;
    }
}

static void find_initializers(struct param_study *study) {
    for (uint32_t id = 0; id < study->model->n_values; id++)
        if (value_is_constant(study->model, id)) study->sources[id] = SOURCE_INITIALIZER;
}

/* Whether no tensor enters the node: what it gives is made from attributes and shapes. */
static bool makes_tensors(const struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    for (size_t slot = 0; slot < node->n_inputs; slot++)
        if (node->inputs[slot] != ID_NONE && role_of(study, id, slot) != 'i') return false;
    return true;
}

/* Whether the node gives its one operand unchanged: an Identity. */
static bool gives_same(const struct param_study *study, uint32_t id) {
    const struct value_info *facts = study->analysis->infer.facts;
    const struct node *node = &study->model->nodes[id];
    if (study->analysis->bind.ops[id]->memory != MEMORY_VIEW || node->n_inputs != 1 ||
        node->n_outputs != 1 || node->inputs[0] == ID_NONE || node->outputs[0] == ID_NONE)
        return false;
    const struct value_info *in = &facts[node->inputs[0]];
    const struct value_info *out = &facts[node->outputs[0]];
    return in->dtype == out->dtype && shape_equal(&in->shape, &out->shape);
}

/* Equal initializers that were merged come back as Identities, each under its own name. */
static bool renames(const struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    return gives_same(study, id) && study->sources[node->inputs[0]] == SOURCE_INITIALIZER &&
           names_parameter(value_name(study->model, node->outputs[0]));
}

static enum param_source source_of_outputs(const struct param_study *study, uint32_t id,
                                           bool reads) {
    if (reads && renames(study, id)) return SOURCE_RENAMED;
    return makes_tensors(study, id) ? SOURCE_NODE : SOURCE_NONE;
}

/* Whether the node's outputs are its sources under other shapes, types or in other order. */
static bool passes_sources(const struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    bool passed = false;
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        if (node->inputs[slot] == ID_NONE) continue;
        char role = role_of(study, id, slot);
        if (role == 'i' || role == 'm') continue;
        if (!study->carries[node->inputs[slot]]) return false;
        passed = passed || role == 'p';
    }
    return passed;
}

static void find_node_sources(struct param_study *study) {
    for (size_t i = 0; i < study->n_nodes; i++) {
        const struct node *node = &study->model->nodes[study->nodes[i]];
        const bool reads = reads_sources(study, study->nodes[i]);
        enum param_source source = source_of_outputs(study, study->nodes[i], reads);
        bool passes = source == SOURCE_NONE && reads && passes_sources(study, study->nodes[i]);
        for (size_t k = 0; k < node->n_outputs; k++) {
            uint32_t value = node->outputs[k];
            if (value == ID_NONE) continue;
            if (source == SOURCE_NODE && !study->analysis->infer.facts[value].is_constant)
                continue;
            study->sources[value] = (uint8_t)source;
            study->carries[value] = passes || source != SOURCE_NONE;
        }
    }
}

static void find_sources(struct param_study *study) {
    find_initializers(study);
    find_inputs(study);
    for (uint32_t id = 0; id < study->model->n_values; id++)
        study->carries[id] = study->sources[id] != SOURCE_NONE;
    find_node_sources(study);
}

static unsigned purpose_of_role(char role) {
    static const struct {
        char role;
        unsigned purpose;
    } table[] = {
        {'W', FOR_WEIGHT},  {'w', FOR_FACTOR},  {'n', FOR_TABLE},
        {'e', FOR_ELEMENT}, {'p', FOR_ELEMENT}, /* among activations, as a Concat of the two */
        {'s', FOR_STAT},    {'x', FOR_DATA},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].role == role) return table[i].purpose;
    return FOR_OTHER;
}

/* Those of the outputs, when the node hands its operands on to them; else 0. */
static unsigned handed_on(const struct param_study *study, const struct node *node) {
    unsigned purposes = 0;
    for (size_t i = 0; i < node->n_outputs; i++) {
        uint32_t value = node->outputs[i];
        if (value != ID_NONE && study->carries[value]) purposes |= study->purposes[value];
    }
    return purposes;
}

static bool hands_on(const struct param_study *study, const struct node *node) {
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != ID_NONE && study->carries[node->outputs[i]]) return true;
    return false;
}

/* The node that alone uses the value, when it joins it to another tensor elementwise; ID_NONE.
 */
static uint32_t only_elementwise_use(const struct param_study *study, uint32_t value) {
    const struct value *used = &study->model->values[value];
    if (used->n_uses != 1 || used->is_graph_output) return ID_NONE;
    const struct use *use = &used->uses[0];
    const struct node *node = &study->model->nodes[use->node];
    return role_of(study, use->node, use->slot) == 'e' && node->n_inputs == 2 ? use->node
                                                                              : ID_NONE;
}

/* Output of the node `joins`, when its other operand is a stored tensor of `elements`; ID_NONE.
 */
static uint32_t joined_with(const struct param_study *study, uint32_t joins, uint32_t value,
                            int64_t elements) {
    const struct node *node = &study->model->nodes[joins];
    uint32_t other = node->inputs[0] == value ? node->inputs[1] : node->inputs[0];
    if (other == ID_NONE || !study->carries[other] || elements < 2) return ID_NONE;
    if (node->n_outputs == 0) return ID_NONE;
    const struct value_info *info = &study->analysis->infer.facts[other];
    return shape_elements(&info->shape) == elements ? node->outputs[0] : ID_NONE;
}

/*
 * Caffe splits a batch normalization in two: BatchNorm, which learns nothing, and Scale, which
 * holds the learned scale and shift. Its exports give BatchNormalization placeholders for the
 * two and put a product and a sum per channel behind it. One layer, one scale, one shift.
 */
static bool is_scaled_again(const struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    uint32_t value = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
    if (role_of(study, id, node->n_inputs - 1) != 's' || node->inputs[1] == ID_NONE)
        return false;
    const struct value_info *scale = &study->analysis->infer.facts[node->inputs[1]];
    for (int step = 0; step < 2 && value != ID_NONE; step++) {
        uint32_t joins = only_elementwise_use(study, value);
        value = joins == ID_NONE
                    ? ID_NONE
                    : joined_with(study, joins, value, shape_elements(&scale->shape));
    }
    return value != ID_NONE;
}

/* Whether the node multiplies scales: one of them is made while the model runs. */
static bool joins_scales(const struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    for (size_t slot = 0; slot < node->n_inputs && node->n_inputs == 2; slot++) {
        if (node->inputs[slot] == ID_NONE) continue;
        const struct value *value = &study->model->values[node->inputs[slot]];
        if (value->node != ID_NONE && value->slot == 1 &&
            text_equal(study->model->nodes[value->node].type, "DynamicQuantizeLinear"))
            return true;
    }
    return false;
}

static void note_purposes(struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    if (!reads_sources(study, id)) return; /* purposes of others are not asked about */
    bool chain = hands_on(study, node);
    unsigned onward = handed_on(study, node);
    bool placeholders = node->n_inputs > 1 && is_scaled_again(study, id);
    const unsigned real = dequantizes(study->analysis, id) ? FOR_REAL : 0;
    const bool scales = joins_scales(study, id);
    if (renames(study, id)) return; /* the name it gives is the parameter that is used */
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        uint32_t value = node->inputs[slot];
        if (value == ID_NONE || !study->carries[value]) continue;
        char role = role_of(study, id, slot);
        if (role == 'n' && placeholders) role = 's';
        if (role == 'e' && scales) role = 'i';
        unsigned purposes = role == 'p' && chain ? onward : purpose_of_role(role);
        if (role == 'p') purposes |= real;
        study->purposes[value] = (uint8_t)(study->purposes[value] | purposes);
    }
}

/* Backwards: the purposes of a value are complete before those of what it is a view of. */
static void find_purposes(struct param_study *study) {
    for (size_t i = study->n_nodes; i-- > 0;) note_purposes(study, study->nodes[i]);
}

int param_uses_find(const struct analysis *analysis, struct param_study *study) {
    const size_t n_values = analysis->model->n_values;
    struct arena *scratch = analysis->scratch;
    study->analysis = analysis;
    study->model = analysis->model;
    study->sources = arena_array(scratch, n_values, sizeof *study->sources);
    study->purposes = arena_array(scratch, n_values, sizeof *study->purposes);
    study->carries = arena_array_raw(scratch, n_values, sizeof *study->carries);
    if (!study->sources || !study->purposes || !study->carries ||
        order_nodes(study->model, scratch, &study->n_nodes, &study->nodes) < 0)
        return diag_no_memory(analysis->diag);
    find_sources(study);
    find_purposes(study);
    return CM_OK;
}
