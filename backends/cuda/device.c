/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/cuda/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/refuse.h"

#include "support/banned.h"

#define OLDEST_DRIVER 12000

static const char *error_name(const struct cm_device *device, CUresult result) {
    const char *name = NULL;
    if (device->driver.cuGetErrorName(result, &name) != CUDA_SUCCESS || name == NULL)
        return "an unknown error";
    return name;
}

/* After these every further call fails with the same: only a new process helps. */
static bool sticks(CUresult result) {
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
        CUDA_ERROR_CONTEXT_IS_DESTROYED,
        CUDA_ERROR_UNKNOWN,
    };
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i] == result) return true;
    return false;
}

int device_check(const struct cm_device *device, CUresult result, const char *doing,
                 struct cm_reason *reason) {
    if (result == CUDA_SUCCESS) return CM_BACKEND_OK;
    int status = CM_BACKEND_REFUSED;
    if (result == CUDA_ERROR_OUT_OF_MEMORY) status = CM_BACKEND_NO_MEMORY;
    if (sticks(result)) status = CM_BACKEND_BROKEN;
    return cuda_refuse(reason, status, "cannot %s: %s", doing, error_name(device, result));
}

static int attribute(const struct cm_device *device, CUdevice_attribute which) {
    int value = 0;
    if (device->driver.cuDeviceGetAttribute(&value, which, device->ordinal) != CUDA_SUCCESS)
        return 0;
    return value;
}

static void read_attributes(struct cm_device *device) {
    size_t bytes = 0;
    const struct cuda_driver *driver = &device->driver;
    if (driver->cuDeviceGetName(device->name, sizeof(device->name), device->ordinal) !=
        CUDA_SUCCESS)
        device->name[0] = '\0';
    if (driver->cuDeviceGetPCIBusId(device->address, sizeof(device->address),
                                    device->ordinal) != CUDA_SUCCESS)
        device->address[0] = '\0';
    if (driver->cuDeviceTotalMem(&bytes, device->ordinal) == CUDA_SUCCESS)
        device->memory_bytes = (int64_t)bytes;
    device->sm = 10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                 attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    device->n_units = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    device->threads_a_unit =
        attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    device->cache_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
}

static int find_device(struct cm_device *device, struct cm_reason *reason) {
    int n = 0;
    const struct cuda_driver *driver = &device->driver;
    const CUresult begun = driver->cuInit(0);
    if (begun != CUDA_SUCCESS)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "no device: the driver says %s",
                           error_name(device, begun));
    (void)driver->cuDriverGetVersion(&device->driver_version);
    if (device->driver_version < OLDEST_DRIVER)
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "the driver is for CUDA %d.%d, at least 12.0 is needed",
                           device->driver_version / 1000, device->driver_version % 1000 / 10);
    (void)driver->cuDeviceGetCount(&n);
    if (device->wishes.ordinal >= n)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "no device %d: the driver has %d",
                           device->wishes.ordinal, n);
    return device_check(device, driver->cuDeviceGet(&device->ordinal, device->wishes.ordinal),
                        "take the device", reason);
}

static int take_device(struct cm_device *device, struct cm_reason *reason) {
    const struct cuda_driver *driver = &device->driver;
    int status = find_device(device, reason);
    if (status != CM_BACKEND_OK) return status;
    read_attributes(device);
    status = device_check(device,
                          driver->cuDevicePrimaryCtxRetain(&device->context, device->ordinal),
                          "take the device", reason);
    if (status == CM_BACKEND_OK)
        status = device_check(device, driver->cuCtxSetCurrent(device->context),
                              "use the device", reason);
    if (status == CM_BACKEND_OK)
        status = device_check(device,
                              driver->cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING),
                              "make a stream", reason);
    if (status == CM_BACKEND_OK)
        status = device_check(device, driver->cuEventCreate(&device->begin, CU_EVENT_DEFAULT),
                              "make an event", reason);
    if (status == CM_BACKEND_OK)
        status = device_check(device, driver->cuEventCreate(&device->end, CU_EVENT_DEFAULT),
                              "make an event", reason);
    return status;
}

/* What cuDNN itself loads by soname comes first, so that it takes the same copies. */
static void load_libraries(struct cm_device *device, const struct library_folders *folders) {
    const int major = device->driver_version / 1000;
    device->has_nvrtc.here =
        api_load_nvrtc(folders, major, &device->nvrtc, &device->has_nvrtc.why) == CM_BACKEND_OK;
    device->has_cublaslt.here = api_load_cublaslt(folders, major, &device->cublaslt,
                                                  &device->has_cublaslt.why) == CM_BACKEND_OK;
    device->has_cudnn.here =
        api_load_cudnn(folders, &device->cudnn, &device->has_cudnn.why) == CM_BACKEND_OK;
}

static void begin_cudnn(struct cm_device *device) {
    struct cuda_absent *has = &device->has_cudnn;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    if (!has->here || !device->has_driver) return;
    status = device->cudnn.cudnnCreate(&device->cudnn_handle);
    if (status == CUDNN_STATUS_SUCCESS)
        status = device->cudnn.cudnnSetStream(device->cudnn_handle, device->stream);
    if (status == CUDNN_STATUS_SUCCESS) return;
    has->here = false;
    (void)cuda_refuse(&has->why, 0, "cuDNN cannot begin: %s",
                      device->cudnn.cudnnGetErrorString(status));
}

static void begin_cublaslt(struct cm_device *device) {
    struct cuda_absent *has = &device->has_cublaslt;
    if (!has->here || !device->has_driver) return;
    const cublasStatus_t status = device->cublaslt.cublasLtCreate(&device->cublaslt_handle);
    if (status == CUBLAS_STATUS_SUCCESS) return;
    has->here = false;
    (void)cuda_refuse(&has->why, 0, "cuBLASLt cannot begin: status %d", (int)status);
}

/* Plans without a device are cuDNN's: nothing else makes any. */
static int open_parts(struct cm_device *device, struct cm_reason *reason) {
    struct library_folders folders;
    int status = library_find_folders(device->wishes.libraries, &folders, reason);
    if (status != CM_BACKEND_OK) return status;
    status = api_load_driver(&folders, &device->driver, reason);
    if (status == CM_BACKEND_OK) status = take_device(device, reason);
    device->has_driver = status == CM_BACKEND_OK;
    if (device->has_driver || device->wishes.plan_only) {
        load_libraries(device, &folders);
        begin_cudnn(device);
        begin_cublaslt(device);
        status = CM_BACKEND_OK;
    }
    library_drop_folders(&folders);
    if (status != CM_BACKEND_OK || device->has_driver || device->has_cudnn.here) return status;
    *reason = device->has_cudnn.why;
    return CM_BACKEND_REFUSED;
}

int device_open(const struct cuda_wishes *wishes, struct cm_device **ret,
                struct cm_reason *reason) {
    struct cm_device *device = calloc(1, sizeof(*device));
    if (device == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    device->wishes = *wishes;
    const int status = open_parts(device, reason);
    device->wishes.libraries = NULL;
    if (status == CM_BACKEND_OK)
        *ret = device;
    else
        device_close(device);
    return status;
}

static void print_versions(const struct cm_device *device, char *ret, size_t size) {
    int length = 0;
    if (device->has_cudnn.here) {
        const size_t version = device->cudnn.cudnnGetVersion();
        length = snprintf(ret, size, "cuDNN %zu.%zu.%zu", version / 10000, version / 100 % 100,
                          version % 100);
    }
    if (device->has_cublaslt.here)
        length += snprintf(ret + length, size - (size_t)length, "%scuBLASLt %zu",
                           length > 0 ? ", " : "", device->cublaslt.cublasLtGetVersion());
    if (device->has_driver)
        (void)snprintf(ret + length, size - (size_t)length, "%sdriver for CUDA %d.%d",
                       length > 0 ? ", " : "", device->driver_version / 1000,
                       device->driver_version % 1000 / 10);
}

void device_facts(const struct cm_device *device, struct cm_device_facts *ret) {
    memset(ret, 0, sizeof(*ret));
    (void)snprintf(ret->name, sizeof(ret->name), "%s", device->name);
    (void)snprintf(ret->address, sizeof(ret->address), "%s", device->address);
    if (device->sm > 0)
        (void)snprintf(ret->architecture, sizeof(ret->architecture), "sm_%d", device->sm);
    print_versions(device, ret->version, sizeof(ret->version));
    ret->memory_bytes = device->memory_bytes;
    ret->cache_bytes = device->cache_bytes;
    ret->n_units = device->n_units;
    ret->threads_a_unit = device->threads_a_unit;
    ret->has_tensor_cores = device->sm >= 70;
}

void device_close(struct cm_device *device) {
    const struct cuda_driver *driver = &device->driver;
    if (device->cudnn_handle != NULL) (void)device->cudnn.cudnnDestroy(device->cudnn_handle);
    if (device->cublaslt_handle != NULL)
        (void)device->cublaslt.cublasLtDestroy(device->cublaslt_handle);
    memory_drop(device);
    if (device->begin != NULL) (void)driver->cuEventDestroy(device->begin);
    if (device->end != NULL) (void)driver->cuEventDestroy(device->end);
    if (device->stream != NULL) (void)driver->cuStreamDestroy(device->stream);
    if (device->context != NULL) (void)driver->cuDevicePrimaryCtxRelease(device->ordinal);
    free(device);
}
