/* SPDX-License-Identifier: Apache-2.0 */
/* Concat: joins tensors along an axis. */
#include "ops/common.h"
#include "ops/facets.h"
#include "ops/remap.h"

#include "support/banned.h"

/* Concat-1: the schema has no default, but its documentation specifies 1. */
static int64_t concat_axis(const struct op_context *context) {
    return op_has_attr(context, "axis") ? op_attr_int(context, "axis") : 1;
}

/* Sets *ret to the common rank of the operands; RANK_UNKNOWN if no operand has a known rank. */
static int concat_rank(const struct op_context *context, int *ret) {
    int rank = RANK_UNKNOWN;
    for (size_t i = 0; i < context->n_inputs; i++) {
        int other = op_rank(context, i);
        if (other == RANK_UNKNOWN) continue;
        if (rank != RANK_UNKNOWN && rank != other)
            return op_fail(context, DIAG_SHAPE, "input %zu %s has %d axes, those before it %d",
                           i, op_shape_text(context, op_shape(context, i)), other, rank);
        rank = other;
    }
    *ret = rank;
    return 0;
}

/* Merges operand i into `dims`: adds its length along `axis`; other dims must be equal. */
static int concat_one(const struct op_context *context, size_t i, int rank, int axis,
                      int64_t *dims) {
    for (int other = 0; other < rank; other++) {
        int64_t dim = op_dim(context, i, other);
        if (other == axis)
            dims[other] = checked_add(dims[other], dim);
        else if (!is_known(dims[other]))
            dims[other] = dim;
        else if (is_known(dim) && dim != dims[other])
            return op_fail(context, DIAG_SHAPE,
                           "input %zu %s has %lld on axis %d, those before it %lld", i,
                           op_shape_text(context, op_shape(context, i)), (long long)dim, other,
                           (long long)dims[other]);
    }
    return 0;
}

static int infer_concat(struct op_context *context) {
    int64_t dims[SHAPE_MAX_RANK];
    int rank = RANK_UNKNOWN;
    int axis = 0;
    int status = concat_rank(context, &rank);
    if (status) return status;
    if (rank == RANK_UNKNOWN) return common_infer_unknown_rank(context);
    status = op_normalize_axis(context, concat_axis(context), rank, &axis);
    if (status) return status;
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? 0 : DIM_UNKNOWN;
    for (size_t i = 0; i < context->n_inputs; i++) {
        status = concat_one(context, i, rank, axis, dims);
        if (status) return status;
    }
    return op_output_dims(context, 0, op_dtype(context, 0), rank, dims);
}

static int concat_all(struct op_context *context, int axis, struct elements *elements) {
    const struct shape *output = op_output_shape(context, 0);
    int64_t row = shape_product(output, axis, output->rank);
    int64_t at = 0;
    if (elements->n == 0) return elements_set(context, 0, elements);
    for (size_t i = 0; i < context->n_inputs; i++) {
        const struct constant *from = NULL;
        int status = op_value(context, i, &from);
        if (status || !from) return status;
        int64_t run = shape_product(&from->shape, axis, from->shape.rank);
        for (int64_t k = 0; k < from->n_elements; k++) /* to row k / run, column at + k % run */
            elements_copy(elements, k / run * row + at + k % run, from, k);
        at += run;
    }
    return elements_set(context, 0, elements);
}

static int fold_concat(struct op_context *context) {
    const struct shape *output = op_output_shape(context, 0);
    const struct constant *first = NULL;
    struct elements elements;
    bool possible = false;
    int axis = 0;
    if (!shape_is_known(output)) return 0;
    for (size_t i = context->n_inputs; i-- > 0;) { /* backwards: `first` ends as operand 0 */
        int status = op_value(context, i, &first);
        if (status || !first) return status;
        if (first->dtype != op_dtype(context, 0)) return 0;
        if (!constant_has_ints(first) && !constant_has_reals(first)) return 0;
    }
    int status = elements_new(context, first, shape_elements(output), &elements, &possible);
    if (status || !possible) return status;
    status = op_normalize_axis(context, concat_axis(context), output->rank, &axis);
    return status ? status : concat_all(context, axis, &elements);
}

/* clang-format off */
FACETS(ONNX, Concat) {LOWER(lower_concat, CM_COPY, 0, IMAGES_FOLLOW, NULL), BOUNDS("v"),
    MOVES(scale_unchanged, .joins = true)};

#define CONCAT(from)                                                                           \
    {                                                                                          \
        SIGNATURE(ONNX, Concat, from), .infer = infer_concat, .fold = fold_concat,             \
        .param_roles = "p", .backward.saved_for_backward = ""                                  \
    }

static const struct op rows[] = {CONCAT(1), CONCAT(4)};
/* clang-format on */

OP_FAMILY(concat, .why_free = "moves elements",
          .declines = FACET_ALGEBRA | FACET_MODULE | FACET_EXACT);
