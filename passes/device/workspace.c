/* SPDX-License-Identifier: Apache-2.0 */
#include "passes/device/workspace.h"

#include "ops/op.h"
#include "passes/infer/infer.h"
#include "passes/precision/precision.h"
#include "passes/training/training.h"
#include "support/checked.h"

/* Workspace in multiples of the bytes of image and output, and of the weight. */
struct rule {
    int64_t images;
    int64_t weight;
};

/* The library converts images to its own layout and back; for a window it also holds them
 * transformed, with the weight. */
static const struct rule small_window = {1, 0}; /* 1 x 1, or one channel per group */
static const struct rule large_window = {3, 2};

static const struct shape *shape_of(const struct analysis *analysis, uint32_t value) {
    return &analysis->infer->infos[value].shape;
}

static const struct rule *rule_of(const struct shape *weight) {
    for (int i = 2; i < weight->rank && weight->dims[1] != 1; i++)
        if (weight->dims[i] != 1) return &large_window;
    return &small_window;
}

bool workspace_is_convolution(const struct analysis *analysis, uint32_t node) {
    const struct operation *operation = &analysis->training->flow->operations[node];
    return operation->node && op_primitive_kind(operation->op) == CM_CONV &&
           operation->op->weight == 1 && operation->node->n_inputs > 1 &&
           operation->node->inputs[0] != ID_NONE && operation->node->inputs[1] != ID_NONE &&
           operation->node->outputs[0] != ID_NONE;
}

int64_t workspace_of_node(const struct analysis *analysis, uint32_t node) {
    if (!workspace_is_convolution(analysis, node)) return 0;
    const struct operation *operation = &analysis->training->flow->operations[node];
    const uint32_t weight = operation->node->inputs[1];
    const struct rule *rule = rule_of(shape_of(analysis, weight));
    const enum dtype dtype =
        precision_cast(analysis, operation->op, 0, analysis->infer->infos[weight].dtype);
    const int64_t images =
        checked_add(shape_elements(shape_of(analysis, operation->node->inputs[0])),
                    shape_elements(shape_of(analysis, operation->node->outputs[0])));
    const int64_t elements =
        checked_add(checked_mul(rule->images, images),
                    checked_mul(rule->weight, shape_elements(shape_of(analysis, weight))));
    const int64_t bytes = dtype_bytes(dtype, elements);
    return is_known(bytes) ? bytes : 0;
}
