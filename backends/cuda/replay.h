/* SPDX-License-Identifier: Apache-2.0 */
/* Captures many launches as one CUDA graph, so that times do not include launches by the host.
 * The graph also lists the kernels. */
#pragma once

#include "backends/cuda/device.h"

/* `n` executions; execution i uses set (first + i) % n_sets. */
struct replay_job {
    /* Enqueues one execution on one set of operands. */
    int (*launch)(void *context, int64_t set, CUstream stream, struct cm_reason *reason);
    void *context;
    uint32_t n;
    int64_t first;
    int64_t n_sets;
};

struct replay {
    CUgraph graph;
    CUgraphExec exec;
    bool timed; /* the graph itself records device->begin and ->end, and the SM clock */
};

/* replay_record captures the executions, with timing events if replay->timed. The caller may
 * change the graph before replay_instantiate makes it ready to launch. The caller must call
 * replay_drop, even after a failure. */
int replay_record(const struct cm_device *device, const struct replay_job *job,
                  struct replay *replay, struct cm_reason *reason);
int replay_instantiate(const struct cm_device *device, struct replay *replay,
                       struct cm_reason *reason);
/* Captures and instantiates. Returns CM_BACKEND_REFUSED if an execution cannot be captured. */
int replay_capture(const struct cm_device *device, const struct replay_job *job, bool timed,
                   struct replay *ret, struct cm_reason *reason);
/* Captures the executions with timing events as nodes of the graph. Events that the host
 * records around the graph would include the time before its first kernel; they are used only
 * if the driver cannot capture events. */
int replay_capture_timed(struct cm_device *device, const struct replay_job *job,
                         struct replay *ret, struct cm_reason *reason);
/* Launches the graph once and waits. *ret_seconds: time between the events. */
int replay_run(const struct cm_device *device, const struct replay *replay, double *ret_seconds,
               struct cm_reason *reason);
/* Launches the executions without a graph and waits. *ret_seconds: time between the events. */
int replay_launch(const struct cm_device *device, const struct replay_job *job,
                  double *ret_seconds, struct cm_reason *reason);
void replay_drop(const struct cm_device *device, struct replay *replay);
/* Sets device->floor, the time of an empty kernel in a graph; leaves it at 0, without an error,
 * if kernels cannot be loaded or captured. */
int replay_floor(struct cm_device *device, struct cm_reason *reason);

/* Kernels of a graph in order of first call; those after CM_MAX_KERNELS are only counted. */
struct replay_kernels {
    int32_t n; /* may exceed CM_MAX_KERNELS; the rest is not listed */
    struct cm_kernel items[CM_MAX_KERNELS];
};
/* Lists the kernels of a captured graph; none if the graph cannot be read. */
void replay_kernels(const struct cm_device *device, const struct replay *replay,
                    struct replay_kernels *ret);
/* Returns the index in `kernels` of what a node runs; -1: it is not listed. */
int32_t replay_kernel_at(const struct cm_device *device, CUgraphNode node,
                         const struct replay_kernels *kernels);
/* Replaces a mangled C++ name by the demangled one, as nsys prints it, truncated to `size`
 * bytes. Leaves other names unchanged, and all names if the C++ library is missing. */
void replay_demangle(char *name, size_t size);
