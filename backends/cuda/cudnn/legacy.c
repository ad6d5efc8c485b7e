/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers and LRN by cuDNN's legacy calls: its graph API has neither
 * (docs/decisions/legacy-cudnn.md). Legacy calls require a handle and therefore a device. */
#include <stdlib.h>

#include "backends/cuda/cudnn/graph.h"
#include "backends/cuda/provider.h"
#include "backends/cuda/refuse.h"
#include "backends/cuda/sets.h"
#include "backends/primitive.h"
#include "support/checked.h"

#define MIN_DIMS 4

struct legacy {
    struct cm_device *device;
    const struct cm_primitive *primitive; /* valid while the step is built */
    cudnnStatus_t (*run)(const struct legacy *legacy, const struct cuda_operands *operands);
    bool in_double; /* scaling factors are doubles */
    cudnnTensorDescriptor_t x, y;
    cudnnLRNDescriptor_t lrn;
    cudnnTensorDescriptor_t states;
    cudnnRNNDescriptor_t rnn;
    cudnnRNNDataDescriptor_t rnn_x, rnn_y;
    cudnnDropoutDescriptor_t dropout;
    cudnnMathType_t math;
    struct memory_block weights; /* RNN: random, in cuDNN's order */
    /* RNN: the workspace begins with the result, if no operand can hold it; then scratch. */
    int64_t workspace_bytes;
    int64_t result_bytes; /* of the workspace; 0 if the output operand holds the result */
};

/* Sets *ret to cuDNN's data type. Supports fp64, fp32, fp16 and bf16. */
static cudnnStatus_t find_type(int32_t element, cudnnDataType_t *ret) {
    const bool known = element >= CM_F64 && element <= CM_BF16 && graph_type(element, ret);
    return known ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

/* Makes a descriptor; appends dims of 1 up to MIN_DIMS. */
static cudnnStatus_t describe(const struct legacy *legacy, const struct cm_tensor *tensor,
                              cudnnTensorDescriptor_t *ret) {
    int dims[CM_MAX_RANK];
    int strides[CM_MAX_RANK];
    int rank = 0;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    for (; rank < tensor->rank; rank++) {
        if (tensor->dims[rank] > INT32_MAX || tensor->strides[rank] > INT32_MAX)
            return CUDNN_STATUS_NOT_SUPPORTED;
        dims[rank] = (int)tensor->dims[rank];
        strides[rank] = (int)tensor->strides[rank];
    }
    for (; rank < MIN_DIMS; rank++) dims[rank] = strides[rank] = 1;
    cudnnStatus_t status = find_type(tensor->element, &type);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    status = api->cudnnCreateTensorDescriptor(ret);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    return api->cudnnSetTensorNdDescriptor(*ret, type, rank, dims, strides);
}

static cudnnStatus_t run_lrn(const struct legacy *legacy,
                             const struct cuda_operands *operands) {
    static const double doubles[] = {0, 1};
    static const float floats[] = {0, 1};
    const void *zero = legacy->in_double ? (const void *)&doubles[0] : (const void *)&floats[0];
    const void *one = legacy->in_double ? (const void *)&doubles[1] : (const void *)&floats[1];
    return legacy->device->cudnn.cudnnLRNCrossChannelForward(
        legacy->device->cudnn_handle, legacy->lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1, one, legacy->x,
        provider_pointer(operands->inputs[0]), zero, legacy->y,
        provider_pointer(operands->outputs[0]));
}

/* alpha, beta and k do not change the time, so the primitive does not have them. */
static cudnnStatus_t build_lrn(struct legacy *legacy) {
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    const struct cm_primitive *primitive = legacy->primitive;
    const int64_t width = primitive->window.kernel[0];
    if (primitive->algorithm != CM_NORM_LRN || width < CUDNN_LRN_MIN_N ||
        width > CUDNN_LRN_MAX_N)
        return CUDNN_STATUS_NOT_SUPPORTED;
    legacy->run = run_lrn;
    cudnnStatus_t status = describe(legacy, &primitive->inputs[0], &legacy->x);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    status = describe(legacy, &primitive->outputs[0], &legacy->y);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    status = api->cudnnCreateLRNDescriptor(&legacy->lrn);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    return api->cudnnSetLRNDescriptor(legacy->lrn, (unsigned)width, 1e-4, 0.75, 1.0);
}

/* cuDNN reads all weights from one buffer in an order of its own. No operand has that order, so
 * the step owns the buffer, and cold executions find it warm (docs/backends.md). */
static cudnnStatus_t run_rnn(const struct legacy *legacy,
                             const struct cuda_operands *operands) {
    const CUdeviceptr result = operands->workspace;
    const CUdeviceptr scratch = result + (CUdeviceptr)legacy->result_bytes;
    const CUdeviceptr y = legacy->result_bytes > 0 ? result : operands->outputs[0];
    return legacy->device->cudnn.cudnnRNNForward(
        legacy->device->cudnn_handle, legacy->rnn, CUDNN_FWD_MODE_INFERENCE, NULL,
        legacy->rnn_x, provider_pointer(operands->inputs[0]), legacy->rnn_y,
        provider_pointer(y), legacy->states, NULL, NULL, legacy->states, NULL, NULL,
        (size_t)legacy->weights.bytes, provider_pointer(legacy->weights.base),
        (size_t)(legacy->workspace_bytes - legacy->result_bytes), provider_pointer(scratch), 0,
        NULL);
}

/* Returns a math type that the documentation of cudnnSetRNNDescriptor_v8 allows for `type`. The
 * default math type rounds fp32 to tf32, so it is used for fp32 only if tf32 is allowed. */
static cudnnMathType_t find_math(const struct legacy *legacy, cudnnDataType_t type) {
    const bool tf32 = legacy->device->options.precision == CM_PRECISION_TF32;
    if (type == CUDNN_DATA_FLOAT && !tf32) return CUDNN_FMA_MATH;
    return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE ? CUDNN_DEFAULT_MATH
                                                                 : CUDNN_TENSOR_OP_MATH;
}

static cudnnStatus_t describe_cell(struct legacy *legacy, cudnnDataType_t type) {
    static const struct {
        bool known;
        cudnnRNNMode_t mode;
    } modes[CM_N_ALGORITHMS] = {[CM_RNN_TANH] = {true, CUDNN_RNN_TANH},
                                [CM_RNN_RELU] = {true, CUDNN_RNN_RELU},
                                [CM_RNN_LSTM] = {true, CUDNN_LSTM},
                                [CM_RNN_GRU] = {true, CUDNN_GRU}};
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    const struct cm_primitive *primitive = legacy->primitive;
    const bool with_bias = primitive->n_inputs > 3 && primitive->inputs[3].rank == 2;
    const int32_t hidden = (int32_t)primitive->hidden;
    if (!modes[primitive->algorithm].known) return CUDNN_STATUS_NOT_SUPPORTED;
    cudnnStatus_t status = api->cudnnCreateDropoutDescriptor(&legacy->dropout);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    status = api->cudnnSetDropoutDescriptor(legacy->dropout, legacy->device->cudnn_handle, 0,
                                            NULL, 0, 0);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    status = api->cudnnCreateRNNDescriptor(&legacy->rnn);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    legacy->math = find_math(legacy, type);
    return api->cudnnSetRNNDescriptor_v8(
        legacy->rnn, CUDNN_RNN_ALGO_STANDARD, modes[primitive->algorithm].mode,
        with_bias ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
        primitive->directions > 1 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
        CUDNN_LINEAR_INPUT, type, legacy->in_double ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
        legacy->math, (int32_t)primitive->inputs[0].dims[2], hidden, hidden, 1, legacy->dropout,
        CUDNN_RNN_PADDED_IO_DISABLED);
}

/* Describes a sequence of `size` elements per step; all sequences have the full length. */
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

static int fill_weights(struct legacy *legacy, int32_t element, struct cm_reason *reason) {
    const struct fill fill = {.element = element};
    const int64_t bytes = legacy->weights.bytes;
    if (bytes == 0) return CM_BACKEND_OK;
    const int status =
        memory_take_private(legacy->device, bytes, bytes, &legacy->weights, reason);
    if (status != CM_BACKEND_OK) return status;
    return sets_fill(legacy->device, &fill, legacy->weights.base, bytes, reason);
}

/* Sets result_bytes; returns false if cuDNN cannot represent the shapes. cuDNN writes the
 * states of all steps, even if the output operand has only the last. */
static bool find_result_bytes(struct legacy *legacy) {
    const struct cm_primitive *primitive = legacy->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    if (x->rank != 3 || primitive->hidden < 1 || primitive->hidden > INT32_MAX / 2)
        return false;
    for (int i = 0; i < 3; i++)
        if (x->dims[i] < 1 || x->dims[i] > INT32_MAX) return false;
    const int64_t width = primitive->hidden * (primitive->directions > 1 ? 2 : 1);
    const int64_t bytes = checked_mul(checked_mul(x->dims[0], x->dims[1]),
                                      checked_mul(width, primitive_element_size(x->element)));
    const bool whole = primitive_span(&primitive->outputs[0]) >= bytes;
    legacy->result_bytes = whole ? 0 : memory_align(bytes);
    return is_known(bytes);
}

static cudnnStatus_t build_rnn(struct legacy *legacy) {
    const struct cm_primitive *primitive = legacy->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    const int64_t directions = primitive->directions > 1 ? 2 : 1;
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    const cudnnHandle_t handle = legacy->device->cudnn_handle;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    size_t weights = 0;
    size_t scratch = 0;
    size_t reserve = 0;
    if (!find_result_bytes(legacy)) return CUDNN_STATUS_NOT_SUPPORTED;
    const struct cm_tensor states = {
        .element = x->element,
        .rank = 3,
        .dims = {directions, x->dims[1], primitive->hidden},
        .strides = {x->dims[1] * primitive->hidden, primitive->hidden, 1},
    };
    legacy->run = run_rnn;
    cudnnStatus_t status = find_type(x->element, &type);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    status = describe_cell(legacy, type);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    status = describe_data(legacy, type, x->dims[2], &legacy->rnn_x);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    status = describe_data(legacy, type, directions * primitive->hidden, &legacy->rnn_y);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    status = describe(legacy, &states, &legacy->states);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    status = api->cudnnGetRNNWeightSpaceSize(handle, legacy->rnn, &weights);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    status = api->cudnnGetRNNTempSpaceSizes(handle, legacy->rnn, CUDNN_FWD_MODE_INFERENCE,
                                            legacy->rnn_x, &scratch, &reserve);
    legacy->weights.bytes = (int64_t)weights;
    legacy->workspace_bytes = checked_add((int64_t)scratch, legacy->result_bytes);
    return status;
}

static void drop(void *own) {
    struct legacy *legacy = own;
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    memory_give_back(legacy->device, &legacy->weights);
    if (legacy->x != NULL) (void)api->cudnnDestroyTensorDescriptor(legacy->x);
    if (legacy->y != NULL) (void)api->cudnnDestroyTensorDescriptor(legacy->y);
    if (legacy->states != NULL) (void)api->cudnnDestroyTensorDescriptor(legacy->states);
    if (legacy->lrn != NULL) (void)api->cudnnDestroyLRNDescriptor(legacy->lrn);
    if (legacy->rnn != NULL) (void)api->cudnnDestroyRNNDescriptor(legacy->rnn);
    if (legacy->rnn_x != NULL) (void)api->cudnnDestroyRNNDataDescriptor(legacy->rnn_x);
    if (legacy->rnn_y != NULL) (void)api->cudnnDestroyRNNDataDescriptor(legacy->rnn_y);
    if (legacy->dropout != NULL) (void)api->cudnnDestroyDropoutDescriptor(legacy->dropout);
    free(legacy);
}

static int refuse(const struct legacy *legacy, cudnnStatus_t status, struct cm_reason *reason) {
    char text[CM_REASON_SIZE] = "";
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    api->cudnnGetLastErrorString(text, sizeof(text));
    text[sizeof(text) - 1] = '\0';
    return cuda_refuse(reason, CM_BACKEND_REFUSED, "%s%s%.160s",
                       api->cudnnGetErrorString(status), text[0] != '\0' ? ": " : "", text);
}

static int launch(void *own, const struct cuda_operands *operands, CUstream stream,
                  struct cm_reason *reason) {
    const struct legacy *legacy = own;
    (void)stream; /* the handle has it */
    const cudnnStatus_t status = legacy->run(legacy, operands);
    return status == CUDNN_STATUS_SUCCESS ? CM_BACKEND_OK : refuse(legacy, status, reason);
}

/* Except with CUDNN_FMA_MATH the library decides, so the use of tensor cores is unknown. */
static void facts(const void *own, struct cm_how *ret) {
    const struct legacy *legacy = own;
    if (legacy->lrn != NULL || legacy->math == CUDNN_FMA_MATH)
        ret->tensor_cores = CM_TENSOR_CORES_NO;
}

static int make(struct cm_device *device, const struct cm_primitive *primitive,
                int32_t candidate, struct cuda_step *ret, struct cm_reason *reason) {
    if (!device->has_cudnn.available) {
        *reason = device->has_cudnn.reason;
        return CM_BACKEND_REFUSED;
    }
    if (candidate > 0) return cuda_refuse(reason, CM_BACKEND_REFUSED, "no further candidate");
    struct legacy *legacy = calloc(1, sizeof(*legacy));
    if (legacy == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    legacy->device = device;
    legacy->primitive = primitive;
    legacy->in_double = primitive->inputs[0].element == CM_F64;
    const cudnnStatus_t status =
        primitive->kind == CM_RNN ? build_rnn(legacy) : build_lrn(legacy);
    legacy->primitive = NULL;
    const int refused = status == CUDNN_STATUS_SUCCESS
                            ? fill_weights(legacy, primitive->inputs[0].element, reason)
                            : refuse(legacy, status, reason);
    if (refused != CM_BACKEND_OK) {
        drop(legacy);
        return refused;
    }
    ret->own = legacy;
    ret->launch = launch;
    ret->facts = facts;
    ret->drop = drop;
    ret->workspace_bytes = legacy->workspace_bytes;
    ret->state = CM_MEASURED;
    return CM_BACKEND_OK;
}

const struct cuda_provider legacy_provider = {
    .name = "cudnn legacy",
    .device_only = "cuDNN plans recurrent layers and LRN on a device only",
    .make = make,
};
