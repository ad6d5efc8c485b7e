/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which each kind of primitive is tried. */
#include "backends/cuda/cudnn/graph_build.h"

#include "support/banned.h"

#define MOST_WAYS 4

/* clang-format off */
static const struct graph_way ways[CM_N_PRIMITIVES][MOST_WAYS + 1] = {
    [CM_CONV] = {
        {{graph_build_convolution}, GRAPH_FITS_ALL, NULL},
        {{graph_build_convolution_alone, graph_build_channel_biases}, GRAPH_FITS_BIAS,
         "biases apart"},
    },
    [CM_DECONV] = {
        {{graph_build_convolution}, GRAPH_FITS_ALL, NULL},
        {{graph_build_convolution_alone, graph_build_channel_biases}, GRAPH_FITS_BIAS,
         "biases apart"},
    },
    [CM_GEMM] = {
        {{graph_build_product}, GRAPH_FITS_ALL, NULL},
        {{graph_build_product_alone, graph_build_addend}, GRAPH_FITS_BIAS, "addend apart"},
        {{graph_build_product_convolution}, GRAPH_FITS_NO_BIAS, "as a 1x1 convolution"},
        {{graph_build_product_convolution, graph_build_addend}, GRAPH_FITS_BIAS,
         "as a 1x1 convolution, addend apart"},
    },
    [CM_POOL] = {{{graph_build_pool}, GRAPH_FITS_ALL, NULL}},
    [CM_NORM] = {{{graph_build_norm}, GRAPH_FITS_ALL, NULL}},
    [CM_ELTWISE] = {{{graph_build_functions}, GRAPH_FITS_ALL, NULL}},
    [CM_SOFTMAX] = {{{graph_build_softmax}, GRAPH_FITS_ALL, NULL}},
    [CM_REDUCE] = {{{graph_build_reduction}, GRAPH_FITS_ALL, NULL}},
    [CM_ATTENTION] = {{{graph_build_attention}, GRAPH_FITS_ALL, NULL}},
};
/* clang-format on */

const struct graph_way *graph_ways(int32_t kind) {
    return ways[kind > CM_PRIMITIVE_NONE && kind < CM_N_PRIMITIVES ? kind : CM_PRIMITIVE_NONE];
}

cudnnDataType_t graph_compute_type(int32_t element) {
    if (element == CM_F64) return CUDNN_DATA_DOUBLE;
    return element == CM_I8 || element == CM_U8 ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
}

cudnnDataType_t graph_between_type(cudnnDataType_t compute) {
    return compute == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

bool graph_has_bias(const struct cm_primitive *primitive) {
    return primitive->n_inputs > 2;
}
