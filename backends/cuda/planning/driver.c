/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands for libcuda.so.1 where plans are made for a device that is not here. cuDNN's
 * engines that compile when they are planned hand the code to the driver at once, and are
 * refused where there is none. This one takes the code, keeps nothing and runs nothing: a plan
 * that is made with it exists, and that is all that can be said of it
 * (docs/decisions/planning.md).
 *
 * It has the functions that cuDNN 9.8 to 9.26 look up, by their plain names, each as far as
 * they go: those about code succeed, all others say that there is no device.
 */
#include <stddef.h>

#include "support/banned.h"

/* enum cudaError_enum of cuda.h. */
#define CUDA_SUCCESS         0
#define CUDA_ERROR_NO_DEVICE 100

/* The version that it says to be of: code for any device of today compiles with it. */
#define VERSION 13000

#define EXPORTED __attribute__((visibility("default")))

/* Callers pass more arguments than are declared here, which no calling convention minds that
 * has the caller take them away again. */
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

/* Handles are never looked into; they must not be NULL. */
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
