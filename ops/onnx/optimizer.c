/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizers and gradients as nodes (ai.onnx.preview.training). Operands of an optimizer:
 * learning rate, step number, n tensors, their n gradients, n tensors per state. Outputs: the n
 * tensors and the states. Gradient runs a backward pass over part of the graph; its cost is
 * unknown. */
#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "ops/product.h"

/* Operands 0 and 1 are the learning rate and the step number. */
#define FIRST_TENSOR 2

/* Operand lists of equal length: tensors, gradients, and one per state (Adam: two). */
static int infer_optimizer(struct op_context *context) {
    const size_t lists = text_equal(context->op->type, "Adam") ? 4 : 3;
    const size_t operands =
        context->n_inputs > FIRST_TENSOR ? context->n_inputs - FIRST_TENSOR : 0;
    const size_t n = operands / lists;
    if (n == 0 || operands % lists != 0)
        return op_fail(context, DIAG_ARITY, "%zu tensors do not form %zu lists of equal length",
                       operands, lists);
    if (context->n_outputs > n * (lists - 1))
        return op_fail(context, DIAG_ARITY, "at most %zu outputs are possible, got %zu",
                       n * (lists - 1), context->n_outputs);
    int status = CM_OK;
    for (size_t i = 0; i < context->n_outputs && status == CM_OK; i++)
        /* skip the gradients, which have no output */
        status = op_output_like(context, i, FIRST_TENSOR + (i < n ? i : i + n));
    return status;
}

/* One output per tensor listed in `xs`. */
static int infer_gradient(struct op_context *context) {
    const struct attr *xs = node_attr(context->node, "xs");
    const size_t n = xs ? xs->n : 0;
    int status = CM_OK;
    if (n > context->n_inputs || context->n_outputs > n)
        return op_fail(context, DIAG_ARITY,
                       "xs must have at most as many names as there are inputs, and at least "
                       "as many as there are outputs; got %zu names, %zu inputs, %zu outputs",
                       n, context->n_inputs, context->n_outputs);
    for (size_t i = 0; i < context->n_outputs && status == CM_OK; i++)
        status = op_output_like(context, i, i);
    return status;
}

static void macs_gradient(const struct op_context *context, struct product *ret) {
    (void)context;
    product_add(ret, "of the graph that is differentiated", DIM_UNKNOWN);
}

/* clang-format off */
#define OPTIMIZER(name, operations)                                                            \
    {                                                                                          \
        SIGNATURE(TRAINING, name, 1, EXACT(PLUS(exact_optimizer, operations)),                 \
                  NO_PRIMITIVE(NO_OPTIMIZER)),                                                 \
        .infer = infer_optimizer, .param_roles = "iix", .backward.saved_for_backward = "-"     \
    }

static const struct op rows[] = {
    OPTIMIZER(Adagrad,  "operations: 9 per updated element"),
    OPTIMIZER(Adam,     "operations: 14 per updated element, 15 with norm_coefficient_post"),
    OPTIMIZER(Momentum, "operations: 7 per updated element, 9 with mode nesterov"),
    {SIGNATURE(TRAINING, Gradient, 1, NO_PRIMITIVE(NO_OPTIMIZER)), .infer = infer_gradient,
     .cost = {macs_gradient, "unknown: MACs of a backward pass over part of the graph"},
     .param_roles = "x", .backward.saved_for_backward = "-"},
};
/* clang-format on */

OP_FAMILY(optimizer, .declines = FACETS_RARE | FACET_BOUNDS);
