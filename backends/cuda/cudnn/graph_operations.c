/* SPDX-License-Identifier: Apache-2.0 */
/* Describes operations by the attributes of cuDNN's backend API. */
#include "backends/cuda/cudnn/graph_operations.h"

#include <stddef.h>

#include "support/banned.h"

void graph_convolve(struct graph *graph, const struct graph_convolution *from) {
    const float one = 1;
    const float zero = 0;
    const struct cm_window *window = from->window;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const int64_t n = window->n_spatial;
    const struct graph_attribute attributes[] = {
        {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &from->compute},
        {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode},
        {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &n},
        {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, n, window->pads_begin},
        {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, n, window->pads_end},
        {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, n, window->strides},
        {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, n, window->dilations},
        {0},
    };
    const cudnnBackendDescriptor_t how =
        graph_describe(graph, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
                       "the window of the convolution", attributes);
    const struct graph_attribute forward[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, from->x),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, from->w),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, from->y),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how),
        {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero},
        {0},
    };
    const struct graph_attribute backward[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, from->x),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, from->w),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, from->y),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, how),
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT, 1, &one},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_TYPE_FLOAT, 1, &zero},
        {0},
    };
    if (from->backward)
        graph_add(graph, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                  "the convolution", backward);
    else
        graph_add(graph, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                  "the convolution", forward);
}

void graph_point(struct graph *graph, const struct graph_pointwise *from) {
    const cudnnPointwiseMode_t mode = from->mode;
    const bool limits = from->has_limits;
    const struct graph_attribute attributes[] = {
        {CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &from->mode},
        {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &from->compute},
        {CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, CUDNN_TYPE_DOUBLE, limits, &from->low},
        {CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE, limits, &from->high},
        {CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, CUDNN_TYPE_DOUBLE, limits, &from->slope},
        {CUDNN_ATTR_POINTWISE_ELU_ALPHA, CUDNN_TYPE_DOUBLE, mode == CUDNN_POINTWISE_ELU_FWD,
         &from->alpha},
        {CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, mode == CUDNN_POINTWISE_GEN_INDEX,
         &from->axis},
        {CUDNN_ATTR_POINTWISE_SWISH_BETA, CUDNN_TYPE_DOUBLE, mode == CUDNN_POINTWISE_SWISH_FWD,
         &from->alpha},
        {0},
    };
    const cudnnBackendDescriptor_t function =
        graph_describe(graph, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, "the function", attributes);
    const struct graph_attribute operation[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from->x),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, from->b),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, from->t),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, from->y),
        {0},
    };
    graph_add(graph, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "the elementwise function",
              operation);
}

void graph_multiply(struct graph *graph, cudnnBackendDescriptor_t a, cudnnBackendDescriptor_t b,
                    cudnnBackendDescriptor_t y, cudnnDataType_t compute) {
    const struct graph_attribute attributes[] = {
        {CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute},
        {0},
    };
    const cudnnBackendDescriptor_t product = graph_describe(
        graph, CUDNN_BACKEND_MATMUL_DESCRIPTOR, "the element of the product", attributes);
    const struct graph_attribute operation[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_MATMUL_CDESC, y),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_MATMUL_DESC, product),
        {0},
    };
    graph_add(graph, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, "the product", operation);
}

void graph_reduce(struct graph *graph, cudnnReduceTensorOp_t operator,
                  cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t y) {
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    const struct graph_attribute attributes[] = {{
        CUDNN_ATTR_REDUCTION_OPERATOR,
        CUDNN_TYPE_REDUCTION_OPERATOR_TYPE,
        1,
        &operator},
        {CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute},
        {0},
    };
    const cudnnBackendDescriptor_t reduction = graph_describe(
        graph, CUDNN_BACKEND_REDUCTION_DESCRIPTOR, "the kind of reduction", attributes);
    const struct graph_attribute operation[] = {
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x),
        GRAPH_DESCRIPTOR(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y),
        {0},
    };
    graph_add(graph, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, "the reduction", operation);
}
