/* SPDX-License-Identifier: Apache-2.0 */
/* A provider makes a step with one library: a primitive that is ready to run and can be
 * launched any number of times. If a provider refuses a primitive, the next one is tried. */
#pragma once

#include "backends/cuda/device.h"

/* Device addresses of the operands of one execution, multiples of 256; 0 if absent. An operand
 * spans the bytes that its strides reach. A step may use another layout of the same size,
 * because the contents are random. */
struct cuda_operands {
    CUdeviceptr inputs[CM_MAX_INPUTS];
    CUdeviceptr outputs[CM_MAX_OUTPUTS];
    CUdeviceptr workspace; /* of cuda_step.workspace_bytes */
};

/* A primitive ready to run. Not thread-safe. */
struct cuda_step {
    void *own; /* data of the provider, the first argument of the functions */
    /* Enqueues one execution in the stream without waiting. May run under graph capture: it
     * must not allocate memory, and only the first launch may load code. `operands` is valid
     * during the call. NULL if the step was planned without a device. */
    int (*launch)(void *own, const struct cuda_operands *operands, CUstream stream,
                  struct cm_reason *reason);
    /* Fills algorithm, tensor_cores and other fields that only the step knows; the caller fills
     * the rest. NULL if nothing is known. */
    void (*facts)(const void *own, struct cm_how *ret);
    void (*drop)(void *own);
    int64_t workspace_bytes;
    int32_t state;         /* CM_MEASURED or CM_PROXY */
    int32_t plans_tried;   /* configurations tried, including this one; 0 means 1 */
    struct cm_reason note; /* proxy: what ran instead; else why the best graph is refused */
};

struct cuda_provider {
    const char *name; /* cm_how.provider, for example "cudnn graph" */
    /* If not NULL, cm_how.tensor_cores of a step, if known, applies to its kernels, with this
     * text as cm_kernel.rule: "cublaslt flags". NULL: the names of the kernels decide. */
    const char *tensor_core_rule;
    const char *device_only; /* why making a step requires a device; NULL: it does not */
    /* Makes a candidate of those possible on this device: 0 is the provider's best, 1 the next.
     * Returns CM_BACKEND_REFUSED if unsupported or no candidate is left. After a failure the
     * caller asks the next provider, except after CM_BACKEND_BROKEN. *ret begins as zero. */
    int (*make)(struct cm_device *device, const struct cm_primitive *primitive,
                int32_t candidate, struct cuda_step *ret, struct cm_reason *reason);
};

/* Converts an address to a pointer, as NVIDIA's libraries take; the driver takes integers. */
static inline void *provider_pointer(CUdeviceptr address) {
    return (void *)(uintptr_t)address;
}

/* One file per provider. */
extern const struct cuda_provider cublaslt_provider, cudnn_graph_provider, legacy_provider,
    nvrtc_provider, copy_proxy_provider;
