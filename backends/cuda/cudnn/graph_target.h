/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device that plans are made for and that need not be here: cuDNN 9.8 and later takes its
 * properties as a JSON text of its own making.
 */
#ifndef BACKENDS_CUDA_CUDNN_GRAPH_TARGET_H
#define BACKENDS_CUDA_CUDNN_GRAPH_TARGET_H

#include <cudnn.h>

#include "costmodel/backend.h"

struct cuda_cudnn;

struct graph_target {
    const struct cuda_cudnn *cudnn;
    cudnnBackendDescriptor_t descriptor; /* its properties; NULL: there is none */
    int sm;                              /* 90; 0 not known */
    char name[CM_NAME_SIZE];
};

/*
 * `device`: one of the devices described here, or the path of a file (.json); NULL: an H200.
 * CM_BACKEND_OK, or a status with its reason.
 */
int graph_target_make(const struct cuda_cudnn *cudnn, const char *device,
                      struct graph_target *ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));
void graph_target_drop(struct graph_target *target);

#endif
