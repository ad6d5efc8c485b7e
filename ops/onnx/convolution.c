/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of X [N, C, spatial…].
 *     Conv           W [M, C/group, k…]  MACs = out * prod(W.shape[1:])
 *     ConvTranspose  W [C, M/group, k…]  MACs = numel(X) * prod(W.shape[1:])
 *     FLOPs = 2 * MACs, + out if there is a bias; out = output elements
 * A transposed convolution multiplies every input element by the whole kernel: the MACs of
 * outputs that the padding crops are included. */
#include "ops/onnx/shared.h"

#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "ops/product.h"
#include "ops/window.h"

struct operands {
    size_t weight;
    int64_t group;
    int rank; /* of input and weight; RANK_UNKNOWN if both are unknown */
};

static int read_operands(const struct op_context *context, struct operands *operands) {
    operands->weight = context->op->weight;
    int rank_x = op_rank(context, 0);
    int rank_w = op_rank(context, operands->weight);
    operands->group = op_attr_int(context, "group");
    operands->rank = rank_x == RANK_UNKNOWN ? rank_w : rank_x;
    if (operands->group < 1)
        return op_fail(context, DIAG_ATTRIBUTE, "group must be >= 1, got %lld",
                       (long long)operands->group);
    if (rank_x != RANK_UNKNOWN && rank_w != RANK_UNKNOWN && rank_x != rank_w)
        return op_fail(context, DIAG_SHAPE, "input %s and weight %s differ in rank",
                       op_shape_text(context, op_shape(context, 0)),
                       op_shape_text(context, op_shape(context, operands->weight)));
    if (operands->rank != RANK_UNKNOWN && operands->rank < 3)
        return op_fail(context, DIAG_SHAPE, "input and weight must have rank >= 3, got %d",
                       operands->rank);
    return CM_OK;
}

/* Sets `kernel` to the spatial dims of the weight; DIM_UNKNOWN if its rank is unknown. */
static void kernel_dims(const struct op_context *context, const struct operands *operands,
                        int64_t *kernel) {
    for (int i = 0; i < operands->rank - 2; i++)
        kernel[i] = op_dim(context, operands->weight, 2 + i);
}

static int check_bias(const struct op_context *context, int64_t channels) {
    const size_t bias = context->op->bias;
    if (bias == 0 || !op_has_input(context, bias)) return CM_OK;
    return common_check_length(context, bias, channels);
}

int convolution_infer(struct op_context *context, enum dtype dtype) {
    struct operands operands;
    struct window window;
    int64_t kernel[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK];
    int status = read_operands(context, &operands);
    if (status < 0) return status;
    if (operands.rank == RANK_UNKNOWN)
        return op_output_dims(context, 0, dtype, RANK_UNKNOWN, NULL);
    const int64_t in = op_dim(context, 0, 1);
    const int64_t out = op_dim(context, operands.weight, 0);
    const int64_t each = op_dim(context, operands.weight, 1);
    if (common_differ(in, checked_mul(each, operands.group)))
        return op_fail(context, DIAG_SHAPE,
                       "input has %lld channels, weight expects %lld x %lld groups",
                       (long long)in, (long long)each, (long long)operands.group);
    if (is_known(out) && out % operands.group != 0)
        return op_fail(context, DIAG_SHAPE, "%lld filters do not divide into %lld groups",
                       (long long)out, (long long)operands.group);
    kernel_dims(context, &operands, kernel);
    status = check_bias(context, out);
    if (status == CM_OK) status = window_read(context, operands.rank - 2, kernel, &window);
    if (status < 0) return status;
    dims[0] = op_dim(context, 0, 0);
    dims[1] = out;
    for (int i = 0; i < window.rank && status == CM_OK; i++)
        status = window_positions(context, &window, i, op_dim(context, 0, 2 + i), &dims[2 + i]);
    return status < 0 ? status : op_output_dims(context, 0, dtype, operands.rank, dims);
}

/* Adds the factors of prod(weight.shape[1:]). The weight is [out, in/group, kernel…]; that of a
 * transposed convolution is [in, out/group, kernel…]. */
static void add_weights_each(const struct op_context *context, const char *channels,
                             struct product *ret) {
    const struct shape *shape = op_shape(context, context->op->weight);
    const bool has = shape->rank > 1;
    product_add(ret, channels, has ? shape->dims[1] : DIM_UNKNOWN);
    product_add(ret, "kernel", has ? shape_product(shape, 2, shape->rank) : DIM_UNKNOWN);
}

void convolution_macs(const struct op_context *context, struct product *ret) {
    product_add(ret, "output elements", op_output_elements(context, 0));
    add_weights_each(context, "input channels of a group", ret);
}

static int infer_conv(struct op_context *context) {
    int status = common_check_same_type(context, 0);
    return status < 0 ? status : convolution_infer(context, common_dtype(context, 0));
}

struct transposed {
    struct window window;
    const int64_t *extra;        /* output_padding; NULL: none */
    const int64_t *output_shape; /* output_shape of the spatial axes; NULL: absent */
};

static int read_transposed(const struct op_context *context, int rank, struct transposed *ret) {
    size_t n_extra = 0, n_output_shape = 0;
    size_t n = (size_t)rank;
    ret->extra = op_attr_ints(context, "output_padding", &n_extra);
    ret->output_shape = op_attr_ints(context, "output_shape", &n_output_shape);
    if (n_extra != 0 && n_extra != n)
        return op_fail(context, DIAG_ATTRIBUTE, "output_padding must have %zu entries, got %zu",
                       n, n_extra);
    if (n_output_shape == n + 2) { /* some exporters write the whole shape */
        ret->output_shape += 2;
        n_output_shape = n;
    }
    if (n_output_shape != 0 && n_output_shape != n)
        return op_fail(context, DIAG_ATTRIBUTE, "output_shape must have %zu entries, got %zu",
                       n, n_output_shape);
    if (n_extra == 0) ret->extra = NULL;
    if (n_output_shape == 0) ret->output_shape = NULL;
    for (size_t i = 0; i < n; i++)
        if ((ret->extra && ret->extra[i] < 0) ||
            (ret->output_shape && ret->output_shape[i] < 0))
            return op_fail(context, DIAG_ATTRIBUTE, "%s is negative on spatial axis %zu",
                           ret->extra && ret->extra[i] < 0 ? "output_padding" : "output_shape",
                           i);
    return CM_OK;
}

/* ConvTransposeWithDynamicPads (com.microsoft): reads the pads from operand 2, for two axes
 * [begin 0, begin 1, end 0, end 1]. */
static int read_dynamic_pads(struct op_context *context, struct window *window) {
    struct int_list pads;
    const size_t n = (size_t)window->rank;
    int status = op_int_list(context, 2, &pads);
    if (status < 0 || !pads.given) return status;
    if (pads.known && pads.n != 2 * n)
        return op_fail(context, DIAG_SHAPE, "pads must have %zu entries, got %zu", 2 * n,
                       pads.n);
    for (size_t i = 0; i < n; i++) {
        window->begin[i] = pads.known ? pads.values[i] : DIM_UNKNOWN;
        window->end[i] = pads.known ? pads.values[n + i] : DIM_UNKNOWN;
    }
    return CM_OK;
}

/* Spatial dims: output_shape if given; in * stride if auto_pad is SAME; else stride * (in - 1)
 * + output_padding + (k - 1) * dilation + 1 - begin - end. */
static int infer_transposed(struct op_context *context, bool dynamic_pads, enum dtype dtype) {
    struct operands operands;
    struct transposed transposed;
    const struct window *window = &transposed.window;
    int64_t kernel[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK];
    int status = read_operands(context, &operands);
    if (status < 0) return status;
    if (operands.rank == RANK_UNKNOWN)
        return op_output_dims(context, 0, dtype, RANK_UNKNOWN, NULL);
    const int spatial = operands.rank - 2;
    const int64_t in = op_dim(context, 0, 1);
    const int64_t weight = op_dim(context, operands.weight, 0);
    const int64_t channels = is_known(in) ? in : weight;
    if (common_differ(in, weight))
        return op_fail(context, DIAG_SHAPE, "input has %lld channels, weight expects %lld",
                       (long long)in, (long long)weight);
    if (is_known(channels) && channels % operands.group != 0)
        return op_fail(context, DIAG_SHAPE, "%lld channels do not divide into %lld groups",
                       (long long)channels, (long long)operands.group);
    dims[0] = op_dim(context, 0, 0);
    dims[1] = checked_mul(op_dim(context, 1, 1), operands.group);
    kernel_dims(context, &operands, kernel);
    status = check_bias(context, dims[1]);
    if (status == CM_OK) status = window_read(context, spatial, kernel, &transposed.window);
    if (status == CM_OK) status = read_transposed(context, spatial, &transposed);
    if (status == CM_OK && dynamic_pads)
        status = read_dynamic_pads(context, &transposed.window);
    if (status < 0) return status;
    for (int i = 0; i < spatial; i++) {
        const int64_t size = op_dim(context, 0, 2 + i);
        const bool same = window->pad == PAD_SAME;
        int64_t out = checked_mul(same ? size : checked_sub(size, 1), window->stride[i]);
        if (!same) {
            checked_add_to(&out, window_extent(window, i));
            if (transposed.extra) checked_add_to(&out, transposed.extra[i]);
            out = checked_sub(out, checked_add(window->begin[i], window->end[i]));
        }
        dims[2 + i] = transposed.output_shape ? transposed.output_shape[i] : out;
    }
    return op_output_dims(context, 0, dtype, operands.rank, dims);
}

static int infer_conv_transpose(struct op_context *context) {
    int status = common_check_same_type(context, 0);
    return status < 0 ? status : infer_transposed(context, false, common_dtype(context, 0));
}

static int infer_dynamic_transpose(struct op_context *context) {
    return infer_transposed(context, true, op_dtype(context, 0));
}

static void conv_transpose_macs(const struct op_context *context, struct product *ret) {
    product_add(ret, "input elements", op_elements(context, 0));
    add_weights_each(context, "output channels of a group", ret);
}

/* DeformConv: input 2 has the offsets of the sampling positions; MACs are those of Conv. */
static int infer_deform_conv(struct op_context *context) {
    int64_t groups = op_attr_int(context, "offset_group");
    int status = common_check_same_type(context, 0);
    if (status < 0) return status;
    if (groups < 1)
        return op_fail(context, DIAG_ATTRIBUTE, "offset_group must be >= 1, got %lld",
                       (long long)groups);
    return convolution_infer(context, common_dtype(context, 0));
}

/* Prints ", NAME=(..)" unless every value is the default. */
static void describe_list(struct text *out, const char *name, int n, const int64_t *values,
                          int64_t otherwise) {
    if (describe_all_equal((size_t)n, values, otherwise)) return;
    text_printf(out, ", %s=", name);
    describe_tuple(out, (size_t)n, values);
}

static void describe_tail(const struct op_context *context, struct text *out) {
    int64_t group = op_attr_int(context, "group");
    if (group != 1) {
        text_append(out, ", groups=");
        describe_int(out, group);
    }
    if (!op_has_input(context, context->op->bias)) text_append(out, ", bias=False");
}

/* Prints "in, out, kernel_size=(..), stride=(..)…"; nothing if infer failed for the node. */
static int describe_channels(const struct op_context *context, struct text *out, int64_t in,
                             int64_t features, struct window *window) {
    int64_t kernel[SHAPE_MAX_RANK];
    const struct operands operands = {.weight = 1, .rank = op_rank(context, 1)};
    const size_t n = (size_t)operands.rank - 2;
    kernel_dims(context, &operands, kernel);
    int status = window_read(context, operands.rank - 2, kernel, window);
    if (status < 0) return status;
    describe_int(out, in);
    text_append(out, ", ");
    describe_int(out, features);
    text_append(out, ", kernel_size=");
    describe_tuple(out, n, window->kernel);
    text_append(out, ", stride=");
    describe_tuple(out, n, window->stride);
    bool symmetric = true;
    for (size_t i = 0; i < n; i++) symmetric = symmetric && window->begin[i] == window->end[i];
    if (window->pad == PAD_SAME) text_append(out, ", padding=same");
    if (symmetric) describe_list(out, "padding", window->rank, window->begin, 0);
    describe_list(out, "dilation", window->rank, window->dilation, 1);
    return CM_OK;
}

static int describe_conv(const struct op_context *context, struct text *out) {
    struct window window;
    if (op_rank(context, 1) < 3) return CM_OK;
    int64_t in = checked_mul(op_dim(context, 1, 1), op_attr_int(context, "group"));
    int status = describe_channels(context, out, in, op_dim(context, 1, 0), &window);
    if (status == CM_OK) describe_tail(context, out);
    return status;
}

static int describe_conv_transpose(const struct op_context *context, struct text *out) {
    struct transposed transposed;
    if (op_rank(context, 1) < 3) return CM_OK;
    int64_t features = checked_mul(op_dim(context, 1, 1), op_attr_int(context, "group"));
    int status =
        describe_channels(context, out, op_dim(context, 1, 0), features, &transposed.window);
    if (status == CM_OK) status = read_transposed(context, transposed.window.rank, &transposed);
    if (status < 0) return status;
    if (transposed.extra)
        describe_list(out, "output_padding", transposed.window.rank, transposed.extra, 0);
    describe_tail(context, out);
    return CM_OK;
}

/* clang-format off */
#define CONVOLUTION(infer_fn, macs_fn, formula, bias_, letters, class, print, ...)             \
    .infer = infer_fn, .weight = 1, .bias = bias_, .cost = {macs_fn, formula},                 \
    .param_roles = letters, .module = class "{n}d", .describe = print,                         \
    .backward = {__VA_ARGS__}
#define KERNEL     "out x input channels of a group x kernel"
#define TRANSPOSED "n x output channels of a group x kernel"

static const struct op rows[] = {
    {SIGNATURE(ONNX, Conv, 1, DEEPSPEED(BIASES), EXACT(PLUS(exact_fused, "biases")), PTFLOPS(.per_mac = 1, BIASES),
        PTFLOPS_ATEN(.per_mac = 1, BIASES), ONNX_TOOL(.per_mac = 1, BIASES),
        LOWER(lower_conv, CM_CONV, 0, IMAGES_HERE, LIMIT_SPATIAL_3), BOUNDS("d-"), MULTIPLIES(2, scale_conv_sums)),
     CONVOLUTION(infer_conv, convolution_macs, KERNEL, 2, "xWW", "Conv", describe_conv,
                 .saved_for_backward = "01", .factors = 2)},
    {SIGNATURE(ONNX, ConvTranspose, 1, DEEPSPEED(BIASES), EXACT(BIASES), PTFLOPS(.per_mac = 1, BIASES),
        PTFLOPS_ATEN(.per_mac = 1, BIASES),
        THOP(PLUS(thop_conv_transpose, "for output elements, input channels of a group and kernel")),
        ONNX_TOOL(PLUS(onnx_tool_conv_transpose, "for output elements, output channels of a group and kernel, and biases")),
        LOWER(lower_conv, CM_DECONV, 0, IMAGES_HERE, LIMIT_SPATIAL_3), BOUNDS("d-"),
        MULTIPLIES(2, scale_transposed_conv_sums)),
     CONVOLUTION(infer_conv_transpose, conv_transpose_macs, TRANSPOSED, 2, "xWW", "ConvTranspose", describe_conv_transpose,
                 .saved_for_backward = "01", .factors = 2)},
    {SIGNATURE(CONTRIB, ConvTransposeWithDynamicPads, 1, DEEPSPEED(BIASES), EXACT(BIASES), NO_PRIMITIVE(NO_FUSED),
        MULTIPLIES(2, scale_transposed_conv_sums, .does_more = scale_always), NO_BOUNDS),
     CONVOLUTION(infer_dynamic_transpose, conv_transpose_macs, TRANSPOSED, 3, "xWiW", "ConvTranspose", NULL,
                 .saved_for_backward = "-")},
    {SIGNATURE(ONNX, DeformConv, 19, DEEPSPEED(BIASES), EXACT(BIASES), TORCH(.per_mac = 0), FVCORE(.per_mac = 0),
        PTFLOPS(.per_mac = 1, BIASES), PTFLOPS_ATEN(.per_mac = 0), THOP(.per_mac = 0), NO_PRIMITIVE(NO_SAMPLING),
        INTEGERS(INTEGERS_NONE), NO_BOUNDS),
     CONVOLUTION(infer_deform_conv, convolution_macs, KERNEL, 3, "xWxWx", "DeformConv", describe_conv,
                 .saved_for_backward = "0124", .factors = 2)},
};
/* clang-format on */

OP_FAMILY(convolution, .declines = FACET_FOLD | FACET_ALGEBRA | FACET_QDQ);
