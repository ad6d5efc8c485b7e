/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions and cumulative sums. MACs 0, FLOPs 0 by the default convention. The axes are an
 * attribute before opset 13 (ReduceSum) or 18 (others), then an operand. Without axes: all
 * axes, or none with noop_with_empty_axes. */
#include <math.h>
#include <stdint.h>

#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"
#include "support/arena.h"

struct axes {
    bool known;
    bool all;  /* all axes; also valid if the rank is unknown */
    bool none; /* the operator is an identity */
    size_t n;  /* number of axes; may be known if the axes are not */
    bool reduced[SHAPE_MAX_RANK];
};

static int read_axes(struct op_context *context, struct axes *ret) {
    struct int_list list;
    const int rank = op_rank(context, 0);
    int status = op_int_list_any(context, "axes", 1, &list);
    if (status < 0) return status;
    *ret = (struct axes){.known = !list.given || list.known, .n = list.n};
    const bool empty = ret->known && list.n == 0;
    ret->none = empty && op_attr_int(context, "noop_with_empty_axes") != 0;
    ret->all = empty && !ret->none;
    for (int axis = 0; axis < rank; axis++) ret->reduced[axis] = ret->all;
    for (size_t i = 0; list.known && rank != RANK_UNKNOWN && i < list.n; i++) {
        int axis = 0;
        status = op_normalize_axis(context, list.values[i], rank, &axis);
        if (status < 0) return status;
        ret->reduced[axis] = true;
    }
    return CM_OK;
}

static int output_reduced(struct op_context *context, const struct axes *axes, bool keep,
                          enum dtype dtype) {
    int64_t dims[SHAPE_MAX_RANK];
    int rank = op_rank(context, 0);
    int n = 0;
    if (axes->all && !keep) return op_output_dims(context, 0, dtype, 0, NULL);
    if (axes->none) return common_infer_same_shape(context, dtype);
    if (rank == RANK_UNKNOWN || !axes->known) { /* at most the rank is known */
        if (!keep && axes->n > 0 && rank != RANK_UNKNOWN && axes->n <= (size_t)rank)
            rank -= (int)axes->n;
        else if (!keep)
            rank = RANK_UNKNOWN;
        return op_output_dims(context, 0, dtype, rank, NULL);
    }
    for (int axis = 0; axis < rank; axis++) {
        if (!axes->reduced[axis])
            dims[n++] = op_dim(context, 0, axis);
        else if (keep)
            dims[n++] = 1;
    }
    return op_output_dims(context, 0, dtype, n, dims);
}

static int infer_reduce(struct op_context *context) {
    struct axes axes;
    int status = read_axes(context, &axes);
    if (status < 0) return status;
    bool keep = op_attr_int(context, "keepdims") != 0;
    return output_reduced(context, &axes, keep, op_dtype(context, 0));
}

static int infer_arg(struct op_context *context) {
    struct axes axes = {.known = true, .n = 1};
    const int rank = op_rank(context, 0);
    int axis = 0;
    int status = rank == RANK_UNKNOWN ? CM_OK : op_axis(context, rank, &axis);
    if (status < 0) return status;
    axes.reduced[axis] = true;
    return output_reduced(context, &axes, op_attr_int(context, "keepdims") != 0, DTYPE_INT64);
}

/* Combines *sum with one element. Returns false if the result cannot be represented. */
typedef bool accumulate(struct number *sum, const struct number *x);

static bool number_add(struct number *sum, const struct number *x) {
    sum->r += x->r;
    return !__builtin_add_overflow(sum->i, x->i, &sum->i);
}

static bool number_multiply(struct number *sum, const struct number *x) {
    sum->r *= x->r;
    return !__builtin_mul_overflow(sum->i, x->i, &sum->i);
}

static bool number_max(struct number *sum, const struct number *x) {
    if (x->i > sum->i) sum->i = x->i;
    if (x->r > sum->r || isnan(x->r)) sum->r = x->r;
    return true;
}

static bool number_min(struct number *sum, const struct number *x) {
    if (x->i < sum->i) sum->i = x->i;
    if (x->r < sum->r || isnan(x->r)) sum->r = x->r;
    return true;
}

static bool can_reduce(const struct op_context *context, const struct constant *value) {
    const struct value_info *output = &context->outputs[0];
    return value && value_info_is_complete(output) && op_has_output(context, 0) &&
           value->n_elements > 0 && value->n_elements <= CONSTANT_MAX_ELEMENTS &&
           value->dtype != DTYPE_UINT64 && value->dtype != DTYPE_STRING &&
           constant_has_numbers(value);
}

/* Computes the *ret_n elements of the output; *ret_n is 0 if they cannot be computed. */
static int reduce_input(struct op_context *context, accumulate *combine,
                        struct number **ret_sums, int64_t *ret_n) {
    const struct constant *value = NULL;
    int64_t coords[SHAPE_MAX_RANK] = {0};
    struct axes axes;
    *ret_n = 0;
    int status = op_value(context, 0, &value);
    if (status < 0 || !can_reduce(context, value)) return status;
    status = read_axes(context, &axes);
    if (status < 0 || !axes.known) return status;
    const int64_t n = shape_elements(&context->outputs[0].shape);
    struct number *sums = arena_array(context->arena, (size_t)n, sizeof(*sums));
    if (!sums) return diag_no_memory(context->diag);
    for (int64_t i = 0; i < value->n_elements; i++) {
        const struct number x = constant_number_at(value, i);
        int64_t at = 0; /* output index */
        for (int axis = 0; axis < value->shape.rank; axis++)
            if (!axes.reduced[axis]) at = at * value->shape.dims[axis] + coords[axis];
        if (!sums[at].given)
            sums[at] = x;
        else if (!combine(&sums[at], &x))
            return CM_OK;
        remap_advance(&value->shape, coords);
    }
    *ret_sums = sums;
    *ret_n = n;
    return CM_OK;
}

/* The mean of integers is rounded towards zero, as runtimes do. */
static int fold_reduce(struct op_context *context) {
    static accumulate *const combine[] = {[CM_REDUCE_SUM] = number_add,
                                          [CM_REDUCE_MEAN] = number_add,
                                          [CM_REDUCE_MAX] = number_max,
                                          [CM_REDUCE_MIN] = number_min,
                                          [CM_REDUCE_PRODUCT] = number_multiply};
    const int32_t algorithm = context->op->facets->lowering.which;
    struct number *sums = NULL;
    int64_t n = 0;
    int status = reduce_input(context, combine[algorithm], &sums, &n);
    if (status < 0 || n == 0) return status;
    const int64_t share = op_elements(context, 0) / n;
    for (int64_t i = 0; i < n && algorithm == CM_REDUCE_MEAN; i++) {
        sums[i].i /= share;
        sums[i].r /= (double)share;
    }
    return fold_set_numbers(context, sums, n);
}

static int cumulated_axis(struct op_context *context, int *ret) {
    struct int_list list;
    int rank = op_rank(context, 0);
    *ret = -1;
    int status = op_int_list(context, 1, &list);
    if (status < 0 || !list.known || list.n != 1 || rank == RANK_UNKNOWN) return status;
    return op_normalize_axis(context, list.values[0], rank, ret);
}

static int infer_cumsum(struct op_context *context) {
    int axis = 0;
    int status = cumulated_axis(context, &axis);
    return status < 0 ? status : common_infer_same(context);
}

static int fold_cumsum(struct op_context *context) {
    const struct constant *value = NULL;
    int axis = 0;
    int status = op_value(context, 0, &value);
    if (status == CM_OK) status = cumulated_axis(context, &axis);
    if (status < 0 || axis < 0 || !can_reduce(context, value)) return status;
    const int64_t all = value->n_elements;
    struct number *numbers = arena_array(context->arena, (size_t)all, sizeof(*numbers));
    if (!numbers) return diag_no_memory(context->diag);
    for (int64_t i = 0; i < all; i++) numbers[i] = constant_number_at(value, i);
    const int64_t n = value->shape.dims[axis];
    const int64_t step = shape_product(&value->shape, axis + 1, value->shape.rank);
    const bool reverse = op_attr_int(context, "reverse") != 0;
    const bool exclusive = op_attr_int(context, "exclusive") != 0;
    for (int64_t i = 0; i < all; i++) {
        if (i / step % n != 0) continue; /* not the first element along the axis */
        struct number sum = {.given = true, .real = numbers[i].real};
        for (int64_t k = 0; k < n; k++) {
            struct number *at = &numbers[i + (reverse ? n - 1 - k : k) * step];
            const struct number before = sum;
            if (!number_add(&sum, at)) return CM_OK;
            *at = exclusive ? before : sum;
        }
    }
    return fold_set_numbers(context, numbers, all);
}

/* clang-format off */
#define REDUCE(name, from, folds, algorithm, letters, keeps, ...)                              \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, BOUNDS(letters), __VA_ARGS__,                              \
                  LOWER(lower_reduce, CM_REDUCE, CM_REDUCE_##algorithm, IMAGES_FOLLOW,         \
                        LIMIT_REDUCTION)),                                                     \
        .infer = infer_reduce, .fold = folds, .param_roles = "xi",                             \
        .algebra = ALGEBRA_REDUCTION, .backward.saved_for_backward = keeps                     \
    }
#define ALONG(name, from, infer_fn, folds, keeps, ...)                                         \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, __VA_ARGS__), .infer = infer_fn, .fold = folds,            \
        .param_roles = "xi", .backward.saved_for_backward = keeps                              \
    }

static const struct op rows[] = {
    SINCE2(REDUCE, ReduceSum, 1, 13,       fold_reduce, SUM,         "v-", ",-",
        AUTOCAST(FLOAT), EXACT(REDUCTION), ONNX_TOOL(.per_input = 1)),
    SINCE2(REDUCE, ReduceMean, 1, 18,      fold_reduce, MEAN,        "v-", ",-", EXACT(.per_input = 1), ONNX_TOOL(.per_input = 1)),
    SINCE2(REDUCE, ReduceMax, 1, 18,       fold_reduce, MAX,         "v-", "0y,-", EXACT(REDUCTION), ONNX_TOOL(.per_input = 1)),
    SINCE2(REDUCE, ReduceMin, 1, 18,       fold_reduce, MIN,         "v-", "0y,-", EXACT(REDUCTION), ONNX_TOOL(.per_input = 1)),
    SINCE2(REDUCE, ReduceProd, 1, 18,      fold_reduce, PRODUCT,     "p-", "0y,-",
        AUTOCAST(FLOAT), EXACT(REDUCTION), ONNX_TOOL(.per_input = 1)),
    SINCE2(REDUCE, ReduceL1, 1, 18,       NULL,        L1,          "d-", "0,-", AUTOCAST(FLOAT), EXACT(.per_input = 1, REDUCTION)),
    SINCE2(REDUCE, ReduceL2, 1, 18,       NULL,        L2,          "d-", "0y,-",
        AUTOCAST(FLOAT), EXACT(.per_input = 2), ONNX_TOOL(.per_input = 1 + TOOL_SQRT), INTEGERS(INTEGERS_NONE)),
    SINCE2(REDUCE, ReduceLogSum, 1, 18,       NULL,        LOG_SUM,     "d-", "y,-",
        AUTOCAST(FLOAT), EXACT(.per_input = 1), INTEGERS(INTEGERS_NONE)),
    SINCE2(REDUCE, ReduceLogSumExp, 1, 18,       NULL,        LOG_SUM_EXP, "d-", "0y,-",
        AUTOCAST(FLOAT), EXACT(.per_input = 2), INTEGERS(INTEGERS_NONE)),
    SINCE2(REDUCE, ReduceSumSquare, 1, 18,       NULL,        SUM_SQUARE,  "d-", "0,-", AUTOCAST(FLOAT), EXACT(.per_input = 1, REDUCTION)),
    SINCE2(ALONG, ArgMax, 1, 12, infer_arg,    NULL,        "-",
        EXACT(REDUCTION), LOWER(lower_arg, CM_REDUCE, CM_REDUCE_ARG_MAX, IMAGES_FOLLOW, NULL), BOUNDS("d")),
    SINCE2(ALONG, ArgMin, 1, 12, infer_arg,    NULL,        "-",
        EXACT(REDUCTION), LOWER(lower_arg, CM_REDUCE, CM_REDUCE_ARG_MIN, IMAGES_FOLLOW, NULL), BOUNDS("d")),
    ALONG(CumSum, 11,            infer_cumsum, fold_cumsum, ",-",
        AUTOCAST(FLOAT), EXACT(.per_output = 1), ONNX_TOOL(.per_output = 1),
        NO_PRIMITIVE("no primitive runs sums along an axis"), BOUNDS("d-")),
    ALONG(CumProd, 26,           infer_cumsum, NULL,        "0y,-",
        AUTOCAST(FLOAT), EXACT(.per_output = 1), NO_PRIMITIVE("no primitive runs products along an axis"), BOUNDS("d-")),
};
/* clang-format on */

OP_FAMILY(reduce, .declines = FACETS_RARE);
