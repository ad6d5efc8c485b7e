/* SPDX-License-Identifier: Apache-2.0 */
/* Function tables of NVIDIA's libraries, typed by their headers. Macros of the headers map
 * some names to later versions (cuMemAlloc to cuMemAlloc_v2). The function without the suffix
 * may have other parameters, so dlsym is called with the name after macro expansion. */
#pragma once

#include <cublasLt.h>
#include <cuda.h>
#include <cudnn.h>
#include <nvrtc.h>

#include "backends/cuda/library.h"

/* clang-format off */
#define CUDA_DRIVER_FUNCTIONS(X)                                                               \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName)                      \
    X(cuDeviceGet) X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDeviceGetAttribute)              \
    X(cuDeviceTotalMem) X(cuDeviceGetPCIBusId)                                                 \
    X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent)                \
    X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize)                                \
    X(cuStreamBeginCapture) X(cuStreamEndCapture)                                              \
    X(cuEventCreate) X(cuEventDestroy) X(cuEventRecordWithFlags) X(cuEventSynchronize)         \
    X(cuMemGetInfo) X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoDAsync) X(cuMemcpyDtoHAsync) \
    X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuLaunchKernel)             \
    X(cuGraphInstantiateWithFlags) X(cuGraphUpload) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy)    \
    X(cuGraphGetNodes) X(cuGraphNodeGetType) X(cuGraphKernelNodeGetParams)                     \
    X(cuFuncGetAttribute) X(cuOccupancyMaxActiveBlocksPerMultiprocessor)
/* NULL if the driver lacks them; drivers for CUDA 12.3 and later have the first two. */
#define CUDA_DRIVER_OPTIONAL(X) X(cuFuncGetName) X(cuKernelGetFunction)                        \
    X(cuGraphGetRootNodes) X(cuGraphAddEventRecordNode)
/* Optional and loaded by the plain name: the headers of CUDA 13 map these names to a later
 * version with edge data, which not every driver has. */
#define CUDA_DRIVER_FIRST(X)                                                                   \
    X(cuGraphNodeGetDependentNodes, (CUgraphNode, CUgraphNode *, size_t *))                    \
    X(cuGraphAddDependencies, (CUgraph, const CUgraphNode *, const CUgraphNode *, size_t))     \
    X(cuGraphRemoveDependencies, (CUgraph, const CUgraphNode *, const CUgraphNode *, size_t))
/* Loaded by the plain name: old drivers lack the later version, whose signature is equal. */
#define CUDA_DRIVER_PLAIN(X) X(cuEventElapsedTime)

#define CUDA_CUDNN_FUNCTIONS(X)                                                                \
    X(cudnnGetVersion) X(cudnnGetErrorString) X(cudnnGetLastErrorString)                       \
    X(cudnnCreate) X(cudnnDestroy) X(cudnnSetStream)                                           \
    X(cudnnBackendCreateDescriptor) X(cudnnBackendDestroyDescriptor)                           \
    X(cudnnBackendSetAttribute) X(cudnnBackendGetAttribute) X(cudnnBackendFinalize)            \
    X(cudnnBackendExecute)                                                                     \
    X(cudnnCreateTensorDescriptor) X(cudnnDestroyTensorDescriptor)                             \
    X(cudnnSetTensorNdDescriptor)                                                              \
    X(cudnnCreateLRNDescriptor) X(cudnnDestroyLRNDescriptor) X(cudnnSetLRNDescriptor)          \
    X(cudnnLRNCrossChannelForward)                                                             \
    X(cudnnCreateDropoutDescriptor) X(cudnnDestroyDropoutDescriptor)                           \
    X(cudnnSetDropoutDescriptor)                                                               \
    X(cudnnCreateRNNDescriptor) X(cudnnDestroyRNNDescriptor) X(cudnnSetRNNDescriptor_v8)       \
    X(cudnnCreateRNNDataDescriptor) X(cudnnDestroyRNNDataDescriptor)                           \
    X(cudnnSetRNNDataDescriptor) X(cudnnGetRNNWeightSpaceSize) X(cudnnGetRNNTempSpaceSizes)    \
    X(cudnnRNNForward)

#define CUDA_CUBLASLT_FUNCTIONS(X)                                                             \
    X(cublasLtCreate) X(cublasLtDestroy) X(cublasLtGetVersion)                                 \
    X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy)                                   \
    X(cublasLtMatmulDescSetAttribute)                                                          \
    X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy)                               \
    X(cublasLtMatrixLayoutSetAttribute)                                                        \
    X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy)                       \
    X(cublasLtMatmulPreferenceSetAttribute)                                                    \
    X(cublasLtMatmulAlgoGetHeuristic) X(cublasLtMatmulAlgoCapGetAttribute)                     \
    X(cublasLtMatmulAlgoConfigGetAttribute) X(cublasLtMatmul)

#define CUDA_NVRTC_FUNCTIONS(X)                                                                \
    X(nvrtcVersion) X(nvrtcGetErrorString) X(nvrtcCreateProgram) X(nvrtcDestroyProgram)        \
    X(nvrtcCompileProgram) X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog)                     \
    X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) X(nvrtcGetPTXSize) X(nvrtcGetPTX)                    \
    X(nvrtcGetNumSupportedArchs) X(nvrtcGetSupportedArchs)
/* clang-format on */

#define CUDA_MEMBER(name)                   __typeof__(&(name)) name;
#define CUDA_FIRST_MEMBER(name, parameters) CUresult(*name) parameters;

struct cuda_driver {
    CUDA_DRIVER_FUNCTIONS(CUDA_MEMBER)
    CUDA_DRIVER_OPTIONAL(CUDA_MEMBER)
    CUDA_DRIVER_PLAIN(CUDA_MEMBER)
    CUDA_DRIVER_FIRST(CUDA_FIRST_MEMBER)
};

struct cuda_cudnn {
    CUDA_CUDNN_FUNCTIONS(CUDA_MEMBER)
};

struct cuda_cublaslt {
    CUDA_CUBLASLT_FUNCTIONS(CUDA_MEMBER)
};

struct cuda_nvrtc {
    CUDA_NVRTC_FUNCTIONS(CUDA_MEMBER)
};

/* Devices below API_FIRST_SM require libraries of CUDA 12 and a cuDNN below API_OLDER_CUDNN. */
#define API_FIRST_SM    75    /* of the oldest device that CUDA 13 supports */
#define API_OLDER_CUDNN 91100 /* the first cuDNN without those devices */

/* Driver and device, which decide the library versions that work. */
struct api_wanted {
    int major; /* CUDA version that the driver supports; 0: unknown, load the latest */
    int sm;    /* compute capability times 10; 0: unknown */
};

/* Each function loads one library, fills its table and returns CM_BACKEND_OK, or
 * CM_BACKEND_REFUSED with the reason. */
int api_load_driver(const struct library_folders *folders, struct cuda_driver *ret,
                    struct cm_reason *reason);
int api_load_cudnn(const struct library_folders *folders, const struct api_wanted *wanted,
                   struct cuda_cudnn *ret, struct cm_reason *reason);
int api_load_cublaslt(const struct library_folders *folders, const struct api_wanted *wanted,
                      struct cuda_cublaslt *ret, struct cm_reason *reason);
int api_load_nvrtc(const struct library_folders *folders, const struct api_wanted *wanted,
                   struct cuda_nvrtc *ret, struct cm_reason *reason);

/* Writes cuDNN's last error as one line; never empty. */
void api_cudnn_error(const struct cuda_cudnn *cudnn, cudnnStatus_t status, char *ret,
                     size_t size);
/* Returns the newest architecture up to `sm` that NVRTC compiles for; 0 if there is none. */
int api_newest_sm(const struct cuda_nvrtc *nvrtc, int sm);
