/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantization, and products of quantized operands. MACs of the products are those of their
 * float twins (convolution.c, matmul.c); to quantize and back costs none, FLOPs 0.
 */
#include "ops/common.h"
#include "ops/facets.h"
#include "ops/families.h"
#include "ops/onnx/convolution.h"
#include "ops/onnx/matmul.h"
#include "ops/product.h"

#include "support/banned.h"

/* A scale for each slice along `axis`: as long as that axis. */
static int check_scales(const struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const struct shape *scale = op_shape(context, 1);
    int axis = 0;
    bool sliced = scale->rank == 1 && is_known(scale->dims[0]) && scale->dims[0] != 1;
    if (!sliced || !shape_has_rank(x) || context->op->since < 13) return CM_OK;
    int status = op_normalize_axis(context, op_attr_int(context, "axis"), x->rank, &axis);
    if (status < 0) return status;
    if (!is_known(x->dims[axis]) || x->dims[axis] == scale->dims[0]) return CM_OK;
    return op_fail(context, DIAG_SHAPE, "%lld scales for axis %d of %s",
                   (long long)scale->dims[0], axis, op_shape_text(context, x));
}

/* Attribute output_dtype (from opsets 21 and 23), else that of operand i, else `otherwise`. */
static enum dtype wanted_dtype(const struct op_context *context, size_t i,
                               enum dtype otherwise) {
    int64_t number = op_attr_int(context, "output_dtype");
    if (number != 0) return dtype_from_onnx(number);
    return op_has_input(context, i) ? op_dtype(context, i) : otherwise;
}

static int infer_quantize(struct op_context *context) {
    int status = check_scales(context);
    if (status < 0) return status;
    return common_infer_same_shape(context, wanted_dtype(context, 2, DTYPE_UINT8));
}

static int infer_dequantize(struct op_context *context) {
    enum dtype x = op_dtype(context, 0);
    enum dtype zero = op_dtype(context, 2);
    int status = check_scales(context);
    if (status < 0) return status;
    if (x != DTYPE_UNDEFINED && zero != DTYPE_UNDEFINED && x != zero)
        return op_fail(context, DIAG_TYPE, "the zero point is of type %s, the input of %s",
                       dtype_name(zero), dtype_name(x));
    return common_infer_same_shape(context, wanted_dtype(context, 1, DTYPE_FLOAT));
}

static int infer_dynamic_quantize(struct op_context *context) {
    int status = common_infer_same_shape(context, DTYPE_UINT8);
    if (status == CM_OK) status = op_output_dims(context, 1, DTYPE_FLOAT, 0, NULL);
    return status < 0 ? status : op_output_dims(context, 2, DTYPE_UINT8, 0, NULL);
}

#define NO_BIAS SIZE_MAX

static int infer_conv_integer(struct op_context *context) {
    return convolution_infer(context, 0, 1, NO_BIAS, DTYPE_INT32);
}

static void macs_conv_integer(const struct op_context *context, struct product *ret) {
    convolution_macs(context, 1, ret);
}

static int infer_qlinear_conv(struct op_context *context) {
    return convolution_infer(context, 0, 3, 8, op_dtype(context, 7));
}

static void macs_qlinear_conv(const struct op_context *context, struct product *ret) {
    convolution_macs(context, 3, ret);
}

static int64_t qlinear_bias_flops(const struct op_context *context) {
    return op_has_input(context, 8) ? op_output_elements(context, 0) : 0;
}

static int infer_matmul_integer(struct op_context *context) {
    return matmul_infer(context, 0, 1, DTYPE_INT32);
}

static void macs_matmul_integer(const struct op_context *context, struct product *ret) {
    matmul_macs(context, 0, 1, ret);
}

static int infer_qlinear_matmul(struct op_context *context) {
    return matmul_infer(context, 0, 3, op_dtype(context, 7));
}

static void macs_qlinear_matmul(const struct op_context *context, struct product *ret) {
    matmul_macs(context, 0, 3, ret);
}

#define CONV   "out x input channels of a group x kernel"
#define MATMUL "out x inner axis"
/* clang-format off */
FACETS(ONNX, QuantizeLinear) {EXACT(.per_output = 3), ONNX_TOOL(.per_output = 2),
    LOWER(lower_quantize, CM_ELTWISE, 0, IMAGES_FOLLOW, LIMIT_BLOCKED_SCALES), BOUNDS("d"),
    INTEGERS(INTEGERS_NONE)}; /* quotient, rounding, zero point */
FACETS(ONNX, DequantizeLinear) {EXACT(.per_output = 2), ONNX_TOOL(.per_output = 2),
    LOWER(lower_dequantize, CM_ELTWISE, 0, IMAGES_FOLLOW, LIMIT_BLOCKED_SCALES), BOUNDS("d"),
    INTEGERS(INTEGERS_SCALED)}; /* zero point, factor */
FACETS(ONNX, DynamicQuantizeLinear) {
    EXACT(.extra = exact_dynamic_scale, .extra_description = "at 5 an input element, and 5"),
    NO_PRIMITIVE(TWO_PRIMITIVES), BOUNDS("d"), INTEGERS(INTEGERS_NONE)};
FACETS(ONNX, ConvInteger) {LOWER(lower_quantized_conv, CM_CONV, 1, IMAGES_HERE, LIMIT_SPATIAL_3),
    BOUNDS("d-")};
FACETS(ONNX, QLinearConv) {EXACT(.per_mac = 2, BIASES(8)), PTFLOPS(.per_mac = 1, BIASES(8)),
    PTFLOPS_ATEN(.per_mac = 1, BIASES(8)), ONNX_TOOL(.per_mac = 1, BIASES(8)),
    LOWER(lower_quantized_conv, CM_CONV, 3, IMAGES_HERE, LIMIT_SPATIAL_3), BOUNDS("d-")};
FACETS(ONNX, MatMulInteger) {LOWER(lower_quantized_matmul, CM_GEMM, 1, IMAGES_NONE, NULL), BOUNDS("d")};
FACETS(ONNX, QLinearMatMul) {LOWER(lower_quantized_matmul, CM_GEMM, 3, IMAGES_NONE, NULL),
    BOUNDS("d")};

#define QUANTIZE(name, from, infer_fn)                                                         \
    {                                                                                          \
        SIGNATURE(ONNX, name, from), .infer = infer_fn, .param_roles = "pii",                  \
        .backward.saved_for_backward = "-"                                                     \
    }
#define PRODUCT(name, from, infer_fn, count, are, letters, ...)                                \
    {                                                                                          \
        SIGNATURE(ONNX, name, from), .infer = infer_fn,                                        \
        .cost = {.macs = count, .macs_formula = are, __VA_ARGS__}, .param_roles = letters,     \
        .backward.saved_for_backward = "-"                                                     \
    }

static const struct op rows[] = {
    QUANTIZE(QuantizeLinear,   10, infer_quantize),
    QUANTIZE(QuantizeLinear,   13, infer_quantize),
    QUANTIZE(QuantizeLinear,   19, infer_quantize),
    QUANTIZE(QuantizeLinear,   21, infer_quantize),
    QUANTIZE(QuantizeLinear,   23, infer_quantize),
    QUANTIZE(DequantizeLinear, 10, infer_dequantize),
    QUANTIZE(DequantizeLinear, 13, infer_dequantize),
    QUANTIZE(DequantizeLinear, 21, infer_dequantize),
    QUANTIZE(DequantizeLinear, 23, infer_dequantize),
    {SIGNATURE(ONNX, DynamicQuantizeLinear, 11), .infer = infer_dynamic_quantize,
     .backward.saved_for_backward = "-", .param_roles = "x"},
    PRODUCT(ConvInteger, 10, infer_conv_integer, macs_conv_integer, CONV, "xWi", .extra = NULL),
    PRODUCT(QLinearConv, 10, infer_qlinear_conv, macs_qlinear_conv, CONV, "xiiWiiiiW", .extra = qlinear_bias_flops, .extra_description = "biases"),
    PRODUCT(MatMulInteger, 10, infer_matmul_integer, macs_matmul_integer, MATMUL, "wwi",   .extra = NULL),
    PRODUCT(QLinearMatMul, 10, infer_qlinear_matmul, macs_qlinear_matmul, MATMUL, "wiiwi", .extra = NULL),
};
/* clang-format on */

OP_FAMILY(quantize, .declines = FACET_FOLD | FACET_ALGEBRA | FACET_MODULE | FACET_QDQ);
