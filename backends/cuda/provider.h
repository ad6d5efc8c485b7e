/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between what runs work on the device and what knows how a library wants it: a
 * provider makes a step of a primitive, which can be launched as often as one likes. A provider
 * declines, and the next one is asked.
 */
#ifndef BACKENDS_CUDA_PROVIDER_H
#define BACKENDS_CUDA_PROVIDER_H

#include "backends/cuda/device.h"

/*
 * Addresses of one execution, each a multiple of 256; 0 of an operand that there is none of.
 * An operand has as many bytes as the strides of its tensor reach. A step may take them in
 * another order of the dims: data are random, and permutations are of one size.
 */
struct cuda_operands {
    CUdeviceptr inputs[CM_MAX_INPUTS];
    CUdeviceptr outputs[CM_MAX_OUTPUTS];
    CUdeviceptr workspace; /* of cuda_step.workspace_bytes */
};

/* A primitive ready to run. All calls come from one thread. */
struct cuda_step {
    void *own;
    /*
     * Puts one execution into the stream and does not wait; it may be under capture, so no
     * memory is allocated and nothing is loaded that the first launch has not loaded.
     * `operands` lasts for the call. NULL: planned without a device.
     */
    int (*launch)(void *own, const struct cuda_operands *operands, CUstream stream,
                  struct cm_reason *reason);
    /* Fills algorithm, tensor_cores and what else it knows, in `ret` that is zero but for
     * provider, workspace_bytes, plans_tried and plan_seconds. NULL: it knows nothing more. */
    void (*facts)(const void *own, struct cm_how *ret);
    void (*drop)(void *own);
    int64_t workspace_bytes;
    int32_t state;               /* CM_MEASURED, CM_PROXY or CM_VIEW */
    int32_t plans_tried;         /* configurations of the library until this one; 0: 1 */
    struct cm_reason proxy_note; /* what stands for it, of a proxy */
};

struct cuda_provider {
    const char *name; /* cm_how.provider: "cudnn graph" */
    /* cm_kernel.rule where cm_how.tensor_cores of its facts decides about its kernels:
     * "cublaslt flags"; NULL: their names alone do. */
    const char *tensor_core_rule;
    bool plans_only; /* it makes a step without a device */
    /*
     * Candidate 0 is what the provider thinks best, 1 the next, ...: of those that it could
     * make on this device. CM_BACKEND_REFUSED: it does not do this, or there are no more
     * candidates; another status ends the search. *ret is zero before the call.
     */
    int (*make)(struct cm_device *device, const struct cm_primitive *primitive,
                int32_t candidate, struct cuda_step *ret, struct cm_reason *reason);
};

/* Those for a kind in the order in which they are asked, NULL at the end. */
const struct cuda_provider *const *providers_for(int32_t kind);

/* The providers, each in its file. */
extern const struct cuda_provider cublaslt_provider, cudnn_graph_provider, legacy_provider,
    nvrtc_provider, copy_proxy_provider;

#endif
