/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers shared by operator families: see common.h. */
#include "ops/common.h"

int common_infer_same_shape(struct op_context *context, enum dtype dtype) {
    return op_output_shared(context, 0, dtype, op_shape(context, 0));
}

int common_infer_same(struct op_context *context) {
    return common_infer_same_shape(context, op_dtype(context, 0));
}

int common_infer_bool(struct op_context *context) {
    return common_infer_same_shape(context, DTYPE_BOOL);
}

int common_output(struct op_context *context, int rank, const int64_t *dims) {
    return op_output_dims(context, 0, op_dtype(context, 0), rank, dims);
}

int common_output_resized(struct op_context *context, size_t i, enum dtype dtype, int axis,
                          int64_t n) {
    const struct shape *x = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    for (int k = 0; k < x->rank; k++) dims[k] = k == axis ? n : x->dims[k];
    return op_output_dims(context, i, dtype, x->rank, dims);
}

int common_output_appended(struct op_context *context, size_t i, enum dtype dtype,
                           const struct shape *shape, int64_t n) {
    int64_t dims[SHAPE_MAX_RANK + 1];
    int rank = shape->rank;
    for (int k = 0; k < rank; k++) dims[k] = shape->dims[k];
    if (shape_has_rank(shape)) dims[rank++] = n;
    return op_output_dims(context, i, dtype, rank, dims);
}

int common_infer_unknown_rank(struct op_context *context) {
    return common_output(context, RANK_UNKNOWN, NULL);
}

enum dtype common_dtype(const struct op_context *context, size_t first) {
    for (size_t i = first; i < context->n_inputs; i++)
        if (op_dtype(context, i) != DTYPE_UNDEFINED) return op_dtype(context, i);
    return DTYPE_UNDEFINED;
}

int common_check_same_type(const struct op_context *context, size_t first) {
    enum dtype want = common_dtype(context, first);
    for (size_t i = first; i < context->n_inputs; i++) {
        enum dtype have = op_dtype(context, i);
        if (have != DTYPE_UNDEFINED && have != want)
            return op_fail(context, DIAG_TYPE, "input %zu must be of type %s, got %s", i,
                           dtype_name(want), dtype_name(have));
    }
    return CM_OK;
}

int common_check_broadcasts(struct op_context *context, const char *what) {
    const struct shape *to = op_shape(context, 0);
    const struct shape *from = op_shape(context, 1);
    struct shape both;
    int status = common_check_same_type(context, 0);
    if (status == CM_OK) status = op_broadcast(context, to, from, &both);
    if (status < 0) return status;
    if (shape_is_known(to) && shape_is_known(&both) && !shape_equal(to, &both))
        return op_fail(context, DIAG_SHAPE, "%s %s does not broadcast to input %s", what,
                       op_shape_text(context, from), op_shape_text(context, to));
    return CM_OK;
}

int common_broadcast_to(struct op_context *context, size_t first, enum dtype dtype) {
    struct shape shape = {0, NULL}; /* a scalar, which broadcasts to anything */
    int status = common_check_same_type(context, first);
    if (status < 0) return status;
    for (size_t i = 0; i < context->n_inputs; i++) {
        status = op_broadcast(context, &shape, op_shape(context, i), &shape);
        if (status < 0) return status;
    }
    return op_output_shared(context, 0, dtype, &shape);
}

int common_infer_broadcast(struct op_context *context) {
    return common_broadcast_to(context, 0, common_dtype(context, 0));
}

bool common_differ(int64_t a, int64_t b) {
    return is_known(a) && is_known(b) && a != b;
}

int common_next_axis(const struct op_context *context, const struct int_list *list, size_t i,
                     int rank, const char *used, uint64_t *seen, int *ret) {
    int status =
        op_normalize_axis(context, list->given ? list->values[i] : (int64_t)i, rank, ret);
    if (status < 0) return status;
    if (*seen >> *ret & 1)
        return op_fail(context, DIAG_ATTRIBUTE, "axis %d is %s twice", *ret, used);
    *seen |= UINT64_C(1) << *ret;
    return CM_OK;
}

int common_infer_legacy_broadcast(struct op_context *context, enum dtype dtype) {
    const struct shape *a = op_shape(context, 0);
    const struct shape *b = op_shape(context, 1);
    int status = common_check_same_type(context, 0);
    if (status < 0) return status;
    if (!shape_has_rank(a) || !shape_has_rank(b))
        return common_infer_same_shape(context, dtype);
    const bool broadcast = op_attr_int(context, "broadcast") != 0;
    if (b->rank > a->rank || (!broadcast && b->rank != a->rank))
        return op_fail(context, DIAG_SHAPE, "shapes %s and %s do not fit, broadcast is %d",
                       op_shape_text(context, a), op_shape_text(context, b), broadcast);
    int axis = a->rank - b->rank;
    if (broadcast && op_has_attr(context, "axis") && b->rank > 0) {
        status = op_axis(context, a->rank, &axis);
        if (status < 0) return status;
        if (axis + b->rank > a->rank)
            return op_fail(context, DIAG_ATTRIBUTE, "axis %d leaves no room for rank %d in %d",
                           axis, b->rank, a->rank);
    }
    for (int i = 0; i < b->rank; i++)
        if (b->dims[i] != 1 && common_differ(a->dims[axis + i], b->dims[i]))
            return op_fail(context, DIAG_SHAPE, "shape %s does not fit axes %d.. of %s",
                           op_shape_text(context, b), axis, op_shape_text(context, a));
    return common_infer_same_shape(context, dtype);
}

int common_check_rank(const struct op_context *context, size_t i, int min) {
    int rank = op_rank(context, i);
    if (rank == RANK_UNKNOWN || rank >= min) return CM_OK;
    return op_fail(context, DIAG_SHAPE, "input %zu must have rank >= %d, got %s", i, min,
                   op_shape_text(context, op_shape(context, i)));
}

int common_check_rank_is(const struct op_context *context, size_t i, int rank) {
    const int got = op_rank(context, i);
    if (got == RANK_UNKNOWN || got == rank) return CM_OK;
    return op_fail(context, DIAG_SHAPE, "input %zu must have rank %d, got %d", i, rank, got);
}

int common_check_n_axes(const struct op_context *context, size_t n) {
    if (n <= SHAPE_MAX_RANK) return CM_OK;
    return op_fail(context, DIAG_LIMIT,
                   "the output would have %zu axes, at most %d are supported", n,
                   SHAPE_MAX_RANK);
}

int common_check_length(const struct op_context *context, size_t i, int64_t n) {
    const struct shape *shape = op_shape(context, i);
    if (!shape_has_rank(shape)) return CM_OK;
    if (shape->rank == 1 && !common_differ(shape->dims[0], n)) return CM_OK;
    if (!is_known(n))
        return op_fail(context, DIAG_SHAPE, "input %zu must have rank 1, got %s", i,
                       op_shape_text(context, shape));
    return op_fail(context, DIAG_SHAPE, "input %zu must have shape [%lld], got %s", i,
                   (long long)n, op_shape_text(context, shape));
}

int64_t common_dim(const struct op_context *context, size_t i, int rank, int axis) {
    return op_rank(context, i) == rank ? op_dim(context, i, axis) : DIM_UNKNOWN;
}

int64_t common_last_dim(const struct op_context *context, size_t i) {
    const int rank = op_rank(context, i);
    return rank < 1 ? DIM_UNKNOWN : op_dim(context, i, rank - 1);
}

int64_t common_smaller(int64_t a, int64_t b) {
    if (!is_known(a) || !is_known(b)) return is_known(a) ? a : b;
    return a < b ? a : b;
}

int64_t common_divide(int64_t a, int64_t b) {
    return b == 0 ? DIM_UNKNOWN : checked_div_floor(a, b);
}

const struct constant *common_contents(const struct op_context *context, size_t i) {
    const struct constant *value = op_input(context, i)->value;
    if (!value || value->n_elements > LONGEST_SHORT) return NULL;
    int status =
        constant_load(value, &context->model->reader, context->arena, context->diag, &value);
    return status < 0 ? NULL : value;
}

int64_t common_integer(const struct op_context *context, size_t i) {
    const struct constant *value = common_contents(context, i);
    bool readable = value && value->n_elements == 1 && constant_has_ints(value);
    return readable ? constant_int_at(value, 0) : DIM_UNKNOWN;
}

int64_t common_length(const struct op_context *context, size_t i) {
    const int64_t length = common_integer(context, i);
    return is_known(length) && length < 0 ? DIM_UNKNOWN : length;
}

int common_dtype_attr(const struct op_context *context, const char *name, enum dtype *ret) {
    const int64_t number = op_attr_int(context, name);
    *ret = dtype_from_onnx(number);
    if (*ret != DTYPE_UNDEFINED) return CM_OK;
    return op_fail(context, DIAG_ATTRIBUTE, "attribute '%s' must be an element type, got %lld",
                   name, (long long)number);
}

enum op_view common_view_strided(const struct op_context *context) {
    (void)context;
    return VIEW_STRIDED;
}

/* A slice is contiguous if all axes after its first axis longer than 1 are whole: [1,2,4] of
 * [3,5,4]. */
enum op_view common_view_part(const struct op_context *context) {
    const struct shape *whole = op_shape(context, 0);
    const struct shape *part = op_output_shape(context, 0);
    int first = 0;
    if (!shape_has_rank(whole) || whole->rank != part->rank) return VIEW_STRIDED;
    while (first < whole->rank && part->dims[first] == 1) first++;
    for (int axis = first + 1; axis < whole->rank; axis++)
        if (part->dims[axis] != whole->dims[axis]) return VIEW_STRIDED;
    return VIEW_SAME;
}

int64_t common_clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}
