/* SPDX-License-Identifier: Apache-2.0 */
/* Scatter, ScatterElements, ScatterND, TensorScatter: write updates into a copy of the data. */
#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"

enum { SCATTER_DATA, SCATTER_INDICES, SCATTER_UPDATES };

struct scatter {
    const struct constant *data, *indices, *updates;
    struct elements result;
};

/* Loads the operands and copies the data. Sets *ret_possible to false if an operand is unknown
 * or too large, or if the node has a reduction. */
static int scatter_begin(struct op_context *context, struct scatter *scatter,
                         bool *ret_possible) {
    const char *reduction = op_attr_string(context, "reduction");
    *ret_possible = false;
    int status = op_value(context, SCATTER_DATA, &scatter->data);
    if (!status) status = op_value(context, SCATTER_INDICES, &scatter->indices);
    if (!status) status = op_value(context, SCATTER_UPDATES, &scatter->updates);
    if (status || !scatter->data || !scatter->indices || !scatter->updates) return status;
    if (!constant_has_ints(scatter->indices) || scatter->updates->dtype != scatter->data->dtype)
        return 0;
    if (*reduction != '\0' && !text_equal(reduction, "none")) return 0;
    if (scatter->indices->n_elements > CONSTANT_MAX_ELEMENTS) return 0;
    if (scatter->data->n_elements == 0) return 0; /* empty data may have strides past 2^63 */
    status = elements_new(context, scatter->data, scatter->data->n_elements, &scatter->result,
                          ret_possible);
    if (status || !*ret_possible) return status;
    for (int64_t i = 0; i < scatter->data->n_elements; i++)
        elements_copy(&scatter->result, i, scatter->data, i);
    return 0;
}

/* Sets *ret to indices[i], made non-negative; it must be valid for an axis of size `dim`. */
static int scatter_index(const struct op_context *context, const struct scatter *scatter,
                         int64_t i, int64_t dim, int64_t *ret) {
    int64_t index = constant_int_at(scatter->indices, i);
    if (index < -dim || index >= dim)
        return op_fail(context, DIAG_VALUE, "index %lld is out of range for an axis of %lld",
                       (long long)index, (long long)dim);
    *ret = index < 0 ? index + dim : index;
    return 0;
}

static int infer_scatter_elements(struct op_context *context) {
    const int rank = op_rank(context, SCATTER_DATA);
    const int indices = op_rank(context, SCATTER_INDICES);
    int axis = 0;
    int status = rank == RANK_UNKNOWN ? 0 : op_axis(context, rank, &axis);
    if (status) return status;
    if (rank != RANK_UNKNOWN && indices != RANK_UNKNOWN && indices != rank)
        return op_fail(context, DIAG_SHAPE, "indices have %d axes, the data has %d", indices,
                       rank);
    return common_infer_same(context);
}

/* Update i is written to its own coordinates, except that coords[axis] is indices[i]. */
static int fold_scatter_elements(struct op_context *context) {
    struct scatter scatter;
    int64_t coords[SHAPE_MAX_RANK] = {0};
    int64_t strides[SHAPE_MAX_RANK];
    int scattered = 0; /* the axis */
    bool possible = false;
    int status = scatter_begin(context, &scatter, &possible);
    if (status || !possible) return status;
    const struct shape *data = &scatter.data->shape;
    const struct shape *indices = &scatter.indices->shape;
    if (!shape_equal(indices, &scatter.updates->shape))
        return op_fail(context, DIAG_SHAPE, "indices %s and updates %s differ",
                       op_shape_text(context, indices),
                       op_shape_text(context, &scatter.updates->shape));
    status = op_axis(context, data->rank, &scattered);
    remap_strides(data, strides);
    for (int64_t i = 0; i < scatter.indices->n_elements && !status; i++) {
        int64_t at = 0, index = 0;
        status = scatter_index(context, &scatter, i, data->dims[scattered], &index);
        for (int axis = 0; axis < data->rank && !status; axis++) {
            const int64_t coord = axis == scattered ? index : coords[axis];
            if (coord >= data->dims[axis])
                return op_fail(
                    context, DIAG_SHAPE, "indices %s reach past the data %s on axis %d",
                    op_shape_text(context, indices), op_shape_text(context, data), axis);
            at += coord * strides[axis];
        }
        if (!status) elements_copy(&scatter.result, at, scatter.updates, i);
        remap_advance(indices, coords);
    }
    return status ? status : elements_set(context, 0, &scatter.result);
}

/* The last axis of the indices is an index tuple, of length <= rank of the data. */
static int infer_scatter_nd(struct op_context *context) {
    const struct shape *data = op_shape(context, SCATTER_DATA);
    const struct shape *indices = op_shape(context, SCATTER_INDICES);
    if (shape_has_rank(data) && shape_has_rank(indices)) {
        int64_t length = indices->rank < 1 ? 0 : indices->dims[indices->rank - 1];
        if (data->rank < 1 || indices->rank < 1 || (is_known(length) && length > data->rank))
            return op_fail(context, DIAG_SHAPE, "indices %s do not point into data %s",
                           op_shape_text(context, indices), op_shape_text(context, data));
    }
    return common_infer_same(context);
}

static int fold_scatter_nd(struct op_context *context) {
    struct scatter scatter;
    int64_t strides[SHAPE_MAX_RANK];
    bool possible = false;
    int status = scatter_begin(context, &scatter, &possible);
    if (status || !possible) return status;
    const struct shape *indices = &scatter.indices->shape;
    const struct shape *data = &scatter.data->shape;
    const int64_t length = indices->dims[indices->rank - 1]; /* of an index tuple */
    const int64_t tuples = shape_product(indices, 0, indices->rank - 1);
    /* elements of an update: 30 for data [4,5,6] and tuples of length 1 */
    const int64_t run = shape_product(data, (int)length, data->rank);
    if (!is_known(tuples) || tuples > CONSTANT_MAX_ELEMENTS ||
        scatter.updates->n_elements != checked_mul(tuples, run))
        return op_fail(context, DIAG_SHAPE, "updates %s do not fit indices %s and data %s",
                       op_shape_text(context, &scatter.updates->shape),
                       op_shape_text(context, indices), op_shape_text(context, data));
    remap_strides(data, strides);
    for (int64_t i = 0; i < tuples; i++) {
        int64_t offset = 0;
        for (int64_t j = 0; j < length; j++) {
            int64_t index = 0;
            status = scatter_index(context, &scatter, i * length + j, data->dims[j], &index);
            if (status) return status;
            offset += index * strides[j];
        }
        for (int64_t j = 0; j < run; j++)
            elements_copy(&scatter.result, offset + j, scatter.updates, i * run + j);
    }
    return elements_set(context, 0, &scatter.result);
}

/* clang-format off */
#define SCATTER(name, from, infer_fn, folds)                                                   \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, EXTENDS(0, 0, 1), BOUNDS("d"),                             \
                  LOWER(lower_scatter, CM_SCATTER, 0, IMAGES_NONE, NULL)),                     \
        .infer = infer_fn, .fold = folds, .param_roles = "pip",                                \
        .backward.saved_for_backward = "1,-,1"                                                 \
    }

static const struct op rows[] = {
    SCATTER(Scatter, 9,                      infer_scatter_elements, fold_scatter_elements),
    SINCE2(SCATTER, ScatterElements, 11, 16, infer_scatter_elements, fold_scatter_elements),
    SINCE2(SCATTER, ScatterND, 11, 16,       infer_scatter_nd,       fold_scatter_nd),
    {SIGNATURE(ONNX, TensorScatter, 24, EXTENDS(0, 0, 1), NO_BOUNDS,
        LOWER(lower_tensor_scatter, CM_SCATTER, 0, IMAGES_NONE, "without indices it has no primitive")),
     .infer = common_infer_same, .param_roles = "ppi", .backward.saved_for_backward = "2,2,-"},
};
/* clang-format on */

OP_FAMILY(scatter, .why_free = "puts elements where indices say",
          .declines = FACETS_RARE | FACET_EXACT);
