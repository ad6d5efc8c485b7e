/* SPDX-License-Identifier: Apache-2.0 */
/* Double of cuDNN's legacy calls: recurrent layers and LRN. */
#include <stdlib.h>
#include <string.h>

#include "handle.h"

#define EXPORT    __attribute__((visibility("default")))
#define WORKSPACE ((size_t)8192)
#define MAX_DIMS  8

struct cudnnTensorStruct {
    cudnnDataType_t type;
    size_t bytes; /* 0: not set */
};

struct cudnnLRNStruct {
    unsigned n; /* 0: not set */
};

struct cudnnDropoutStruct {
    bool set;
};

struct cudnnRNNStruct {
    cudnnDataType_t type;
    size_t size; /* of its weights in bytes; 0: not set */
    int32_t input, hidden, directions;
};

struct cudnnRNNDataStruct {
    cudnnDataType_t type;
    int length, batch, vector; /* length 0: not set */
};

#define OBJECT(name, type)                                                                     \
    EXPORT cudnnStatus_t cudnnCreate##name##Descriptor(type *ret) {                            \
        *ret = double_make("cudnn " #name, sizeof(**ret));                                     \
        return CUDNN_STATUS_SUCCESS;                                                           \
    }                                                                                          \
    EXPORT cudnnStatus_t cudnnDestroy##name##Descriptor(type object) {                         \
        double_drop("cudnn " #name, object, "cudnnDestroy" #name "Descriptor");                \
        return CUDNN_STATUS_SUCCESS;                                                           \
    }

OBJECT(Tensor, cudnnTensorDescriptor_t)
OBJECT(LRN, cudnnLRNDescriptor_t)
OBJECT(Dropout, cudnnDropoutDescriptor_t)
OBJECT(RNN, cudnnRNNDescriptor_t)
OBJECT(RNNData, cudnnRNNDataDescriptor_t)

EXPORT cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor,
                                                cudnnDataType_t type, int n, const int *dims,
                                                const int *strides) {
    size_t last = 0;
    if (n < 3 || n > MAX_DIMS) return handle_refuse(CUDNN_STATUS_BAD_PARAM, "rank");
    for (int i = 0; i < n; i++) {
        if (dims[i] < 1 || strides[i] < 1) return handle_refuse(CUDNN_STATUS_BAD_PARAM, "dims");
        last += (size_t)(dims[i] - 1) * (size_t)strides[i];
    }
    tensor->type = type;
    tensor->bytes = (last + 1) * handle_size_of(type);
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnSetLRNDescriptor(cudnnLRNDescriptor_t lrn, unsigned n, double alpha,
                                           double beta, double k) {
    (void)alpha;
    if (n < CUDNN_LRN_MIN_N || n > CUDNN_LRN_MAX_N || beta < CUDNN_LRN_MIN_BETA ||
        k < CUDNN_LRN_MIN_K)
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "lrn");
    lrn->n = n;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t launch(cudnnHandle_t handle, const struct double_launch *launch) {
    return double_launch(handle->stream, launch) == CUDA_SUCCESS
               ? CUDNN_STATUS_SUCCESS
               : CUDNN_STATUS_EXECUTION_FAILED;
}

static void add(struct double_launch *launch, const void *at, size_t bytes, bool writes) {
    double_add_access(launch, at, bytes, writes);
    if (launch->n_accesses == 1) launch->first = (uint64_t)(uintptr_t)at;
    if (launch->n_accesses == 2) launch->last = (uint64_t)(uintptr_t)at;
}

EXPORT cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t handle, cudnnLRNDescriptor_t lrn,
                                                 cudnnLRNMode_t mode, const void *alpha,
                                                 const cudnnTensorDescriptor_t x,
                                                 const void *at_x, const void *beta,
                                                 const cudnnTensorDescriptor_t y, void *at_y) {
    struct double_launch own = {.name = "lrn_double", .grid = 4, .block = 256};
    if (!double_is("cudnn handle", handle, "cudnnLRNCrossChannelForward") || alpha == NULL ||
        beta == NULL || lrn->n == 0 || mode != CUDNN_LRN_CROSS_CHANNEL_DIM1 || x->bytes == 0 ||
        x->bytes != y->bytes || x->type != y->type)
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "lrn");
    add(&own, at_x, x->bytes, false);
    add(&own, at_y, y->bytes, true);
    return launch(handle, &own);
}

EXPORT cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropout,
                                               cudnnHandle_t handle, float rate, void *states,
                                               size_t bytes, unsigned long long seed) {
    (void)states, (void)bytes, (void)seed;
    if (!double_is("cudnn handle", handle, "cudnnSetDropoutDescriptor") || rate != 0)
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "dropout");
    dropout->set = true;
    return CUDNN_STATUS_SUCCESS;
}

/* Math types by data type: "cudnnSetRNNDescriptor_v8()" in NVIDIA's cuDNN documentation. */
static bool is_math(cudnnDataType_t type, cudnnDataType_t precision, cudnnMathType_t math) {
    if (type == CUDNN_DATA_DOUBLE)
        return precision == CUDNN_DATA_DOUBLE && math == CUDNN_DEFAULT_MATH;
    if (precision != CUDNN_DATA_FLOAT) return false;
    if (type == CUDNN_DATA_FLOAT)
        return math == CUDNN_DEFAULT_MATH || math == CUDNN_FMA_MATH ||
               math == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION;
    return math == CUDNN_DEFAULT_MATH || math == CUDNN_TENSOR_OP_MATH;
}

EXPORT cudnnStatus_t cudnnSetRNNDescriptor_v8(
    cudnnRNNDescriptor_t rnn, cudnnRNNAlgo_t algorithm, cudnnRNNMode_t mode,
    cudnnRNNBiasMode_t bias, cudnnDirectionMode_t direction, cudnnRNNInputMode_t input_mode,
    cudnnDataType_t type, cudnnDataType_t precision, cudnnMathType_t math, int32_t input,
    int32_t hidden, int32_t projection, int32_t layers, cudnnDropoutDescriptor_t dropout,
    uint32_t flags) {
    const size_t gates = mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1;
    const size_t biases = bias == CUDNN_RNN_DOUBLE_BIAS ? 2 : 0;
    (void)flags;
    if (algorithm != CUDNN_RNN_ALGO_STANDARD || input_mode != CUDNN_LINEAR_INPUT ||
        !is_math(type, precision, math) || input < 1 || hidden < 1 || projection != hidden ||
        layers != 1 || !dropout->set)
        return handle_refuse(CUDNN_STATUS_NOT_SUPPORTED, "rnn");
    rnn->type = type;
    rnn->input = input;
    rnn->hidden = hidden;
    rnn->directions = direction == CUDNN_BIDIRECTIONAL ? 2 : 1;
    rnn->size = (size_t)rnn->directions * gates * (size_t)hidden *
                ((size_t)input + (size_t)hidden + biases) * handle_size_of(type);
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t data,
                                               cudnnDataType_t type,
                                               cudnnRNNDataLayout_t layout, int length,
                                               int batch, int vector, const int *lengths,
                                               void *fill) {
    (void)fill;
    if (layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED || length < 1 || batch < 1 ||
        vector < 1)
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "rnn data");
    for (int i = 0; i < batch; i++) /* packed: sorted, longest first */
        if (lengths[i] < 0 || lengths[i] > length || (i > 0 && lengths[i] > lengths[i - 1]))
            return handle_refuse(CUDNN_STATUS_BAD_PARAM, "lengths");
    *data = (struct cudnnRNNDataStruct){type, length, batch, vector};
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                                size_t *ret) {
    (void)handle;
    if (rnn->size == 0) return CUDNN_STATUS_BAD_PARAM;
    *ret = rnn->size;
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                               cudnnForwardMode_t mode,
                                               cudnnRNNDataDescriptor_t x, size_t *ret,
                                               size_t *ret_reserve) {
    (void)handle;
    if (rnn->size == 0 || x->length == 0 || mode != CUDNN_FWD_MODE_INFERENCE)
        return CUDNN_STATUS_BAD_PARAM;
    *ret = WORKSPACE;
    *ret_reserve = 0;
    return CUDNN_STATUS_SUCCESS;
}

static size_t bytes_of(const struct cudnnRNNDataStruct *data) {
    return (size_t)data->length * (size_t)data->batch * (size_t)data->vector *
           handle_size_of(data->type);
}

EXPORT cudnnStatus_t cudnnRNNForward(
    cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t mode,
    const int32_t *lengths, cudnnRNNDataDescriptor_t x, const void *at_x,
    cudnnRNNDataDescriptor_t y, void *at_y, cudnnTensorDescriptor_t h, const void *hx, void *hy,
    cudnnTensorDescriptor_t c, const void *cx, void *cy, size_t weight_bytes,
    const void *weights, size_t work_bytes, void *work, size_t reserve_bytes, void *reserve) {
    struct double_launch own = {.name = "rnn_double", .grid = 4, .block = 256};
    const size_t state = h->bytes;
    (void)lengths, (void)c, (void)reserve;
    if (!double_is("cudnn handle", handle, "cudnnRNNForward") || rnn->size == 0 ||
        mode != CUDNN_FWD_MODE_INFERENCE || x->vector != rnn->input ||
        y->vector != rnn->directions * rnn->hidden || x->length != y->length ||
        x->batch != y->batch || weight_bytes < rnn->size || work_bytes < WORKSPACE ||
        reserve_bytes != 0)
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "rnn");
    if (state != (size_t)rnn->directions * (size_t)x->batch * (size_t)rnn->hidden *
                     handle_size_of(rnn->type))
        return handle_refuse(CUDNN_STATUS_BAD_PARAM, "states");
    add(&own, at_x, bytes_of(x), false);
    add(&own, at_y, bytes_of(y), true);
    add(&own, weights, rnn->size, false);
    add(&own, work, WORKSPACE, true);
    if (hx != NULL) add(&own, hx, state, false);
    if (cx != NULL) add(&own, cx, state, false);
    if (hy != NULL) add(&own, hy, state, true);
    if (cy != NULL) add(&own, cy, state, true);
    return launch(handle, &own);
}
