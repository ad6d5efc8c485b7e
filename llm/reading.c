/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/reading.h"

#include "support/checked.h"

#define MAX_VIEWS 256 /* that one walk follows */

int64_t llm_elements(const struct llm_reading *reading, uint32_t value) {
    const int64_t n = value == ID_NONE ? 0 : shape_elements(&llm_info(reading, value)->shape);
    return is_known(n) ? n : 0;
}

int64_t llm_bytes(const struct llm_reading *reading, uint32_t value) {
    const struct value_info *info = llm_info(reading, value);
    const int64_t n = dtype_bytes(info->dtype, llm_elements(reading, value));
    return is_known(n) ? n : 0;
}

bool llm_is_data(const struct llm_reading *reading, uint32_t value) {
    return value != ID_NONE && !llm_info(reading, value)->is_constant;
}

uint32_t llm_passed(const struct llm_reading *reading, uint32_t id) {
    const struct node *node = llm_node(reading, id);
    const struct op *op = llm_op(reading, id);
    const struct op_lowering *lowering = op->facets ? &op->facets->lowering : NULL;
    if (node->n_inputs == 0 || node->inputs[0] == ID_NONE) return ID_NONE;
    if (op->memory == MEMORY_VIEW || op->memory == MEMORY_VIEW_UNLESS_TRAINING ||
        op->algebra == ALGEBRA_IDENTITY ||
        (lowering && lowering->kind == CM_COPY &&
         (lowering->which == COPY_STRIDED || lowering->which == COPY_REPEATED)))
        return node->inputs[0];
    if ((op->algebra != ALGEBRA_PRODUCT && op->algebra != ALGEBRA_QUOTIENT) ||
        node->n_inputs != 2)
        return ID_NONE;
    for (uint32_t i = 0; i < 2; i++) /* scaled by one number */
        if (llm_elements(reading, node->inputs[1 - i]) == 1 &&
            !llm_is_data(reading, node->inputs[1 - i]) &&
            (i == 0 || op->algebra == ALGEBRA_PRODUCT))
            return node->inputs[i];
    return ID_NONE;
}

uint32_t llm_origin(const struct llm_reading *reading, uint32_t value) {
    for (int left = MAX_VIEWS; left > 0; left--) {
        const uint32_t id = llm_producer(reading, value);
        const uint32_t passed = id == ID_NONE ? ID_NONE : llm_passed(reading, id);
        if (passed == ID_NONE) return value;
        value = passed;
    }
    return value;
}

bool llm_is_product(const struct llm_reading *reading, uint32_t id) {
    const int32_t kind = op_primitive_kind(llm_op(reading, id));
    return kind == CM_GEMM || kind == CM_CONV || kind == CM_DECONV || kind == CM_ATTENTION ||
           kind == CM_RNN;
}

uint32_t llm_largest_param(const struct llm_reading *reading, uint32_t id) {
    const struct params_table *params = reading->core->params;
    uint32_t found = ID_NONE;
    for (uint32_t i = 0; i < params->n_used[id]; i++) {
        const uint32_t index = params->used[id][i];
        if (params->params[index].kind == PARAM_LEARNED && params->params[index].elements > 1 &&
            (found == ID_NONE ||
             params->params[index].elements > params->params[found].elements))
            found = index;
    }
    return found;
}

uint32_t llm_weight_of(const struct llm_reading *reading, uint32_t id) {
    const uint32_t index = llm_largest_param(reading, id);
    const uint32_t value =
        index == ID_NONE ? ID_NONE : reading->core->params->params[index].value;
    return value != ID_NONE && llm_rank(reading, value) >= 2 ? value : ID_NONE;
}
