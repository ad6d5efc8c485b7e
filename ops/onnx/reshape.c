/* SPDX-License-Identifier: Apache-2.0 */
/* Views: the same elements in the same order under another shape. */
#include <string.h>

#include "ops/common.h"
#include "ops/facets.h"
#include "ops/families.h"
#include "ops/remap.h"

#include "support/banned.h"

/* A target under way: what is copied from the input cancels out of both products, so that an
 * unknown batch does not hide the dim that stands as -1. */
struct target {
    struct int_list list;
    struct shape shape;  /* the list as a shape, for messages */
    bool zero_is_copy;   /* 0 takes the input's dim; else (allowzero) it is an empty axis */
    bool copies_empty;   /* a copied dim is 0, and so are both products */
    int rest;            /* axis of the -1, or -1 */
    int64_t spelled_out; /* product of the dims that are neither copied nor -1 */
    int64_t to_spread;   /* product of the input's dims that are not copied */
    int64_t *dims;
};

static int copy_dim(const struct op_context *context, struct target *target, int axis) {
    const struct shape *input = op_shape(context, 0);
    if (shape_has_rank(input) && axis >= input->rank)
        return op_fail(context, DIAG_SHAPE,
                       "target dim %d copies the input's, which has %d axes: %s into %s", axis,
                       input->rank, op_shape_text(context, input),
                       op_shape_text(context, &target->shape));
    target->dims[axis] = op_dim(context, 0, axis);
    if (target->dims[axis] == 0) target->copies_empty = true;
    return 0;
}

/* A dim of the target of which only the largest is known. Should it be 0, it is a copy. */
static int place_most(const struct op_context *context, struct target *target, int axis,
                      int64_t least) {
    int64_t dim = target->list.values[axis];
    const struct shape *input = op_shape(context, 0);
    if (least < 0) return CM_REFUSED; /* it may be the -1; the caller discards messages */
    if (target->zero_is_copy && least == 0 && !shape_has_rank(input)) dim = DIM_UNKNOWN;
    if (target->zero_is_copy && least == 0 && axis < input->rank)
        dim = is_known(input->dims[axis]) && input->dims[axis] < dim ? dim : input->dims[axis];
    target->dims[axis] = dim;
    target->spelled_out = DIM_UNKNOWN;
    return 0;
}

static int place_dim(const struct op_context *context, struct target *target, int axis) {
    int64_t dim = target->list.values[axis];
    const struct constant *least = op_input(context, 1)->least;
    if (least && constant_int_at(least, axis) != dim)
        return place_most(context, target, axis, constant_int_at(least, axis));
    if (dim == 0 && target->zero_is_copy) return copy_dim(context, target, axis);
    if (dim == -1 && target->rest >= 0)
        return op_fail(context, DIAG_SHAPE, "target %s has more than one -1",
                       op_shape_text(context, &target->shape));
    if (dim < -1)
        return op_fail(context, DIAG_SHAPE, "target dim %d is %lld, less than -1", axis,
                       (long long)dim);
    target->dims[axis] = dim == -1 ? DIM_UNKNOWN : dim;
    if (dim == -1)
        target->rest = axis;
    else
        target->spelled_out = checked_mul(target->spelled_out, dim);
    return 0;
}

/* Product of the input's dims that the target does not copy. */
static int64_t dims_to_spread(const struct op_context *context, const struct target *target) {
    const struct shape *input = op_shape(context, 0);
    int64_t product = 1;
    if (!shape_has_rank(input)) return DIM_UNKNOWN;
    for (int axis = 0; axis < input->rank; axis++) {
        bool copied = target->zero_is_copy && (size_t)axis < target->list.n &&
                      target->list.values[axis] == 0;
        if (!copied) product = checked_mul(product, input->dims[axis]);
    }
    return product;
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

/* The dim at -1, and the check that the products agree. */
static int close_target(const struct op_context *context, struct target *target) {
    int64_t have = target->to_spread;
    int64_t want = target->spelled_out;
    if (is_overflow(want))
        return op_fail(context, DIAG_OVERFLOW, "target %s has more than 2^63 elements",
                       op_shape_text(context, &target->shape));
    if (is_overflow(have))
        return op_fail(context, DIAG_OVERFLOW, "input %s has more than 2^63 elements",
                       op_shape_text(context, op_shape(context, 0)));
    if (!is_known(have) || !is_known(want)) return 0;
    if (op_is_loose(context, 0)) { /* of fewer elements the rest is no longer */
        if (target->rest >= 0 && want > 0) target->dims[target->rest] = have / want;
        return 0;
    }
    if (target->rest < 0)
        return have == want || target->copies_empty ? 0 : refuse_target(context, target);
    if (want == 0 || have % want != 0) return refuse_target(context, target);
    target->dims[target->rest] = have / want;
    return 0;
}

static int spread_target(struct op_context *context, struct target *target) {
    for (size_t axis = 0; axis < target->list.n; axis++) {
        int status = place_dim(context, target, (int)axis);
        if (status) return status;
    }
    if (target->rest >= 0 && !target->zero_is_copy && target->spelled_out == 0)
        return op_fail(context, DIAG_SHAPE, "target %s has both 0 and -1 with allowzero",
                       op_shape_text(context, &target->shape));
    target->to_spread = dims_to_spread(context, target);
    return close_target(context, target);
}

static int infer_reshape(struct op_context *context) {
    int64_t dims[SHAPE_MAX_RANK];
    int64_t listed[SHAPE_MAX_RANK];
    struct target target = {.rest = -1, .spelled_out = 1, .dims = dims};
    int status = op_int_list_any(context, "shape", 1, &target.list);
    if (status) return status;
    size_t n = target.list.n;
    if (n > SHAPE_MAX_RANK)
        return op_fail(context, DIAG_LIMIT, "target has %zu axes, at most %d are supported", n,
                       SHAPE_MAX_RANK);
    if (!target.list.known && n == 0) return common_infer_unknown_rank(context);
    if (!target.list.known)
        return op_output_dims(context, 0, op_dtype(context, 0), (int)n, NULL);
    for (size_t i = 0; i < n; i++) listed[i] = target.list.values[i];
    target.shape = (struct shape){(int)n, listed};
    target.zero_is_copy = op_attr_int(context, "allowzero") == 0;
    status = spread_target(context, &target);
    return status ? status : op_output_dims(context, 0, op_dtype(context, 0), (int)n, dims);
}

static int infer_flatten(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    int64_t axis = op_attr_int(context, "axis");
    int64_t dims[2] = {DIM_UNKNOWN, DIM_UNKNOWN};
    if (shape_has_rank(input)) {
        /* Unlike other axes, this one may follow the last: axis = rank. */
        if (axis < -input->rank || axis > input->rank)
            return op_fail(context, DIAG_ATTRIBUTE, "axis %lld is out of range for rank %d",
                           (long long)axis, input->rank);
        int split = (int)(axis < 0 ? axis + input->rank : axis);
        dims[0] = shape_product(input, 0, split);
        dims[1] = shape_product(input, split, input->rank);
    }
    return op_output_dims(context, 0, op_dtype(context, 0), 2, dims);
}

/* nn.Flatten as it is built by default, which is ONNX's axis 1. */
static int describe_flatten(const struct op_context *context, struct text *out) {
    if (op_attr_int(context, "axis") == 1) text_append(out, "start_dim=1, end_dim=-1");
    return 0;
}

static int infer_identity(struct op_context *context) {
    return op_output_like(context, 0, 0);
}

/* Marks the axes that the list names, of `rank` axes; duplicates are refused. */
static int mark_axes(const struct op_context *context, const struct int_list *axes, int rank,
                     bool *marks) {
    memset(marks, 0, SHAPE_MAX_RANK * sizeof *marks);
    for (size_t i = 0; i < axes->n; i++) {
        int axis = 0;
        int status = op_normalize_axis(context, axes->values[i], rank, &axis);
        if (status) return status;
        if (marks[axis])
            return op_fail(context, DIAG_ATTRIBUTE, "axis %d is listed twice", axis);
        marks[axis] = true;
    }
    return 0;
}

/* Of the unit axes those that `marks` names go, or all of them where it is NULL. */
static int drop_axes(struct op_context *context, const bool *marks) {
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
    return op_output_dims(context, 0, op_dtype(context, 0), rank, dims);
}

static int infer_squeeze(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    bool marks[SHAPE_MAX_RANK];
    struct int_list axes;
    int status = op_int_list_any(context, "axes", 1, &axes);
    if (status) return status;
    if (!shape_has_rank(input)) return common_infer_unknown_rank(context);
    if (!axes.given) return drop_axes(context, NULL);
    if (axes.n > (size_t)input->rank)
        return op_fail(context, DIAG_ATTRIBUTE, "%zu axes are squeezed out of %d", axes.n,
                       input->rank);
    if (!axes.known && axes.n == 0) return common_infer_unknown_rank(context);
    if (!axes.known)
        return op_output_dims(context, 0, op_dtype(context, 0), input->rank - (int)axes.n,
                              NULL);
    status = mark_axes(context, &axes, input->rank, marks);
    return status ? status : drop_axes(context, marks);
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
    if (!axes.known) return op_output_dims(context, 0, op_dtype(context, 0), rank, NULL);
    status = mark_axes(context, &axes, rank, marks);
    if (status) return status;
    for (int axis = 0, from = 0; axis < rank; axis++)
        dims[axis] = marks[axis] ? 1 : input->dims[from++];
    return op_output_dims(context, 0, op_dtype(context, 0), rank, dims);
}

/* The next axis from `axis` on that is longer than 1. */
static int next_long(const struct shape *shape, int axis) {
    while (axis < shape->rank && shape->dims[axis] == 1) axis++;
    return axis;
}

/* Axes of length 1 come and go without a copy. */
static enum op_view view_reshape(const struct op_context *context) {
    const struct shape *from = op_shape(context, 0);
    const struct shape *to = op_output_shape(context, 0);
    int i = 0;
    int k = 0;
    if (!shape_is_known(from) || !shape_is_known(to)) return VIEW_SHAPED;
    for (;; i++, k++) {
        i = next_long(from, i);
        k = next_long(to, k);
        if (i == from->rank || k == to->rank) break;
        if (from->dims[i] != to->dims[k]) return VIEW_SHAPED;
    }
    return i == from->rank && k == to->rank ? VIEW_SAME : VIEW_SHAPED;
}

/* clang-format off */
FACETS(ONNX, Reshape) {BOUNDS("v"), MOVES(scale_through_reshape)};
FACETS(ONNX, Flatten) {BOUNDS("v"), MOVES(scale_through_reshape)};
FACETS(ONNX, Squeeze) {BOUNDS("v-"), MOVES(scale_through_reshape)};
FACETS(ONNX, Unsqueeze) {BOUNDS("v-"), MOVES(scale_through_reshape)};
FACETS(ONNX, Identity) {BOUNDS("v"), MOVES(scale_stays)};

#define VIEW(name, from, infer_fn, letters, ...)                                               \
    {                                                                                          \
        SIGNATURE(ONNX, name, from), .infer = infer_fn, .fold = remap_view,                     \
        .memory = MEMORY_VIEW, .param_roles = letters, .backward.saved_for_backward = ",-",    \
        __VA_ARGS__                                                                            \
    }

static const struct op rows[] = {
    VIEW(Reshape,  1, infer_reshape, "p",  .target = TARGET_NONE, .backward.view = view_reshape),
    VIEW(Reshape,  5, infer_reshape, "pi", .target = TARGET_DIMS, .backward.view = view_reshape),
    VIEW(Reshape, 14, infer_reshape, "pi", .target = TARGET_DIMS, .backward.view = view_reshape),
    VIEW(Flatten, 1, infer_flatten, "p", .module = "Flatten", .describe = describe_flatten, .backward.view = view_reshape),
    VIEW(Squeeze,    1, infer_squeeze,   "p",  .target = TARGET_NONE),
    VIEW(Squeeze,   13, infer_squeeze,   "pi", .target = TARGET_NONE),
    VIEW(Unsqueeze,  1, infer_unsqueeze, "p",  .target = TARGET_NONE),
    VIEW(Unsqueeze, 13, infer_unsqueeze, "pi", .target = TARGET_NONE),
    VIEW(Identity,   1, infer_identity,  "p",  .algebra = ALGEBRA_IDENTITY),
};
/* clang-format on */

OP_FAMILY(reshape, .declines = FACET_ALGEBRA | FACET_MODULE | FACET_EXACT);
