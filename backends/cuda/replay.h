/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many launches as one graph of the device: what the host takes for each is left out of the
 * time. Kernels are told from the same graph.
 */
#ifndef BACKENDS_CUDA_REPLAY_H
#define BACKENDS_CUDA_REPLAY_H

#include "backends/cuda/device.h"

/* Puts one execution on one set of operands into the stream. */
struct replay_job {
    int (*launch)(void *context, int64_t set, CUstream stream, struct cm_reason *reason);
    void *context;
};

struct replay {
    CUgraph graph;
    CUgraphExec exec;
};

/* `n` executions on the sets first, first + 1, .. of which there are `n_sets`, the first one
 * again after the last. CM_BACKEND_REFUSED: something in it cannot be captured. */
int replay_capture(const struct cm_device *device, const struct replay_job *job, uint32_t n,
                   int64_t first, int64_t n_sets, struct replay *ret, struct cm_reason *reason);
/* Launches it once and waits. */
int replay_run(const struct cm_device *device, const struct replay *replay, double *ret_seconds,
               struct cm_reason *reason);
/* The same executions launched one by one. */
int replay_launch(const struct cm_device *device, const struct replay_job *job, uint32_t n,
                  int64_t first, int64_t n_sets, double *ret_seconds, struct cm_reason *reason);
void replay_drop(const struct cm_device *device, struct replay *replay);

/* Kernels of a graph in the order of their first call; more than CM_MAX_KERNELS are counted
 * only. */
struct replay_kernels {
    int32_t n;
    struct cm_kernel items[CM_MAX_KERNELS];
};
void replay_kernels(const struct cm_device *device, const struct replay *replay,
                    struct replay_kernels *ret);

#endif
