/* SPDX-License-Identifier: Apache-2.0 */
/* Attention. cuDNN has one operation for all of it, used here for fp16 and bf16 that is neither
 * masked nor causal (masks require cuDNN 9.21). cuDNN also recognizes the graph of its parts:
 *     scores = q k^T * scale [+ mask] [causal: the lowest float for keys after the query]
 *     y = exp(scores - max(scores)) / sum(exp(scores - max(scores))) * v
 * The parts and their order are those of NVIDIA's cudnn-frontend, which the engines expect. */
#include "backends/cuda/cudnn/graph_build.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Values in cudnn_graph_v9.h of cuDNN 9.21: the oldest supported headers lack their names. An
 * older library refuses them. */
#define OPERATION_ATTENTION ((cudnnBackendDescriptorType_t)41)
#define ATTENTION_Q         ((cudnnBackendAttributeName_t)2800)
#define ATTENTION_K         ((cudnnBackendAttributeName_t)2801)
#define ATTENTION_V         ((cudnnBackendAttributeName_t)2802)
#define ATTENTION_Y         ((cudnnBackendAttributeName_t)2803)
#define ATTENTION_SCALE     ((cudnnBackendAttributeName_t)2805)

/* RESULT replaces MASK in arrays of shapes, which have no entry for the mask. */
enum operand { QUERIES, KEYS, VALUES, MASK, RESULT = MASK };
enum axis { BATCH, HEADS, ROWS, COLUMNS, N_AXES };

struct attending {
    struct graph *graph;
    const struct cm_primitive *primitive;
    struct graph_shape scores; /* [batch, heads, queries, keys], float */
    struct graph_shape rows;   /* [batch, heads, queries, 1] */
};

/* Sets the shapes [batch, heads, length, width] of q, k, v and the result. */
static bool read_shapes(struct graph *graph, const struct cm_primitive *primitive,
                        struct graph_shape *ret) {
    for (int i = 0; i < 4; i++) {
        const struct cm_tensor *from =
            i == RESULT ? &primitive->outputs[0] : &primitive->inputs[i];
        if (from->rank != N_AXES || !graph_shape_of(from, &ret[i])) {
            graph_fail(graph, CM_BACKEND_REFUSED, "shape or data type not supported by cuDNN");
            return false;
        }
        memcpy(ret[i].strides, from->strides, sizeof(ret[i].strides));
    }
    return true;
}

static cudnnBackendDescriptor_t make_scale(struct graph *graph,
                                           const struct cm_primitive *primitive) {
    const double depth = (double)primitive->inputs[QUERIES].dims[COLUMNS];
    const double scale = primitive->scale != 0 ? primitive->scale : 1 / sqrt(depth);
    return graph_value(graph, N_AXES, (float)scale);
}

static cudnnBackendDescriptor_t
make_virtual(struct graph *graph, const struct graph_shape *like, cudnnDataType_t type) {
    struct graph_shape shape = *like;
    shape.type = type;
    return graph_tensor(graph, &shape, GRAPH_VIRTUAL, 0);
}

/* Adds an operation. Returns its result, a new virtual tensor. */
static cudnnBackendDescriptor_t add_point(struct graph *graph, const struct graph_shape *shape,
                                          cudnnDataType_t type, struct graph_pointwise point) {
    point.y = make_virtual(graph, shape, type);
    graph_point(graph, &point);
    return point.y;
}

/* Applies a function, computed in float, to x and, unless it is NULL, b. Returns the result. */
static cudnnBackendDescriptor_t apply(struct graph *graph, const struct graph_shape *shape,
                                      cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                      cudnnBackendDescriptor_t b) {
    return add_point(graph, shape, CUDNN_DATA_FLOAT,
                     (struct graph_pointwise){.mode = mode, .x = x, .b = b});
}

/* Masks the keys after the query: CM_CAUSAL_FIRST keeps the scores with row >= column,
 * CM_CAUSAL_LAST those with row + keys - queries >= column. Returns the masked scores. */
static cudnnBackendDescriptor_t mask_causally(const struct attending *attending,
                                              cudnnBackendDescriptor_t scores) {
    struct graph *graph = attending->graph;
    const struct graph_shape *all = &attending->scores;
    struct graph_pointwise index = {
        .mode = CUDNN_POINTWISE_GEN_INDEX, .axis = ROWS, .x = scores};
    cudnnBackendDescriptor_t row = add_point(graph, all, CUDNN_DATA_INT32, index);
    index.axis = COLUMNS;
    const cudnnBackendDescriptor_t column = add_point(graph, all, CUDNN_DATA_INT32, index);
    if (attending->primitive->causal == CM_CAUSAL_LAST) {
        struct graph_pointwise shift = {
            .mode = CUDNN_POINTWISE_ADD, .compute = CUDNN_DATA_INT32, .x = row};
        shift.b = graph_count(graph, N_AXES, (int32_t)all->dims[COLUMNS]);
        shift.x = add_point(graph, all, CUDNN_DATA_INT32, shift);
        shift.mode = CUDNN_POINTWISE_SUB;
        shift.b = graph_count(graph, N_AXES, (int32_t)all->dims[ROWS]);
        row = add_point(graph, all, CUDNN_DATA_INT32, shift);
    }
    const struct graph_pointwise compare = {
        .mode = CUDNN_POINTWISE_CMP_GE, .compute = CUDNN_DATA_BOOLEAN, .x = row, .b = column};
    struct graph_pointwise select = {.mode = CUDNN_POINTWISE_BINARY_SELECT, .x = scores};
    select.t = add_point(graph, all, CUDNN_DATA_BOOLEAN, compare);
    select.b = graph_value(graph, N_AXES, -FLT_MAX);
    return add_point(graph, all, CUDNN_DATA_FLOAT, select);
}

/* Returns scores + mask. The mask is [1 or batch, 1 or heads, 1 or queries, 1 or keys]. Refuses
 * a boolean mask, for which cuDNN 9.19 divides by zero. */
static cudnnBackendDescriptor_t add_mask(const struct attending *attending,
                                         cudnnBackendDescriptor_t scores) {
    struct graph *graph = attending->graph;
    const struct cm_tensor *mask = &attending->primitive->inputs[MASK];
    const int more = N_AXES - mask->rank;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    int64_t dims[N_AXES];
    bool fits = more >= 0 && graph_type(mask->element, &type);
    for (int axis = 0; axis < N_AXES && fits; axis++) {
        dims[axis] = axis < more ? 1 : mask->dims[axis - more];
        fits = dims[axis] == 1 || dims[axis] == attending->scores.dims[axis];
    }
    if (!fits) {
        graph_fail(graph, CM_BACKEND_REFUSED,
                   "the mask must broadcast to [batch, heads, queries, keys]");
        return NULL;
    }
    if (type == CUDNN_DATA_BOOLEAN) {
        graph_fail(graph, CM_BACKEND_REFUSED,
                   "the mask must be numbers that are added to the scores, got booleans");
        return NULL;
    }
    const struct graph_shape shape = graph_shape_packed(type, GRAPH_ROWS, N_AXES, dims);
    return apply(graph, &attending->scores, CUDNN_POINTWISE_ADD, scores,
                 graph_tensor(graph, &shape, GRAPH_INPUT, MASK));
}

static cudnnBackendDescriptor_t reduce_rows(const struct attending *attending,
                                            cudnnReduceTensorOp_t operator,
                                            cudnnBackendDescriptor_t x) {
    cudnnBackendDescriptor_t y =
        make_virtual(attending->graph, &attending->rows, CUDNN_DATA_FLOAT);
    graph_reduce(attending->graph, operator, x, y);
    return y;
}

/* Writes the softmax of the scores to y. Also computes the log-sum-exp of each row, which only
 * a training step reads: the engines recognize no graph without it. */
static void take_softmax(const struct attending *attending, cudnnBackendDescriptor_t scores,
                         cudnnBackendDescriptor_t y) {
    struct graph *graph = attending->graph;
    const struct graph_shape *whole = &attending->scores;
    const struct graph_shape *rows = &attending->rows;
    cudnnBackendDescriptor_t most = reduce_rows(attending, CUDNN_REDUCE_TENSOR_MAX, scores);
    cudnnBackendDescriptor_t less = apply(graph, whole, CUDNN_POINTWISE_SUB, scores, most);
    cudnnBackendDescriptor_t powers = apply(graph, whole, CUDNN_POINTWISE_EXP, less, NULL);
    cudnnBackendDescriptor_t sum = reduce_rows(attending, CUDNN_REDUCE_TENSOR_ADD, powers);
    cudnnBackendDescriptor_t log = apply(graph, rows, CUDNN_POINTWISE_LOG, sum, NULL);
    (void)apply(graph, rows, CUDNN_POINTWISE_ADD, most, log);
    graph_point(graph, &(struct graph_pointwise){
                           .mode = CUDNN_POINTWISE_DIV, .x = powers, .b = sum, .y = y});
}

void graph_build_attention_parts(struct graph *graph, const struct graph_job *job) {
    const struct cm_primitive *primitive = job->primitive;
    struct graph_shape shapes[4];
    if (!read_shapes(graph, primitive, shapes)) return;
    const int64_t *dims = shapes[QUERIES].dims;
    const int64_t n_keys = shapes[KEYS].dims[ROWS];
    const struct attending attending = {
        .graph = graph,
        .primitive = primitive,
        .scores = graph_shape_packed(CUDNN_DATA_FLOAT, GRAPH_ROWS, N_AXES,
                                     (int64_t[]){dims[BATCH], dims[HEADS], dims[ROWS], n_keys}),
        .rows = graph_shape_packed(CUDNN_DATA_FLOAT, GRAPH_ROWS, N_AXES,
                                   (int64_t[]){dims[BATCH], dims[HEADS], dims[ROWS], 1}),
    };
    struct graph_shape transposed = shapes[KEYS]; /* k^T */
    transposed.dims[ROWS] = shapes[KEYS].dims[COLUMNS];
    transposed.dims[COLUMNS] = n_keys;
    transposed.strides[ROWS] = shapes[KEYS].strides[COLUMNS];
    transposed.strides[COLUMNS] = shapes[KEYS].strides[ROWS];
    cudnnBackendDescriptor_t q = graph_tensor(graph, &shapes[QUERIES], GRAPH_INPUT, QUERIES);
    cudnnBackendDescriptor_t k = graph_tensor(graph, &transposed, GRAPH_INPUT, KEYS);
    cudnnBackendDescriptor_t v = graph_tensor(graph, &shapes[VALUES], GRAPH_INPUT, VALUES);
    cudnnBackendDescriptor_t y = graph_tensor(graph, &shapes[RESULT], GRAPH_OUTPUT, 0);
    cudnnBackendDescriptor_t scores = make_virtual(graph, &attending.scores, CUDNN_DATA_FLOAT);
    graph_multiply(graph, q, k, scores, CUDNN_DATA_FLOAT);
    scores = apply(graph, &attending.scores, CUDNN_POINTWISE_MUL, scores,
                   make_scale(graph, primitive));
    if (primitive->n_inputs > MASK) scores = add_mask(&attending, scores);
    if (primitive->causal != CM_CAUSAL_NONE) scores = mask_causally(&attending, scores);
    /* The engines require weights of the element type of v. */
    cudnnBackendDescriptor_t weights =
        make_virtual(graph, &attending.scores, shapes[VALUES].type);
    take_softmax(&attending, scores, weights);
    graph_multiply(graph, weights, v, y, CUDNN_DATA_FLOAT);
}

void graph_build_attention(struct graph *graph, const struct graph_job *job) {
    const struct cm_primitive *primitive = job->primitive;
    const int32_t element = primitive->inputs[QUERIES].element;
    struct graph_shape shapes[4];
    if (primitive->n_inputs > MASK || primitive->causal != CM_CAUSAL_NONE ||
        (element != CM_F16 && element != CM_BF16)) {
        graph_build_attention_parts(graph, job);
        return;
    }
    if (!read_shapes(graph, primitive, shapes)) return;
    cudnnBackendDescriptor_t q = graph_tensor(graph, &shapes[QUERIES], GRAPH_INPUT, QUERIES);
    cudnnBackendDescriptor_t k = graph_tensor(graph, &shapes[KEYS], GRAPH_INPUT, KEYS);
    cudnnBackendDescriptor_t v = graph_tensor(graph, &shapes[VALUES], GRAPH_INPUT, VALUES);
    cudnnBackendDescriptor_t y = graph_tensor(graph, &shapes[RESULT], GRAPH_OUTPUT, 0);
    cudnnBackendDescriptor_t scale = make_scale(graph, primitive);
    const struct graph_attribute operation[] = {
        GRAPH_DESCRIPTOR(ATTENTION_Q, q),         GRAPH_DESCRIPTOR(ATTENTION_K, k),
        GRAPH_DESCRIPTOR(ATTENTION_V, v),         GRAPH_DESCRIPTOR(ATTENTION_Y, y),
        GRAPH_DESCRIPTOR(ATTENTION_SCALE, scale), {0},
    };
    graph_add(graph, OPERATION_ATTENTION, "the attention", operation);
}
