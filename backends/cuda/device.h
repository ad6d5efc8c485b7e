/* SPDX-License-Identifier: Apache-2.0 */
/* The device and its libraries. Only the driver API is used, never the runtime API; libraries
 * take a CUstream as cudaStream_t, the same type (docs/decisions/cuda-driver-api.md). */
#pragma once

#include <stdbool.h>

#include "backends/cuda/api.h"
#include "backends/cuda/choices.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/nvml.h"
#include "backends/cuda/target.h"
#include "backends/cuda/warmup.h"

/* Settings of the user; the texts are valid during device_open only. */
struct cuda_options {
    int32_t precision; /* enum cm_precision */
    int32_t layout;    /* enum cm_layout */
    int32_t autotune;  /* candidates per provider to time; 0 or 1: none */
    bool plan_only;
    bool slow_heuristics;    /* heuristics mode B */
    int ordinal;             /* device number */
    int64_t workspace_bytes; /* limit of a plan's workspace */
    int64_t memory_bytes;    /* limit for operands; 0: half of the free memory */
    const char *libraries;   /* NULL if not set */
    const char *target;      /* plan_only: GPU to plan for; NULL: the present, else an H200 */
};

/* State of an optional library. */
struct cuda_availability {
    bool available;
    struct cm_reason reason; /* if not available */
};

struct cm_device {
    struct cuda_options options;
    struct cuda_driver driver;
    struct cuda_cudnn cudnn;
    struct cuda_cublaslt cublaslt;
    struct cuda_nvrtc nvrtc;
    struct cuda_target target; /* device to plan for if has_driver is false */
    struct nvml nvml;
    bool has_driver; /* false only with plan_only: then there is no context, stream or handle */
    struct cuda_availability has_cudnn, has_cublaslt, has_nvrtc;
    int driver_version; /* CUDA version that the driver supports: 13000 for 13.0 */
    CUdevice ordinal;
    CUcontext context;
    CUstream stream;
    CUevent begin, end;      /* events around the timed work */
    bool no_external_events; /* the driver cannot capture events in a graph */
    struct warmup warmup;
    struct memory memory;
    struct choices choices;     /* algorithms of the primitives planned so far */
    double floor;               /* seconds per empty kernel in a graph; 0 if unknown */
    cudnnHandle_t cudnn_handle; /* uses `stream`; NULL without a device or library */
    cublasLtHandle_t cublaslt_handle;
    int sm;               /* compute capability times 10: 90; 0 if unknown */
    int jit_sm;           /* newest architecture up to sm that NVRTC compiles for; 0 if none */
    int n_units;          /* multiprocessors */
    int threads_a_unit;   /* maximum of resident threads per multiprocessor */
    int64_t cache_bytes;  /* L2 */
    int64_t memory_bytes; /* total */
    double bandwidth;     /* bytes per second, from memory clock and bus width; 0 if unknown */
    char name[CM_NAME_SIZE];
    char address[CM_WORD_SIZE];
};

/* Opens a device, or the target to plan for. Returns CM_BACKEND_OK, or a status with its
 * reason. The other functions are those of cm_backend. */
int device_open(const struct cuda_options *options, struct cm_device **ret,
                struct cm_reason *reason);
void device_facts(const struct cm_device *device, struct cm_device_facts *ret);
void device_clocks(struct cm_device *device, struct cm_clocks *ret);
void device_close(struct cm_device *device);
