/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's functions, each library a table of pointers of the types that its headers give. A
 * member bears the name that dlsym is asked for: headers map names to those of a later
 * interface (cuMemAlloc is cuMemAlloc_v2), the older one may take another struct, and both
 * exist. So a name is always used by way of the header's macro.
 */
#ifndef BACKENDS_CUDA_API_H
#define BACKENDS_CUDA_API_H

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
    X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventSynchronize)                  \
    X(cuMemGetInfo) X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoDAsync)       \
    X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuLaunchKernel)             \
    X(cuGraphInstantiateWithFlags) X(cuGraphUpload) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy)    \
    X(cuGraphGetNodes) X(cuGraphNodeGetType) X(cuGraphKernelNodeGetParams)                     \
    X(cuFuncGetAttribute) X(cuOccupancyMaxActiveBlocksPerMultiprocessor)
/* Of drivers from 12.3 on. */
#define CUDA_DRIVER_OPTIONAL(X) X(cuFuncGetName) X(cuKernelGetFunction)
/* By the name itself: the later interface has the same types, and is not in every driver. */
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
    X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN)
/* clang-format on */

#define CUDA_MEMBER(name) __typeof__(&(name)) name;

struct cuda_driver {
    CUDA_DRIVER_FUNCTIONS(CUDA_MEMBER)
    CUDA_DRIVER_OPTIONAL(CUDA_MEMBER)
    CUDA_DRIVER_PLAIN(CUDA_MEMBER)
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

/*
 * Each loads one library and fills its table: CM_BACKEND_OK, or CM_BACKEND_REFUSED with what is
 * missing. `major`: of CUDA, the last that the driver runs; 0: not known, the last of all.
 */
int api_load_driver(const struct library_folders *folders, struct cuda_driver *ret,
                    struct cm_reason *reason);
int api_load_cudnn(const struct library_folders *folders, struct cuda_cudnn *ret,
                   struct cm_reason *reason);
int api_load_cublaslt(const struct library_folders *folders, int major,
                      struct cuda_cublaslt *ret, struct cm_reason *reason);
int api_load_nvrtc(const struct library_folders *folders, int major, struct cuda_nvrtc *ret,
                   struct cm_reason *reason);

#endif
