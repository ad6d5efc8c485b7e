/* SPDX-License-Identifier: Apache-2.0 */
/* Quantization, and products of quantized operands. MACs of the products are those of the float
 * operators (convolution.c, matmul.c). QuantizeLinear and DequantizeLinear: MACs 0, FLOPs 0. */
#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "ops/onnx/shared.h"

/* Checks that scales of rank 1 have as many elements as input 0 has along `axis`. */
static int check_scales(const struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const struct shape *scale = op_shape(context, 1);
    int axis = 0;
    const bool sliced = scale->rank == 1 && is_known(scale->dims[0]) && scale->dims[0] != 1;
    if (!sliced || !shape_has_rank(x) || context->op->since < 13) return CM_OK;
    int status = op_axis(context, x->rank, &axis);
    if (status < 0 || !common_differ(x->dims[axis], scale->dims[0])) return status;
    return op_fail(context, DIAG_SHAPE, "%lld scales for axis %d of %s",
                   (long long)scale->dims[0], axis, op_shape_text(context, x));
}

/* Returns the attribute output_dtype (QuantizeLinear-21, DequantizeLinear-23), else the dtype
 * of operand i, else `otherwise`. */
static enum dtype quantized_dtype(const struct op_context *context, size_t i,
                                  enum dtype otherwise) {
    int64_t number = op_attr_int(context, "output_dtype");
    if (number != 0) return dtype_from_onnx(number);
    return op_has_input(context, i) ? op_dtype(context, i) : otherwise;
}

static int infer_quantize(struct op_context *context) {
    int status = check_scales(context);
    if (status < 0) return status;
    return common_infer_same_shape(context, quantized_dtype(context, 2, DTYPE_UINT8));
}

static int infer_dequantize(struct op_context *context) {
    enum dtype x = op_dtype(context, 0);
    enum dtype zero = op_dtype(context, 2);
    int status = check_scales(context);
    if (status < 0) return status;
    if (x != DTYPE_UNDEFINED && zero != DTYPE_UNDEFINED && x != zero)
        return op_fail(context, DIAG_TYPE, "the zero point is of type %s, the input of %s",
                       dtype_name(zero), dtype_name(x));
    return common_infer_same_shape(context, quantized_dtype(context, 1, DTYPE_FLOAT));
}

static int infer_dynamic_quantize(struct op_context *context) {
    int status = common_infer_same_shape(context, DTYPE_UINT8);
    if (status == CM_OK) status = op_output_dims(context, 1, DTYPE_FLOAT, 0, NULL);
    return status < 0 ? status : op_output_dims(context, 2, DTYPE_UINT8, 0, NULL);
}

static int infer_conv_integer(struct op_context *context) {
    return convolution_infer(context, DTYPE_INT32);
}

static int infer_qlinear_conv(struct op_context *context) {
    return convolution_infer(context, op_dtype(context, 7));
}

static int infer_matmul_integer(struct op_context *context) {
    return matmul_infer(context, DTYPE_INT32);
}

static int infer_qlinear_matmul(struct op_context *context) {
    return matmul_infer(context, op_dtype(context, 7));
}

#define CONV   "out x input channels of a group x kernel"
#define MATMUL "out x inner axis"
/* clang-format off */
#define QUANTIZE(name, from, infer_fn, ...)                                                    \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, __VA_ARGS__), .infer = infer_fn, .param_roles = "pii",\
        .backward.saved_for_backward = "-"                                                     \
    }
#define PRODUCT(name, infer_fn, weight_, bias_, macs_fn, formula, letters, ...)                \
    {                                                                                          \
        SIGNATURE(ONNX, name, 10, __VA_ARGS__), .infer = infer_fn, .weight = weight_, .bias = bias_,\
        .cost = {macs_fn, formula}, .param_roles = letters,                                    \
        .backward.saved_for_backward = "-"                                                     \
    }

static const struct op rows[] = {
    SINCE5(QUANTIZE, QuantizeLinear, 10, 13, 19, 21, 23, infer_quantize,
        EXACT(.per_output = 3), ONNX_TOOL(.per_output = 2),
        LOWER(lower_quantize, CM_ELTWISE, 0, IMAGES_FOLLOW, LIMIT_BLOCKED_SCALES), BOUNDS("d"),
        INTEGERS(INTEGERS_NONE)), /* exact: quotient, rounding, zero point */
    SINCE4(QUANTIZE, DequantizeLinear, 10, 13, 21, 23,   infer_dequantize,
        EXACT(.per_output = 2), ONNX_TOOL(.per_output = 2),
        LOWER(lower_dequantize, CM_ELTWISE, 0, IMAGES_FOLLOW, LIMIT_BLOCKED_SCALES), BOUNDS("d"),
        INTEGERS(INTEGERS_SCALED)), /* exact: zero point, factor */
    {SIGNATURE(ONNX, DynamicQuantizeLinear, 11, NO_PRIMITIVE(TWO_PRIMITIVES), BOUNDS("d"), INTEGERS(INTEGERS_SCALES),
        EXACT(PLUS(exact_dynamic_scale, "operations: 5 per input element, and 5"))),
     .infer = infer_dynamic_quantize, .backward.saved_for_backward = "-", .param_roles = "x"},
    PRODUCT(ConvInteger,   infer_conv_integer,   1, 0, convolution_macs, CONV,   "xWi",
        LOWER(lower_conv, CM_CONV, 0, IMAGES_HERE, LIMIT_SPATIAL_3), BOUNDS("d-")),
    PRODUCT(QLinearConv,   infer_qlinear_conv,   3, 8, convolution_macs, CONV,   "xiiWiiiiW",
        DEEPSPEED(BIASES), EXACT(BIASES), PTFLOPS(.per_mac = 1, BIASES), PTFLOPS_ATEN(.per_mac = 1, BIASES),
        ONNX_TOOL(.per_mac = 1, BIASES), LOWER(lower_conv, CM_CONV, 0, IMAGES_HERE, LIMIT_SPATIAL_3), BOUNDS("d-")),
    PRODUCT(MatMulInteger, infer_matmul_integer, 1, 0, matmul_macs,      MATMUL, "wwi",
        LOWER(lower_matmul, CM_GEMM, 0, IMAGES_NONE, NULL), BOUNDS("d")),
    PRODUCT(QLinearMatMul, infer_qlinear_matmul, 3, 0, matmul_macs,      MATMUL, "wiiwi",
        LOWER(lower_matmul, CM_GEMM, 0, IMAGES_NONE, NULL), BOUNDS("d")),
};
/* clang-format on */

OP_FAMILY(quantize, .declines = FACETS_RARE);
