/* SPDX-License-Identifier: Apache-2.0 */
/* Times of the single kernels of a layer, measured in a separate graph. This graph has events
 * around each kernel, so it is slower than the graph that times the layer. */
#pragma once

#include "backends/cuda/replay.h"

#define KERNEL_TIMES_MOST 256 /* most timed nodes; short kernels need many (kernel_times.c) */

struct kernel_times {
    struct replay replay;
    int32_t n;                             /* timed nodes; 0: there is no graph */
    int32_t n_executions;                  /* executions that these nodes belong to */
    CUevent events[KERNEL_TIMES_MOST + 1]; /* before each timed node, and after the last */
    int32_t kernels[KERNEL_TIMES_MOST];    /* index of each timed node in replay_kernels */
};

/* Captures the executions of a job, with events around the kernels of the last executions.
 * Refuses a graph that is not a chain of the kernels in `kernels`. */
int kernel_times_make(const struct cm_device *device, const struct replay_job *job,
                      const struct replay_kernels *kernels, struct kernel_times *ret,
                      struct cm_reason *reason);
/* Runs the graph once. Sets ret_seconds[i], i < CM_MAX_KERNELS, to the seconds per execution in
 * all calls of kernel i. */
int kernel_times_run(const struct cm_device *device, const struct kernel_times *times,
                     double *ret_seconds, struct cm_reason *reason);
void kernel_times_drop(const struct cm_device *device, struct kernel_times *times);
