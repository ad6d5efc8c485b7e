/* SPDX-License-Identifier: Apache-2.0 */
/* Interpolation: Resize, Upsample, GridSample, AffineGrid. Output sizes are computed in
 * float32, as in ONNX's shape inference. */
#include <math.h>

#include "ops/common.h"
#include "ops/onnx/facets.h"

/* Scales from an operand or an attribute, like struct int_list. */
struct scales {
    bool given; /* present and not empty (an empty operand is an omitted one) */
    size_t n;   /* number of scales; 0 if unknown */
    const struct constant *operand; /* contents of the operand; NULL if unknown */
    const double *attribute;        /* values of the attribute; NULL if absent */
};

static double scale_at(const struct scales *scales, size_t i) {
    return scales->attribute ? scales->attribute[i]
                             : constant_real_at(scales->operand, (int64_t)i);
}

static bool scales_known(const struct scales *scales) {
    return scales->attribute || scales->operand;
}

static int scales_of_operand(struct op_context *context, size_t i, struct scales *ret) {
    struct scales scales = {.given = op_has_input(context, i) && op_elements(context, i) != 0};
    int64_t n = op_elements(context, i);
    int status = scales.given ? op_value(context, i, &scales.operand) : 0;
    if (status) return status;
    if (op_rank(context, i) > 1)
        return op_fail(context, DIAG_SHAPE, "scales must be a list, got shape %s",
                       op_shape_text(context, op_shape(context, i)));
    if (scales.operand && !constant_has_reals(scales.operand)) scales.operand = NULL;
    if (is_known(n)) scales.n = (size_t)n;
    *ret = scales;
    return 0;
}

/* Sets *ret to floor(dim * scale) in float32. */
static int scale_dim(const struct op_context *context, int axis, double scale, int64_t *ret) {
    int64_t dim = op_dim(context, 0, axis);
    if (!(scale > 0) || isinf(scale))
        return op_fail(context, DIAG_VALUE, "the scale of axis %d is %g, expected above 0",
                       axis, scale);
    *ret = DIM_UNKNOWN;
    if (!is_known(dim)) return 0;
    float size = (float)dim * (float)scale;
    if (!(size < 0x1p62f))
        return op_fail(context, DIAG_OVERFLOW, "axis %d of %lld times %g is past 2^62", axis,
                       (long long)dim, scale);
    *ret = (int64_t)size;
    return 0;
}

static int infer_scaled(struct op_context *context, const struct scales *scales) {
    const struct shape *input = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    if (!shape_has_rank(input)) return common_infer_unknown_rank(context);
    if (scales->n != (size_t)input->rank && (scales->n > 0 || scales_known(scales)))
        return op_fail(context, DIAG_SHAPE, "scales has %zu entries, the input %s has %d axes",
                       scales->n, op_shape_text(context, input), input->rank);
    if (!scales_known(scales)) return common_output(context, input->rank, NULL);
    for (int axis = 0; axis < input->rank; axis++) {
        int status = scale_dim(context, axis, scale_at(scales, (size_t)axis), &dims[axis]);
        if (status) return status;
    }
    return common_output(context, input->rank, dims);
}

static struct scales scales_of_attr(const struct op_context *context) {
    const struct attr *attr = node_attr(context->node, "scales");
    if (!attr || attr->kind != ATTR_FLOATS) return (struct scales){.given = attr};
    return (struct scales){.given = true, .n = attr->n, .attribute = attr->floats};
}

/* Upsample-1 has one scale for the height and one for the width of [N, C, H, W], Upsample-7 a
 * list in an attribute; Upsample-9 and Resize-10 have an operand. */
static int infer_upsample(struct op_context *context) {
    const double list[4] = {1, 1, op_attr_float(context, "height_scale"),
                            op_attr_float(context, "width_scale")};
    struct scales scales = scales_of_attr(context);
    int status = CM_OK;
    if (context->op->since < 7)
        scales = (struct scales){.given = true, .n = 4, .attribute = list};
    else if (context->op->since >= 9)
        status = scales_of_operand(context, 1, &scales);
    return status ? status : infer_scaled(context, &scales);
}

enum { RESIZE_ROI = 1, RESIZE_SCALES = 2, RESIZE_SIZES = 3 };

struct resize {
    struct scales scales;
    struct int_list sizes;
    bool by_size;
    size_t n;                 /* number of resized axes */
    int axes[SHAPE_MAX_RANK]; /* these axes, in the order of `scales` or `sizes` */
};

/* Reads scales or sizes: exactly one must be given, where an empty tensor counts as omitted.
 * Resize-18: `axes` lists the resized axes; default: all. */
static int read_resize(struct op_context *context, int rank, struct resize *resize) {
    struct int_list axes;
    uint64_t seen = 0;
    int status = scales_of_operand(context, RESIZE_SCALES, &resize->scales);
    if (!status) status = op_int_list(context, RESIZE_SIZES, &resize->sizes);
    if (!status) status = op_int_list_any(context, "axes", -1, &axes);
    if (status) return status;
    if (!axes.values) axes.given = false;
    resize->n = axes.given ? axes.n : (size_t)rank;
    if (resize->n > (size_t)rank)
        return op_fail(context, DIAG_ATTRIBUTE, "axes has %zu entries, the input has %d axes",
                       resize->n, rank);
    for (size_t i = 0; i < resize->n && !status; i++)
        status = common_next_axis(context, &axes, i, rank, "listed", &seen, &resize->axes[i]);
    if (status) return status;
    resize->by_size = resize->sizes.given && op_elements(context, RESIZE_SIZES) != 0;
    if (resize->by_size && !is_known(op_elements(context, RESIZE_SCALES)))
        resize->scales.given = false; /* of unknown length: may be empty */
    if (resize->by_size == resize->scales.given)
        return op_fail(context, DIAG_ARITY,
                       "%s scales and sizes are given, expected one of them",
                       resize->by_size ? "both" : "neither");
    const size_t n = resize->by_size ? resize->sizes.n : resize->scales.n;
    if (n == resize->n || n == 0) return 0;
    return op_fail(context, DIAG_SHAPE, "%s has %zu entries for %zu axes",
                   resize->by_size ? "sizes" : "scales", n, resize->n);
}

/* keep_aspect_ratio_policy (Resize-18): all axes use the smallest (or largest) ratio size /
 * dim. Output dims are ratio * dim, rounded to nearest, halves up. */
static int keep_aspect_ratio(const struct op_context *context, const struct resize *resize,
                             bool largest, int64_t *dims) {
    float ratio = 0;
    for (size_t i = 0; i < resize->n; i++) {
        int64_t dim = op_dim(context, 0, resize->axes[i]);
        if (!is_known(dim) || dim == 0) {
            for (size_t j = 0; j < resize->n; j++) dims[resize->axes[j]] = DIM_UNKNOWN;
            return 0;
        }
        float own = (float)resize->sizes.values[i] / (float)dim;
        if (i == 0 || (largest ? own > ratio : own < ratio)) ratio = own;
    }
    for (size_t i = 0; i < resize->n; i++) {
        float size = ratio * (float)op_dim(context, 0, resize->axes[i]);
        if (!(size >= 0 && size < 0x1p62f))
            return op_fail(context, DIAG_OVERFLOW, "axis %d would have %g elements",
                           resize->axes[i], (double)size);
        dims[resize->axes[i]] = (int64_t)floorf(size + 0.5F);
    }
    return 0;
}

static int size_dims(const struct op_context *context, const struct resize *resize,
                     int64_t *dims) {
    const char *policy = op_attr_string(context, "keep_aspect_ratio_policy");
    for (size_t i = 0; i < resize->n; i++) {
        int64_t size = resize->sizes.known ? resize->sizes.values[i] : DIM_UNKNOWN;
        if (is_known(size) && size < 0)
            return op_fail(context, DIAG_VALUE, "the size of axis %d is %lld, less than 0",
                           resize->axes[i], (long long)size);
        dims[resize->axes[i]] = size;
    }
    if (!resize->sizes.known) return 0;
    /* the ratio depends on dims that are only bounds; no message: the caller discards it */
    if (op_has_bounds(context, 0) && !text_equal(policy, "stretch")) return CM_REFUSED;
    if (text_equal(policy, "not_larger"))
        return keep_aspect_ratio(context, resize, false, dims);
    if (text_equal(policy, "not_smaller"))
        return keep_aspect_ratio(context, resize, true, dims);
    return 0;
}

/* tf_crop_and_resize crops a region first: output dims are floor(dim * (roi_end - roi_start) *
 * scale). `roi` has fractions of the resized axes: all starts, then all ends. */
static int scale_dims(struct op_context *context, const struct resize *resize, int64_t *dims) {
    const int64_t n = (int64_t)resize->n;
    const bool crops = text_equal(op_attr_string(context, "coordinate_transformation_mode"),
                                  "tf_crop_and_resize");
    const struct constant *roi = NULL;
    int status = crops ? op_value(context, RESIZE_ROI, &roi) : 0;
    const bool has_region = roi && constant_has_reals(roi) && roi->n_elements == 2 * n;
    for (int64_t i = 0; i < n && !status; i++) {
        const int axis = resize->axes[i];
        double scale = 0;
        dims[axis] = DIM_UNKNOWN;
        if (!scales_known(&resize->scales) || (crops && !has_region)) continue;
        scale = scale_at(&resize->scales, (size_t)i);
        if (crops) scale *= constant_real_at(roi, n + i) - constant_real_at(roi, i);
        status = scale_dim(context, axis, scale, &dims[axis]);
    }
    return status;
}

static int infer_resize(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    struct resize resize = {.n = 0};
    if (!shape_has_rank(input)) return common_infer_unknown_rank(context);
    for (int axis = 0; axis < input->rank; axis++) dims[axis] = input->dims[axis];
    int status = read_resize(context, input->rank, &resize);
    if (status) return status;
    status =
        resize.by_size ? size_dims(context, &resize, dims) : scale_dims(context, &resize, dims);
    return status ? status : common_output(context, input->rank, dims);
}

/* Returns PyTorch's name of the mode; for linear modes "linear", "bilinear" or "trilinear" by
 * the number of spatial axes. */
static const char *torch_mode(const struct op_context *context) {
    static const char *const linear_modes[] = {"linear", "bilinear", "trilinear"};
    const char *mode = op_attr_string(context, "mode");
    const int rank = op_rank(context, 0);
    if (text_equal(mode, "cubic")) return "bicubic";
    return text_equal(mode, "linear") && rank >= 3 && rank <= 5 ? linear_modes[rank - 3] : mode;
}

/* Prints "scale_factor=2.0" or "scale_factor=(2.0, 3.0)", for the spatial axes. */
static void describe_scales(struct text *out, const struct scales *scales) {
    bool equal = true;
    for (size_t i = 3; i < scales->n; i++)
        equal = equal && !(scale_at(scales, i) != scale_at(scales, 2));
    text_append(out, equal ? "scale_factor=" : "scale_factor=(");
    for (size_t i = 2; i < (equal ? 3 : scales->n); i++) {
        if (i > 2) text_append(out, ", ");
        describe_real(out, scale_at(scales, i));
    }
    text_append(out, equal ? ", " : "), ");
}

static int describe_upsample(const struct op_context *context, struct text *out) {
    const struct shape *output = op_output_shape(context, 0);
    const size_t operand =
        context->op->min_inputs == 2 ? 1 : RESIZE_SCALES; /* Resize-10, Upsample-9 */
    const struct constant *value = common_contents(context, operand);
    struct scales scales = scales_of_attr(context);
    if (value && constant_has_reals(value)) {
        scales.n = (size_t)value->n_elements;
        scales.operand = value;
    }
    if (scales_known(&scales) && scales.n > 2) {
        describe_scales(out, &scales);
    } else if (op_input(context, RESIZE_SIZES)->value && shape_is_known(output) &&
               output->rank > 2) {
        text_append(out, "size=");
        describe_tuple(out, (size_t)output->rank - 2, &output->dims[2]);
        text_append(out, ", ");
    }
    text_printf(out, "mode='%s'", torch_mode(context));
    return 0;
}

static int infer_grid_sample(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    const struct shape *grid = op_shape(context, 1);
    int64_t dims[SHAPE_MAX_RANK];
    int rank = shape_has_rank(input) ? input->rank : grid->rank;
    if (rank == RANK_UNKNOWN) return common_infer_unknown_rank(context);
    if (rank < 3 || (shape_has_rank(grid) && grid->rank != rank))
        return op_fail(context, DIAG_SHAPE, "input %s and grid %s do not fit",
                       op_shape_text(context, input), op_shape_text(context, grid));
    int64_t n = op_dim(context, 0, 0);
    dims[0] = is_known(n) ? n : op_dim(context, 1, 0);
    dims[1] = op_dim(context, 0, 1);
    for (int axis = 2; axis < rank; axis++) dims[axis] = op_dim(context, 1, axis - 1);
    return common_output(context, rank, dims);
}

/* Input 1 is a size: [N, C, H, W] -> [N, H, W, 2], [N, C, D, H, W] -> [N, D, H, W, 3]. */
static int infer_affine_grid(struct op_context *context) {
    struct int_list size;
    int64_t dims[5];
    int status = op_int_list(context, 1, &size);
    if (status) return status;
    if (size.n == 0) return common_infer_unknown_rank(context);
    if (size.n != 4 && size.n != 5)
        return op_fail(context, DIAG_SHAPE, "size has %zu entries, expected 4 or 5", size.n);
    int rank = (int)size.n;
    dims[0] = size.known ? size.values[0] : common_dim(context, 0, 3, 0);
    for (int axis = 1; axis < rank - 1; axis++)
        dims[axis] = size.known ? size.values[axis + 1] : DIM_UNKNOWN;
    dims[rank - 1] = rank - 2;
    return common_output(context, rank, dims);
}

/* clang-format off */
#define RESIZE(name, from, infer_fn)                                                           \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, DEEPSPEED(.per_output = 1), AUTOCAST(FLOAT),               \
                  EXACT(EXACT_RESIZE), FVCORE(FVCORE_RESIZE), PTFLOPS(.per_output = 1),        \
                  THOP(THOP_RESIZE), ONNX_TOOL(ONNX_TOOL_RESIZE), BOUNDS("d-"),                \
                  LOWER(lower_resample, CM_RESAMPLE, 0, IMAGES_HERE, LIMIT_RESIZE),            \
                  INTEGERS(INTEGERS_NONE)),                                                    \
        .infer = infer_fn, .param_roles = "xiii", .module = "Upsample",                        \
        .describe = describe_upsample, .backward.saved_for_backward = ",-"                     \
    }
#define GRID_SAMPLE(of, from, keeps, letters)                                                  \
    {                                                                                          \
        SIGNATURE(of, GridSample, from, EXACT(EXACT_RESIZE), FVCORE(.per_output = 4),          \
                  NO_PRIMITIVE(NO_SAMPLING), BOUNDS(letters), INTEGERS(INTEGERS_NONE)),        \
        .infer = infer_grid_sample, .param_roles = "x", .backward.saved_for_backward = keeps   \
    }

static const struct op rows[] = {
    SINCE3(RESIZE, Upsample, 1, 7, 9,  infer_upsample),
    RESIZE(Resize, 10,                 infer_upsample),
    SINCE3(RESIZE, Resize, 11, 13, 18, infer_resize),
    SINCE2(GRID_SAMPLE, ONNX, 16, 20, "01", "d"),
    GRID_SAMPLE(CONTRIB, 1,           "-",  "-"),
    {SIGNATURE(ONNX, AffineGrid, 20, EXACT(PLUS(exact_affine_grid, "operations: 2 per axis of an output element")),
        NO_PRIMITIVE(NO_SAMPLING), NO_BOUNDS),
     .infer = infer_affine_grid, .param_roles = "xi", .backward.saved_for_backward = ",-"},
};
/* clang-format on */

OP_FAMILY(resize, .declines = FACETS_RARE);
