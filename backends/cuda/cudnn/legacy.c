/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/cuda/cudnn/legacy.h"

#include <stdio.h>
#include <stdlib.h>

#include "backends/cuda/refuse.h"

#include "support/banned.h"

#define FEWEST_DIMS 4

static legacy_builder *const builders[CM_N_PRIMITIVES] = {
    [CM_SOFTMAX] = legacy_softmax, [CM_REDUCE] = legacy_reduce, [CM_POOL] = legacy_pool,
    [CM_NORM] = legacy_norm,       [CM_CONV] = legacy_conv,     [CM_RNN] = legacy_rnn,
};

cudnnStatus_t legacy_type(int32_t element, cudnnDataType_t *ret) {
    static const struct {
        int32_t element;
        cudnnDataType_t type;
    } types[] = {{CM_F32, CUDNN_DATA_FLOAT},
                 {CM_F64, CUDNN_DATA_DOUBLE},
                 {CM_F16, CUDNN_DATA_HALF},
                 {CM_BF16, CUDNN_DATA_BFLOAT16}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (types[i].element != element) continue;
        *ret = types[i].type;
        return CUDNN_STATUS_SUCCESS;
    }
    return CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t legacy_tensor(const struct legacy *legacy, const struct cm_tensor *tensor,
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
    for (; rank < FEWEST_DIMS; rank++) dims[rank] = strides[rank] = 1;
    cudnnStatus_t status = legacy_type(tensor->element, &type);
    if (status == CUDNN_STATUS_SUCCESS) status = api->cudnnCreateTensorDescriptor(ret);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnSetTensorNdDescriptor(*ret, type, rank, dims, strides);
    return status;
}

const void *legacy_scale(const struct legacy *legacy, int value) {
    static const double doubles[] = {0, 1};
    static const float floats[] = {0, 1};
    return legacy->in_double ? (const void *)&doubles[value] : (const void *)&floats[value];
}

static void drop(void *own) {
    struct legacy *legacy = own;
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    if (legacy->x != NULL) (void)api->cudnnDestroyTensorDescriptor(legacy->x);
    if (legacy->y != NULL) (void)api->cudnnDestroyTensorDescriptor(legacy->y);
    if (legacy->more != NULL) (void)api->cudnnDestroyTensorDescriptor(legacy->more);
    if (legacy->lrn != NULL) (void)api->cudnnDestroyLRNDescriptor(legacy->lrn);
    if (legacy->pooling != NULL) (void)api->cudnnDestroyPoolingDescriptor(legacy->pooling);
    if (legacy->reduction != NULL)
        (void)api->cudnnDestroyReduceTensorDescriptor(legacy->reduction);
    if (legacy->filter != NULL) (void)api->cudnnDestroyFilterDescriptor(legacy->filter);
    if (legacy->convolution != NULL)
        (void)api->cudnnDestroyConvolutionDescriptor(legacy->convolution);
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

static void facts(const void *own, struct cm_how *ret) {
    const struct legacy *legacy = own;
    if (legacy->convolution == NULL) return;
    (void)snprintf(ret->algorithm, sizeof(ret->algorithm), "algorithm %d",
                   (int)legacy->chosen.algo);
    ret->tensor_cores = legacy->chosen.mathType == CUDNN_TENSOR_OP_MATH ||
                                legacy->chosen.mathType == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION
                            ? CM_TENSOR_CORES_YES
                            : CM_TENSOR_CORES_UNKNOWN;
}

static int make(struct cm_device *device, const struct cm_primitive *primitive,
                int32_t candidate, struct cuda_step *ret, struct cm_reason *reason) {
    if (!device->has_cudnn.here) {
        *reason = device->has_cudnn.why;
        return CM_BACKEND_REFUSED;
    }
    if (candidate > 0 && primitive->kind != CM_CONV)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "there are no more");
    struct legacy *legacy = calloc(1, sizeof(*legacy));
    if (legacy == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    legacy->device = device;
    legacy->primitive = primitive;
    legacy->algorithm = primitive->algorithm;
    legacy->n_inputs = primitive->n_inputs;
    legacy->epsilon = primitive->epsilon;
    legacy->in_double = primitive->inputs[0].element == CM_F64;
    const cudnnStatus_t status = builders[primitive->kind](legacy, candidate);
    legacy->primitive = NULL;
    if (status != CUDNN_STATUS_SUCCESS) {
        const int refused = refuse(legacy, status, reason);
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
    .tensor_core_rule = "cudnn math type",
    .make = make,
};
