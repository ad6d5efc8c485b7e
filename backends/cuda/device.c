/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a device, or a target to plan for, and states its facts. */
#include "backends/cuda/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/refuse.h"

#define OLDEST_DRIVER 12000

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
    /* DDR memory transfers its bus width twice per clock. */
    const double khz = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    const double bits = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    device->bandwidth = 2 * 1e3 * khz * bits / 8;
}

static int find_device(struct cm_device *device, struct cm_reason *reason) {
    int n = 0;
    const struct cuda_driver *driver = &device->driver;
    const CUresult begun = driver->cuInit(0);
    if (begun != CUDA_SUCCESS)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "no device: cuInit failed with %s",
                           cuda_error_name(device, begun));
    (void)driver->cuDriverGetVersion(&device->driver_version);
    if (device->driver_version < OLDEST_DRIVER)
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "the driver must support CUDA 12.0 or later, got %d.%d",
                           device->driver_version / 1000, device->driver_version % 1000 / 10);
    (void)driver->cuDeviceGetCount(&n);
    if (device->options.ordinal >= n)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "device must be below %d, got %d", n,
                           device->options.ordinal);
    return cuda_check(device, driver->cuDeviceGet(&device->ordinal, device->options.ordinal),
                      "take the device", reason);
}

static int take_device(struct cm_device *device, struct cm_reason *reason) {
    const struct cuda_driver *driver = &device->driver;
    int status = find_device(device, reason);
    if (status != CM_BACKEND_OK) return status;
    read_attributes(device);
    CUresult result = driver->cuDevicePrimaryCtxRetain(&device->context, device->ordinal);
    if (result != CUDA_SUCCESS) return cuda_check(device, result, "take the device", reason);
    result = driver->cuCtxSetCurrent(device->context);
    if (result != CUDA_SUCCESS) return cuda_check(device, result, "use the device", reason);
    result = driver->cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS) return cuda_check(device, result, "make a stream", reason);
    result = driver->cuEventCreate(&device->begin, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS) result = driver->cuEventCreate(&device->end, CU_EVENT_DEFAULT);
    return cuda_check(device, result, "make an event", reason);
}

/* Loads NVRTC and cuBLASLt before cuDNN, which loads them by soname and gets these copies. */
static void load_libraries(struct cm_device *device, const struct library_folders *folders) {
    const struct api_wanted wanted = {device->driver_version / 1000, device->sm};
    device->has_nvrtc.available = api_load_nvrtc(folders, &wanted, &device->nvrtc,
                                                 &device->has_nvrtc.reason) == CM_BACKEND_OK;
    device->has_cublaslt.available =
        api_load_cublaslt(folders, &wanted, &device->cublaslt, &device->has_cublaslt.reason) ==
        CM_BACKEND_OK;
    device->has_cudnn.available = api_load_cudnn(folders, &wanted, &device->cudnn,
                                                 &device->has_cudnn.reason) == CM_BACKEND_OK;
}

/* Sets jit_sm and makes the handles. If NVRTC does not know the device, it compiles PTX for
 * an older architecture (jit_sm), and the driver translates the PTX. */
static void begin_libraries(struct cm_device *device) {
    if (device->has_nvrtc.available) {
        int major = 0;
        int minor = 0;
        device->jit_sm = api_newest_sm(&device->nvrtc, device->sm);
        device->has_nvrtc.available = device->jit_sm > 0;
        if (device->jit_sm == 0) {
            (void)device->nvrtc.nvrtcVersion(&major, &minor);
            (void)cuda_refuse(&device->has_nvrtc.reason, 0,
                              "NVRTC %d.%d does not compile for sm_%d", major, minor,
                              device->sm);
        }
    }
    if (device->has_cudnn.available && device->has_driver) {
        cudnnStatus_t status = device->cudnn.cudnnCreate(&device->cudnn_handle);
        if (status == CUDNN_STATUS_SUCCESS)
            status = device->cudnn.cudnnSetStream(device->cudnn_handle, device->stream);
        device->has_cudnn.available = status == CUDNN_STATUS_SUCCESS;
        if (status != CUDNN_STATUS_SUCCESS)
            (void)cuda_refuse(&device->has_cudnn.reason, 0, "cuDNN cannot be initialized: %s",
                              device->cudnn.cudnnGetErrorString(status));
    }
    if (device->has_cublaslt.available && device->has_driver) {
        const cublasStatus_t status = device->cublaslt.cublasLtCreate(&device->cublaslt_handle);
        device->has_cublaslt.available = status == CUBLAS_STATUS_SUCCESS;
        if (status != CUBLAS_STATUS_SUCCESS)
            (void)cuda_refuse(&device->has_cublaslt.reason, 0,
                              "cuBLASLt cannot be initialized: status %d", (int)status);
    }
}

/* Opens a target without a device. Loads the stub driver first: the libraries use it. */
static int open_target(struct cm_device *device, const struct library_folders *folders,
                       struct cm_reason *reason) {
    int status = library_load_stub(reason);
    if (status != CM_BACKEND_OK) return status;
    load_libraries(device, folders);
    if (!device->has_cudnn.available) {
        *reason = device->has_cudnn.reason;
        return CM_BACKEND_REFUSED;
    }
    const struct cuda_target *target = &device->target;
    status = target_make(&device->cudnn, device->options.target, &device->target, reason);
    if (status != CM_BACKEND_OK) return status;
    device->sm = target->sm;
    begin_libraries(device);
    (void)snprintf(device->name, sizeof(device->name), "%s", target->name);
    return CM_BACKEND_OK;
}

/* Opens the device. With plan_only, opens the target if one is named or there is no device. */
static int open_parts(struct cm_device *device, const struct library_folders *folders,
                      struct cm_reason *reason) {
    const struct cuda_options *options = &device->options;
    int status = CM_BACKEND_REFUSED;
    if (!options->plan_only || options->target == NULL) {
        status = api_load_driver(folders, &device->driver, reason);
        if (status == CM_BACKEND_OK) status = take_device(device, reason);
    }
    device->has_driver = status == CM_BACKEND_OK;
    if (!device->has_driver)
        return options->plan_only ? open_target(device, folders, reason) : status;
    load_libraries(device, folders);
    begin_libraries(device);
    nvml_open(folders, device->address, &device->nvml);
    return CM_BACKEND_OK;
}

int device_open(const struct cuda_options *options, struct cm_device **ret,
                struct cm_reason *reason) {
    struct cm_device *device = calloc(1, sizeof(*device));
    if (device == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    struct library_folders folders;
    device->options = *options;
    int status = library_find_folders(options->libraries, &folders, reason);
    if (status == CM_BACKEND_OK) {
        status = open_parts(device, &folders, reason);
        library_drop_folders(&folders);
    }
    device->options.libraries = device->options.target = NULL;
    if (status == CM_BACKEND_OK)
        *ret = device;
    else
        device_close(device);
    return status;
}

static void print_versions(const struct cm_device *device, char *ret, size_t size) {
    const size_t cudnn = device->has_cudnn.available ? device->cudnn.cudnnGetVersion() : 0;
    const size_t lt =
        device->has_cublaslt.available ? device->cublaslt.cublasLtGetVersion() : 0;
    if (cudnn > 0)
        cuda_append(ret, size, ", ", "cuDNN %zu.%zu.%zu", cudnn / 10000, cudnn / 100 % 100,
                    cudnn % 100);
    if (lt > 0)
        cuda_append(ret, size, ", ", "cuBLASLt %zu.%zu.%zu", lt / 10000, lt / 100 % 100,
                    lt % 100);
    if (!device->has_driver) return;
    cuda_append(ret, size, ", ", "CUDA %d.%d", device->driver_version / 1000,
                device->driver_version % 1000 / 10);
    char driver[CM_WORD_SIZE] = "";
    nvml_driver_version(&device->nvml, driver, sizeof(driver));
    if (driver[0] != '\0') cuda_append(ret, size, ", ", "driver %s", driver);
}

/* A missing library is a warning, not an error: other providers may run the primitives. */
static void print_warning(const struct cm_device *device, char *ret, size_t size) {
    const unsigned others = nvml_other_processes(&device->nvml);
    const char *tf32 = getenv("NVIDIA_TF32_OVERRIDE");
    if (others > 0)
        cuda_append(ret, size, "; ", "%u other processes compute on the device", others);
    if (tf32 != NULL) cuda_append(ret, size, "; ", "NVIDIA_TF32_OVERRIDE=%.16s is set", tf32);
    if (nvml_is_partitioned(&device->nvml))
        cuda_append(ret, size, "; ", "this is a part of a device (MIG)");
    if (getenv("CUDA_MPS_PIPE_DIRECTORY") != NULL)
        cuda_append(ret, size, "; ", "the device is shared by MPS");
    if (device->nvml.device == NULL)
        cuda_append(ret, size, "; ", "no NVML: clocks and throttling are unknown");
    if (device->driver.cuFuncGetName == NULL)
        cuda_append(ret, size, "; ", "kernel names require a driver for CUDA 12.3 or later");
    if (device->has_nvrtc.available && device->jit_sm < device->sm)
        cuda_append(ret, size, "; ", "NVRTC is older than the device: code is for sm_%d",
                    device->jit_sm);
    if (device->warmup.reason.text[0] != '\0')
        cuda_append(ret, size, "; ", "%s", device->warmup.reason.text);
    if (!device->has_nvrtc.available)
        cuda_append(ret, size, "; ", "%s", device->has_nvrtc.reason.text);
    if (!device->has_cudnn.available)
        cuda_append(ret, size, "; ", "%s", device->has_cudnn.reason.text);
}

void device_facts(const struct cm_device *device, struct cm_device_facts *ret) {
    memset(ret, 0, sizeof(*ret));
    (void)snprintf(ret->name, sizeof(ret->name), "%s", device->name);
    (void)snprintf(ret->address, sizeof(ret->address), "%s", device->address);
    if (device->sm > 0)
        (void)snprintf(ret->architecture, sizeof(ret->architecture), "sm_%d", device->sm);
    print_versions(device, ret->version, sizeof(ret->version));
    if (device->has_driver) print_warning(device, ret->warning, sizeof(ret->warning));
    ret->bandwidth = device->bandwidth;
    ret->floor = device->floor;
    ret->memory_bytes = device->memory_bytes;
    ret->cache_bytes = device->cache_bytes;
    ret->n_units = device->n_units;
    ret->threads_a_unit = device->threads_a_unit;
    ret->has_tensor_cores = device->sm >= 70;
}

void device_clocks(struct cm_device *device, struct cm_clocks *ret) {
    nvml_clocks(&device->nvml, ret);
    warmup_clocks(device, ret);
}

void device_close(struct cm_device *device) {
    const struct cuda_driver *driver = &device->driver;
    target_drop(&device->target);
    if (device->cudnn_handle != NULL) (void)device->cudnn.cudnnDestroy(device->cudnn_handle);
    if (device->cublaslt_handle != NULL)
        (void)device->cublaslt.cublasLtDestroy(device->cublaslt_handle);
    warmup_close(device);
    memory_drop(device);
    choices_drop(&device->choices);
    if (device->begin != NULL) (void)driver->cuEventDestroy(device->begin);
    if (device->end != NULL) (void)driver->cuEventDestroy(device->end);
    if (device->stream != NULL) (void)driver->cuStreamDestroy(device->stream);
    if (device->context != NULL) (void)driver->cuDevicePrimaryCtxRelease(device->ordinal);
    free(device);
}
