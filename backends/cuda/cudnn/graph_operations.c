/* SPDX-License-Identifier: Apache-2.0 */
/* Describes operations by the attributes of cuDNN's backend API. */
#include "backends/cuda/cudnn/graph_operations.h"

#include "support/banned.h"

/* Values in cudnn_graph_v9.h of cuDNN 9.21: the oldest supported headers lack their names. An
 * older library refuses them. */
#define OPERATION_ATTENTION ((cudnnBackendDescriptorType_t)41)
#define ATTENTION_Q         ((cudnnBackendAttributeName_t)2800)
#define ATTENTION_K         ((cudnnBackendAttributeName_t)2801)
#define ATTENTION_V         ((cudnnBackendAttributeName_t)2802)
#define ATTENTION_Y         ((cudnnBackendAttributeName_t)2803)
#define ATTENTION_SCALE     ((cudnnBackendAttributeName_t)2805)
#define OPERATION_SOFTMAX   ((cudnnBackendDescriptorType_t)45)
#define SOFTMAX_X           ((cudnnBackendAttributeName_t)3100)
#define SOFTMAX_Y           ((cudnnBackendAttributeName_t)3101)

static cudnnBackendDescriptor_t describe_convolution(struct graph *graph,
                                                     const struct graph_convolution *from) {
    const struct cm_window *window = from->window;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const int64_t n = window->n_spatial;
    cudnnBackendDescriptor_t ret = graph_make(graph, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    graph_set(graph, ret, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
              &from->compute);
    graph_set(graph, ret, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1,
              &mode);
    graph_set(graph, ret, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &n);
    graph_set(graph, ret, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, n,
              window->pads_begin);
    graph_set(graph, ret, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, n,
              window->pads_end);
    graph_set(graph, ret, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, n,
              window->strides);
    graph_set(graph, ret, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, n,
              window->dilations);
    graph_finalize(graph, ret, "the window of the convolution");
    return ret;
}

void graph_convolve(struct graph *graph, const struct graph_convolution *from) {
    const float one = 1;
    const float zero = 0;
    const bool back = from->backward;
    cudnnBackendDescriptor_t window = describe_convolution(graph, from);
    cudnnBackendDescriptor_t operation =
        graph_make(graph, back ? CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR
                               : CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    graph_set_descriptor(graph, operation,
                         back ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY
                              : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                         from->x);
    graph_set_descriptor(graph, operation,
                         back ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W
                              : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                         from->w);
    graph_set_descriptor(graph, operation,
                         back ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX
                              : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                         from->y);
    graph_set_descriptor(graph, operation,
                         back ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC
                              : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                         window);
    graph_set(graph, operation,
              back ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA
                   : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_TYPE_FLOAT, 1, &one);
    graph_set(graph, operation,
              back ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA
                   : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
              CUDNN_TYPE_FLOAT, 1, &zero);
    graph_add(graph, operation, "the convolution");
}

static cudnnBackendDescriptor_t describe_pointwise(struct graph *graph,
                                                   const struct graph_pointwise *from) {
    cudnnBackendDescriptor_t ret = graph_make(graph, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    graph_set(graph, ret, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &from->mode);
    graph_set(graph, ret, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1,
              &from->compute);
    if (from->has_limits) {
        graph_set(graph, ret, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, CUDNN_TYPE_DOUBLE, 1,
                  &from->low);
        graph_set(graph, ret, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE, 1,
                  &from->high);
        graph_set(graph, ret, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, CUDNN_TYPE_DOUBLE, 1,
                  &from->slope);
    }
    if (from->mode == CUDNN_POINTWISE_ELU_FWD)
        graph_set(graph, ret, CUDNN_ATTR_POINTWISE_ELU_ALPHA, CUDNN_TYPE_DOUBLE, 1,
                  &from->alpha);
    if (from->mode == CUDNN_POINTWISE_GEN_INDEX)
        graph_set(graph, ret, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &from->axis);
    if (from->mode == CUDNN_POINTWISE_SWISH_FWD)
        graph_set(graph, ret, CUDNN_ATTR_POINTWISE_SWISH_BETA, CUDNN_TYPE_DOUBLE, 1,
                  &from->alpha);
    graph_finalize(graph, ret, "the function");
    return ret;
}

void graph_point(struct graph *graph, const struct graph_pointwise *from) {
    cudnnBackendDescriptor_t function = describe_pointwise(graph, from);
    cudnnBackendDescriptor_t operation =
        graph_make(graph, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                         function);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from->x);
    if (from->b != NULL)
        graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, from->b);
    if (from->t != NULL)
        graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, from->t);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, from->y);
    graph_add(graph, operation, "the elementwise function");
}

void graph_multiply(struct graph *graph, cudnnBackendDescriptor_t a, cudnnBackendDescriptor_t b,
                    cudnnBackendDescriptor_t y, cudnnDataType_t compute) {
    cudnnBackendDescriptor_t product = graph_make(graph, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    graph_set(graph, product, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    graph_finalize(graph, product, "the element of the product");
    cudnnBackendDescriptor_t operation =
        graph_make(graph, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, y);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_MATMUL_DESC, product);
    graph_add(graph, operation, "the product");
}

void graph_reduce(struct graph *graph, cudnnReduceTensorOp_t operator,
                  cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t y) {
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    cudnnBackendDescriptor_t reduction = graph_make(graph, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    graph_set(graph, reduction, CUDNN_ATTR_REDUCTION_OPERATOR,
              CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &operator);
    graph_set(graph, reduction, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
              &compute);
    graph_finalize(graph, reduction, "the kind of reduction");
    cudnnBackendDescriptor_t operation =
        graph_make(graph, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
    graph_add(graph, operation, "the reduction");
}

/* Sets integers as the fractions that cuDNN requires for windows, strides and pads. */
static void set_whole(struct graph *graph, cudnnBackendDescriptor_t descriptor,
                      cudnnBackendAttributeName_t name, int n, const int64_t *values) {
    cudnnFraction_t fractions[CM_MAX_SPATIAL];
    for (int i = 0; i < n; i++) fractions[i] = (cudnnFraction_t){values[i], 1};
    graph_set(graph, descriptor, name, CUDNN_TYPE_FRACTION, n, fractions);
}

static cudnnBackendDescriptor_t describe_resample(struct graph *graph, cudnnResampleMode_t mode,
                                                  cudnnPaddingMode_t padding,
                                                  const struct cm_window *window) {
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    const int64_t n = window->n_spatial;
    cudnnBackendDescriptor_t ret = graph_make(graph, CUDNN_BACKEND_RESAMPLE_DESCRIPTOR);
    graph_set(graph, ret, CUDNN_ATTR_RESAMPLE_MODE, CUDNN_TYPE_RESAMPLE_MODE, 1, &mode);
    graph_set(graph, ret, CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    graph_set(graph, ret, CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_TYPE_PADDING_MODE, 1,
              &padding);
    graph_set(graph, ret, CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &n);
    set_whole(graph, ret, CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, (int)n, window->kernel);
    set_whole(graph, ret, CUDNN_ATTR_RESAMPLE_STRIDES, (int)n, window->strides);
    set_whole(graph, ret, CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, (int)n, window->pads_begin);
    set_whole(graph, ret, CUDNN_ATTR_RESAMPLE_POST_PADDINGS, (int)n, window->pads_end);
    graph_finalize(graph, ret, "the window of the pool");
    return ret;
}

void graph_resample(struct graph *graph, cudnnResampleMode_t mode, cudnnPaddingMode_t padding,
                    const struct cm_window *window, cudnnBackendDescriptor_t x,
                    cudnnBackendDescriptor_t y) {
    cudnnBackendDescriptor_t how = describe_resample(graph, mode, padding, window);
    cudnnBackendDescriptor_t operation =
        graph_make(graph, CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, how);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, x);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, y);
    graph_add(graph, operation, "the pool");
}

void graph_normalize(struct graph *graph, const struct graph_norm *from) {
    const cudnnBackendNormFwdPhase_t phase = CUDNN_NORM_FWD_INFERENCE;
    cudnnBackendDescriptor_t operation =
        graph_make(graph, CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
    graph_set(graph, operation, CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, 1,
              &from->mode);
    graph_set(graph, operation, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE,
              1, &phase);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, from->x);
    if (from->scale != NULL)
        graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC,
                             from->scale);
    if (from->bias != NULL)
        graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC,
                             from->bias);
    if (from->epsilon != NULL)
        graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC,
                             from->epsilon);
    graph_set_descriptor(graph, operation, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, from->y);
    graph_add(graph, operation, "the norm");
}

void graph_attend(struct graph *graph, const struct graph_attention *from) {
    cudnnBackendDescriptor_t operation = graph_make(graph, OPERATION_ATTENTION);
    graph_set_descriptor(graph, operation, ATTENTION_Q, from->q);
    graph_set_descriptor(graph, operation, ATTENTION_K, from->k);
    graph_set_descriptor(graph, operation, ATTENTION_V, from->v);
    graph_set_descriptor(graph, operation, ATTENTION_Y, from->y);
    graph_set_descriptor(graph, operation, ATTENTION_SCALE, from->scale);
    graph_add(graph, operation, "the attention");
}

void graph_softmax(struct graph *graph, cudnnBackendDescriptor_t x,
                   cudnnBackendDescriptor_t y) {
    cudnnBackendDescriptor_t operation = graph_make(graph, OPERATION_SOFTMAX);
    graph_set_descriptor(graph, operation, SOFTMAX_X, x);
    graph_set_descriptor(graph, operation, SOFTMAX_Y, y);
    graph_add(graph, operation, "the softmax");
}
