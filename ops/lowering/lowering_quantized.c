/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of quantized operands multiply small integers and accumulate in 32 bits. Every
 * library applies scales and zero points in the epilogue of the product, so they are not
 * operands here.
 */
#include "ops/lowering/lowering.h"

#include "ops/op_context.h"

#include "support/banned.h"

enum slots { QUANTIZED_WEIGHT = 3, QUANTIZED_BIAS = 8 };

bool lower_quantized_conv(const struct op_context *context, int32_t which,
                          struct cm_primitive *ret) {
    if (!lowering_take(context, 0, ret) || !lowering_take(context, (size_t)which, ret))
        return false;
    const bool biased = which == QUANTIZED_WEIGHT && op_has_input(context, QUANTIZED_BIAS);
    if (biased && !lowering_take(context, QUANTIZED_BIAS, ret)) return false;
    return lowering_give(context, 0, ret) && lowering_convolution(context, ret);
}

bool lower_quantized_matmul(const struct op_context *context, int32_t which,
                            struct cm_primitive *ret) {
    return lowering_take(context, 0, ret) && lowering_take(context, (size_t)which, ret) &&
           lowering_give(context, 0, ret) && lowering_matrices(ret);
}

/* One for each slice along the axis, as an operand that broadcasts. False: blocks of them. */
static bool take_scale(const struct op_context *context, size_t slot,
                       struct cm_primitive *ret) {
    int axis = 0;
    if (!lowering_take(context, slot, ret)) return false;
    struct cm_tensor *scale = &ret->inputs[ret->n_inputs - 1];
    const struct cm_tensor *x = &ret->inputs[0];
    if (scale->rank == 0 || (scale->rank == 1 && scale->dims[0] == 1)) return true;
    if (scale->rank != 1 || op_attr_int(context, "block_size") != 0) return false;
    if (!lowering_axis(op_attr_int(context, "axis"), x->rank, &axis)) return false;
    const int64_t size = scale->dims[0];
    scale->rank = x->rank - axis;
    for (int i = 0; i < scale->rank; i++) scale->dims[i] = i == 0 ? size : 1;
    lowering_pack(scale);
    return true;
}

/* Operands, and which of them is the zero point; 0: there is none. */
static bool take_scales(const struct op_context *context, struct cm_primitive *ret,
                        int32_t *ret_zero) {
    *ret_zero = op_has_input(context, 2) ? 2 : 0;
    return lowering_take(context, 0, ret) && take_scale(context, 1, ret) &&
           (*ret_zero == 0 || take_scale(context, 2, ret)) && lowering_give(context, 0, ret);
}

/* round(x / scale) + zero point */
bool lower_quantize(const struct op_context *context, int32_t which, struct cm_primitive *ret) {
    int32_t zero = 0;
    (void)which;
    return take_scales(context, ret, &zero) && lowering_step(ret, CM_DIVIDE, 1) &&
           lowering_step(ret, CM_ROUND, 0) && (zero == 0 || lowering_step(ret, CM_ADD, zero)) &&
           lowering_step(ret, CM_CAST, 0);
}

/* (x - zero point) scale */
bool lower_dequantize(const struct op_context *context, int32_t which,
                      struct cm_primitive *ret) {
    int32_t zero = 0;
    (void)which;
    return take_scales(context, ret, &zero) && lowering_step(ret, CM_CAST, 0) &&
           (zero == 0 || lowering_step(ret, CM_SUBTRACT, zero)) &&
           lowering_step(ret, CM_MULTIPLY, 1);
}
