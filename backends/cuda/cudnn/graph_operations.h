/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN's operations: each function adds one to a graph. */
#ifndef BACKENDS_CUDA_CUDNN_GRAPH_OPERATIONS_H
#define BACKENDS_CUDA_CUDNN_GRAPH_OPERATIONS_H

#include "backends/cuda/cudnn/graph.h"

/* Convolution of x with w; `backward`: a transposed convolution. */
struct graph_convolution {
    bool backward;
    cudnnDataType_t compute;
    const struct cm_window *window;
    cudnnBackendDescriptor_t x, w, y;
};
void graph_convolve(struct graph *graph, const struct graph_convolution *convolution);

/* y = mode(x, b); a selection: y = t ? x : b. b and t may be NULL. Limits, `alpha` and `axis`
 * apply only to the modes that use them. */
struct graph_pointwise {
    cudnnPointwiseMode_t mode;
    cudnnDataType_t compute; /* the default 0 is CUDNN_DATA_FLOAT */
    cudnnBackendDescriptor_t x, b, t, y;
    bool has_limits; /* relu: slope below `low`, clipped at `high` */
    double low, high, slope;
    double alpha; /* elu, swish */
    int64_t axis; /* axis of CUDNN_POINTWISE_GEN_INDEX */
};
void graph_point(struct graph *graph, const struct graph_pointwise *pointwise);

/* y [B, M, N] = a [B, M, K] * b [B, K, N] */
void graph_multiply(struct graph *graph, cudnnBackendDescriptor_t a, cudnnBackendDescriptor_t b,
                    cudnnBackendDescriptor_t y, cudnnDataType_t compute);

void graph_reduce(struct graph *graph, cudnnReduceTensorOp_t operator,
                  cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t y);

#endif
