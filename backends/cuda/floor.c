/* SPDX-License-Identifier: Apache-2.0 */
/* Times a graph of empty kernels. */
#include "backends/cuda/floor.h"

#include <stdlib.h>

#include "backends/cuda/refuse.h"
#include "backends/cuda/replay.h"

#include "support/banned.h"

#define N_KERNELS 512 /* they share the latency before the first kernel */
#define N_SAMPLES 11
#define THREADS   32

static int launch_empty(void *context, int64_t set, CUstream stream, struct cm_reason *reason) {
    const struct cm_device *device = context;
    (void)set;
    return cuda_check(device,
                      device->driver.cuLaunchKernel(device->warmup.empty, 1, 1, 1, THREADS, 1,
                                                    1, 0, stream, NULL, NULL),
                      "launch a kernel", reason);
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

int floor_measure(struct cm_device *device, struct cm_reason *reason) {
    struct replay replay = {.graph = NULL};
    double samples[N_SAMPLES];
    const struct replay_job job = {
        .launch = launch_empty, .context = device, .n = N_KERNELS, .n_sets = 1};
    if (device->warmup.module == NULL) return CM_BACKEND_OK;
    int status = replay_capture_timed(device, &job, &replay, reason);
    if (status == CM_BACKEND_REFUSED) return CM_BACKEND_OK;
    if (status == CM_BACKEND_OK) status = replay_run(device, &replay, &samples[0], reason);
    for (int i = 0; i < N_SAMPLES && status == CM_BACKEND_OK; i++)
        status = replay_run(device, &replay, &samples[i], reason);
    replay_drop(device, &replay);
    if (status != CM_BACKEND_OK) return status;
    qsort(samples, N_SAMPLES, sizeof(samples[0]), compare);
    device->floor = samples[N_SAMPLES / 2] / N_KERNELS;
    return CM_BACKEND_OK;
}
