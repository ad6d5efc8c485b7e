/* SPDX-License-Identifier: Apache-2.0 */
/* Stub driver for planning without a device. Its soname is libcuda.so.1. cuDNN engines that
 * compile at planning time load the code into the driver at once and refuse if this fails. The
 * stub accepts code, keeps nothing and runs nothing: a plan made with it proves only that cuDNN
 * accepts the work (docs/decisions/planning.md). It has the functions that cuDNN 9.8 to 9.26
 * look up. Those that load code from memory succeed; most others report no device. */
#include <stddef.h>

/* enum cudaError_enum of cuda.h */
#define CUDA_SUCCESS         0
#define CUDA_ERROR_NO_DEVICE 100

/* Reported driver version; cuDNN compiles for any current device with it. */
#define VERSION 13000

#define EXPORTED __attribute__((visibility("default")))

/* Callers pass more arguments than declared: harmless, because the caller removes them. */
#define REFUSES(name)                                                                          \
    EXPORTED int name(void);                                                                   \
    int name(void) {                                                                           \
        return CUDA_ERROR_NO_DEVICE;                                                           \
    }

#define ACCEPTS(name)                                                                          \
    EXPORTED int name(void);                                                                   \
    int name(void) {                                                                           \
        return CUDA_SUCCESS;                                                                   \
    }

/* Handles are opaque to callers, but must not be NULL. */
#define HANDS_OUT(name)                                                                        \
    EXPORTED int name(const void **ret);                                                       \
    int name(const void **ret) {                                                               \
        static const char handle;                                                              \
        *ret = &handle;                                                                        \
        return CUDA_SUCCESS;                                                                   \
    }

#define SAYS(name, text)                                                                       \
    EXPORTED int name(int error, const char **ret);                                            \
    int name(int error, const char **ret) {                                                    \
        (void)error;                                                                           \
        *ret = text;                                                                           \
        return CUDA_SUCCESS;                                                                   \
    }

EXPORTED int cuDriverGetVersion(int *ret);
int cuDriverGetVersion(int *ret) {
    *ret = VERSION;
    return CUDA_SUCCESS;
}

EXPORTED int cuDeviceGetCount(int *ret);
int cuDeviceGetCount(int *ret) {
    *ret = 0;
    return CUDA_ERROR_NO_DEVICE;
}

EXPORTED int cuGetExportTable(const void **ret, const void *id);
int cuGetExportTable(const void **ret, const void *id) {
    (void)id;
    *ret = NULL;
    return CUDA_ERROR_NO_DEVICE;
}

SAYS(cuGetErrorName, "CUDA_ERROR_NO_DEVICE")
SAYS(cuGetErrorString, "no device: this driver is for planning alone")

HANDS_OUT(cuLibraryLoadData)
HANDS_OUT(cuLibraryGetKernel)
HANDS_OUT(cuModuleLoadData)
HANDS_OUT(cuModuleGetFunction)
HANDS_OUT(cuKernelGetFunction)
ACCEPTS(cuLibraryUnload)
ACCEPTS(cuModuleUnload)
ACCEPTS(cuKernelSetAttribute)

REFUSES(cuInit)
REFUSES(cuDeviceGet)
REFUSES(cuCtxGetCurrent)
REFUSES(cuCtxGetLimit)
REFUSES(cuCtxPushCurrent)
REFUSES(cuCtxPopCurrent)
REFUSES(cuStreamGetCtx)
REFUSES(cuKernelGetAttribute)
REFUSES(cuLaunchKernel)
REFUSES(cuLaunchKernelEx)
REFUSES(cuLaunchCooperativeKernel)
REFUSES(cuLibraryLoadFromFile)
REFUSES(cuLinkCreate)
REFUSES(cuLinkAddData)
REFUSES(cuLinkComplete)
REFUSES(cuLinkDestroy)
REFUSES(cuOccupancyMaxPotentialClusterSize)
