/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recurrent layers. cuDNN wants all weights in one space of an order of its own, which no
 * operand has: they stand in the workspace, as large as they are, where cold executions find
 * them warm (docs/backends.md).
 */
#include <stdlib.h>

#include "backends/cuda/cudnn/legacy.h"
#include "backends/cuda/operands.h"
#include "support/checked.h"

#include "support/banned.h"

static cudnnStatus_t run_rnn(const struct legacy *legacy,
                             const struct cuda_operands *operands) {
    const CUdeviceptr result = operands->workspace + (CUdeviceptr)legacy->weight_bytes;
    const CUdeviceptr scratch = result + (CUdeviceptr)legacy->result_bytes;
    const CUdeviceptr y = legacy->result_bytes > 0 ? result : operands->outputs[0];
    return legacy->device->cudnn.cudnnRNNForward(
        legacy->device->cudnn_handle, legacy->rnn, CUDNN_FWD_MODE_INFERENCE, NULL,
        legacy->rnn_x, legacy_pointer(operands->inputs[0]), legacy->rnn_y, legacy_pointer(y),
        legacy->more, NULL, NULL, legacy->more, NULL, NULL, (size_t)legacy->weight_bytes,
        legacy_pointer(operands->workspace),
        (size_t)(legacy->workspace_bytes - legacy->weight_bytes - legacy->result_bytes),
        legacy_pointer(scratch), 0, NULL);
}

static cudnnStatus_t describe_cell(struct legacy *legacy, cudnnDataType_t type) {
    static const struct {
        int32_t algorithm;
        cudnnRNNMode_t mode;
    } modes[] = {{CM_RNN_TANH, CUDNN_RNN_TANH},
                 {CM_RNN_RELU, CUDNN_RNN_RELU},
                 {CM_RNN_LSTM, CUDNN_LSTM},
                 {CM_RNN_GRU, CUDNN_GRU}};
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    const struct cm_primitive *primitive = legacy->primitive;
    const bool strict =
        type == CUDNN_DATA_FLOAT && legacy->device->wishes.precision != CM_PRECISION_TF32;
    const bool with_bias = primitive->n_inputs > 3 && primitive->inputs[3].rank == 2;
    const int32_t hidden = (int32_t)primitive->hidden;
    size_t i = 0;
    while (i < sizeof(modes) / sizeof(modes[0]) && modes[i].algorithm != primitive->algorithm)
        i++;
    if (i == sizeof(modes) / sizeof(modes[0])) return CUDNN_STATUS_NOT_SUPPORTED;
    cudnnStatus_t status = api->cudnnCreateDropoutDescriptor(&legacy->dropout);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnSetDropoutDescriptor(legacy->dropout, legacy->device->cudnn_handle,
                                                0, NULL, 0, 0);
    if (status == CUDNN_STATUS_SUCCESS) status = api->cudnnCreateRNNDescriptor(&legacy->rnn);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    return api->cudnnSetRNNDescriptor_v8(
        legacy->rnn, CUDNN_RNN_ALGO_STANDARD, modes[i].mode,
        with_bias ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
        primitive->directions > 1 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
        CUDNN_LINEAR_INPUT, type, legacy->in_double ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
        strict ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH, (int32_t)primitive->inputs[0].dims[2],
        hidden, hidden, 1, legacy->dropout, CUDNN_RNN_PADDED_IO_DISABLED);
}

static cudnnStatus_t describe_data(const struct legacy *legacy, cudnnDataType_t type,
                                   int64_t size, cudnnRNNDataDescriptor_t *ret) {
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    const struct cm_tensor *x = &legacy->primitive->inputs[0];
    const int n = (int)x->dims[1];
    int *lengths = calloc((size_t)n, sizeof(*lengths));
    if (lengths == NULL) return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    for (int i = 0; i < n; i++) lengths[i] = (int)x->dims[0];
    cudnnStatus_t status = api->cudnnCreateRNNDataDescriptor(ret);
    if (status == CUDNN_STATUS_SUCCESS)
        status =
            api->cudnnSetRNNDataDescriptor(*ret, type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
                                           (int)x->dims[0], n, (int)size, lengths, NULL);
    free(lengths);
    return status;
}

static cudnnStatus_t measure_spaces(struct legacy *legacy) {
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    size_t weights = 0;
    size_t scratch = 0;
    size_t reserve = 0;
    cudnnStatus_t status =
        api->cudnnGetRNNWeightSpaceSize(legacy->device->cudnn_handle, legacy->rnn, &weights);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnGetRNNTempSpaceSizes(legacy->device->cudnn_handle, legacy->rnn,
                                                CUDNN_FWD_MODE_INFERENCE, legacy->rnn_x,
                                                &scratch, &reserve);
    legacy->weight_bytes = memory_align((int64_t)weights);
    legacy->workspace_bytes =
        checked_add(checked_add(legacy->weight_bytes, (int64_t)scratch), legacy->result_bytes);
    return status;
}

/* Of the last state alone the result is an operand; cuDNN writes all of them. */
static bool read_sizes(struct legacy *legacy) {
    const struct cm_primitive *primitive = legacy->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    if (x->rank != 3 || primitive->hidden < 1 || primitive->hidden > INT32_MAX / 2)
        return false;
    for (int i = 0; i < 3; i++)
        if (x->dims[i] < 1 || x->dims[i] > INT32_MAX) return false;
    const int64_t width = primitive->hidden * (primitive->directions > 1 ? 2 : 1);
    const int64_t bytes = checked_mul(checked_mul(x->dims[0], x->dims[1]),
                                      checked_mul(width, operands_element_size(x->element)));
    const bool whole = operands_bytes(&primitive->outputs[0]) >= bytes;
    legacy->result_bytes = whole ? 0 : memory_align(bytes);
    return is_known(bytes);
}

cudnnStatus_t legacy_rnn(struct legacy *legacy, int32_t candidate) {
    const struct cm_primitive *primitive = legacy->primitive;
    const int64_t directions = primitive->directions > 1 ? 2 : 1;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    (void)candidate;
    if (!read_sizes(legacy)) return CUDNN_STATUS_NOT_SUPPORTED;
    const struct cm_tensor *x = &primitive->inputs[0];
    const struct cm_tensor states = {
        .element = x->element,
        .rank = 3,
        .dims = {directions, x->dims[1], primitive->hidden},
        .strides = {x->dims[1] * primitive->hidden, primitive->hidden, 1},
    };
    legacy->run = run_rnn;
    cudnnStatus_t status = legacy_type(x->element, &type);
    if (status == CUDNN_STATUS_SUCCESS) status = describe_cell(legacy, type);
    if (status == CUDNN_STATUS_SUCCESS)
        status = describe_data(legacy, type, x->dims[2], &legacy->rnn_x);
    if (status == CUDNN_STATUS_SUCCESS)
        status = describe_data(legacy, type, directions * primitive->hidden, &legacy->rnn_y);
    if (status == CUDNN_STATUS_SUCCESS) status = legacy_tensor(legacy, &states, &legacy->more);
    return status == CUDNN_STATUS_SUCCESS ? measure_spaces(legacy) : status;
}
