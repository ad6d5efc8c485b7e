/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the origins and purposes of tensors: see param_uses.h. A forward walk finds the sources
 * (tensors that may be parameters), a backward walk finds their purposes. */
#include "passes/params/param_uses.h"

#include "ops/integers.h"
#include "passes/infer/infer.h"
#include "passes/params/names.h"
#include "passes/walk/bind.h"
#include "passes/walk/node_order.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/diag.h"

/* At most this many views (Identity, Flatten) are skipped between an input and an output of a
 * body. */
#define MAX_COPIES 8

/* Index of the first state among the operands of a Loop: M, cond, states. A state that is
 * operand i of the node is input i of the body, output i - 1 of the body, and output i - 2 of
 * the node. */
#define FIRST_STATE 2

/* Returns the value that has the same elements, behind views with one operand. */
static uint32_t copied_from(const struct analysis *analysis, uint32_t value) {
    const struct model *model = analysis->model;
    for (int i = 0; i < MAX_COPIES && value != ID_NONE; i++) {
        const uint32_t producer = model->values[value].node;
        if (producer == ID_NONE) break;
        const struct node *node = &model->nodes[producer];
        if (analysis->bind->ops[producer]->memory != MEMORY_VIEW || node->n_inputs != 1) break;
        value = node->inputs[0];
    }
    return value;
}

bool loop_state_find(const struct analysis *analysis, uint32_t id, size_t slot,
                     struct loop_state *ret) {
    const struct model *model = analysis->model;
    const struct node *node = &model->nodes[id];
    const struct attr *attr = node_attr(node, "body");
    if (slot < FIRST_STATE || op_role(analysis->bind->ops[id], slot) != 'c' || !attr ||
        attr->kind != ATTR_GRAPH)
        return false;
    const struct graph *body = &model->graphs[attr->graphs[0]];
    const size_t output = slot - FIRST_STATE;
    if (slot >= body->n_inputs || output + 1 >= body->n_outputs) return false;
    ret->inside = body->inputs[slot];
    ret->after = output < node->n_outputs ? node->outputs[output] : ID_NONE;
    return copied_from(analysis, body->outputs[output + 1]) == ret->inside;
}

/* Returns true if an operand is a source, or a view, slice or cast of one. */
static bool reads_sources(const struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    for (size_t slot = 0; slot < node->n_inputs; slot++)
        if (node->inputs[slot] != ID_NONE && study->is_from_source[node->inputs[slot]])
            return true;
    return false;
}

static char role_of(const struct param_study *study, uint32_t node, size_t slot) {
    const struct op *op = study->analysis->bind->ops[node];
    return bind_is_unknown(op) ? 'e' : op_role(op, slot);
}

/* Returns true if the outputs depend only on attributes and shapes. */
static bool makes_tensors(const struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    for (size_t slot = 0; slot < node->n_inputs; slot++)
        if (node->inputs[slot] != ID_NONE && role_of(study, id, slot) != 'i') return false;
    return true;
}

/* Returns true for an Identity of an initializer whose output has a parameter's name: exporters
 * merge equal initializers and rename them this way. */
static bool renames(const struct param_study *study, uint32_t id) {
    const struct value_info *infos = study->analysis->infer->infos;
    const struct node *node = &study->model->nodes[id];
    if (study->analysis->bind->ops[id]->memory != MEMORY_VIEW || node->n_inputs != 1 ||
        node->n_outputs != 1 || node->inputs[0] == ID_NONE || node->outputs[0] == ID_NONE)
        return false;
    const struct value_info *in = &infos[node->inputs[0]];
    const struct value_info *out = &infos[node->outputs[0]];
    return in->dtype == out->dtype && shape_equal(&in->shape, &out->shape) &&
           study->model->values[node->inputs[0]].mark == MARK_NONE &&
           study->sources[node->inputs[0]] == SOURCE_INITIALIZER &&
           names_parameter(value_name(study->model, node->outputs[0]));
}

/* Returns true if the outputs are the operands' sources under another shape, type or order. */
static bool passes_sources(const struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    bool passed = false;
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        if (node->inputs[slot] == ID_NONE) continue;
        char role = role_of(study, id, slot);
        if (role == 'i' || role == 'm') continue;
        if (!study->is_from_source[node->inputs[slot]]) return false;
        passed = passed || role == 'p';
    }
    return passed;
}

/* If a Loop state never changes and its operand is from a source, marks the state in the body
 * and the output of the node as from a source too. */
static void carry_states(struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        struct loop_state state;
        if (node->inputs[slot] == ID_NONE || !study->is_from_source[node->inputs[slot]] ||
            role_of(study, id, slot) != 'c' ||
            !loop_state_find(study->analysis, id, slot, &state))
            continue;
        study->is_from_source[state.inside] = true;
        if (state.after != ID_NONE) study->is_from_source[state.after] = true;
    }
}

static void find_node_sources(struct param_study *study) {
    for (size_t i = 0; i < study->n_nodes; i++) {
        const struct node *node = &study->model->nodes[study->nodes[i]];
        const bool reads = reads_sources(study, study->nodes[i]);
        const enum param_source source = reads && renames(study, study->nodes[i])
                                             ? SOURCE_RENAMED
                                         : makes_tensors(study, study->nodes[i]) ? SOURCE_NODE
                                                                                 : SOURCE_NONE;
        bool passes = source == SOURCE_NONE && reads && passes_sources(study, study->nodes[i]);
        for (size_t k = 0; k < node->n_outputs; k++) {
            uint32_t value = node->outputs[k];
            if (value == ID_NONE) continue;
            if (source == SOURCE_NODE && !study->analysis->infer->infos[value].is_constant)
                continue;
            study->sources[value] = (uint8_t)source;
            study->is_from_source[value] = passes || source != SOURCE_NONE;
        }
        if (reads) carry_states(study, study->nodes[i]);
    }
}

/* Returns the purposes of a Loop state, in the body and after the Loop; FOR_DATA if the state
 * changes. */
static unsigned purposes_of_state(const struct param_study *study, uint32_t id, size_t slot) {
    struct loop_state state;
    if (!loop_state_find(study->analysis, id, slot, &state)) return FOR_DATA;
    const unsigned inside = study->purposes[state.inside];
    return state.after == ID_NONE ? inside : inside | study->purposes[state.after];
}

static unsigned purpose_of_role(char role) {
    static const struct {
        char role;
        unsigned purpose;
    } table[] = {
        {'W', FOR_WEIGHT},  {'w', FOR_FACTOR},  {'n', FOR_TABLE},
        {'e', FOR_ELEMENT}, {'p', FOR_ELEMENT}, /* p: a Concat with activations */
        {'s', FOR_STAT},    {'x', FOR_DATA},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].role == role) return table[i].purpose;
    return FOR_OTHER;
}

/* If the only use of the value is an elementwise node whose other operand is a source with
 * `elements` elements, returns the output of that node; else ID_NONE. */
static uint32_t joined_with_source(const struct param_study *study, uint32_t value,
                                   int64_t elements) {
    const struct value *used = &study->model->values[value];
    if (used->n_uses != 1 || used->is_graph_output || elements < 2) return ID_NONE;
    const struct use *use = &used->uses[0];
    const struct node *node = &study->model->nodes[use->node];
    if (role_of(study, use->node, use->slot) != 'e' || node->n_inputs != 2 ||
        node->n_outputs == 0)
        return ID_NONE;
    uint32_t other = node->inputs[0] == value ? node->inputs[1] : node->inputs[0];
    if (other == ID_NONE || !study->is_from_source[other]) return ID_NONE;
    const struct value_info *info = &study->analysis->infer->infos[other];
    return shape_elements(&info->shape) == elements ? node->outputs[0] : ID_NONE;
}

/* Caffe splits a batch normalization into BatchNorm, without learned tensors, and Scale, with
 * the learned scale and shift. Its exports have placeholders in BatchNormalization, followed by
 * a Mul and an Add per channel. Returns true for such a BatchNormalization. */
static bool has_placeholders(const struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    uint32_t value = node->n_outputs > 0 ? node->outputs[0] : ID_NONE;
    if (role_of(study, id, node->n_inputs - 1) != 's' || node->inputs[1] == ID_NONE)
        return false;
    const struct value_info *scale = &study->analysis->infer->infos[node->inputs[1]];
    for (int step = 0; step < 2 && value != ID_NONE; step++)
        value = joined_with_source(study, value, shape_elements(&scale->shape));
    return value != ID_NONE;
}

/* Returns true if one of the two operands of the node is a scale that is computed at run time:
 * the other is then a scale too. */
static bool joins_scales(const struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    for (size_t slot = 0; slot < node->n_inputs && node->n_inputs == 2; slot++) {
        if (node->inputs[slot] == ID_NONE) continue;
        const struct value *value = &study->model->values[node->inputs[slot]];
        if (value->node != ID_NONE && value->slot == 1 &&
            integers_computes_scale(study->analysis->bind->ops[value->node]))
            return true;
    }
    return false;
}

/* Adds the purposes for which the node uses operands that are from sources. */
static void add_purposes(struct param_study *study, uint32_t id) {
    const struct node *node = &study->model->nodes[id];
    if (!reads_sources(study, id)) return; /* only sources have purposes */
    unsigned onward = 0; /* purposes of the outputs that are from the operands' sources */
    bool chain = false;
    for (size_t i = 0; i < node->n_outputs; i++) {
        const uint32_t value = node->outputs[i];
        if (value == ID_NONE || !study->is_from_source[value]) continue;
        chain = true;
        onward |= study->purposes[value];
    }
    const bool placeholders = node->n_inputs > 1 && has_placeholders(study, id);
    const unsigned real = infer_dequantizes(study->analysis, id) ? FOR_REAL : 0;
    const bool scales = joins_scales(study, id);
    if (renames(study, id)) return; /* the output is the parameter that is used */
    for (size_t slot = 0; slot < node->n_inputs; slot++) {
        uint32_t value = node->inputs[slot];
        if (value == ID_NONE || !study->is_from_source[value]) continue;
        char role = role_of(study, id, slot);
        if (role == 'n' && placeholders) role = 's';
        if (role == 'e' && scales) role = 'i';
        unsigned purposes = role == 'c'            ? purposes_of_state(study, id, slot)
                            : role == 'p' && chain ? onward
                                                   : purpose_of_role(role);
        if (role == 'p') purposes |= real;
        study->purposes[value] = (uint8_t)(study->purposes[value] | purposes);
    }
}

int param_uses_find(const struct analysis *analysis, struct param_study *study) {
    const size_t n_values = analysis->model->n_values;
    struct arena *scratch = analysis->scratch;
    study->analysis = analysis;
    study->model = analysis->model;
    study->sources = arena_array(scratch, n_values, sizeof *study->sources);
    study->purposes = arena_array(scratch, n_values, sizeof *study->purposes);
    study->is_from_source = arena_array_raw(scratch, n_values, sizeof *study->is_from_source);
    if (!study->sources || !study->purposes || !study->is_from_source ||
        order_nodes(study->model, scratch, &study->n_nodes, &study->nodes) < 0)
        return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < n_values; id++)
        if (value_is_constant(study->model, id)) study->sources[id] = SOURCE_INITIALIZER;
    const struct graph *main = &study->model->graphs[0];
    bool is_first = true; /* the first input is data; later static ones may be weights */
    for (size_t i = 0; i < main->n_inputs; i++) {
        const struct value *value = &study->model->values[main->inputs[i]];
        if (value->constant) continue;
        if (!is_first && value->type->kind == CM_TYPE_TENSOR &&
            shape_is_known(&value->type->shape))
            study->sources[main->inputs[i]] = SOURCE_INPUT;
        is_first = false;
    }
    for (uint32_t id = 0; id < n_values; id++)
        study->is_from_source[id] = study->sources[id] != SOURCE_NONE;
    find_node_sources(study);
    for (size_t i = study->n_nodes; i-- > 0;) /* backward: uses of a view before the view */
        add_purposes(study, study->nodes[i]);
    for (uint32_t id = 0; id < n_values && !study->stores_weights; id++)
        study->stores_weights = study->sources[id] == SOURCE_INITIALIZER &&
                                dtype_is_float(analysis->infer->infos[id].dtype) &&
                                (study->purposes[id] & (FOR_WEIGHT | FOR_FACTOR));
    return CM_OK;
}
