/* SPDX-License-Identifier: Apache-2.0 */
/* Pad, CenterCropPad: add or remove margins. */
#include <string.h>

#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"
#include "support/arena.h"

struct margins {
    /* by axis: number of elements to add (negative: to remove); DIM_UNKNOWN */
    int64_t before[SHAPE_MAX_RANK];
    int64_t after[SHAPE_MAX_RANK];
};

static int read_margins(struct op_context *context, int rank, struct margins *margins) {
    /* Pad-1 calls the attribute paddings. */
    const char *name = op_has_attr(context, "paddings") ? "paddings" : "pads";
    struct int_list pads = {.given = true}, axes;
    uint64_t seen = 0;
    int status = CM_OK;
    memset(margins, 0, sizeof *margins);
    if (context->op->domain[0] && op_rank(context, 1) == 2 && op_dim(context, 1, 0) == 1) {
        /* Pad of com.microsoft also accepts [1, 2 * rank]. */
        const struct constant *value = common_contents(context, 1);
        if (value && constant_has_ints(value)) {
            pads.n = (size_t)value->n_elements;
            int64_t *list = arena_array(context->arena, pads.n, sizeof *list);
            if (!list) return diag_no_memory(context->diag);
            for (size_t i = 0; i < pads.n; i++) list[i] = constant_int_at(value, (int64_t)i);
            pads.values = list;
            pads.known = true;
        }
    } else {
        status = op_int_list_any(context, name, 1, &pads);
    }
    if (!status) status = op_int_list(context, 3, &axes);
    if (status) return status;
    const size_t n = axes.given && axes.known ? axes.n : (size_t)rank;
    const bool spread = !axes.given || axes.known; /* else any axis may be padded */
    if (spread && pads.known && pads.n != 2 * n)
        return op_fail(context, DIAG_SHAPE,
                       "pads has %zu entries, expected 2 for each of %zu axes", pads.n, n);
    for (size_t i = 0; i < n; i++) {
        int axis = (int)i;
        if (spread) status = common_next_axis(context, &axes, i, rank, "padded", &seen, &axis);
        if (status) return status;
        margins->before[axis] = spread && pads.known ? pads.values[i] : DIM_UNKNOWN;
        margins->after[axis] = spread && pads.known ? pads.values[n + i] : DIM_UNKNOWN;
    }
    return 0;
}

static int infer_pad(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    struct margins margins;
    if (!shape_has_rank(input)) return common_infer_unknown_rank(context);
    int status = read_margins(context, input->rank, &margins);
    if (status) return status;
    for (int axis = 0; axis < input->rank; axis++) {
        int64_t dim = checked_add(input->dims[axis], margins.before[axis]);
        dims[axis] = checked_add(dim, margins.after[axis]);
        if (is_known(dims[axis]) && dims[axis] < 0)
            return op_fail(context, DIAG_SHAPE,
                           "pads %lld and %lld make dimension %lld negative",
                           (long long)margins.before[axis], (long long)margins.after[axis],
                           (long long)input->dims[axis]);
    }
    return common_output(context, input->rank, dims);
}

enum pad_mode { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_WRAP, PAD_N };

static const char *const pad_modes[PAD_N] = {"constant", "edge", "reflect", "wrap"};

struct pad {
    enum pad_mode mode;
    const struct shape *input;
    struct margins margins;
    int64_t strides[SHAPE_MAX_RANK];
};

/* Returns `saved_for_backward`: PyTorch's kernels save the input in modes edge and reflect. */
static const char *pad_saved(const struct op_context *context) {
    const char *mode = op_attr_string(context, "mode");
    return text_equal(mode, "edge") || text_equal(mode, "reflect") ? "0,-" : ",-";
}

/* Returns the source coordinate in [0, dim) of a coordinate that may be outside; REMAP_FILL if
 * it is outside and the mode is constant. dim > 0. */
static int64_t pad_coordinate(enum pad_mode mode, int64_t coord, int64_t dim) {
    if (mode == PAD_EDGE) return common_clamp(coord, 0, dim - 1);
    if (mode == PAD_CONSTANT) return coord < 0 || coord >= dim ? REMAP_FILL : coord;
    if (dim == 1) return 0;
    /* indices repeat: wrap 0 1 2 | 0 1 2 …; reflect 0 1 2 1 | 0 1 2 1 … */
    const int64_t period = mode == PAD_WRAP ? dim : 2 * (dim - 1);
    int64_t folded = coord % period;
    if (folded < 0) folded += period;
    return folded < dim ? folded : period - folded;
}

static int64_t pad_source(const void *context, const int64_t *coords) {
    const struct pad *pad = context;
    int64_t index = 0;
    for (int axis = 0; axis < pad->input->rank; axis++) {
        int64_t dim = pad->input->dims[axis];
        if (dim == 0) return REMAP_FILL;
        int64_t coord =
            pad_coordinate(pad->mode, coords[axis] - pad->margins.before[axis], dim);
        if (coord == REMAP_FILL) return REMAP_FILL;
        index += coord * pad->strides[axis];
    }
    return index;
}

static int fold_pad(struct op_context *context) {
    struct pad pad = {.mode = PAD_CONSTANT};
    const struct constant *from = NULL, *fill = NULL;
    int status = op_value(context, 0, &from);
    if (!status) status = op_value(context, 2, &fill);
    if (status || !from) return status;
    /* the padding value: operand 2; before opset 11 an attribute, of which only 0 is folded */
    if (op_has_input(context, 2)
            ? !fill || fill->n_elements != 1 || fill->dtype != op_dtype(context, 0)
            : op_attr_float(context, "value") != 0)
        return 0;
    while (pad.mode < PAD_N &&
           !text_equal(op_attr_string(context, "mode"), pad_modes[pad.mode]))
        pad.mode++;
    if (pad.mode == PAD_N || !shape_is_known(op_output_shape(context, 0))) return 0;
    if (pad.mode != PAD_CONSTANT && from->n_elements == 0) return 0; /* nothing to repeat */
    status = read_margins(context, from->shape.rank, &pad.margins);
    if (status) return status;
    for (int axis = 0; axis < from->shape.rank; axis++)
        if (!is_known(pad.margins.before[axis]) || !is_known(pad.margins.after[axis])) return 0;
    pad.input = &from->shape;
    remap_strides(&from->shape, pad.strides);
    const struct remap remap = {
        .from = from, .source = pad_source, .context = &pad, .fills = true, .fill = fill};
    return remap_fold(context, 0, &remap);
}

static int infer_center_crop_pad(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    struct int_list sizes, axes;
    int status = op_int_list(context, 1, &sizes);
    if (!status) status = op_int_list_any(context, "axes", -1, &axes);
    if (status) return status;
    if (!shape_has_rank(input)) return common_infer_unknown_rank(context);
    size_t n = axes.given ? axes.n : (size_t)input->rank;
    if (sizes.known && sizes.n != n)
        return op_fail(context, DIAG_SHAPE,
                       "shape has %zu entries, expected one for each of %zu axes", sizes.n, n);
    for (int axis = 0; axis < input->rank; axis++) dims[axis] = input->dims[axis];
    for (size_t i = 0; i < n; i++) {
        int axis = 0;
        status = op_normalize_axis(context, axes.given ? axes.values[i] : (int64_t)i,
                                   input->rank, &axis);
        if (status) return status;
        dims[axis] = sizes.known ? sizes.values[i] : DIM_UNKNOWN;
    }
    return common_output(context, input->rank, dims);
}

/* clang-format off */
#define PAD(of, from, letters, ...)                                                            \
    {                                                                                          \
        SIGNATURE(of, Pad, from, __VA_ARGS__,                                                  \
                  MOVES(scale_unchanged, .is_lost = scale_is_lost_by_pad)),                    \
        .infer = infer_pad, .fold = fold_pad, .param_roles = letters,                          \
        .backward.saved_for_backward = ",-", .backward.saved_for_backward_of = pad_saved       \
    }
#define LOWER_PAD LOWER(lower_gather, CM_GATHER, 0, IMAGES_FOLLOW, NULL)

static const struct op rows[] = {
    SINCE2(PAD, ONNX, 1, 2,   "p",   LOWER_PAD, BOUNDS("v-d-")),
    SINCE2(PAD, ONNX, 11, 18, "pii", LOWER_PAD, BOUNDS("v-d-")),
    PAD(CONTRIB, 1,           "pii", NO_PRIMITIVE(NO_CONTRIB), NO_BOUNDS),
    {SIGNATURE(ONNX, CenterCropPad, 18, LOWER_PAD, MOVES(scale_unchanged), NO_BOUNDS), .infer = infer_center_crop_pad,
     .param_roles = "pi", .backward.saved_for_backward = ",-"},
};
/* clang-format on */

OP_FAMILY(pad, .why_free = "moves elements",
          .declines = FACET_FOLD | FACET_ALGEBRA | FACET_MODULE | FACET_EXACT);
