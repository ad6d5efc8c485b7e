/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention. cuDNN has one operation for all of it, used here for fp16 and bf16 without masks
 * (masks require cuDNN 9.21). Its engines also recognize attention in the graph of its parts:
 *     scores = q k^T * scale [+ mask] [causal: the lowest float for keys after the query]
 *     y = exp(scores - max(scores)) / sum(exp(scores - max(scores))) * v
 * The parts and their order are those of NVIDIA's cudnn-frontend, which the engines expect.
 */
#include "backends/cuda/cudnn/graph_build.h"
#include "backends/cuda/cudnn/graph_operations.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "support/banned.h"

/* RESULT replaces MASK in arrays of shapes, which have no entry for the mask. */
enum operand { QUERIES, KEYS, VALUES, MASK, RESULT = MASK };
enum axis { BATCH, HEADS, ROWS, COLUMNS, N_AXES };

struct attending {
    struct graph *graph;
    const struct cm_primitive *primitive;
    struct graph_shape scores; /* [batch, heads, queries, keys], float */
    struct graph_shape rows;   /* [batch, heads, queries, 1] */
};

/* Sets the shapes [batch, heads, length, width] of q, k, v and the result; returns false if
 * cuDNN does not support them. */
static bool read_shapes(const struct cm_primitive *primitive, struct graph_shape *ret) {
    for (int i = 0; i < 4; i++) {
        const struct cm_tensor *from =
            i == RESULT ? &primitive->outputs[0] : &primitive->inputs[i];
        if (from->rank != N_AXES || !graph_shape_of(from, &ret[i])) return false;
        for (int axis = 0; axis < N_AXES; axis++) ret[i].strides[axis] = from->strides[axis];
    }
    return true;
}

static cudnnBackendDescriptor_t make_scale(struct graph *graph,
                                           const struct cm_primitive *primitive) {
    const double depth = (double)primitive->inputs[QUERIES].dims[COLUMNS];
    const double scale = primitive->scale != 0 ? primitive->scale : 1 / sqrt(depth);
    return graph_value(graph, N_AXES, (float)scale);
}

static bool read_attention(struct graph *graph, const struct cm_primitive *primitive,
                           struct graph_shape *ret) {
    if (read_shapes(primitive, ret)) return true;
    graph_fail(graph, CM_BACKEND_REFUSED, "shape or data type not supported by cuDNN");
    return false;
}

static cudnnBackendDescriptor_t
make_virtual(struct graph *graph, const struct graph_shape *like, cudnnDataType_t type) {
    struct graph_shape shape = *like;
    shape.type = type;
    return graph_tensor(graph, &shape, GRAPH_VIRTUAL, 0);
}

/* Applies a function to scores or rows `x`, and to `b` unless NULL. Returns the result. */
static cudnnBackendDescriptor_t apply(const struct attending *attending,
                                      const struct graph_shape *shape,
                                      cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                      cudnnBackendDescriptor_t b) {
    const struct graph_pointwise point = {
        .mode = mode,
        .x = x,
        .b = b,
        .y = make_virtual(attending->graph, shape, CUDNN_DATA_FLOAT)};
    graph_point(attending->graph, &point);
    return point.y;
}

/* Returns a tensor with the index of each score along an axis. */
static cudnnBackendDescriptor_t index_scores(const struct attending *attending,
                                             cudnnBackendDescriptor_t scores, enum axis axis) {
    const struct graph_pointwise point = {
        .mode = CUDNN_POINTWISE_GEN_INDEX,
        .axis = axis,
        .x = scores,
        .y = make_virtual(attending->graph, &attending->scores, CUDNN_DATA_INT32)};
    graph_point(attending->graph, &point);
    return point.y;
}

/* Adds `by` to indices, or subtracts it, as `mode` states. Returns the result. */
static cudnnBackendDescriptor_t shift(const struct attending *attending,
                                      cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                      int64_t by) {
    const struct graph_pointwise point = {
        .mode = mode,
        .compute = CUDNN_DATA_INT32,
        .x = x,
        .b = graph_count(attending->graph, N_AXES, (int32_t)by),
        .y = make_virtual(attending->graph, &attending->scores, CUDNN_DATA_INT32)};
    graph_point(attending->graph, &point);
    return point.y;
}

/* Masks the keys after the query: CM_CAUSAL_FIRST keeps the scores with row >= column,
 * CM_CAUSAL_LAST those with row + keys - queries >= column. Returns the masked scores. */
static cudnnBackendDescriptor_t mask_causally(const struct attending *attending,
                                              cudnnBackendDescriptor_t scores) {
    const int64_t *dims = attending->scores.dims;
    cudnnBackendDescriptor_t row = index_scores(attending, scores, ROWS);
    cudnnBackendDescriptor_t column = index_scores(attending, scores, COLUMNS);
    if (attending->primitive->causal == CM_CAUSAL_LAST) {
        row = shift(attending, CUDNN_POINTWISE_ADD, row, dims[COLUMNS]);
        row = shift(attending, CUDNN_POINTWISE_SUB, row, dims[ROWS]);
    }
    const struct graph_pointwise compare = {
        .mode = CUDNN_POINTWISE_CMP_GE,
        .compute = CUDNN_DATA_BOOLEAN,
        .x = row,
        .b = column,
        .y = make_virtual(attending->graph, &attending->scores, CUDNN_DATA_BOOLEAN)};
    graph_point(attending->graph, &compare);
    const struct graph_pointwise select = {
        .mode = CUDNN_POINTWISE_BINARY_SELECT,
        .x = scores,
        .b = graph_value(attending->graph, N_AXES, -FLT_MAX),
        .t = compare.y,
        .y = make_virtual(attending->graph, &attending->scores, CUDNN_DATA_FLOAT)};
    graph_point(attending->graph, &select);
    return select.y;
}

/* Sets the shape of the mask, [1 or batch, 1 or heads, 1 or queries, 1 or keys]; returns false
 * if it does not broadcast to the scores. */
static bool read_mask(const struct attending *attending, struct graph_shape *ret) {
    const struct cm_tensor *mask = &attending->primitive->inputs[MASK];
    const int more = N_AXES - mask->rank;
    if (more < 0 || !graph_shape_of(mask, ret)) return false;
    ret->rank = N_AXES;
    for (int axis = 0; axis < N_AXES; axis++) {
        ret->dims[axis] = axis < more ? 1 : mask->dims[axis - more];
        if (ret->dims[axis] != 1 && ret->dims[axis] != attending->scores.dims[axis])
            return false;
    }
    graph_shape_pack(ret, GRAPH_ROWS);
    return true;
}

/* Returns scores + mask. Refuses a boolean mask, for which cuDNN 9.19 divides by zero. */
static cudnnBackendDescriptor_t add_mask(const struct attending *attending,
                                         cudnnBackendDescriptor_t scores) {
    struct graph_shape shape;
    if (!read_mask(attending, &shape)) {
        graph_fail(attending->graph, CM_BACKEND_REFUSED,
                   "the mask must broadcast to [batch, heads, queries, keys]");
        return NULL;
    }
    if (shape.type == CUDNN_DATA_BOOLEAN) {
        graph_fail(attending->graph, CM_BACKEND_REFUSED,
                   "the mask must be numbers that are added to the scores, got booleans");
        return NULL;
    }
    return apply(attending, &attending->scores, CUDNN_POINTWISE_ADD, scores,
                 graph_tensor(attending->graph, &shape, GRAPH_INPUT, MASK));
}

static cudnnBackendDescriptor_t reduce_rows(const struct attending *attending,
                                            cudnnReduceTensorOp_t operator,
                                            cudnnBackendDescriptor_t x) {
    cudnnBackendDescriptor_t y =
        make_virtual(attending->graph, &attending->rows, CUDNN_DATA_FLOAT);
    graph_reduce(attending->graph, operator, x, y);
    return y;
}

/* Writes the softmax of the scores to y. The engines also require the log-sum-exp of each row,
 * which a training step saves, even if nothing reads it. */
static void take_softmax(const struct attending *attending, cudnnBackendDescriptor_t scores,
                         cudnnBackendDescriptor_t y) {
    const struct graph_shape *whole = &attending->scores;
    const struct graph_shape *rows = &attending->rows;
    cudnnBackendDescriptor_t most = reduce_rows(attending, CUDNN_REDUCE_TENSOR_MAX, scores);
    cudnnBackendDescriptor_t less = apply(attending, whole, CUDNN_POINTWISE_SUB, scores, most);
    cudnnBackendDescriptor_t powers = apply(attending, whole, CUDNN_POINTWISE_EXP, less, NULL);
    cudnnBackendDescriptor_t sum = reduce_rows(attending, CUDNN_REDUCE_TENSOR_ADD, powers);
    cudnnBackendDescriptor_t log = apply(attending, rows, CUDNN_POINTWISE_LOG, sum, NULL);
    (void)apply(attending, rows, CUDNN_POINTWISE_ADD, most, log);
    const struct graph_pointwise divide = {
        .mode = CUDNN_POINTWISE_DIV, .x = powers, .b = sum, .y = y};
    graph_point(attending->graph, &divide);
}

/* Sets the shape of the scores, and of a tensor with one number per row of scores. */
static void shape_scores(const struct graph_shape *shapes, struct attending *ret) {
    ret->scores =
        (struct graph_shape){.type = CUDNN_DATA_FLOAT,
                             .rank = N_AXES,
                             .dims = {shapes[QUERIES].dims[BATCH], shapes[QUERIES].dims[HEADS],
                                      shapes[QUERIES].dims[ROWS], shapes[KEYS].dims[ROWS]}};
    ret->rows = ret->scores;
    ret->rows.dims[COLUMNS] = 1;
    graph_shape_pack(&ret->scores, GRAPH_ROWS);
    graph_shape_pack(&ret->rows, GRAPH_ROWS);
}

/* Swaps the last two dims: k [batch, heads, keys, width] becomes k^T. */
static void transpose(struct graph_shape *shape) {
    const int64_t dim = shape->dims[ROWS];
    const int64_t stride = shape->strides[ROWS];
    shape->dims[ROWS] = shape->dims[COLUMNS];
    shape->strides[ROWS] = shape->strides[COLUMNS];
    shape->dims[COLUMNS] = dim;
    shape->strides[COLUMNS] = stride;
}

void graph_build_attention_parts(struct graph *graph, const struct graph_job *job) {
    const struct cm_primitive *primitive = job->primitive;
    struct attending attending = {.graph = graph, .primitive = primitive};
    struct graph_shape shapes[4];
    if (!read_attention(graph, primitive, shapes)) return;
    shape_scores(shapes, &attending);
    transpose(&shapes[KEYS]);
    cudnnBackendDescriptor_t q = graph_tensor(graph, &shapes[QUERIES], GRAPH_INPUT, QUERIES);
    cudnnBackendDescriptor_t k = graph_tensor(graph, &shapes[KEYS], GRAPH_INPUT, KEYS);
    cudnnBackendDescriptor_t v = graph_tensor(graph, &shapes[VALUES], GRAPH_INPUT, VALUES);
    cudnnBackendDescriptor_t y = graph_tensor(graph, &shapes[RESULT], GRAPH_OUTPUT, 0);
    cudnnBackendDescriptor_t scores = make_virtual(graph, &attending.scores, CUDNN_DATA_FLOAT);
    graph_multiply(graph, q, k, scores, CUDNN_DATA_FLOAT);
    scores = apply(&attending, &attending.scores, CUDNN_POINTWISE_MUL, scores,
                   make_scale(graph, primitive));
    if (primitive->n_inputs > MASK) scores = add_mask(&attending, scores);
    if (primitive->causal != CM_CAUSAL_NONE) scores = mask_causally(&attending, scores);
    /* The engines require weights of the element type of v. */
    cudnnBackendDescriptor_t weights =
        make_virtual(graph, &attending.scores, shapes[VALUES].type);
    take_softmax(&attending, scores, weights);
    graph_multiply(graph, weights, v, y, CUDNN_DATA_FLOAT);
}

static bool is_masked(const struct cm_primitive *primitive) {
    return primitive->n_inputs > MASK || primitive->causal != CM_CAUSAL_NONE;
}

void graph_build_attention(struct graph *graph, const struct graph_job *job) {
    const int32_t element = job->primitive->inputs[QUERIES].element;
    struct graph_shape shapes[4];
    if (is_masked(job->primitive) || (element != CM_F16 && element != CM_BF16)) {
        graph_build_attention_parts(graph, job);
        return;
    }
    if (!read_attention(graph, job->primitive, shapes)) return;
    const struct graph_attention attention = {
        .q = graph_tensor(graph, &shapes[QUERIES], GRAPH_INPUT, QUERIES),
        .k = graph_tensor(graph, &shapes[KEYS], GRAPH_INPUT, KEYS),
        .v = graph_tensor(graph, &shapes[VALUES], GRAPH_INPUT, VALUES),
        .y = graph_tensor(graph, &shapes[RESULT], GRAPH_OUTPUT, 0),
        .scale = make_scale(graph, job->primitive),
    };
    graph_attend(graph, &attention);
}
