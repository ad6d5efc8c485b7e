/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: windows, Fourier transforms, the matrix of a mel scale, and pictures that are still
 * encoded. A transform of n points is counted as the fast one of ceil(log2 n) stages, each of
 * n / 2 butterflies: a complex product (4 multiplications) and two complex sums. Real points
 * take half of it.
 *     MACs = transforms * n * ceil(log2 n) * (2 of complex points, 1 of real ones)
 * FLOPs = 2 * MACs; the sums that are in no MAC are half as many as MACs.
 */
#include "ops/common.h"
#include "ops/families.h"
#include "ops/product.h"

#include "support/banned.h"

static int infer_window(struct rule *rule) {
    enum dtype dtype = DTYPE_UNDEFINED;
    const int64_t size = common_integer(rule, 0);
    int status = common_dtype_attr(rule, "output_datatype", &dtype);
    return status < 0 ? status : rule_output_dims(rule, 0, dtype, 1, &size);
}

/* floor(n / 2) + 1: of a real signal the other half of its spectrum says nothing new. */
static int64_t half_spectrum(int64_t n) {
    return checked_add(checked_div_floor(n, 2), 1);
}

static int infer_mel_weights(struct rule *rule) {
    enum dtype dtype = DTYPE_UNDEFINED;
    const int64_t dims[] = {half_spectrum(common_integer(rule, 1)), common_integer(rule, 0)};
    int status = common_dtype_attr(rule, "output_datatype", &dtype);
    return status < 0 ? status : rule_output_dims(rule, 0, dtype, 2, dims);
}

/* [height, width, channels] of bytes; the picture itself says how large it is. */
static int infer_image(struct rule *rule) {
    const bool grey = text_equal(rule_attr_string(rule, "pixel_format"), "Grayscale");
    const int64_t dims[] = {DIM_UNKNOWN, DIM_UNKNOWN, grey ? 1 : 3};
    return rule_output_dims(rule, 0, DTYPE_UINT8, 3, dims);
}

/* The axis of a DFT, which before opset 20 is an attribute; -1: not known. */
static int transformed_axis(const struct rule *rule, int rank) {
    int64_t axis = -2;
    if (rule->op->since < 20)
        axis = rule_attr_int(rule, "axis");
    else if (rule_has_input(rule, 2))
        axis = common_integer(rule, 2);
    if (is_known(axis) && axis < 0) axis += rank;
    return is_known(axis) && axis >= 0 && axis < rank - 1 ? (int)axis : -1;
}

/* Back from half a spectrum to real points. */
static bool gives_reals(const struct rule *rule) {
    return rule_attr_int(rule, "onesided") != 0 && rule_attr_int(rule, "inverse") != 0;
}

static bool takes_reals(const struct rule *rule) {
    const int rank = rule_rank(rule, 0);
    return rank > 0 && rule_dim(rule, 0, rank - 1) == 1;
}

/* The points of one transform. */
static int64_t n_points(const struct rule *rule, int axis) {
    if (rule_has_input(rule, 1)) return common_integer(rule, 1);
    const int64_t size = axis < 0 ? DIM_UNKNOWN : rule_dim(rule, 0, axis);
    return gives_reals(rule) ? checked_mul(2, checked_sub(size, 1)) : size;
}

static int infer_dft(struct rule *rule) {
    const struct shape *signal = rule_shape(rule, 0);
    int64_t dims[SHAPE_MAX_RANK];
    int status = common_check_rank(rule, 0, 2);
    if (status < 0 || !shape_has_rank(signal))
        return status < 0 ? status : common_infer_unknown_rank(rule);
    const int axis = transformed_axis(rule, signal->rank);
    const int64_t n = n_points(rule, axis);
    const bool halved = rule_attr_int(rule, "onesided") != 0 && !gives_reals(rule);
    for (int i = 0; i < signal->rank - 1; i++)
        dims[i] = axis < 0 ? DIM_UNKNOWN : signal->dims[i];
    if (axis >= 0) dims[axis] = halved ? half_spectrum(n) : n;
    dims[signal->rank - 1] = gives_reals(rule) ? 1 : 2;
    return rule_output_dims(rule, 0, rule_dtype(rule, 0), signal->rank, dims);
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

/* The lines of the signal along the axis. */
static int64_t n_lines(const struct shape *signal, int axis) {
    const int64_t before = shape_product(signal, 0, axis);
    return checked_mul(before, shape_product(signal, axis + 1, signal->rank - 1));
}

static void macs_dft(const struct rule *rule, struct product *ret) {
    const struct shape *signal = rule_shape(rule, 0);
    const int axis = signal->rank < 2 ? -1 : transformed_axis(rule, signal->rank);
    const int64_t lines = axis < 0 ? DIM_UNKNOWN : n_lines(signal, axis);
    add_transforms(lines, n_points(rule, axis), takes_reals(rule) || gives_reals(rule), ret);
}

/* The last axes of a real signal, or in front of its pairs those of half a spectrum. */
static int signal_axes(const struct rule *rule, int rank, bool pairs) {
    const int64_t axes = rule_attr_int(rule, "signal_ndim");
    return axes >= 1 && axes <= rank - (pairs ? 1 : 0) ? (int)axes : -1;
}

static int refuse_axes(const struct rule *rule) {
    return rule_fail(rule, DIAG_ATTRIBUTE, "signal_ndim %lld does not fit %s",
                     (long long)rule_attr_int(rule, "signal_ndim"),
                     rule_shape_text(rule, rule_shape(rule, 0)));
}

/* Half of the spectrum of real points along the last axis, pairs behind it. */
static int infer_rfft(struct rule *rule) {
    const struct shape *x = rule_shape(rule, 0);
    int64_t dims[SHAPE_MAX_RANK + 1];
    if (!shape_has_rank(x)) return common_infer_unknown_rank(rule);
    if (signal_axes(rule, x->rank, false) < 0) return refuse_axes(rule);
    for (int axis = 0; axis < x->rank; axis++) dims[axis] = x->dims[axis];
    dims[x->rank - 1] = half_spectrum(x->dims[x->rank - 1]);
    dims[x->rank] = 2;
    return rule_output_dims(rule, 0, rule_dtype(rule, 0), x->rank + 1, dims);
}

/* And back: an even number of points. */
static int infer_irfft(struct rule *rule) {
    const struct shape *x = rule_shape(rule, 0);
    if (!shape_has_rank(x)) return common_infer_unknown_rank(rule);
    if (signal_axes(rule, x->rank, true) < 0) return refuse_axes(rule);
    int64_t dims[SHAPE_MAX_RANK];
    for (int axis = 0; axis < x->rank - 1; axis++) dims[axis] = x->dims[axis];
    dims[x->rank - 2] = checked_mul(2, checked_sub(x->dims[x->rank - 2], 1));
    return rule_output_dims(rule, 0, rule_dtype(rule, 0), x->rank - 1, dims);
}

/* Of the real side: the operand of Rfft, the result of Irfft. */
static void add_real_transforms(const struct rule *rule, const struct shape *real,
                                struct product *ret) {
    const int axes = shape_has_rank(real) ? signal_axes(rule, real->rank, false) : -1;
    if (axes < 0) {
        add_transforms(DIM_UNKNOWN, DIM_UNKNOWN, true, ret);
        return;
    }
    add_transforms(shape_product(real, 0, real->rank - axes),
                   shape_product(real, real->rank - axes, real->rank), true, ret);
}

static void macs_rfft(const struct rule *rule, struct product *ret) {
    add_real_transforms(rule, rule_shape(rule, 0), ret);
}

static void macs_irfft(const struct rule *rule, struct product *ret) {
    add_real_transforms(rule, rule_output_shape(rule, 0), ret);
}

/* Points of a frame: as asked for, as many as the window has, or the whole signal. */
static int64_t frame_length(const struct rule *rule) {
    if (rule_has_input(rule, 3)) return common_integer(rule, 3);
    if (rule_has_input(rule, 2))
        return rule_rank(rule, 2) == 1 ? rule_dim(rule, 2, 0) : DIM_UNKNOWN;
    return rule_rank(rule, 0) >= 2 ? rule_dim(rule, 0, 1) : DIM_UNKNOWN;
}

/* [batch, points, 1 or 2], or of real points [batch, points]. */
static int infer_stft(struct rule *rule) {
    const int rank = rule_rank(rule, 0);
    const int64_t step = common_integer(rule, 1);
    const int64_t length = frame_length(rule);
    if (rank != RANK_UNKNOWN && rank != 2 && rank != 3)
        return rule_fail(rule, DIAG_SHAPE, "input 0 has rank %d, 2 or 3 is wanted", rank);
    if (is_known(step) && step < 1)
        return rule_fail(rule, DIAG_VALUE, "frames are %lld apart, 1 or more is wanted",
                         (long long)step);
    const int64_t points = rank == RANK_UNKNOWN ? DIM_UNKNOWN : rule_dim(rule, 0, 1);
    if (is_known(points) && is_known(length) && (length < 1 || length > points))
        return rule_fail(rule, DIAG_VALUE, "a frame has %lld points, the signal %lld",
                         (long long)length, (long long)points);
    const bool halved = rule_attr_int(rule, "onesided") != 0;
    const int64_t dims[] = {
        rank == RANK_UNKNOWN ? DIM_UNKNOWN : rule_dim(rule, 0, 0),
        checked_add(checked_div_floor(checked_sub(points, length), step), 1),
        halved ? half_spectrum(length) : length,
        2,
    };
    return rule_output_dims(rule, 0, rule_dtype(rule, 0), 4, dims);
}

static void macs_stft(const struct rule *rule, struct product *ret) {
    const struct shape *out = rule_output_shape(rule, 0);
    const int64_t frames = out->rank == 4 ? shape_product(out, 0, 2) : DIM_UNKNOWN;
    add_transforms(frames, frame_length(rule), rule_rank(rule, 0) == 2 || takes_reals(rule),
                   ret);
}

/* The gradient of a transform is a transform. */
static int64_t transform_backward(const struct rule *rule, uint32_t wanted) {
    (void)wanted;
    return product_macs(rule);
}

static const struct op_attr window_17[] = {
    INT_ATTR("output_datatype", 1), INT_ATTR("periodic", 1), {0}};
static const struct op_attr mel_17[] = {INT_ATTR("output_datatype", 1), {0}};
static const struct op_attr image_20[] = {STRING_ATTR("pixel_format", "RGB"), {0}};
static const struct op_attr dft_17[] = {
    INT_ATTR("axis", 1), INT_ATTR("inverse", 0), INT_ATTR("onesided", 0), {0}};
static const struct op_attr dft_20[] = {INT_ATTR("inverse", 0), INT_ATTR("onesided", 0), {0}};
static const struct op_attr stft_17[] = {INT_ATTR("onesided", 1), {0}};
static const struct op_attr rfft[] = {
    INT_ATTR("normalized", 0), INT_ATTR("onesided", 1), INT_ATTR("signal_ndim", 1), {0}};
static const struct op_attr irfft[] = {INT_ATTR("normalized", 0),
                                       INT_ATTR("onesided", 1),
                                       REQUIRED_ATTR("signal_ndim", ATTR_INT),
                                       {0}};

#define MAKES(name, from, inputs, attributes, rule)                                            \
    {                                                                                          \
        .domain = "", .type = name, .since = from, .min_inputs = inputs, .max_inputs = inputs, \
        .min_outputs = 1, .max_outputs = 1, .attrs = attributes, .infer = rule, .roles = "i",  \
        .backward.gradients = "-"                                                              \
    }
#define TRANSFORM(of, name, from, least, most, attributes, rule, count, letters, keeps, again) \
    {                                                                                          \
        .domain = of, .type = name, .since = from, .min_inputs = least, .max_inputs = most,    \
        .min_outputs = 1, .max_outputs = 1, .attrs = attributes, .infer = rule,                \
        .cost.macs = count, .cost.macs_are = "transforms x points x stages x 2, x 1 of reals", \
        .roles = letters, .backward.gradients = keeps, .backward.macs = again                  \
    }

/* clang-format off */
static const struct op rows[] = {
    /*    type           since in attributes */
    MAKES("BlackmanWindow",  17, 1, window_17, infer_window),
    MAKES("HammingWindow",   17, 1, window_17, infer_window),
    MAKES("HannWindow",      17, 1, window_17, infer_window),
    MAKES("MelWeightMatrix", 17, 5, mel_17,    infer_mel_weights),
    MAKES("ImageDecoder",    20, 1, image_20,  infer_image),
    /*         domain         type since in   attributes rule        MACs        roles  gradients */
    TRANSFORM("",              "DFT",  17, 1, 2, dft_17,  infer_dft,   macs_dft,   "xi",   ",-",  transform_backward),
    TRANSFORM("",              "DFT",  20, 1, 3, dft_20,  infer_dft,   macs_dft,   "xi",   ",-",  transform_backward),
    TRANSFORM("",              "STFT", 17, 2, 4, stft_17, infer_stft,  macs_stft,  "ximi", "2,-", transform_backward),
    TRANSFORM("com.microsoft", "Rfft",  1, 1, 1, rfft,    infer_rfft,  macs_rfft,  "x",    "-",   NULL),
    TRANSFORM("com.microsoft", "Irfft", 1, 1, 1, irfft,   infer_irfft, macs_irfft, "x",    "-",   NULL),
};
/* clang-format on */

const struct op_family family_signal = {"signal", rows, sizeof rows / sizeof *rows,
                                        "makes a table, or reads a file"};
