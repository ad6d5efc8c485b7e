/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU that cuDNN plans for instead of a GPU of this machine: cuDNN 9.8 and later accepts the
 * properties of a device as JSON. */
#pragma once

#include <cudnn.h>

#include "costmodel/backend.h"

struct cuda_cudnn;

struct cuda_target {
    const struct cuda_cudnn *cudnn;
    cudnnBackendDescriptor_t descriptor; /* device properties; NULL if none */
    int sm;                              /* compute capability times 10: 90; 0 if unknown */
    char name[CM_NAME_SIZE];             /* full name: "NVIDIA H200"; "" if unknown */
};

/* `device`: a built-in name ("h200") or the path of a .json file; NULL for an H200. Returns
 * CM_BACKEND_OK, or another status and sets *reason. */
int target_make(const struct cuda_cudnn *cudnn, const char *device, struct cuda_target *ret,
                struct cm_reason *reason) __attribute__((warn_unused_result));
void target_drop(struct cuda_target *target);
