/* SPDX-License-Identifier: Apache-2.0 */
/* Pools, norms, reductions, softmax. */
#include "backends/cuda/cudnn/graph_build.h"
#include "backends/cuda/cudnn/graph_operations.h"

#include <stddef.h>

#include "backends/coalesce_dims.h"

#include "support/banned.h"

static void refuse_element(struct graph *graph) {
    graph_fail(graph, CM_BACKEND_REFUSED, "shape or data type not supported by cuDNN");
}

void graph_build_pool(struct graph *graph, const struct graph_job *job) {
    static const struct {
        bool known;
        cudnnResampleMode_t mode;
        cudnnPaddingMode_t padding;
    } modes[CM_N_ALGORITHMS] = {
        [CM_POOL_MAX] = {true, CUDNN_RESAMPLE_MAXPOOL, CUDNN_NEG_INF_PAD},
        [CM_POOL_AVERAGE] = {true, CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING, CUDNN_ZERO_PAD},
        [CM_POOL_AVERAGE_PADDING] = {true, CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING,
                                     CUDNN_ZERO_PAD},
    };
    const struct cm_primitive *primitive = job->primitive;
    const enum graph_order order = graph_order_of(&primitive->inputs[0], job->prefer_last);
    struct graph_shape x;
    struct graph_shape y;
    struct cm_window window;
    graph_shape_window(&primitive->window, &window);
    for (int i = 0; i < window.n_spatial; i++)
        if (window.dilations[i] != 1)
            graph_fail(graph, CM_BACKEND_REFUSED, "cuDNN does not support dilated pools");
    if (!modes[primitive->algorithm].known ||
        primitive->window.n_spatial != primitive->inputs[0].rank - 2 ||
        primitive->inputs[0].rank != primitive->outputs[0].rank ||
        !graph_shape_image(&primitive->inputs[0], order, &x) ||
        !graph_shape_image(&primitive->outputs[0], order, &y)) {
        refuse_element(graph);
        return;
    }
    cudnnBackendDescriptor_t from = graph_tensor(graph, &x, GRAPH_INPUT, 0);
    cudnnBackendDescriptor_t to = graph_tensor(graph, &y, GRAPH_OUTPUT, 0);
    graph_resample(graph, modes[primitive->algorithm].mode, modes[primitive->algorithm].padding,
                   &window, from, to);
}

static int64_t product(const struct cm_tensor *tensor, int from, int to) {
    int64_t n = 1;
    for (int i = from; i < to && i < tensor->rank; i++) n *= tensor->dims[i];
    return n;
}

/* Sets [rows, columns, 1, 1], channels-last, which the norm and reduction engines require. */
static void rows_of(struct graph_shape *shape, int64_t rows, int64_t columns) {
    shape->rank = 4;
    shape->dims[0] = rows;
    shape->dims[1] = columns;
    shape->dims[2] = shape->dims[3] = 1;
    graph_shape_pack(shape, GRAPH_CHANNELS_LAST);
}

/* Returns an operand with one element per channel or column; NULL if absent. */
static cudnnBackendDescriptor_t vector(struct graph *graph, const struct graph_job *job,
                                       int which, int64_t n, const struct graph_shape *like,
                                       enum graph_order order) {
    const struct cm_primitive *primitive = job->primitive;
    struct graph_shape shape;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    if (which >= primitive->n_inputs) return NULL;
    const struct cm_tensor *tensor = &primitive->inputs[which];
    if (product(tensor, 0, tensor->rank) != n || !graph_type(tensor->element, &type)) {
        graph_fail(graph, CM_BACKEND_REFUSED,
                   "an operand of the norm must have one element per channel");
        return NULL;
    }
    graph_shape_channels(like, n, type, order, &shape);
    return graph_tensor(graph, &shape, GRAPH_INPUT, which);
}

static void normalize(struct graph *graph, const struct graph_job *job,
                      cudnnBackendNormMode_t mode, const struct graph_shape *shape,
                      enum graph_order order) {
    struct graph_shape out = *shape;
    if (!graph_type(job->primitive->outputs[0].element, &out.type)) {
        refuse_element(graph);
        return;
    }
    struct graph_norm norm = {.mode = mode};
    norm.x = graph_tensor(graph, shape, GRAPH_INPUT, 0);
    norm.scale = vector(graph, job, 1, shape->dims[1], shape, order);
    norm.bias = vector(graph, job, 2, shape->dims[1], shape, order);
    norm.epsilon = graph_value(graph, shape->rank, (float)job->primitive->epsilon);
    norm.y = graph_tensor(graph, &out, GRAPH_OUTPUT, 0);
    graph_normalize(graph, &norm);
}

/* Normalizes rows: the dims from `axis` on are the columns. */
static void normalize_rows(struct graph *graph, const struct graph_job *job,
                           cudnnBackendNormMode_t mode) {
    const struct cm_tensor *x = &job->primitive->inputs[0];
    struct graph_shape shape;
    const int axis = job->primitive->axis;
    if (axis < 0 || axis >= x->rank || graph_order_of(x, false) != GRAPH_ROWS ||
        !graph_shape_of(x, &shape)) {
        refuse_element(graph);
        return;
    }
    rows_of(&shape, product(x, 0, axis), product(x, axis, x->rank));
    normalize(graph, job, mode, &shape, GRAPH_CHANNELS_LAST);
}

static void normalize_images(struct graph *graph, const struct graph_job *job) {
    const struct cm_tensor *x = &job->primitive->inputs[0];
    const enum graph_order order = graph_order_of(x, job->prefer_last);
    struct graph_shape shape;
    if (graph_shape_image(x, order, &shape))
        normalize(graph, job, CUDNN_INSTANCE_NORM, &shape, order);
    else
        refuse_element(graph);
}

/* Sets the shape of an image with three dims: row-major [N, C, S], channels-last [1, N * S, C].
 * `vectors`: shape of an operand with one element per channel. */
static void image_3d(const struct cm_tensor *x, enum graph_order order, int64_t channels,
                     struct graph_shape *shape, struct graph_shape *vectors) {
    const int64_t inner = product(x, 2, x->rank);
    if (order == GRAPH_CHANNELS_LAST) {
        graph_shape_3d(shape, 1, x->dims[0] * inner, channels);
        graph_shape_3d(vectors, 1, 1, channels);
    } else {
        graph_shape_3d(shape, x->dims[0], channels, inner);
        graph_shape_3d(vectors, 1, channels, 1);
    }
}

struct statistics {
    struct graph *graph;
    struct graph_shape vectors;      /* one element per channel */
    struct graph_shape intermediate; /* results, in the shape of the image */
};

static cudnnBackendDescriptor_t apply(const struct statistics *from, cudnnPointwiseMode_t mode,
                                      cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t b,
                                      cudnnBackendDescriptor_t y) {
    const struct graph_pointwise point = {
        .mode = mode,
        .x = x,
        .b = b,
        .y = y != NULL ? y : graph_tensor(from->graph, &from->intermediate, GRAPH_VIRTUAL, 0)};
    graph_point(from->graph, &point);
    return point.y;
}

/*
 * y = (x - mean) / sqrt(variance + epsilon) * scale + shift as pointwise operations, because no
 * engine supports the norm operation for the inference of batch norms. A runtime computes 1 /
 * sqrt(...) once per channel at load time, so the variance operand is used as that factor.
 */
static void normalize_batch(struct graph *graph, const struct graph_job *job) {
    enum { SCALE = 1, SHIFT, MEAN, VARIANCE };
    static const struct {
        int operand;
        cudnnPointwiseMode_t mode;
    } steps[] = {{MEAN, CUDNN_POINTWISE_SUB},
                 {VARIANCE, CUDNN_POINTWISE_MUL},
                 {SCALE, CUDNN_POINTWISE_MUL},
                 {SHIFT, CUDNN_POINTWISE_ADD}};
    const struct cm_primitive *primitive = job->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    const enum graph_order order = graph_order_of(x, job->prefer_last && x->rank > 2);
    struct statistics from = {.graph = graph};
    struct graph_shape shape;
    struct graph_shape out;
    if (primitive->n_inputs <= VARIANCE || x->rank < 2 || order == GRAPH_STRIDED ||
        !graph_shape_of(x, &shape) || !graph_shape_of(&primitive->outputs[0], &out)) {
        refuse_element(graph);
        return;
    }
    image_3d(x, order, x->dims[1], &shape, &from.vectors);
    from.intermediate = shape;
    from.intermediate.type = CUDNN_DATA_FLOAT;
    graph_shape_3d(&out, shape.dims[0], shape.dims[1], shape.dims[2]);
    cudnnBackendDescriptor_t value = graph_tensor(graph, &shape, GRAPH_INPUT, 0);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        const struct cm_tensor *operand = &primitive->inputs[steps[i].operand];
        const bool last = i + 1 == sizeof(steps) / sizeof(steps[0]);
        if (product(operand, 0, operand->rank) != x->dims[1] ||
            !graph_type(operand->element, &from.vectors.type)) {
            refuse_element(graph);
            return;
        }
        cudnnBackendDescriptor_t other =
            graph_tensor(graph, &from.vectors, GRAPH_INPUT, steps[i].operand);
        cudnnBackendDescriptor_t y = last ? graph_tensor(graph, &out, GRAPH_OUTPUT, 0) : NULL;
        value = apply(&from, steps[i].mode, value, other, y);
    }
}

void graph_build_norm(struct graph *graph, const struct graph_job *job) {
    switch (job->primitive->algorithm) {
    case CM_NORM_BATCH:
        normalize_batch(graph, job);
        break;
    case CM_NORM_LAYER:
        normalize_rows(graph, job, CUDNN_LAYER_NORM);
        break;
    case CM_NORM_RMS:
        normalize_rows(graph, job, CUDNN_RMS_NORM);
        break;
    case CM_NORM_INSTANCE:
        normalize_images(graph, job);
        break;
    default:
        graph_fail(graph, CM_BACKEND_REFUSED, "no cuDNN engine supports this norm");
    }
}

void graph_build_reduction(struct graph *graph, const struct graph_job *job) {
    static const struct {
        bool known;
        cudnnReduceTensorOp_t operator;
    } operators[CM_N_ALGORITHMS] = {
        [CM_REDUCE_SUM] = {true, CUDNN_REDUCE_TENSOR_ADD},
        [CM_REDUCE_MEAN] = {true, CUDNN_REDUCE_TENSOR_AVG},
        [CM_REDUCE_MAX] = {true, CUDNN_REDUCE_TENSOR_MAX},
        [CM_REDUCE_MIN] = {true, CUDNN_REDUCE_TENSOR_MIN},
        [CM_REDUCE_PRODUCT] = {true, CUDNN_REDUCE_TENSOR_MUL},
        [CM_REDUCE_L1] = {true, CUDNN_REDUCE_TENSOR_NORM1},
        [CM_REDUCE_L2] = {true, CUDNN_REDUCE_TENSOR_NORM2},
    };
    const struct cm_primitive *primitive = job->primitive;
    const struct cm_tensor *const both[] = {&primitive->inputs[0], &primitive->outputs[0]};
    struct graph_shape x;
    struct graph_shape y;
    struct coalesced coalesced;
    if (!operators[primitive->algorithm].known || !graph_shape_of(both[0], &x) ||
        !graph_shape_of(both[1], &y) || graph_order_of(both[0], false) != GRAPH_ROWS ||
        !coalesce_dims(both, 2, both[0], &coalesced)) {
        refuse_element(graph);
        return;
    }
    const int last = coalesced.rank - 1;
    if (coalesced.rank > 2 || coalesced.operand_dims[1][last] != 1 ||
        (coalesced.rank == 2 && coalesced.operand_dims[1][0] != coalesced.dims[0])) {
        graph_fail(graph, CM_BACKEND_REFUSED, "the cuDNN engines reduce trailing dims only");
        return;
    }
    rows_of(&x, coalesced.rank == 2 ? coalesced.dims[0] : 1, coalesced.dims[last]);
    rows_of(&y, coalesced.rank == 2 ? coalesced.dims[0] : 1, 1);
    cudnnBackendDescriptor_t from = graph_tensor(graph, &x, GRAPH_INPUT, 0);
    cudnnBackendDescriptor_t to = graph_tensor(graph, &y, GRAPH_OUTPUT, 0);
    graph_reduce(graph, operators[primitive->algorithm].operator, from, to);
}

void graph_build_softmax(struct graph *graph, const struct graph_job *job) {
    const struct cm_primitive *primitive = job->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    struct graph_shape from;
    struct graph_shape to;
    if (primitive->algorithm != CM_SOFTMAX_PLAIN || primitive->axis < 0 ||
        primitive->axis >= x->rank || product(x, primitive->axis + 1, x->rank) != 1) {
        graph_fail(
            graph, CM_BACKEND_REFUSED,
            "the cuDNN engines support softmax along the last dim only, without a logarithm");
        return;
    }
    if (!graph_shape_of(x, &from) || !graph_shape_of(&primitive->outputs[0], &to)) {
        refuse_element(graph);
        return;
    }
    from.rank = to.rank = 4;
    from.dims[0] = from.dims[1] = to.dims[0] = to.dims[1] = 1;
    from.dims[2] = to.dims[2] = product(x, 0, primitive->axis);
    from.dims[3] = to.dims[3] = x->dims[primitive->axis];
    graph_shape_pack(&from, GRAPH_ROWS);
    graph_shape_pack(&to, GRAPH_ROWS);
    cudnnBackendDescriptor_t in = graph_tensor(graph, &from, GRAPH_INPUT, 0);
    graph_softmax(graph, in, graph_tensor(graph, &to, GRAPH_OUTPUT, 0));
}
