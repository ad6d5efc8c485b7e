/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: reductions over windows. X [N, C, spatial…].
 *     MACs 0, FLOPs = elements of the input by the default convention
 * Output sizes follow ONNX 1.16 for every opset, as runtimes do (window.c). MaxRoiPool,
 * RoiAlign, MaxUnpool and Col2Im cost no FLOPs by the default convention. */
#include "ops/onnx/shared.h"

#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "ops/window.h"

/* Returns the number of spatial axes, by the input or the length of kernel_shape; else -1. */
static int spatial_rank(const struct op_context *context) {
    size_t n = 0;
    int rank = op_rank(context, 0);
    if (rank != RANK_UNKNOWN) return rank - 2;
    (void)op_attr_ints(context, "kernel_shape", &n);
    return n > 0 && n <= SHAPE_MAX_RANK - 2 ? (int)n : -1;
}

static int read_window(const struct op_context *context, int rank, struct window *ret) {
    int status = window_read(context, rank, NULL, ret);
    if (status < 0) return status;
    if (rank > 0 && !is_known(ret->kernel[0]))
        return op_fail(context, DIAG_ATTRIBUTE, "attribute 'kernel_shape' is empty");
    return CM_OK;
}

/* Output 1 of MaxPool, if present, has the indices. */
int pool_infer(struct op_context *context) {
    struct window window;
    int64_t dims[SHAPE_MAX_RANK];
    int rank = RANK_UNKNOWN;
    const int spatial = spatial_rank(context);
    if (spatial >= 0 || op_rank(context, 0) != RANK_UNKNOWN) {
        int status = common_check_rank(context, 0, 3);
        if (status == CM_OK) status = read_window(context, spatial, &window);
        if (status < 0) return status;
        rank = spatial + 2;
        for (int axis = 0; axis < 2; axis++) dims[axis] = op_dim(context, 0, axis);
        for (int i = 0; i < spatial && status == CM_OK; i++)
            status =
                window_positions(context, &window, i, op_dim(context, 0, 2 + i), &dims[2 + i]);
        if (status < 0) return status;
    }
    int status = common_output(context, rank, dims);
    return status < 0 ? status : op_output_dims(context, 1, DTYPE_INT64, rank, dims);
}

int pool_infer_global(struct op_context *context) {
    int64_t dims[SHAPE_MAX_RANK];
    int rank = op_rank(context, 0);
    int status = common_check_rank(context, 0, 3);
    if (status < 0 || rank == RANK_UNKNOWN)
        return status < 0 ? status : common_infer_same(context);
    for (int axis = 0; axis < rank; axis++)
        dims[axis] = axis < 2 ? op_dim(context, 0, axis) : 1;
    return common_output(context, rank, dims);
}

/* Infers the shape in input 2; without it, dims stride * (in - 1) + kernel - begin - end. */
static int infer_unpool(struct op_context *context) {
    struct window window;
    struct int_list list;
    int64_t dims[SHAPE_MAX_RANK];
    const int rank = op_rank(context, 0);
    int status = common_check_rank(context, 0, 3);
    if (status == CM_OK) status = op_int_list(context, 2, &list);
    if (status < 0) return status;
    if (list.given) {
        const bool counted = list.known || list.n > 0;
        if (list.n > SHAPE_MAX_RANK ||
            (rank != RANK_UNKNOWN && counted && list.n != (size_t)rank))
            return op_fail(context, DIAG_SHAPE,
                           "output_shape has %zu entries, the input has rank %d", list.n, rank);
        const int n = rank != RANK_UNKNOWN ? rank : list.n > 0 ? (int)list.n : RANK_UNKNOWN;
        return common_output(context, n, list.values);
    }
    if (rank == RANK_UNKNOWN) return common_infer_same(context);
    status = read_window(context, rank - 2, &window);
    if (status < 0) return status;
    for (int axis = 0; axis < rank; axis++) dims[axis] = op_dim(context, 0, axis);
    for (int i = 0; i < rank - 2; i++) {
        const int64_t out = checked_mul(checked_sub(dims[2 + i], 1), window.stride[i]);
        const int64_t pads = checked_add(window.begin[i], window.end[i]);
        dims[2 + i] = checked_sub(checked_add(out, window.kernel[i]), pads);
    }
    return common_output(context, rank, dims);
}

/* Infers [N, C * block, L] -> [N, C, image…]; overlapping blocks are added. */
static int infer_col2im(struct op_context *context) {
    struct int_list image, block;
    int64_t dims[SHAPE_MAX_RANK] = {common_dim(context, 0, 3, 0), DIM_UNKNOWN};
    int status = op_int_list(context, 1, &image);
    if (status == CM_OK) status = op_int_list(context, 2, &block);
    if (status == CM_OK) status = common_check_rank_is(context, 0, 3);
    if (status < 0) return status;
    if (!image.n || image.n > SHAPE_MAX_RANK - 2) return common_infer_unknown_rank(context);
    int64_t elements = block.known ? 1 : DIM_UNKNOWN; /* of a block */
    for (size_t i = 0; block.known && i < block.n; i++)
        elements = checked_mul(elements, block.values[i]);
    if (elements != 0) dims[1] = checked_div_floor(common_dim(context, 0, 3, 1), elements);
    for (size_t i = 0; i < image.n; i++)
        dims[2 + i] = image.known ? image.values[i] : DIM_UNKNOWN;
    return common_output(context, 2 + (int)image.n, dims);
}

/* One image region per row of input 1: MaxRoiPool, RoiAlign. */
static int infer_regions(struct op_context *context) {
    size_t n = 0;
    const int64_t *pooled = op_attr_ints(context, "pooled_shape", &n);
    const bool pools = text_equal(context->op->type, "MaxRoiPool");
    if (pools && n != 2)
        return op_fail(context, DIAG_ATTRIBUTE, "pooled_shape must have 2 entries, got %zu", n);
    const int64_t height = pools ? pooled[0] : op_attr_int(context, "output_height");
    const int64_t width = pools ? pooled[1] : op_attr_int(context, "output_width");
    int status = common_check_rank_is(context, 0, 4);
    if (status == CM_OK) status = common_check_rank_is(context, 1, 2);
    if (status < 0) return status;
    if (height < 1 || width < 1)
        return op_fail(context, DIAG_ATTRIBUTE, "a region of %lld x %lld is empty",
                       (long long)height, (long long)width);
    const int64_t dims[4] = {op_dim(context, 1, 0), op_dim(context, 0, 1), height, width};
    return common_output(context, 4, dims);
}

static int describe_average(const struct op_context *context, struct text *out) {
    struct window window;
    int64_t pads[2 * SHAPE_MAX_RANK];
    const int spatial = spatial_rank(context);
    const size_t n = (size_t)spatial;
    bool symmetric = true;
    if (spatial < 1) return CM_OK;
    int status = read_window(context, spatial, &window);
    if (status < 0) return status;
    for (size_t i = 0; i < n; i++) {
        pads[i] = window.begin[i];
        pads[n + i] = window.end[i];
        symmetric = symmetric && pads[i] == pads[n + i];
    }
    text_append(out, "kernel_size=");
    describe_sizes(out, n, window.kernel);
    text_append(out, ", stride=");
    describe_sizes(out, n, window.stride);
    text_append(out, window.pad == PAD_SAME ? ", padding=same" : ", padding=");
    if (window.pad != PAD_SAME) describe_sizes(out, symmetric ? n : 2 * n, pads);
    return CM_OK;
}

static int describe_max(const struct op_context *context, struct text *out) {
    struct window window;
    int spatial = spatial_rank(context);
    int status = describe_average(context, out);
    if (status < 0 || spatial < 1) return status;
    status = read_window(context, spatial, &window);
    if (status < 0) return status;
    text_append(out, ", dilation=");
    describe_sizes(out, (size_t)spatial, window.dilation);
    text_append(out, window.ceil ? ", ceil_mode=True" : ", ceil_mode=False");
    return CM_OK;
}

/* Prints output_size: "1" for one spatial axis, else a tuple of ones. */
static int describe_adaptive(const struct op_context *context, struct text *out) {
    const int spatial = op_rank(context, 0) - 2;
    if (spatial < 1) return CM_OK;
    text_append(out, spatial == 1 ? "output_size=1" : "output_size=(1");
    for (int i = 1; i < spatial; i++) text_append(out, i < spatial - 1 ? ", 1" : ", 1)");
    return CM_OK;
}

/* Returns the saved bytes of one int64 source index per output element; 0 if the indices are an
 * output of the node. */
static int64_t pool_indices(const struct op_context *context) {
    if (op_has_output(context, 1)) return 0;
    return dtype_bytes(DTYPE_INT64, op_output_elements(context, 0));
}

/* clang-format off */
#define POOL(name, from, infer_fn, class, print, keeps, more, ...)                             \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, DEEPSPEED(.per_input = 1), BOUNDS("d"), __VA_ARGS__),      \
        .infer = infer_fn, .param_roles = "x", .module = class, .describe = print,             \
        .backward.saved_for_backward = keeps, .backward.extra = more                           \
    }
#define MAX_POOL(name, from, keeps)                                                            \
    POOL(name, from, pool_infer, "MaxPool{n}d", describe_max, keeps, pool_indices,             \
         EXACT(EXACT_MAX_POOL), PTFLOPS(.per_input = 1), ONNX_TOOL(ONNX_TOOL_POOL),            \
         LOWER(lower_pool, CM_POOL, CM_POOL_MAX, IMAGES_HERE, LIMIT_SPATIAL))
#define NO_NORM NO_PRIMITIVE("no primitive pools by a norm")
#define REGION(name, from, infer_fn, keeps, ...)                                               \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, __VA_ARGS__), .infer = infer_fn, .param_roles = "xi",      \
        .backward.saved_for_backward = keeps                                                   \
    }

static const struct op rows[] = {
    MAX_POOL(MaxPool, 1, "0e"),
    SINCE2(MAX_POOL, MaxPool, 8, 10, "0ze"),
    SINCE4(POOL, AveragePool, 1, 7, 10, 19, pool_infer,        "AvgPool{n}d",         describe_average,  "0",   NULL,
        EXACT(EXACT_AVERAGE_POOL), PTFLOPS(.per_input = 1), THOP(.per_output = 1), ONNX_TOOL(ONNX_TOOL_POOL),
        LOWER(lower_pool, CM_POOL, CM_POOL_AVERAGE, IMAGES_HERE, LIMIT_SPATIAL)),
    SINCE3(POOL, LpPool, 1, 2, 18,          pool_infer,        NULL,                  NULL,              "0y",  NULL, NO_NORM),
    POOL(GlobalAveragePool, 1,              pool_infer_global, "AdaptiveAvgPool{n}d", describe_adaptive, "",    NULL,
        EXACT(.per_input = 1), FVCORE(PLUS(fvcore_planar_input, "input elements of an image")), PTFLOPS(.per_input = 1),
        THOP(.per_input = 1, .per_output = 1), ONNX_TOOL(.per_input = 1, .per_output = TOOL_DIV),
        LOWER(lower_global_pool, CM_POOL, CM_POOL_AVERAGE, IMAGES_HERE, LIMIT_SPATIAL)),
    POOL(GlobalMaxPool, 1,                  pool_infer_global, "AdaptiveMaxPool{n}d", describe_adaptive, "0e",  pool_indices,
        EXACT(REDUCTION), PTFLOPS(.per_input = 1), LOWER(lower_global_pool, CM_POOL, CM_POOL_MAX, IMAGES_HERE, LIMIT_SPATIAL)),
    SINCE2(POOL, GlobalLpPool, 1, 2,        pool_infer_global, NULL,                  NULL,              "0y",  NULL, NO_NORM),
    REGION(MaxUnpool, 9,             infer_unpool,  "1,-",
        NO_PRIMITIVE("it puts elements where indices say: no primitive does without updates"), NO_BOUNDS),
    REGION(MaxRoiPool, 1,            infer_regions, "01,-", NO_PRIMITIVE(NO_SAMPLING), BOUNDS("d")),
    SINCE2(REGION, RoiAlign, 10, 16, infer_regions, "12,-",
        EXACT(PLUS(exact_roi_align, "operations: 8 per sample of an output element")), NO_PRIMITIVE(NO_SAMPLING),
        BOUNDS("d")),
    REGION(Col2Im, 18,               infer_col2im,  ",-",
        EXACT(.per_input = 1), NO_PRIMITIVE("it sums where blocks overlap: no primitive does"), NO_BOUNDS),
};
/* clang-format on */

OP_FAMILY(pool, .why_free = "picks elements by data", .declines = FACETS_RARE | FACET_EXACT);
