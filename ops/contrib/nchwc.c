/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ONNX Runtime writes at its highest level of optimization for processors
 * (com.microsoft.nchwc): channels in blocks of 8 or 16, as the processor has it, padded with
 * zeros. Dims are those of [N, padded channels, spatial…]; what is counted is what the file
 * computes, padding included, as its weights are padded too.
 */
#include "ops/common.h"
#include "ops/families.h"
#include "ops/onnx/convolution.h"
#include "ops/onnx/pool.h"
#include "ops/product.h"
#include "ops/signatures.gen.h"
#include "support/arena.h"

#include "support/banned.h"

/* A multiple of the largest block is one of every block; any other count hangs on it. */
#define LARGEST_BLOCK 16

static int64_t padded(int64_t channels) {
    return is_known(channels) && channels % LARGEST_BLOCK == 0 ? channels : DIM_UNKNOWN;
}

/* Axis `from` of [N, …] put at `to`; the shape is the rule's own afterwards. */
static int moved(struct op_context *context, int from, int to, struct shape *ret) {
    const struct shape *x = op_shape(context, 0);
    if (shape_make(context->arena, x->rank, x->dims, ret) < 0)
        return diag_no_memory(context->diag);
    const int step = from < to ? 1 : -1;
    for (int axis = from; axis != to; axis += step) ret->dims[axis] = x->dims[axis + step];
    ret->dims[to] = x->dims[from];
    return CM_OK;
}

static int infer_into_blocks(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const bool last = op_attr_int(context, "channels_last") != 0;
    struct shape out;
    int status = common_check_rank(context, 0, 3);
    if (status < 0 || !shape_has_rank(x))
        return status < 0 ? status : common_infer_unknown_rank(context);
    status = moved(context, last ? x->rank - 1 : 1, 1, &out);
    if (status < 0) return status;
    out.dims[1] = padded(out.dims[1]);
    return op_output(context, 0, op_dtype(context, 0), &out);
}

static int infer_from_blocks(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const bool last = op_attr_int(context, "channels_last") != 0;
    struct shape out;
    int status = common_check_rank(context, 0, 3);
    if (status < 0 || !shape_has_rank(x))
        return status < 0 ? status : common_infer_unknown_rank(context);
    const int at = last ? x->rank - 1 : 1;
    status = moved(context, 1, at, &out);
    if (status < 0) return status;
    out.dims[at] = op_attr_int(context, "channels");
    return op_output(context, 0, op_dtype(context, 0), &out);
}

/* The rows of the plain operators know the channels by the weight where the input does not. */
static int infer_conv(struct op_context *context) {
    return convolution_infer(context, 0, 1, 2, op_dtype(context, 0));
}

static void macs_conv(const struct op_context *context, struct product *ret) {
    convolution_macs(context, 1, ret);
}

static int64_t fused_flops(const struct op_context *context) {
    const int64_t each = op_has_input(context, 2) + op_has_input(context, 3) +
                         (op_has_attr(context, "activation") ? 1 : 0);
    return checked_mul(each, op_output_elements(context, 0));
}

static int infer_global(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    int status = common_check_rank(context, 0, 3);
    if (status < 0 || !shape_has_rank(x))
        return status < 0 ? status : common_infer_unknown_rank(context);
    for (int axis = 0; axis < x->rank; axis++) dims[axis] = axis < 2 ? x->dims[axis] : 1;
    return op_output_dims(context, 0, op_dtype(context, 0), x->rank, dims);
}

/* Whole factors, one an axis. */
static int infer_upsample(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    size_t n = 0;
    const int64_t *scales = op_attr_ints(context, "scales", &n);
    if (!shape_has_rank(x)) return common_infer_unknown_rank(context);
    if (n != 0 && n != (size_t)x->rank)
        return op_fail(context, DIAG_ATTRIBUTE, "scales has %zu entries for %d axes", n,
                       x->rank);
    for (int axis = 0; axis < x->rank; axis++) {
        if (n > 0 && scales[axis] < 1)
            return op_fail(context, DIAG_ATTRIBUTE,
                           "the scale of axis %d is %lld, expected 1 "
                           "or more",
                           axis, (long long)scales[axis]);
        dims[axis] = n > 0 ? checked_mul(x->dims[axis], scales[axis]) : x->dims[axis];
    }
    return op_output_dims(context, 0, op_dtype(context, 0), x->rank, dims);
}

/* clang-format off */
#define NCHWC(name, infer_fn, letters, class, ...)                                             \
    {                                                                                          \
        SIGNATURE(NCHWC, name, 1), .infer = infer_fn, .param_roles = letters, .module = class, \
        .backward.saved_for_backward = "-", .cost = { __VA_ARGS__ }                            \
    }

static const struct op rows[] = {
    NCHWC(ReorderInput,  infer_into_blocks, "p", NULL, .macs = NULL),
    NCHWC(ReorderOutput, infer_from_blocks, "p", NULL, .macs = NULL),
    NCHWC(Conv, infer_conv, "xWWx", "Conv{n}d", .macs = macs_conv, .macs_formula = "out x input channels of a group x kernel", .extra = fused_flops, .extra_description = "biases, sums and activations"),
    NCHWC(MaxPool,           pool_infer,     "x", "MaxPool{n}d",         .per_input = 1),
    NCHWC(AveragePool,       pool_infer,     "x", "AvgPool{n}d",         .per_input = 1),
    NCHWC(GlobalMaxPool,     infer_global,   "x", "AdaptiveMaxPool{n}d", .per_input = 1),
    NCHWC(GlobalAveragePool, infer_global,   "x", "AdaptiveAvgPool{n}d", .per_input = 1),
    NCHWC(Upsample,          infer_upsample, "x", "Upsample",            .per_output = 1),
};
/* clang-format on */

const struct op_family family_vendor_nchwc = {"vendor_nchwc", rows, sizeof rows / sizeof *rows,
                                              "moves elements"};
