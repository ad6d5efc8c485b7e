/* SPDX-License-Identifier: Apache-2.0 */
/* Providers of each kind of primitive, in the order in which they are tried. */
#include "backends/cuda/provider.h"

#include "support/banned.h"

#define MAX_PROVIDERS 4

/* A copy does not model arithmetic, so convolutions, products and the like have no proxy. */
static const struct cuda_provider *const table[CM_N_PRIMITIVES][MAX_PROVIDERS + 1] = {
    [CM_CONV] = {&cudnn_graph_provider},
    [CM_DECONV] = {&cudnn_graph_provider},
    [CM_GEMM] = {&cublaslt_provider, &cudnn_graph_provider},
    [CM_RNN] = {&legacy_provider},
    [CM_ATTENTION] = {&cudnn_graph_provider},
    [CM_POOL] = {&cudnn_graph_provider, &nvrtc_provider, &copy_proxy_provider},
    [CM_NORM] = {&cudnn_graph_provider, &legacy_provider, &nvrtc_provider,
                 &copy_proxy_provider},
    [CM_ELTWISE] = {&cudnn_graph_provider, &nvrtc_provider, &copy_proxy_provider},
    [CM_SOFTMAX] = {&cudnn_graph_provider, &nvrtc_provider, &copy_proxy_provider},
    [CM_REDUCE] = {&cudnn_graph_provider, &nvrtc_provider, &copy_proxy_provider},
    [CM_COPY] = {&nvrtc_provider, &copy_proxy_provider},
    [CM_GATHER] = {&nvrtc_provider, &copy_proxy_provider},
    [CM_SCATTER] = {&nvrtc_provider, &copy_proxy_provider},
    [CM_RESAMPLE] = {&nvrtc_provider, &copy_proxy_provider},
};

const struct cuda_provider *const *providers_for(int32_t kind) {
    return table[kind];
}
