/* SPDX-License-Identifier: Apache-2.0 */
/* Converts statuses of the driver and prints reasons. */
#include "backends/cuda/refuse.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "backends/cuda/device.h"

int cuda_refuse(struct cm_reason *reason, int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason->text, sizeof(reason->text), format, args);
    va_end(args);
    return status;
}

void cuda_append(char *list, size_t size, const char *between, const char *format, ...) {
    va_list args;
    size_t used = strlen(list);
    if (used > 0) (void)snprintf(list + used, size - used, "%s", between);
    used = strlen(list);
    va_start(args, format);
    (void)vsnprintf(list + used, size - used, format, args);
    va_end(args);
}

const char *cuda_error_name(const struct cm_device *device, CUresult result) {
    const char *name = NULL;
    if (device->driver.cuGetErrorName(result, &name) != CUDA_SUCCESS || name == NULL)
        return "an unknown error";
    return name;
}

/* Returns true if every further call in the process fails with the same error. */
static bool is_sticky(CUresult result) {
    static const CUresult errors[] = {
        CUDA_ERROR_ILLEGAL_ADDRESS,
        CUDA_ERROR_LAUNCH_FAILED,
        CUDA_ERROR_LAUNCH_TIMEOUT,
        CUDA_ERROR_MISALIGNED_ADDRESS,
        CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_INVALID_ADDRESS_SPACE,
        CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_HARDWARE_STACK_ERROR,
        CUDA_ERROR_ASSERT,
        CUDA_ERROR_ECC_UNCORRECTABLE,
        CUDA_ERROR_NVLINK_UNCORRECTABLE,
        CUDA_ERROR_CONTEXT_IS_DESTROYED,
        (CUresult)226, /* CUDA_ERROR_CONTAINED; the oldest supported headers lack the name */
        CUDA_ERROR_EXTERNAL_DEVICE,
        CUDA_ERROR_UNKNOWN,
    };
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i] == result) return true;
    return false;
}

int cuda_check(const struct cm_device *device, CUresult result, const char *doing,
               struct cm_reason *reason) {
    if (result == CUDA_SUCCESS) return CM_BACKEND_OK;
    int status = CM_BACKEND_REFUSED;
    if (result == CUDA_ERROR_OUT_OF_MEMORY) status = CM_BACKEND_NO_MEMORY;
    if (is_sticky(result)) status = CM_BACKEND_BROKEN;
    return cuda_refuse(reason, status, "cannot %s: %s", doing, cuda_error_name(device, result));
}
