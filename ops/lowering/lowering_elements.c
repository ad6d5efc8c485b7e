/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering of elementwise operators. */
#include "ops/lowering/lowering.h"

#include "ops/op_context.h"
#include "support/text.h"

#include "support/banned.h"

bool lower_unary(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    return lowering_unary(context, ret) && lowering_step(ret, which, 0);
}

/* A unary function with the constants alpha and beta from attributes. */
bool lower_scaled(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    const double beta = which == CM_HARD_SIGMOID ? op_attr_float(context, "beta") : 0;
    return lowering_unary(context, ret) &&
           lowering_scaled(ret, which, op_attr_float(context, "alpha"), beta);
}

/* Clips to 0 .. 1 instead of the node's limits: the time does not depend on them. */
bool lower_clip(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    return lowering_unary(context, ret) && lowering_scaled(ret, which, 0, 1);
}

bool lower_gelu(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    const bool by_tanh = text_equal(op_attr_string(context, "approximate"), "tanh");
    return lower_unary(context, by_tanh ? CM_GELU_TANH : which, ret);
}

/* alpha elu(x / alpha) */
bool lower_celu(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    const double alpha = op_attr_float(context, "alpha");
    if (alpha == 0) return false;
    return lowering_unary(context, ret) && lowering_scaled(ret, CM_LINEAR, 1 / alpha, 0) &&
           lowering_scaled(ret, which, 1, 0) && lowering_scaled(ret, CM_LINEAR, alpha, 0);
}

/* gamma elu(x), with the alpha of the node */
bool lower_selu(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    return lower_scaled(context, which, ret) &&
           lowering_scaled(ret, CM_LINEAR, op_attr_float(context, "gamma"), 0);
}

/* x / (1 + |x|) */
bool lower_softsign(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    return lower_unary(context, which, ret) && lowering_scaled(ret, CM_LINEAR, 1, 1) &&
           lowering_step(ret, CM_RECIPROCAL, 0) && lowering_step(ret, CM_MULTIPLY, 0);
}

/* Compares |x| with a constant. */
bool lower_is_inf(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    return lower_unary(context, CM_ABS, ret) && lowering_step(ret, which, 0);
}

bool lower_binary(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    return lowering_binary(context, ret) && lowering_step(ret, which, 1);
}

/* Applies the function to the operands one after another; a single operand is copied. */
bool lower_variadic(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    if (context->n_inputs > CM_MAX_STEPS + 1) return false;
    for (size_t slot = 0; slot < context->n_inputs; slot++)
        if (!lowering_add_input(context, slot, ret) ||
            (slot > 0 && !lowering_step(ret, which, (int32_t)slot)))
            return false;
    if (context->n_inputs == 1) ret->kind = CM_COPY;
    return lowering_add_output(context, 0, ret);
}

bool lower_mean(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    if (!lower_variadic(context, which, ret)) return false;
    return context->n_inputs == 1 ||
           lowering_scaled(ret, CM_LINEAR, 1.0 / (double)context->n_inputs, 0);
}

/* swish(x) * gate */
bool lower_gated(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    return lowering_binary(context, ret) &&
           lowering_scaled(ret, which, op_attr_float(context, "alpha"), 0) &&
           lowering_step(ret, CM_MULTIPLY, 1);
}

bool lower_select(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    return lowering_add_input(context, 0, ret) && lowering_add_input(context, 1, ret) &&
           lowering_add_input(context, 2, ret) && lowering_add_output(context, 0, ret) &&
           lowering_step(ret, which, 1);
}

/*
 * Dropout in training mode: y = x * mask * scale. The primitive reads the mask (1 byte per
 * element) while the real kernel draws and writes it: the same bytes, without the random
 * numbers.
 */
bool lower_dropout(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    if (!lowering_unary(context, ret)) return false;
    ret->inputs[1] = ret->inputs[0];
    ret->inputs[1].element = CM_BOOL;
    ret->n_inputs = 2;
    return lowering_step(ret, which, 1) && lowering_scaled(ret, CM_LINEAR, 1, 0);
}
