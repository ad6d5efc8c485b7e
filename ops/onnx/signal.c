/* SPDX-License-Identifier: Apache-2.0 */
/* Signal processing: windows, Fourier transforms, mel weights, image decoding. A transform of n
 * points is counted as an FFT with ceil(log2 n) stages of n / 2 butterflies, each a complex
 * product (4 multiplications) and two complex additions. Real transforms cost half.
 *     MACs = transforms * n * ceil(log2 n) * (2 if complex, 1 if real)
 *     FLOPs = 2 * MACs
 * MACs / 2 additions are not part of a MAC; only the convention `exact` counts them. */
#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "ops/product.h"

static int infer_window(struct op_context *context) {
    enum dtype dtype = DTYPE_UNDEFINED;
    const int64_t size = common_integer(context, 0);
    int status = common_dtype_attr(context, "output_datatype", &dtype);
    return status < 0 ? status : op_output_dims(context, 0, dtype, 1, &size);
}

/* Returns floor(n / 2) + 1: the spectrum of a real signal is symmetric. */
static int64_t half_spectrum(int64_t n) {
    return checked_add(checked_div_floor(n, 2), 1);
}

static int infer_mel_weights(struct op_context *context) {
    enum dtype dtype = DTYPE_UNDEFINED;
    const int64_t dims[] = {half_spectrum(common_integer(context, 1)),
                            common_integer(context, 0)};
    int status = common_dtype_attr(context, "output_datatype", &dtype);
    return status < 0 ? status : op_output_dims(context, 0, dtype, 2, dims);
}

/* ImageDecoder: uint8 [height, width, channels], where height and width are data-dependent. */
static int infer_image(struct op_context *context) {
    const bool grey = text_equal(op_attr_string(context, "pixel_format"), "Grayscale");
    const int64_t dims[] = {DIM_UNKNOWN, DIM_UNKNOWN, grey ? 1 : 3};
    return op_output_dims(context, 0, DTYPE_UINT8, 3, dims);
}

/* Returns the axis of a DFT, operand 2 (an attribute before opset 20); -1 if it is unknown or
 * not an axis of the signal. */
static int transformed_axis(const struct op_context *context, int rank) {
    int64_t axis = -2;
    if (context->op->since < 20)
        axis = op_attr_int(context, "axis");
    else if (op_has_input(context, 2))
        axis = common_integer(context, 2);
    if (is_known(axis) && axis < 0) axis += rank;
    return is_known(axis) && axis >= 0 && axis < rank - 1 ? (int)axis : -1;
}

/* Returns true for a transform from half a spectrum to real points. */
static bool gives_reals(const struct op_context *context) {
    return op_attr_int(context, "onesided") != 0 && op_attr_int(context, "inverse") != 0;
}

static bool takes_reals(const struct op_context *context) {
    const int rank = op_rank(context, 0);
    return rank > 0 && op_dim(context, 0, rank - 1) == 1;
}

/* Returns the number of points of one transform. */
static int64_t n_points(const struct op_context *context, int axis) {
    if (op_has_input(context, 1)) return common_integer(context, 1);
    const int64_t size = axis < 0 ? DIM_UNKNOWN : op_dim(context, 0, axis);
    return gives_reals(context) ? checked_mul(2, checked_sub(size, 1)) : size;
}

static int infer_dft(struct op_context *context) {
    const struct shape *signal = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    int status = common_check_rank(context, 0, 2);
    if (status < 0 || !shape_has_rank(signal))
        return status < 0 ? status : common_infer_unknown_rank(context);
    const int axis = transformed_axis(context, signal->rank);
    const int64_t n = n_points(context, axis);
    const bool halved = op_attr_int(context, "onesided") != 0 && !gives_reals(context);
    for (int i = 0; i < signal->rank - 1; i++)
        dims[i] = axis < 0 ? DIM_UNKNOWN : signal->dims[i];
    if (axis >= 0) dims[axis] = halved ? half_spectrum(n) : n;
    dims[signal->rank - 1] = gives_reals(context) ? 1 : 2;
    return common_output(context, signal->rank, dims);
}

static int64_t stages(int64_t n) {
    int64_t log = 0;
    if (!is_known(n)) return n;
    while (log < 62 && (INT64_C(1) << log) < n) log++;
    return log;
}

static void add_transforms(int64_t transforms, int64_t n, bool real, struct product *ret) {
    product_add(ret, "transforms", transforms);
    product_add(ret, "points", n);
    product_add(ret, "stages", stages(n));
    product_add(ret, "products of a butterfly's point", real ? 1 : 2);
}

static void macs_dft(const struct op_context *context, struct product *ret) {
    const struct shape *signal = op_shape(context, 0);
    const int axis = signal->rank < 2 ? -1 : transformed_axis(context, signal->rank);
    int64_t lines = DIM_UNKNOWN; /* number of transforms */
    if (axis >= 0)
        lines = checked_mul(shape_product(signal, 0, axis),
                            shape_product(signal, axis + 1, signal->rank - 1));
    add_transforms(lines, n_points(context, axis), takes_reals(context) || gives_reals(context),
                   ret);
}

/* Returns signal_ndim, the number of last axes that are transformed; -1 if the signal, which
 * has `axes` axes, has fewer. */
static int signal_axes(const struct op_context *context, int axes) {
    const int64_t n = op_attr_int(context, "signal_ndim");
    return n >= 1 && n <= axes ? (int)n : -1;
}

/* Rfft: half a spectrum along the last axis, then an axis of (real, imaginary) pairs. Irfft:
 * its inverse, with an even number of points. */
static int infer_real_transform(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const bool inverse = text_equal(context->op->type, "Irfft");
    int64_t dims[SHAPE_MAX_RANK + 1];
    if (!shape_has_rank(x)) return common_infer_unknown_rank(context);
    const int axes = inverse ? x->rank - 1 : x->rank; /* without the axis of pairs */
    if (signal_axes(context, axes) < 0)
        return op_fail(context, DIAG_ATTRIBUTE, "signal_ndim %lld does not fit %s",
                       (long long)op_attr_int(context, "signal_ndim"),
                       op_shape_text(context, x));
    for (int axis = 0; axis < axes; axis++) dims[axis] = x->dims[axis];
    const int64_t last = dims[axes - 1];
    dims[axes - 1] = inverse ? checked_mul(2, checked_sub(last, 1)) : half_spectrum(last);
    dims[axes] = 2;
    return common_output(context, inverse ? axes : axes + 1, dims);
}

static void macs_real_transform(const struct op_context *context, struct product *ret) {
    const bool inverse = text_equal(context->op->type, "Irfft");
    const struct shape *real = inverse ? op_output_shape(context, 0) : op_shape(context, 0);
    const int axes = shape_has_rank(real) ? signal_axes(context, real->rank) : -1;
    const int outer = real->rank - axes;
    add_transforms(axes < 0 ? DIM_UNKNOWN : shape_product(real, 0, outer),
                   axes < 0 ? DIM_UNKNOWN : shape_product(real, outer, real->rank), true, ret);
}

/* Returns the points per frame: frame_length, else the window's length, else the signal's. */
static int64_t frame_length(const struct op_context *context) {
    if (op_has_input(context, 3)) return common_integer(context, 3);
    if (op_has_input(context, 2)) return common_dim(context, 2, 1, 0);
    return op_rank(context, 0) >= 2 ? op_dim(context, 0, 1) : DIM_UNKNOWN;
}

/* STFT: [batch, points] or [batch, points, 1 or 2] -> [batch, frames, spectrum, 2]. */
static int infer_stft(struct op_context *context) {
    const int rank = op_rank(context, 0);
    const int64_t step = common_integer(context, 1);
    const int64_t length = frame_length(context);
    if (rank != RANK_UNKNOWN && rank != 2 && rank != 3)
        return op_fail(context, DIAG_SHAPE, "input 0 must have rank 2 or 3, got %d", rank);
    if (is_known(step) && step < 1)
        return op_fail(context, DIAG_VALUE, "frame_step must be >= 1, got %lld",
                       (long long)step);
    const int64_t points = rank == RANK_UNKNOWN ? DIM_UNKNOWN : op_dim(context, 0, 1);
    if (is_known(points) && is_known(length) && (length < 1 || length > points))
        return op_fail(context, DIAG_VALUE, "a frame has %lld points, the signal %lld",
                       (long long)length, (long long)points);
    const bool halved = op_attr_int(context, "onesided") != 0;
    const int64_t dims[] = {
        rank == RANK_UNKNOWN ? DIM_UNKNOWN : op_dim(context, 0, 0),
        checked_add(checked_div_floor(checked_sub(points, length), step), 1),
        halved ? half_spectrum(length) : length,
        2,
    };
    return common_output(context, 4, dims);
}

static void macs_stft(const struct op_context *context, struct product *ret) {
    const struct shape *out = op_output_shape(context, 0);
    const int64_t frames = out->rank == 4 ? shape_product(out, 0, 2) : DIM_UNKNOWN;
    add_transforms(frames, frame_length(context),
                   op_rank(context, 0) == 2 || takes_reals(context), ret);
}

/* The gradient of a transform is a transform of the same cost. */
static int64_t transform_backward(const struct op_context *context) {
    return product_macs(context);
}

/* clang-format off */
#define MAKES(name, from, infer_fn, ...)                                                       \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, __VA_ARGS__), .infer = infer_fn, .param_roles = "i",       \
        .backward.saved_for_backward = "-"                                                     \
    }
#define TRANSFORM(of, name, from, infer_fn, count, letters, keeps, backward_macs, ...)         \
    {                                                                                          \
        SIGNATURE(of, name, from, UNKNOWN_TO_TORCH_TOOLS, NO_PRIMITIVE(NO_FOURIER),            \
                  NO_BOUNDS, __VA_ARGS__),                                                     \
        .infer = infer_fn, .param_roles = letters,                                             \
        .cost = {count, "transforms x points x stages x 2, x 1 of reals"},                     \
        .backward = {.saved_for_backward = keeps, .macs = backward_macs}                       \
    }
#define DFT_SINCE(from)                                                                        \
    TRANSFORM(ONNX, DFT, from, infer_dft, macs_dft, "xi", ",-", transform_backward,            \
              AUTOCAST(FLOAT), EXACT(EXACT_BUTTERFLIES))

static const struct op rows[] = {
    MAKES(BlackmanWindow,  17, infer_window,
        EXACT(.per_output = 8), NO_PRIMITIVE(NO_FILL), INTEGERS(INTEGERS_NONE), NO_BOUNDS), /* exact: two angles, cosines, factors and sums */
    MAKES(HammingWindow,   17, infer_window, EXACT(.per_output = 4), NO_PRIMITIVE(NO_FILL), INTEGERS(INTEGERS_NONE), NO_BOUNDS),
    MAKES(HannWindow,      17, infer_window,
        EXACT(.per_output = 4), NO_PRIMITIVE(NO_FILL), INTEGERS(INTEGERS_NONE), NO_BOUNDS), /* exact: angle, cosine, factor, difference */
    MAKES(MelWeightMatrix, 17, infer_mel_weights, NO_PRIMITIVE(NO_FILL), NO_BOUNDS),
    MAKES(ImageDecoder,    20, infer_image, NO_PRIMITIVE("no primitive decodes files"), NO_BOUNDS),
    DFT_SINCE(17),
    DFT_SINCE(20),
    TRANSFORM(ONNX, STFT, 17, infer_stft, macs_stft, "ximi", "2,-", transform_backward,
        AUTOCAST(FLOAT), EXACT(PLUS(exact_frames, "additions outside MACs, and the window"))),
    TRANSFORM(CONTRIB, Rfft,  1, infer_real_transform, macs_real_transform, "x", "-", NULL, EXACT(EXACT_BUTTERFLIES)),
    TRANSFORM(CONTRIB, Irfft, 1, infer_real_transform, macs_real_transform, "x", "-", NULL, EXACT(EXACT_BUTTERFLIES)),
};
/* clang-format on */

OP_FAMILY(signal, .why_free = "makes a table, or reads a file",
          .declines = FACETS_RARE | FACET_EXACT);
