/* SPDX-License-Identifier: Apache-2.0 */
/* The double of cuDNN: a handle, and a refusal of all else (double_cudnn_refuses.c). */
#include <cudnn.h>

#include "double.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT size_t cudnnGetVersion(void) {
    return 90100;
}

EXPORT const char *cudnnGetErrorString(cudnnStatus_t status) {
    (void)status;
    return "CUDNN_STATUS_DOUBLE";
}

EXPORT void cudnnGetLastErrorString(char *message, size_t size) {
    if (size > 0) message[0] = '\0';
}

EXPORT cudnnStatus_t cudnnCreate(cudnnHandle_t *ret) {
    int with = 0;
    if (double_fails("cudnnCreate", &with)) return (cudnnStatus_t)with;
    *ret = (cudnnHandle_t)&double_state;
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
    (void)handle;
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    (void)handle, (void)stream;
    return CUDNN_STATUS_SUCCESS;
}
