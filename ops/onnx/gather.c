/* SPDX-License-Identifier: Apache-2.0 */
/* Gather (an embedding if it reads a table of weights), GatherElements, GatherND. */
#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"
#include "support/arena.h"

static int infer_gather(struct op_context *context) {
    const struct shape *data = op_shape(context, 0);
    const struct shape *indices = op_shape(context, 1);
    int64_t dims[2 * SHAPE_MAX_RANK];
    int axis = 0, rank = 0;
    if (!shape_has_rank(data)) return common_infer_unknown_rank(context);
    int status = op_axis(context, data->rank, &axis);
    if (status) return status;
    if (!shape_has_rank(indices)) return common_infer_unknown_rank(context);
    for (int i = 0; i < axis; i++) dims[rank++] = data->dims[i];
    for (int i = 0; i < indices->rank; i++) dims[rank++] = indices->dims[i];
    for (int i = axis + 1; i < data->rank; i++) dims[rank++] = data->dims[i];
    status = common_check_n_axes(context, (size_t)rank);
    return status ? status : common_output(context, rank, dims);
}

struct gather {
    const struct constant *from;
    const struct shape *data;
    const struct shape *indices;
    const int64_t *list; /* the indices, none negative */
    int axis;
    int batch, length; /* GatherND: batch_dims, and the length of an index tuple */
    int64_t data_strides[SHAPE_MAX_RANK], index_strides[SHAPE_MAX_RANK];
};

/* Loads data and indices. Sets *ret_indices to NULL and returns 0 if either is unknown. */
static int gather_begin(struct op_context *context, struct gather *gather,
                        const struct constant **ret_indices) {
    const struct constant *indices = NULL;
    *ret_indices = NULL;
    int status = op_value(context, 0, &gather->from);
    if (!status) status = op_value(context, 1, &indices);
    if (status || !gather->from || !indices || !constant_has_ints(indices)) return status;
    gather->data = &gather->from->shape;
    gather->indices = &indices->shape;
    remap_strides(gather->data, gather->data_strides);
    remap_strides(gather->indices, gather->index_strides);
    *ret_indices = indices;
    return 0;
}

/* Sets the contents of output 0: the element at `coords` is element source(gather, coords) of
 * the data. Makes the indices non-negative; indices[i] addresses an axis of size
 * dims[i % period]. */
static int gather_fold(struct op_context *context, struct gather *gather,
                       const struct constant *indices, const int64_t *dims, int64_t period,
                       int64_t (*source)(const void *context, const int64_t *coords)) {
    const int64_t n = indices->n_elements;
    if (n > CONSTANT_MAX_ELEMENTS) return 0;
    int64_t *list = arena_array(context->arena, (size_t)n, sizeof *list);
    if (!list) return diag_no_memory(context->diag);
    for (int64_t i = 0; i < n; i++) {
        const int64_t dim = dims[i % period];
        const int64_t index = constant_int_at(indices, i);
        if (index < -dim || index >= dim)
            return op_fail(context, DIAG_VALUE,
                           "index %lld is out of range for an axis of %lld", (long long)index,
                           (long long)dim);
        list[i] = index < 0 ? index + dim : index;
    }
    gather->list = list;
    const struct remap remap = {.from = gather->from, .source = source, .context = gather};
    return remap_fold(context, 0, &remap);
}

/* Data [5,6], indices [2,3], axis 1: output (i, j, k) is data (i, indices(j, k)). */
static int64_t gather_source(const void *context, const int64_t *coords) {
    const struct gather *gather = context;
    int64_t index = 0, which = 0;
    int axis = gather->axis;
    int picked = gather->indices->rank;
    for (int i = 0; i < axis; i++) index += coords[i] * gather->data_strides[i];
    for (int i = 0; i < picked; i++) which += coords[axis + i] * gather->index_strides[i];
    for (int i = axis + 1; i < gather->data->rank; i++)
        index += coords[picked + i - 1] * gather->data_strides[i];
    return index + gather->list[which] * gather->data_strides[axis];
}

static int fold_gather(struct op_context *context) {
    struct gather gather = {.axis = 0};
    const struct constant *indices = NULL;
    int status = gather_begin(context, &gather, &indices);
    if (status || !indices) return status;
    status = op_axis(context, gather.data->rank, &gather.axis);
    if (status) return status;
    return gather_fold(context, &gather, indices, &gather.data->dims[gather.axis], 1,
                       gather_source);
}

/* Prints "1024, 192" (rows, width) for a table read by computed indices: an embedding. Any
 * other Gather is not a module and prints nothing. */
static int describe_gather(const struct op_context *context, struct text *out) {
    const struct value_info *data = op_input(context, 0);
    bool is_table = data->is_constant && dtype_is_float(data->dtype) &&
                    value_info_is_complete(data) && data->shape.rank == 2 &&
                    !op_input(context, 1)->is_constant && op_attr_int(context, "axis") == 0;
    if (is_table)
        text_printf(out, "%lld, %lld", (long long)data->shape.dims[0],
                    (long long)data->shape.dims[1]);
    return 0;
}

static int infer_gather_elements(struct op_context *context) {
    const int rank = op_rank(context, 0);
    const int of_indices = op_rank(context, 1);
    int axis = 0;
    int status = rank == RANK_UNKNOWN ? 0 : op_axis(context, rank, &axis);
    if (status) return status;
    if (rank != RANK_UNKNOWN && of_indices != RANK_UNKNOWN && of_indices != rank)
        return op_fail(context, DIAG_SHAPE, "indices have %d axes, the data has %d", of_indices,
                       rank);
    if (of_indices == RANK_UNKNOWN) return common_output(context, rank, NULL);
    return op_output(context, 0, op_dtype(context, 0), op_shape(context, 1));
}

static int64_t gather_elements_source(const void *context, const int64_t *coords) {
    const struct gather *gather = context;
    int64_t index = 0, which = 0;
    for (int i = 0; i < gather->data->rank; i++) {
        which += coords[i] * gather->index_strides[i];
        if (i != gather->axis) index += coords[i] * gather->data_strides[i];
    }
    return index + gather->list[which] * gather->data_strides[gather->axis];
}

/* Dims of the indices must be <= those of the data, except along the axis. */
static int fold_gather_elements(struct op_context *context) {
    struct gather gather = {.axis = 0};
    const struct constant *indices = NULL;
    int status = gather_begin(context, &gather, &indices);
    if (status || !indices) return status;
    status = op_axis(context, gather.data->rank, &gather.axis);
    if (status) return status;
    for (int i = 0; i < gather.data->rank; i++)
        if (i != gather.axis && gather.indices->dims[i] > gather.data->dims[i])
            return op_fail(context, DIAG_SHAPE, "indices %s reach past the data %s on axis %d",
                           op_shape_text(context, gather.indices),
                           op_shape_text(context, gather.data), i);
    return gather_fold(context, &gather, indices, &gather.data->dims[gather.axis], 1,
                       gather_elements_source);
}

/* Sets *ret to the length of an index tuple: the last dim, <= rank of data - batch_dims. */
static int tuple_length(const struct op_context *context, int64_t batch_dims, int64_t *ret) {
    const struct shape *data = op_shape(context, 0);
    const struct shape *indices = op_shape(context, 1);
    if (indices->rank < 1 || data->rank < 1 || batch_dims < 0 || batch_dims >= indices->rank ||
        batch_dims >= data->rank)
        return op_fail(context, DIAG_SHAPE,
                       "batch_dims %lld does not fit data %s and indices %s",
                       (long long)batch_dims, op_shape_text(context, data),
                       op_shape_text(context, indices));
    int64_t length = indices->dims[indices->rank - 1];
    if (is_known(length) && (length < 1 || length > data->rank - batch_dims))
        return op_fail(context, DIAG_SHAPE, "indices %s point with %lld numbers into data %s",
                       op_shape_text(context, indices), (long long)length,
                       op_shape_text(context, data));
    *ret = length;
    return 0;
}

static int infer_gather_nd(struct op_context *context) {
    const struct shape *data = op_shape(context, 0);
    const struct shape *indices = op_shape(context, 1);
    int64_t batch = op_attr_int(context, "batch_dims");
    int64_t dims[2 * SHAPE_MAX_RANK];
    int64_t length = 0;
    int rank = 0;
    if (!shape_has_rank(data) || !shape_has_rank(indices))
        return common_infer_unknown_rank(context);
    int status = tuple_length(context, batch, &length);
    if (status) return status;
    if (!is_known(length)) return common_infer_unknown_rank(context);
    for (int i = 0; i < indices->rank - 1; i++) dims[rank++] = indices->dims[i];
    for (int i = (int)(batch + length); i < data->rank; i++) dims[rank++] = data->dims[i];
    status = common_check_n_axes(context, (size_t)rank);
    return status ? status : common_output(context, rank, dims);
}

/* Data [4,5,6,7], indices [4,3,2], batch_dims 1: output (b, i, k) is data (b, indices(b, i, 0),
 * indices(b, i, 1), k). */
static int64_t gather_nd_source(const void *context, const int64_t *coords) {
    const struct gather *gather = context;
    int tuples = gather->indices->rank - 1;
    int first = gather->batch + gather->length;
    int64_t index = 0, which = 0;
    for (int i = 0; i < tuples; i++) which += coords[i] * gather->index_strides[i];
    for (int i = 0; i < gather->batch; i++) index += coords[i] * gather->data_strides[i];
    for (int i = 0; i < gather->length; i++)
        index += gather->list[which + i] * gather->data_strides[gather->batch + i];
    for (int i = first; i < gather->data->rank; i++)
        index += coords[tuples + i - first] * gather->data_strides[i];
    return index;
}

static int fold_gather_nd(struct op_context *context) {
    struct gather gather = {.axis = 0};
    const struct constant *indices = NULL;
    int64_t length = 0;
    int64_t batch = op_attr_int(context, "batch_dims");
    int status = gather_begin(context, &gather, &indices);
    if (status || !indices) return status;
    status = tuple_length(context, batch, &length);
    if (status || !is_known(length)) return status;
    for (int i = 0; i < batch; i++)
        if (gather.indices->dims[i] != gather.data->dims[i])
            return op_fail(context, DIAG_SHAPE,
                           "batch axis %d is %lld in indices, %lld in the data", i,
                           (long long)gather.indices->dims[i], (long long)gather.data->dims[i]);
    gather.batch = (int)batch;
    gather.length = (int)length;
    return gather_fold(context, &gather, indices, &gather.data->dims[batch], length,
                       gather_nd_source);
}

/* A constant scalar index comes from x[:, i], which is a view in a framework. */
static enum op_view view_gather(const struct op_context *context) {
    const struct shape *data = op_shape(context, 0);
    int axis = 0;
    if (op_rank(context, 1) != 0 || !op_input(context, 1)->is_constant) return VIEW_NONE;
    if (!shape_has_rank(data) || op_attr_int(context, "axis") < 0) return VIEW_STRIDED;
    while (axis < data->rank && data->dims[axis] == 1) axis++;
    return op_attr_int(context, "axis") <= axis ? VIEW_SAME : VIEW_STRIDED;
}

/* clang-format off */
#define GATHER(infer_fn, folds, keeps)                                                         \
    .infer = infer_fn, .fold = folds, .param_roles = "ni", .backward.saved_for_backward = keeps
#define LOWER_GATHER LOWER(lower_gather, CM_GATHER, 1, IMAGES_NONE, NULL), BOUNDS("vd"), LOOKUP(0, 0)
#define GATHER_ND(from)                                                                        \
    {                                                                                          \
        SIGNATURE(ONNX, GatherND, from, LOWER_GATHER, MOVES(scale_along_all_axes)),            \
        GATHER(infer_gather_nd, fold_gather_nd, "1,-")                                         \
    }

static const struct op rows[] = {
    {SIGNATURE(ONNX, Gather, 1, LOWER_GATHER, MOVES(scale_through_gather)), GATHER(infer_gather, fold_gather, "1,-"),
     .backward.view = view_gather, .module = "Embedding", .describe = describe_gather},
    {SIGNATURE(ONNX, GatherElements, 11, LOWER_GATHER, MOVES(scale_through_gather_elements)),
     GATHER(infer_gather_elements, fold_gather_elements, "01,-")},
    GATHER_ND(11),
    GATHER_ND(12),
    {SIGNATURE(CONTRIB, GatherND, 1, NO_PRIMITIVE(NO_CONTRIB), MOVES(scale_along_all_axes), NO_BOUNDS, LOOKUP(0, 0)),
     GATHER(infer_gather_nd, fold_gather_nd, "-")},
};
/* clang-format on */

OP_FAMILY(gather, .why_free = "picks elements",
          .declines = FACET_ALGEBRA | FACET_MODULE | FACET_EXACT);
