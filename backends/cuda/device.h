/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device with the libraries that work on it. Only the driver's interface is used, never
 * the runtime's: CUstream and cudaStream_t are one type, and that is all the two have to share
 * (docs/decisions/cuda-driver-api.md).
 */
#ifndef BACKENDS_CUDA_DEVICE_H
#define BACKENDS_CUDA_DEVICE_H

#include <stdbool.h>

#include "backends/cuda/api.h"
#include "backends/cuda/cudnn/graph_target.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/nvml.h"

/* What the user asked for; texts are borrowed for as long as `open` runs. */
struct cuda_options {
    int32_t precision; /* enum cm_precision */
    int32_t layout;    /* enum cm_layout */
    int32_t autotune;
    bool plan_only;
    bool slow_heuristics;    /* cuDNN's mode B */
    int ordinal;             /* of the device */
    int64_t workspace_bytes; /* the most that a plan may take */
    int64_t memory_bytes;    /* that operands may take; 0: half of what is free */
    const char *libraries;   /* NULL: none */
    const char *target;      /* plan_only: a described device; NULL: the one that is here */
};

/* A library that a provider can do without. */
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
    struct graph_target target; /* what is planned for, where the device is not here */
    struct nvml nvml;
    bool has_driver; /* always but with plan_only; without it the members below are zero */
    struct cuda_availability has_cudnn, has_cublaslt, has_nvrtc;
    int driver_version; /* 13000 */
    CUdevice ordinal;
    CUcontext context;
    CUstream stream;
    CUevent begin, end; /* around what is timed */
    struct memory memory;
    double floor;               /* seconds of an empty kernel in a graph; 0 not known */
    cudnnHandle_t cudnn_handle; /* with its stream set; NULL without device or library */
    cublasLtHandle_t cublaslt_handle;
    int sm;      /* 90; 0 not known */
    int n_units; /* multiprocessors */
    int threads_a_unit;
    int64_t cache_bytes; /* L2 */
    int64_t memory_bytes;
    double bandwidth; /* of the memory by its clock and width, bytes a second; 0 not known */
    char name[CM_NAME_SIZE];
    char address[CM_WORD_SIZE];
};

int device_open(const struct cuda_options *options, struct cm_device **ret,
                struct cm_reason *reason);
void device_facts(const struct cm_device *device, struct cm_device_facts *ret);
void device_clocks(struct cm_device *device, struct cm_clocks *ret);
void device_close(struct cm_device *device);

#endif
