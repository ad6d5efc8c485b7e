/* SPDX-License-Identifier: Apache-2.0 */
/* Concat: joins tensors along an axis. */
#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"

/* Sets *ret to the axis. Concat-1: the schema has no default, the documentation has 1. */
static int concat_axis(const struct op_context *context, int rank, int *ret) {
    const int64_t axis = op_has_attr(context, "axis") ? op_attr_int(context, "axis") : 1;
    return op_normalize_axis(context, axis, rank, ret);
}

static int infer_concat(struct op_context *context) {
    int64_t dims[SHAPE_MAX_RANK];
    int rank = RANK_UNKNOWN;
    int axis = 0;
    for (size_t i = 0; i < context->n_inputs; i++) {
        const int own = op_rank(context, i);
        if (own == RANK_UNKNOWN) continue;
        if (rank != RANK_UNKNOWN && rank != own)
            return op_fail(context, DIAG_SHAPE, "input %zu %s has %d axes, those before it %d",
                           i, op_shape_text(context, op_shape(context, i)), own, rank);
        rank = own;
    }
    if (rank == RANK_UNKNOWN) return common_infer_unknown_rank(context);
    int status = concat_axis(context, rank, &axis);
    if (status) return status;
    for (int k = 0; k < rank; k++) dims[k] = k == axis ? 0 : DIM_UNKNOWN;
    for (size_t i = 0; i < context->n_inputs; i++)
        for (int k = 0; k < rank; k++) {
            const int64_t dim = op_dim(context, i, k);
            if (k != axis && common_differ(dims[k], dim))
                return op_fail(context, DIAG_SHAPE,
                               "input %zu %s has %lld on axis %d, those before it %lld", i,
                               op_shape_text(context, op_shape(context, i)), (long long)dim, k,
                               (long long)dims[k]);
            if (k == axis)
                checked_add_to(&dims[k], dim);
            else if (!is_known(dims[k]))
                dims[k] = dim;
        }
    return common_output(context, rank, dims);
}

static int fold_concat(struct op_context *context) {
    const struct shape *output = op_output_shape(context, 0);
    const struct constant *from = NULL;
    struct elements elements;
    bool possible = false;
    int axis = 0;
    if (!shape_is_known(output)) return 0;
    for (size_t i = context->n_inputs; i-- > 0;) { /* backwards: `from` ends as operand 0 */
        int status = op_value(context, i, &from);
        if (status || !from) return status;
        if (from->dtype != op_dtype(context, 0)) return 0;
        if (!constant_has_numbers(from)) return 0;
    }
    int status = elements_new(context, from, shape_elements(output), &elements, &possible);
    if (status || !possible) return status;
    status = concat_axis(context, output->rank, &axis);
    if (status) return status;
    /* as matrices: on axis 1, [2,3] and [2,1] have runs of 3 and 1 elements in rows of 4 */
    const int64_t row = shape_product(output, axis, output->rank);
    int64_t at = 0; /* column of the operand's first element */
    for (size_t i = 0; i < context->n_inputs && elements.n > 0; i++) {
        status = op_value(context, i, &from);
        if (status || !from) return status;
        const int64_t run = shape_product(&from->shape, axis, from->shape.rank);
        for (int64_t k = 0; k < from->n_elements; k++)
            elements_copy(&elements, k / run * row + at + k % run, from, k);
        at += run;
    }
    return elements_set(context, 0, &elements);
}

/* clang-format off */
#define CONCAT(from)                                                                           \
    {                                                                                          \
        SIGNATURE(ONNX, Concat, from, BOUNDS("v"), MOVES(scale_unchanged, .joins = true),      \
                  LOWER(lower_concat, CM_COPY, 0, IMAGES_FOLLOW, NULL), EXTENDS(0, 0, 1)),     \
        .infer = infer_concat, .fold = fold_concat, .param_roles = "p",                        \
        .backward.saved_for_backward = ""                                                      \
    }

static const struct op rows[] = {CONCAT(1), CONCAT(4)};
/* clang-format on */

OP_FAMILY(concat, .why_free = "moves elements",
          .declines = FACET_ALGEBRA | FACET_MODULE | FACET_EXACT);
