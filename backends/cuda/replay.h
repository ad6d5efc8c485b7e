/* SPDX-License-Identifier: Apache-2.0 */
/* Many launches as one CUDA graph, which removes host launch time from the measurement. The
 * graph also lists the kernels. */
#ifndef BACKENDS_CUDA_REPLAY_H
#define BACKENDS_CUDA_REPLAY_H

#include "backends/cuda/device.h"

/* Enqueues one execution on one set of operands. */
struct replay_job {
    int (*launch)(void *context, int64_t set, CUstream stream, struct cm_reason *reason);
    void *context;
};

struct replay {
    CUgraph graph;
    CUgraphExec exec;
};

/* Captures `n` executions on sets first, first + 1, .. modulo `n_sets`. Returns
 * CM_BACKEND_REFUSED if something cannot be captured. */
int replay_capture(const struct cm_device *device, const struct replay_job *job, uint32_t n,
                   int64_t first, int64_t n_sets, struct replay *ret, struct cm_reason *reason);
/* Launches the graph once and waits. */
int replay_run(const struct cm_device *device, const struct replay *replay, double *ret_seconds,
               struct cm_reason *reason);
/* Launches the same executions one by one. */
int replay_launch(const struct cm_device *device, const struct replay_job *job, uint32_t n,
                  int64_t first, int64_t n_sets, double *ret_seconds, struct cm_reason *reason);
void replay_drop(const struct cm_device *device, struct replay *replay);

/*
 * Kernels of a graph in order of their first call; more than CM_MAX_KERNELS are only counted.
 */
struct replay_kernels {
    int32_t n;
    struct cm_kernel items[CM_MAX_KERNELS];
};
void replay_kernels(const struct cm_device *device, const struct replay *replay,
                    struct replay_kernels *ret);

#endif
