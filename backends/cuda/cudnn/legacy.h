/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuDNN's older calls, one for each kind of layer: precompiled, for any layout, and for some
 * layers (recurrent ones) all that there is. Each needs a handle, so a device.
 */
#ifndef BACKENDS_CUDA_CUDNN_LEGACY_H
#define BACKENDS_CUDA_CUDNN_LEGACY_H

#include "backends/cuda/provider.h"

struct legacy {
    const struct cm_device *device;
    const struct cm_primitive *primitive; /* valid while it is built */
    cudnnTensorDescriptor_t x, y, more;   /* `more`: statistics, a bias, states */
    cudnnLRNDescriptor_t lrn;
    cudnnPoolingDescriptor_t pooling;
    cudnnReduceTensorDescriptor_t reduction;
    cudnnFilterDescriptor_t filter;
    cudnnConvolutionDescriptor_t convolution;
    cudnnRNNDescriptor_t rnn;
    cudnnRNNDataDescriptor_t rnn_x, rnn_y;
    cudnnDropoutDescriptor_t dropout;
    cudnnStatus_t (*run)(const struct legacy *legacy, const struct cuda_operands *operands);
    int32_t algorithm; /* of the primitive */
    int32_t n_inputs;
    double epsilon;
    bool in_double; /* scales are doubles */
    cudnnConvolutionFwdAlgoPerf_t chosen;
    int64_t workspace_bytes;
    int64_t weight_bytes; /* rnn: at the begin of the workspace */
    int64_t result_bytes; /* rnn: behind them, where the whole result is no operand; else 0 */
};

/* Builders: they leave what cuDNN says; CUDNN_STATUS_NOT_SUPPORTED too where it is not even
 * asked. `candidate`: of convolutions alone there are several. */
typedef cudnnStatus_t legacy_builder(struct legacy *legacy, int32_t candidate);
legacy_builder legacy_softmax, legacy_reduce, legacy_pool, legacy_norm, legacy_conv, legacy_rnn;

cudnnStatus_t legacy_type(int32_t element, cudnnDataType_t *ret);
/* A descriptor of at least four dims. */
cudnnStatus_t legacy_tensor(const struct legacy *legacy, const struct cm_tensor *tensor,
                            cudnnTensorDescriptor_t *ret);
/* The scale 1 or 0 that results are blended with. */
const void *legacy_scale(const struct legacy *legacy, int value);

static inline void *legacy_pointer(CUdeviceptr address) {
    return (void *)(uintptr_t)address; /* the driver's are numbers, cuDNN's are pointers */
}

#endif
