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

bool lower_rnn(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    const bool batch_first = op_attr_int(context, "layout") != 0;
    const struct cm_tensor *x = &ret->inputs[0];
    struct cm_tensor *y = &ret->outputs[0];
    if (!find_algorithm(context, which, &ret->algorithm) || op_has_input(context, PEEPHOLES) ||
        op_attr_int(context, "input_forget") != 0)
        return false;
    for (size_t slot = 0; slot <= LAST_STATE; slot++) {
        if (slot > BIAS && slot < FIRST_STATE) continue; /* lengths of the sequences */
        if (slot >= BIAS && !op_has_input(context, slot)) continue;
        if (!lowering_add_input(context, slot, ret)) return false;
        struct cm_tensor *operand = &ret->inputs[ret->n_inputs - 1];
        if (slot != BIAS && operand->rank != 3) return false;
        if (batch_first && (slot == 0 || slot >= FIRST_STATE)) lowering_swap(operand, 0, 1);
    }
    ret->directions = (int32_t)ret->inputs[2].dims[0];
    ret->hidden = ret->inputs[2].dims[2];
    ret->n_outputs = 1;
    if (op_has_output(context, 0)) {
        if (!lowering_output(context, 0, y) || y->rank != 4) return false;
        if (batch_first) lowering_swap(y, 0, 1);
        if (batch_first) lowering_swap(y, 1, 2);
    } else { /* y is computed even if the node does not output it */
        *y = (struct cm_tensor){.element = x->element,
                                .rank = 4,
                                .dims = {x->dims[0], ret->directions, x->dims[1], ret->hidden}};
        lowering_pack(y);
    }
    for (size_t slot = 1; slot < CM_MAX_OUTPUTS; slot++) {
        if (!op_has_output(context, slot)) continue;
        if (!lowering_add_output(context, slot, ret) ||
            ret->outputs[ret->n_outputs - 1].rank != 3)
            return false;
        if (batch_first) lowering_swap(&ret->outputs[ret->n_outputs - 1], 0, 1);
    }
    return true;
}
