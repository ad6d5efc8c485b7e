/* SPDX-License-Identifier: Apache-2.0 */
#include "passes/device/workspace.h"

#include "ops/op.h"
#include "passes/infer/infer.h"
#include "passes/precision/precision.h"
#include "passes/training/training.h"
#include "support/checked.h"

/* Workspace in multiples of the bytes of image and output. The library converts both to its own
 * layout; for a window it also holds them transformed. */
#define SMALL_WINDOW 1 /* 1 x 1, or one channel per group */
#define LARGE_WINDOW 3

static const struct shape *shape_of(const struct analysis *analysis, uint32_t value) {
    return &analysis->infer->infos[value].shape;
}

static int64_t images_of(const struct shape *weight) {
    for (int i = 2; i < weight->rank && weight->dims[1] != 1; i++)
        if (weight->dims[i] != 1) return LARGE_WINDOW;
    return SMALL_WINDOW;
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
    const enum dtype dtype =
        precision_cast(analysis, operation->op, 0, analysis->infer->infos[weight].dtype);
    const int64_t elements =
        checked_add(shape_elements(shape_of(analysis, operation->node->inputs[0])),
                    shape_elements(shape_of(analysis, operation->node->outputs[0])));
    const int64_t bytes =
        checked_mul(images_of(shape_of(analysis, weight)), dtype_bytes(dtype, elements));
    return is_known(bytes) ? bytes : 0;
}
