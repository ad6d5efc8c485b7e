/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of recurrent layers. Ignores the lengths of the sequences of a batch (all steps run)
 * and linear_before_reset of GRU (both variants cost the same).
 */
#include "ops/lowering/lowering.h"

#include <string.h>

#include "ir/graph.h"
#include "ops/op_context.h"
#include "support/text.h"

#include "support/banned.h"

enum slots { BIAS = 3, FIRST_STATE = 5, LAST_STATE = 6, PEEPHOLES = 7 };

/* Returns true if the activations of the gates are `names` in each direction, or are not given
 * (the default). */
static bool has_activations(const struct op_context *context, const char *const *names,
                            size_t n) {
    const struct attr *attr = node_attr(context->node, "activations");
    if (attr == NULL || attr->kind != ATTR_STRINGS) return true;
    for (size_t i = 0; i < attr->n; i++)
        if (!text_equal(attr->strings[i], names[i % n])) return false;
    return true;
}

static bool find_algorithm(const struct op_context *context, int32_t which, int32_t *ret) {
    static const char *const lstm[] = {"Sigmoid", "Tanh", "Tanh"};
    static const char *const relu[] = {"Relu"};
    *ret = which;
    if (which == CM_RNN_LSTM) return has_activations(context, lstm, 3);
    if (which == CM_RNN_GRU) return has_activations(context, lstm, 2);
    if (has_activations(context, lstm + 1, 1)) return true;
    *ret = CM_RNN_RELU;
    return has_activations(context, relu, 1);
}

/* Transposes a state to the order of the primitive if the node has layout 1 (batch first). */
static void transpose_state(const struct op_context *context, struct cm_tensor *tensor) {
    if (op_attr_int(context, "layout") != 0) lowering_swap(tensor, 0, 1);
}

static bool add_operands(const struct op_context *context, struct cm_primitive *ret) {
    for (size_t slot = 0; slot < BIAS; slot++)
        if (!lowering_add_input(context, slot, ret) || ret->inputs[slot].rank != 3)
            return false;
    transpose_state(context, &ret->inputs[0]);
    if (op_has_input(context, BIAS) && !lowering_add_input(context, BIAS, ret)) return false;
    for (size_t slot = FIRST_STATE; slot <= LAST_STATE; slot++) {
        if (!op_has_input(context, slot)) continue;
        if (!lowering_add_input(context, slot, ret) || ret->inputs[ret->n_inputs - 1].rank != 3)
            return false;
        transpose_state(context, &ret->inputs[ret->n_inputs - 1]);
    }
    return true;
}

/* Adds the result y, which is computed even if the node does not output it. */
static bool add_all_steps(const struct op_context *context, struct cm_primitive *ret) {
    const struct cm_tensor *x = &ret->inputs[0];
    struct cm_tensor *y = &ret->outputs[ret->n_outputs++];
    if (op_has_output(context, 0)) {
        if (!lowering_output(context, 0, y) || y->rank != 4) return false;
        if (op_attr_int(context, "layout") == 0) return true;
        lowering_swap(y, 0, 1);
        lowering_swap(y, 1, 2);
        return true;
    }
    *y = (struct cm_tensor){.element = x->element, .rank = 4};
    y->dims[0] = x->dims[0];
    y->dims[1] = ret->directions;
    y->dims[2] = x->dims[1];
    y->dims[3] = ret->hidden;
    lowering_pack(y);
    return true;
}

bool lower_rnn(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    if (!find_algorithm(context, which, &ret->algorithm) || op_has_input(context, PEEPHOLES) ||
        op_attr_int(context, "input_forget") != 0)
        return false;
    if (!add_operands(context, ret)) return false;
    ret->directions = (int32_t)ret->inputs[2].dims[0];
    ret->hidden = ret->inputs[2].dims[2];
    if (!add_all_steps(context, ret)) return false;
    for (size_t slot = 1; slot < CM_MAX_OUTPUTS; slot++) {
        if (!op_has_output(context, slot)) continue;
        if (!lowering_add_output(context, slot, ret) ||
            ret->outputs[ret->n_outputs - 1].rank != 3)
            return false;
        transpose_state(context, &ret->outputs[ret->n_outputs - 1]);
    }
    return true;
}
