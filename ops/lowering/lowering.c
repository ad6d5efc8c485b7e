/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the lowering function of an operator, and makes tensors of operands and outputs. */
#include "ops/lowering/lowering.h"

#include <string.h>

#include "ops/op_context.h"
#include "ops/window.h"
#include "support/checked.h"
#include "support/text.h"

static const int32_t elements[DTYPE_N] = {
    [DTYPE_FLOAT] = CM_F32,         [DTYPE_UINT8] = CM_U8,
    [DTYPE_INT8] = CM_I8,           [DTYPE_UINT16] = CM_U16,
    [DTYPE_INT16] = CM_I16,         [DTYPE_INT32] = CM_I32,
    [DTYPE_INT64] = CM_I64,         [DTYPE_BOOL] = CM_BOOL,
    [DTYPE_FLOAT16] = CM_F16,       [DTYPE_DOUBLE] = CM_F64,
    [DTYPE_UINT32] = CM_U32,        [DTYPE_UINT64] = CM_U64,
    [DTYPE_BFLOAT16] = CM_BF16,     [DTYPE_FLOAT8E4M3FN] = CM_F8E4M3,
    [DTYPE_FLOAT8E5M2] = CM_F8E5M2,
};

void lowering_pack(struct cm_tensor *tensor) {
    int64_t stride = 1;
    for (int32_t i = tensor->rank - 1; i >= 0; i--) {
        tensor->strides[i] = stride;
        stride = checked_mul(stride, tensor->dims[i]);
    }
}

static bool set_tensor(const struct value_info *info, struct cm_tensor *ret) {
    struct cm_tensor tensor;
    memset(&tensor, 0, sizeof(tensor));
    if (!value_info_is_complete(info) || info->shape.rank > CM_MAX_RANK) return false;
    tensor.element = elements[info->dtype];
    if (tensor.element == CM_ELEMENT_NONE) return false;
    tensor.rank = info->shape.rank;
    for (int32_t i = 0; i < tensor.rank; i++) tensor.dims[i] = info->shape.dims[i];
    lowering_pack(&tensor);
    *ret = tensor;
    return true;
}

bool lowering_input(const struct op_context *context, size_t slot, struct cm_tensor *ret) {
    return op_has_input(context, slot) && set_tensor(op_input(context, slot), ret);
}

bool lowering_output(const struct op_context *context, size_t slot, struct cm_tensor *ret) {
    return slot < context->n_outputs && set_tensor(&context->outputs[slot], ret);
}

bool lowering_add_input(const struct op_context *context, size_t slot,
                        struct cm_primitive *ret) {
    if (ret->n_inputs == CM_MAX_INPUTS) return false;
    if (!lowering_input(context, slot, &ret->inputs[ret->n_inputs])) return false;
    ret->n_inputs++;
    return true;
}

bool lowering_add_output(const struct op_context *context, size_t slot,
                         struct cm_primitive *ret) {
    if (ret->n_outputs == CM_MAX_OUTPUTS) return false;
    if (!lowering_output(context, slot, &ret->outputs[ret->n_outputs])) return false;
    ret->n_outputs++;
    return true;
}

bool lowering_unary(const struct op_context *context, struct cm_primitive *ret) {
    return lowering_add_input(context, 0, ret) && lowering_add_output(context, 0, ret);
}

bool lowering_binary(const struct op_context *context, struct cm_primitive *ret) {
    return lowering_add_input(context, 0, ret) && lowering_add_input(context, 1, ret) &&
           lowering_add_output(context, 0, ret);
}

bool lowering_window(const struct window *window, int i, int64_t size, int64_t steps,
                     struct cm_window *ret) {
    const int64_t extent = window_extent(window, i);
    const int64_t covered =
        checked_add(checked_mul(checked_sub(steps, 1), window->stride[i]), extent);
    const int64_t missing = checked_sub(covered, size);
    ret->kernel[i] = window->kernel[i];
    ret->strides[i] = window->stride[i];
    ret->dilations[i] = window->dilation[i];
    ret->pads_begin[i] = window->begin[i];
    ret->pads_end[i] = window->end[i];
    if (window->pad == PAD_SAME && missing > 0) ret->pads_begin[i] = missing / 2;
    const int64_t padded = checked_add(checked_add(size, ret->pads_begin[i]), ret->pads_end[i]);
    const int64_t room = checked_sub(padded, extent);
    if (!is_known(room) || !is_known(missing)) return false;
    if (room < 0 || room / window->stride[i] + 1 != steps)
        ret->pads_end[i] = checked_sub(missing, ret->pads_begin[i]);
    return is_known(ret->pads_end[i]);
}

bool lowering_attr_axis(const struct op_context *context, int rank, int32_t *ret) {
    return shape_axis(op_attr_int(context, "axis"), rank, ret);
}

void lowering_swap(struct cm_tensor *tensor, int a, int b) {
    const int64_t dim = tensor->dims[a];
    const int64_t stride = tensor->strides[a];
    tensor->dims[a] = tensor->dims[b];
    tensor->strides[a] = tensor->strides[b];
    tensor->dims[b] = dim;
    tensor->strides[b] = stride;
}

bool lowering_step(struct cm_primitive *ret, int32_t function, int32_t operand) {
    if (ret->n_steps == CM_MAX_STEPS) return false;
    ret->steps[ret->n_steps++] = (struct cm_eltwise){.function = function, .operand = operand};
    return true;
}

bool lowering_scaled(struct cm_primitive *ret, int32_t function, double alpha, double beta) {
    if (!lowering_step(ret, function, 0)) return false;
    ret->steps[ret->n_steps - 1].alpha = alpha;
    ret->steps[ret->n_steps - 1].beta = beta;
    return true;
}

/* Returns the property of an operand or output that no primitive supports, as a text for
 * messages; NULL if there is none. */
static const char *fault_of(const struct value_info *info) {
    if (info->kind != CM_TYPE_TENSOR) return "sequences have no primitive";
    if (!value_info_is_complete(info)) return "its shapes are not known before it runs";
    if (info->shape.rank > CM_MAX_RANK) return "a primitive has at most 8 dims";
    return elements[info->dtype] == CM_ELEMENT_NONE ? "its elements have no primitive" : NULL;
}

bool lowering_apply(const struct op_context *context, struct cm_primitive *ret,
                    const char **ret_why) {
    static const struct op_lowering unstated;
    const struct op_facets *facets = context->op->facets;
    const struct op_lowering *row = facets ? &facets->lowering : &unstated;
    struct cm_primitive primitive;
    memset(&primitive, 0, sizeof(primitive));
    if (!row->lower) {
        *ret_why = row->why ? row->why : "nothing is known of the operator";
        return false;
    }
    primitive.kind = row->kind;
    if (row->lower(context, row->which, &primitive)) {
        *ret = primitive;
        return true;
    }
    *ret_why = NULL;
    for (size_t i = 0; !*ret_why && i < context->n_inputs; i++)
        if (op_has_input(context, i)) *ret_why = fault_of(context->inputs[i]);
    for (size_t i = 0; !*ret_why && i < context->n_outputs; i++)
        if (op_has_output(context, i)) *ret_why = fault_of(&context->outputs[i]);
    if (!*ret_why) *ret_why = row->why ? row->why : "its operands have no primitive";
    return false;
}

/* ---- elementwise operators ---- */

bool lower_unary(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    return lowering_unary(context, ret) && lowering_step(ret, which, 0);
}

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

/* Dropout in training mode: y = x * mask * scale. The primitive reads the mask (1 byte per
 * element) while the real kernel draws and writes it: the same bytes, without the random
 * numbers. */
bool lower_dropout(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    if (!lowering_unary(context, ret)) return false;
    ret->inputs[1] = ret->inputs[0];
    ret->inputs[1].element = CM_BOOL;
    ret->n_inputs = 2;
    return lowering_step(ret, which, 1) && lowering_scaled(ret, CM_LINEAR, 1, 0);
}
