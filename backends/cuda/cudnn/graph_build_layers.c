/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the graphs of elementwise chains, pools, norms, reductions and softmax. */
#include "backends/cuda/cudnn/graph_build.h"

#include <string.h>

#include "backends/coalesce_dims.h"
#include "backends/primitive.h"

/* Values in cudnn_graph_v9.h of cuDNN 9.21: the oldest supported headers lack their names. An
 * older library refuses them. */
#define OPERATION_SOFTMAX ((cudnnBackendDescriptorType_t)45)
#define SOFTMAX_X         ((cudnnBackendAttributeName_t)3100)
#define SOFTMAX_Y         ((cudnnBackendAttributeName_t)3101)

static void refuse_element(struct graph *graph) {
    graph_fail(graph, CM_BACKEND_REFUSED, "shape or data type not supported by cuDNN");
}

/* Sets data type, dims and strides, with leading dims of 1 up to `rank`. */
static bool read_wide(const struct cm_tensor *tensor, int rank, struct graph_shape *ret) {
    if (tensor->rank > rank) return false;
    const struct cm_tensor wide = graph_shape_widen(tensor, rank);
    const bool known = graph_shape_of(&wide, ret);
    memcpy(ret->strides, wide.strides, sizeof(ret->strides));
    return known;
}

void graph_build_functions(struct graph *graph, const struct graph_job *job) {
    const struct cm_primitive *primitive = job->primitive;
    const int rank = primitive->outputs[0].rank;
    struct graph_chain chain = {.graph = graph, .primitive = primitive};
    if (!graph_chain_count(&chain, 0, GRAPH_STEPS)) return;
    bool known = read_wide(&primitive->outputs[0], rank, &chain.result);
    for (int i = 0; i < primitive->n_inputs && known; i++)
        known = read_wide(&primitive->inputs[i], rank, &chain.operands[i]);
    if (!known) {
        graph_fail(graph, CM_BACKEND_REFUSED, "data type not supported by cuDNN");
        return;
    }
    if (!graph_chain_coalesce(&chain)) return;
    chain.value = graph_chain_input(&chain, 0);
    graph_chain_tail(&chain, GRAPH_STEPS);
}

static void resample(struct graph *graph, cudnnResampleMode_t mode, cudnnPaddingMode_t padding,
                     const struct cm_window *window, cudnnBackendDescriptor_t x,
                     cudnnBackendDescriptor_t y) {
    const int64_t *const from[] = {window->kernel, window->strides, window->pads_begin,
                                   window->pads_end};
    cudnnFraction_t fractions[4][CM_MAX_SPATIAL]; /* cuDNN requires fractions */
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    const int64_t n = window->n_spatial;
    for (int i = 0; i < 4 * n; i++)
        fractions[i / n][i % n] = (cudnnFraction_t){from[i / n][i % n], 1};
    const struct graph_attribute attributes[] = {
        {CUDNN_ATTR_RESAMPLE_MODE, CUDNN_TYPE_RESAMPLE_MODE, 1, &mode},
        {CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute},
        {CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_TYPE_PADDING_MODE, 1, &padding},
        {CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &n},
        {CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, CUDNN_TYPE_FRACTION, n, fractions[0]},
        {CUDNN_ATTR_RESAMPLE_STRIDES, CUDNN_TYPE_FRACTION, n, fractions[1]},
        {CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, CUDNN_TYPE_FRACTION, n, fractions[2]},
        {CUDNN_ATTR_RESAMPLE_POST_PADDINGS, CUDNN_TYPE_FRACTION, n, fractions[3]},
        {0},
    };
    const cudnnBackendDescriptor_t how = graph_describe(
        graph, CUDNN_BACKEND_RESAMPLE_DESCRIPTOR, "the window of the pool", attributes);
    const struct graph_attribute operation[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, how),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, x),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, y),
        {0},
    };
    graph_add(graph, CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR, "the pool", operation);
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
    resample(graph, modes[primitive->algorithm].mode, modes[primitive->algorithm].padding,
             &window, from, to);
}

/* Returns [rows, columns, 1, 1], channels-last: norm and reduction engines require it. */
static struct graph_shape rows_of(cudnnDataType_t type, int64_t rows, int64_t columns) {
    return graph_shape_packed(type, GRAPH_CHANNELS_LAST, 4, (int64_t[]){rows, columns, 1, 1});
}

/* Returns operand `which`, with one element per channel or column of x; NULL if absent. */
static cudnnBackendDescriptor_t vector(struct graph *graph,
                                       const struct cm_primitive *primitive, int which,
                                       const struct graph_shape *x, enum graph_order order) {
    const int64_t n = x->dims[1];
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    if (which >= primitive->n_inputs) return NULL;
    const struct cm_tensor *tensor = &primitive->inputs[which];
    if (primitive_elements(tensor) != n || !graph_type(tensor->element, &type)) {
        graph_fail(graph, CM_BACKEND_REFUSED,
                   "an operand of the norm must have one element per channel");
        return NULL;
    }
    const struct graph_shape shape =
        graph_shape_packed(type, order, x->rank, (int64_t[]){1, n, 1, 1, 1});
    return graph_tensor(graph, &shape, GRAPH_INPUT, which);
}

static void normalize(struct graph *graph, const struct cm_primitive *primitive,
                      cudnnBackendNormMode_t mode, const struct graph_shape *shape,
                      enum graph_order order) {
    const cudnnBackendNormFwdPhase_t phase = CUDNN_NORM_FWD_INFERENCE;
    struct graph_shape out = *shape;
    if (!graph_type(primitive->outputs[0].element, &out.type)) {
        refuse_element(graph);
        return;
    }
    const cudnnBackendDescriptor_t x = graph_tensor(graph, shape, GRAPH_INPUT, 0);
    const cudnnBackendDescriptor_t scale = vector(graph, primitive, 1, shape, order);
    const cudnnBackendDescriptor_t bias = vector(graph, primitive, 2, shape, order);
    const cudnnBackendDescriptor_t epsilon =
        graph_value(graph, shape->rank, (float)primitive->epsilon);
    const cudnnBackendDescriptor_t y = graph_tensor(graph, &out, GRAPH_OUTPUT, 0);
    const struct graph_attribute operation[] = {
        {CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, 1, &mode},
        {CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, 1, &phase},
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, x),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, scale),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, bias),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, epsilon),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, y),
        {0},
    };
    graph_add(graph, CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, "the norm", operation);
}

/* Normalizes rows: the dims from `axis` on are the columns. */
static void normalize_rows(struct graph *graph, const struct cm_primitive *primitive,
                           cudnnBackendNormMode_t mode) {
    const struct cm_tensor *x = &primitive->inputs[0];
    const int axis = primitive->axis;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    if (axis < 0 || axis >= x->rank || graph_order_of(x, false) != GRAPH_ROWS ||
        !graph_type(x->element, &type)) {
        refuse_element(graph);
        return;
    }
    const struct graph_shape shape = rows_of(type, primitive_elements_of(x, 0, axis),
                                             primitive_elements_of(x, axis, x->rank));
    normalize(graph, primitive, mode, &shape, GRAPH_CHANNELS_LAST);
}

/* y = (x - mean) / sqrt(variance + epsilon) * scale + shift as pointwise operations, because no
 * engine supports the norm operation for the inference of batch norms. A runtime computes 1 /
 * sqrt(...) once per channel at load time, so the variance operand is used as this factor. The
 * image has three dims: row-major [N, C, S], channels-last [1, N * S, C]. */
static void normalize_batch(struct graph *graph, const struct cm_primitive *primitive,
                            enum graph_order order) {
    enum { SCALE = 1, SHIFT, MEAN, VARIANCE };
    static const struct {
        int operand;
        cudnnPointwiseMode_t mode;
    } steps[] = {{MEAN, CUDNN_POINTWISE_SUB},
                 {VARIANCE, CUDNN_POINTWISE_MUL},
                 {SCALE, CUDNN_POINTWISE_MUL},
                 {SHIFT, CUDNN_POINTWISE_ADD}};
    const struct cm_tensor *x = &primitive->inputs[0];
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    cudnnDataType_t out = CUDNN_DATA_FLOAT;
    if (primitive->n_inputs <= VARIANCE || x->rank < 2 || order == GRAPH_STRIDED ||
        !graph_type(x->element, &type) || !graph_type(primitive->outputs[0].element, &out)) {
        refuse_element(graph);
        return;
    }
    const bool last = order == GRAPH_CHANNELS_LAST;
    const int64_t c = x->dims[1];
    const int64_t inner = primitive_elements_of(x, 2, x->rank);
    const int64_t rows[] = {x->dims[0], c, inner};
    const int64_t columns[] = {1, x->dims[0] * inner, c};
    struct graph_shape image = graph_shape_packed(type, GRAPH_ROWS, 3, last ? columns : rows);
    struct graph_shape channels =
        graph_shape_packed(type, GRAPH_ROWS, 3, (int64_t[]){1, last ? 1 : c, last ? c : 1});
    cudnnBackendDescriptor_t value = graph_tensor(graph, &image, GRAPH_INPUT, 0);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        const struct cm_tensor *operand = &primitive->inputs[steps[i].operand];
        const bool ends = i + 1 == sizeof(steps) / sizeof(steps[0]);
        if (primitive_elements(operand) != c || !graph_type(operand->element, &channels.type)) {
            refuse_element(graph);
            return;
        }
        struct graph_pointwise point = {.mode = steps[i].mode, .x = value};
        point.b = graph_tensor(graph, &channels, GRAPH_INPUT, steps[i].operand);
        image.type = ends ? out : CUDNN_DATA_FLOAT;
        point.y = graph_tensor(graph, &image, ends ? GRAPH_OUTPUT : GRAPH_VIRTUAL, 0);
        graph_point(graph, &point);
        value = point.y;
    }
}

void graph_build_norm(struct graph *graph, const struct graph_job *job) {
    const struct cm_primitive *primitive = job->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    const enum graph_order order = graph_order_of(x, job->prefer_last && x->rank > 2);
    struct graph_shape image;
    switch (primitive->algorithm) {
    case CM_NORM_BATCH:
        normalize_batch(graph, primitive, order);
        break;
    case CM_NORM_LAYER:
        normalize_rows(graph, primitive, CUDNN_LAYER_NORM);
        break;
    case CM_NORM_RMS:
        normalize_rows(graph, primitive, CUDNN_RMS_NORM);
        break;
    case CM_NORM_INSTANCE:
        if (graph_shape_image(x, order, &image))
            normalize(graph, primitive, CUDNN_INSTANCE_NORM, &image, order);
        else
            refuse_element(graph);
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
    cudnnDataType_t x_type = CUDNN_DATA_FLOAT;
    cudnnDataType_t y_type = CUDNN_DATA_FLOAT;
    struct coalesced coalesced;
    if (!operators[primitive->algorithm].known || !graph_type(both[0]->element, &x_type) ||
        !graph_type(both[1]->element, &y_type) ||
        graph_order_of(both[0], false) != GRAPH_ROWS ||
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
    const int64_t n_rows = coalesced.rank == 2 ? coalesced.dims[0] : 1;
    const struct graph_shape x = rows_of(x_type, n_rows, coalesced.dims[last]);
    const struct graph_shape y = rows_of(y_type, n_rows, 1);
    cudnnBackendDescriptor_t from = graph_tensor(graph, &x, GRAPH_INPUT, 0);
    cudnnBackendDescriptor_t to = graph_tensor(graph, &y, GRAPH_OUTPUT, 0);
    graph_reduce(graph, operators[primitive->algorithm].operator, from, to);
}

void graph_build_softmax(struct graph *graph, const struct graph_job *job) {
    const struct cm_primitive *primitive = job->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    const int axis = primitive->axis;
    cudnnDataType_t x_type = CUDNN_DATA_FLOAT;
    cudnnDataType_t y_type = CUDNN_DATA_FLOAT;
    if (primitive->algorithm != CM_SOFTMAX_PLAIN || axis < 0 || axis >= x->rank ||
        primitive_elements_of(x, axis + 1, x->rank) != 1) {
        graph_fail(
            graph, CM_BACKEND_REFUSED,
            "the cuDNN engines support softmax along the last dim only, without a logarithm");
        return;
    }
    if (!graph_type(x->element, &x_type) ||
        !graph_type(primitive->outputs[0].element, &y_type)) {
        refuse_element(graph);
        return;
    }
    const int64_t dims[] = {1, 1, primitive_elements_of(x, 0, axis), x->dims[axis]};
    const struct graph_shape from = graph_shape_packed(x_type, GRAPH_ROWS, 4, dims);
    const struct graph_shape to = graph_shape_packed(y_type, GRAPH_ROWS, 4, dims);
    const cudnnBackendDescriptor_t in = graph_tensor(graph, &from, GRAPH_INPUT, 0);
    const cudnnBackendDescriptor_t out = graph_tensor(graph, &to, GRAPH_OUTPUT, 0);
    const struct graph_attribute operation[] = {
        GRAPH_DESCRIPTOR(SOFTMAX_X, in),
        GRAPH_DESCRIPTOR(SOFTMAX_Y, out),
        {0},
    };
    graph_add(graph, OPERATION_SOFTMAX, "the softmax", operation);
}
