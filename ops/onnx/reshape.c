/* SPDX-License-Identifier: Apache-2.0 */
/* Views that change only the shape: Reshape, Flatten, Squeeze, Unsqueeze, Identity. */
#include <string.h>

#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"

/* The target shape of a Reshape. The dim at -1 is product(input dims) / product(target dims).
 * Dims that the target copies from the input are left out of both products, so that [?,3,4]
 * into [0,-1] is [?,12]. */
struct target {
    struct int_list list;
    struct shape shape;     /* the list as a shape, for messages */
    bool zero_is_copy;      /* 0 copies the input's dim; if false (allowzero), 0 is a size */
    bool copies_empty;      /* a copied dim is 0 */
    int rest_axis;          /* axis of the -1; -1 if there is none */
    int64_t listed_product; /* product of the dims that are neither copied nor -1 */
    int64_t *dims;
};

static int set_dim(const struct op_context *context, struct target *target, int axis) {
    const int64_t dim = target->list.values[axis];
    const struct shape *input = op_shape(context, 0);
    const struct constant *lower_bound = op_input(context, 1)->lower_bound;
    const int64_t lower = lower_bound ? constant_int_at(lower_bound, axis) : dim;
    if (lower != dim) { /* only bounds of the dim are known */
        if (lower < 0)
            return CM_REFUSED; /* may be -1 in a run; no message: the caller discards messages
                                */
        target->dims[axis] = dim;
        target->listed_product = DIM_UNKNOWN;
        if (!target->zero_is_copy || lower > 0) return 0;
        /* it may be 0, which copies the input's dim: the bound is the larger of the two */
        if (!shape_has_rank(input)) target->dims[axis] = DIM_UNKNOWN;
        if (axis < input->rank && !(is_known(input->dims[axis]) && input->dims[axis] < dim))
            target->dims[axis] = input->dims[axis];
        return 0;
    }
    if (dim == 0 && target->zero_is_copy) {
        if (shape_has_rank(input) && axis >= input->rank)
            return op_fail(context, DIAG_SHAPE,
                           "target dim %d copies the input's, which has %d axes: %s into %s",
                           axis, input->rank, op_shape_text(context, input),
                           op_shape_text(context, &target->shape));
        target->dims[axis] = op_dim(context, 0, axis);
        if (target->dims[axis] == 0) target->copies_empty = true;
        return 0;
    }
    if (dim == -1 && target->rest_axis >= 0)
        return op_fail(context, DIAG_SHAPE, "target %s has more than one -1",
                       op_shape_text(context, &target->shape));
    if (dim < -1)
        return op_fail(context, DIAG_SHAPE, "target dim %d is %lld, less than -1", axis,
                       (long long)dim);
    target->dims[axis] = dim == -1 ? DIM_UNKNOWN : dim;
    if (dim == -1)
        target->rest_axis = axis;
    else
        target->listed_product = checked_mul(target->listed_product, dim);
    return 0;
}

static int refuse_target(const struct op_context *context, const struct target *target) {
    int64_t elements = op_elements(context, 0);
    const char *from = op_shape_text(context, op_shape(context, 0));
    const char *into = op_shape_text(context, &target->shape);
    if (!is_known(elements))
        return op_fail(context, DIAG_SHAPE, "cannot reshape %s into %s", from, into);
    return op_fail(context, DIAG_SHAPE, "cannot reshape %lld elements %s into %s",
                   (long long)elements, from, into);
}

/* Computes the dim at -1; without -1, checks that the target has as many elements as the input.
 * Both numbers leave out the copied dims. */
static int finish_target(const struct op_context *context, struct target *target) {
    const struct shape *input = op_shape(context, 0);
    const int64_t want = target->listed_product;
    int64_t have = shape_has_rank(input) ? 1 : DIM_UNKNOWN;
    for (int axis = 0; axis < input->rank; axis++) {
        const bool copied = target->zero_is_copy && (size_t)axis < target->list.n &&
                            target->list.values[axis] == 0;
        if (!copied) have = checked_mul(have, input->dims[axis]);
    }
    if (is_overflow(want))
        return op_fail(context, DIAG_OVERFLOW, "target %s has more than 2^63 elements",
                       op_shape_text(context, &target->shape));
    if (is_overflow(have))
        return op_fail(context, DIAG_OVERFLOW, "input %s has more than 2^63 elements",
                       op_shape_text(context, input));
    if (!is_known(have) || !is_known(want)) return 0;
    if (op_has_bounds(context, 0)) { /* with fewer elements, the dim at -1 is not larger */
        if (target->rest_axis >= 0 && want > 0) target->dims[target->rest_axis] = have / want;
        return 0;
    }
    if (target->rest_axis < 0)
        return have == want || target->copies_empty ? 0 : refuse_target(context, target);
    if (want == 0 || have % want != 0) return refuse_target(context, target);
    target->dims[target->rest_axis] = have / want;
    return 0;
}

static int infer_reshape(struct op_context *context) {
    int64_t dims[SHAPE_MAX_RANK], listed[SHAPE_MAX_RANK];
    struct target target = {.rest_axis = -1, .listed_product = 1, .dims = dims};
    int status = op_int_list_any(context, "shape", 1, &target.list);
    if (status) return status;
    const size_t n = target.list.n;
    if (n > SHAPE_MAX_RANK)
        return op_fail(context, DIAG_LIMIT, "target has %zu axes, at most %d are supported", n,
                       SHAPE_MAX_RANK);
    if (!target.list.known) return common_output(context, n ? (int)n : RANK_UNKNOWN, NULL);
    for (size_t i = 0; i < n; i++) listed[i] = target.list.values[i];
    target.shape = (struct shape){(int)n, listed};
    target.zero_is_copy = op_attr_int(context, "allowzero") == 0;
    for (size_t axis = 0; axis < n && !status; axis++)
        status = set_dim(context, &target, (int)axis);
    if (status) return status;
    if (target.rest_axis >= 0 && !target.zero_is_copy && target.listed_product == 0)
        return op_fail(context, DIAG_SHAPE, "target %s has both 0 and -1 with allowzero",
                       op_shape_text(context, &target.shape));
    status = finish_target(context, &target);
    return status ? status : common_output(context, (int)n, dims);
}

static int infer_flatten(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    int64_t axis = op_attr_int(context, "axis");
    int64_t dims[2] = {DIM_UNKNOWN, DIM_UNKNOWN};
    if (shape_has_rank(input)) {
        /* unlike other axis attributes, it may be equal to the rank */
        if (axis < -input->rank || axis > input->rank)
            return op_fail(context, DIAG_ATTRIBUTE, "axis %lld is out of range for rank %d",
                           (long long)axis, input->rank);
        int split = (int)(axis < 0 ? axis + input->rank : axis);
        dims[0] = shape_product(input, 0, split);
        dims[1] = shape_product(input, split, input->rank);
    }
    return common_output(context, 2, dims);
}

/* Prints the default arguments of nn.Flatten if axis is 1; else nothing. */
static int describe_flatten(const struct op_context *context, struct text *out) {
    if (op_attr_int(context, "axis") == 1) text_append(out, "start_dim=1, end_dim=-1");
    return 0;
}

static int infer_identity(struct op_context *context) {
    return op_output_like(context, 0, 0);
}

static int mark_axes(const struct op_context *context, const struct int_list *axes, int rank,
                     bool *marks) {
    uint64_t seen = 0;
    int status = 0;
    memset(marks, 0, SHAPE_MAX_RANK * sizeof *marks);
    for (size_t i = 0; i < axes->n && !status; i++) {
        int axis = 0;
        status = common_next_axis(context, axes, i, rank, "listed", &seen, &axis);
        marks[axis] = true;
    }
    return status;
}

/* Removes the marked axes, which must have size 1; if `marks` is NULL, all axes of size 1. */
static int remove_unit_axes(struct op_context *context, const bool *marks) {
    const struct shape *input = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    int rank = 0;
    for (int axis = 0; axis < input->rank; axis++) {
        int64_t dim = input->dims[axis];
        if (!marks && !is_known(dim)) return common_infer_unknown_rank(context);
        if (marks && marks[axis] && is_known(dim) && dim != 1)
            return op_fail(context, DIAG_SHAPE, "axis %d of %s is squeezed, but is not 1", axis,
                           op_shape_text(context, input));
        bool dropped = marks ? marks[axis] : dim == 1;
        if (!dropped) dims[rank++] = dim;
    }
    return common_output(context, rank, dims);
}

static int infer_squeeze(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    bool marks[SHAPE_MAX_RANK];
    struct int_list axes;
    int status = op_int_list_any(context, "axes", 1, &axes);
    if (status) return status;
    if (!shape_has_rank(input)) return common_infer_unknown_rank(context);
    if (!axes.given) return remove_unit_axes(context, NULL);
    if (axes.n > (size_t)input->rank)
        return op_fail(context, DIAG_ATTRIBUTE, "%zu axes are squeezed out of %d", axes.n,
                       input->rank);
    if (!axes.known)
        return common_output(context, axes.n ? input->rank - (int)axes.n : RANK_UNKNOWN, NULL);
    status = mark_axes(context, &axes, input->rank, marks);
    return status ? status : remove_unit_axes(context, marks);
}

static int infer_unsqueeze(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    bool marks[SHAPE_MAX_RANK];
    struct int_list axes;
    int status = op_int_list_any(context, "axes", 1, &axes);
    if (status) return status;
    if (!shape_has_rank(input) || (!axes.known && axes.n == 0))
        return common_infer_unknown_rank(context);
    if (axes.n > (size_t)(SHAPE_MAX_RANK - input->rank))
        return op_fail(context, DIAG_LIMIT, "%zu new axes on %d: at most %d are supported",
                       axes.n, input->rank, SHAPE_MAX_RANK);
    int rank = input->rank + (int)axes.n;
    if (!axes.known) return common_output(context, rank, NULL);
    status = mark_axes(context, &axes, rank, marks);
    if (status) return status;
    for (int axis = 0, from = 0; axis < rank; axis++)
        dims[axis] = marks[axis] ? 1 : input->dims[from++];
    return common_output(context, rank, dims);
}

/* A Reshape that only adds or removes axes of size 1 keeps the strides. */
static enum op_view view_reshape(const struct op_context *context) {
    const struct shape *from = op_shape(context, 0);
    const struct shape *to = op_output_shape(context, 0);
    if (!shape_is_known(from) || !shape_is_known(to)) return VIEW_SHAPED;
    return shape_equal_but_units(from, to) ? VIEW_SAME : VIEW_SHAPED;
}

/* clang-format off */
#define VIEW(name, from, infer_fn, letters, monotone, scale, ...)                              \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, BOUNDS(monotone), MOVES(scale)), .infer = infer_fn,        \
        .fold = remap_view, .memory = MEMORY_VIEW, .param_roles = letters,                     \
        .backward.saved_for_backward = ",-", __VA_ARGS__                                       \
    }
#define THROUGH scale_through_reshape

static const struct op rows[] = {
    VIEW(Reshape, 1,             infer_reshape, "p",  "v", THROUGH, .target = TARGET_NONE, .backward.view = view_reshape),
    SINCE2(VIEW, Reshape, 5, 14, infer_reshape, "pi", "v", THROUGH, .target = TARGET_DIMS, .backward.view = view_reshape),
    VIEW(Flatten, 1, infer_flatten, "p", "v", THROUGH, .module = "Flatten", .describe = describe_flatten,
         .backward.view = view_reshape),
    VIEW(Squeeze, 1,    infer_squeeze,   "p",  "v-", THROUGH, .target = TARGET_NONE),
    VIEW(Squeeze, 13,   infer_squeeze,   "pi", "v-", THROUGH, .target = TARGET_NONE),
    VIEW(Unsqueeze, 1,  infer_unsqueeze, "p",  "v-", THROUGH, .target = TARGET_NONE),
    VIEW(Unsqueeze, 13, infer_unsqueeze, "pi", "v-", THROUGH, .target = TARGET_NONE),
    VIEW(Identity, 1,   infer_identity,  "p",  "v", scale_unchanged, .algebra = ALGEBRA_IDENTITY),
};
/* clang-format on */

OP_FAMILY(reshape, .declines = FACET_ALGEBRA | FACET_MODULE | FACET_EXACT);
