/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/cuda/replay.h"

#include "backends/cuda/refuse.h"

#include "support/banned.h"

#define MS 1e-3

static int launch_all(const struct cm_device *device, const struct replay_job *job, uint32_t n,
                      int64_t first, int64_t n_sets, struct cm_reason *reason) {
    int status = CM_BACKEND_OK;
    for (uint32_t i = 0; i < n && status == CM_BACKEND_OK; i++)
        status = job->launch(job->context, (first + i) % n_sets, device->stream, reason);
    return status;
}

/* End the capture after a failed launch too, else the stream stays in capture mode. */
static int record(const struct cm_device *device, const struct replay_job *job, uint32_t n,
                  int64_t first, int64_t n_sets, struct replay *ret, struct cm_reason *reason) {
    const struct cuda_driver *driver = &device->driver;
    struct cm_reason unused = {""};
    int status = cuda_check(
        device,
        driver->cuStreamBeginCapture(device->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        "begin a capture", reason);
    if (status != CM_BACKEND_OK) return status;
    status = launch_all(device, job, n, first, n_sets, reason);
    const CUresult ended = driver->cuStreamEndCapture(device->stream, &ret->graph);
    if (status != CM_BACKEND_OK) {
        const int worse = cuda_check(device, ended, "end the capture", &unused);
        return worse == CM_BACKEND_BROKEN ? worse : status;
    }
    return cuda_check(device, ended, "end the capture", reason);
}

int replay_capture(const struct cm_device *device, const struct replay_job *job, uint32_t n,
                   int64_t first, int64_t n_sets, struct replay *ret,
                   struct cm_reason *reason) {
    struct replay replay = {NULL, NULL};
    const struct cuda_driver *driver = &device->driver;
    int status = record(device, job, n, first, n_sets, &replay, reason);
    if (status == CM_BACKEND_OK)
        status = cuda_check(device,
                            driver->cuGraphInstantiateWithFlags(&replay.exec, replay.graph, 0),
                            "make a graph", reason);
    /* Upload now: the first launch is timed. */
    if (status == CM_BACKEND_OK)
        status = cuda_check(device, driver->cuGraphUpload(replay.exec, device->stream),
                            "upload a graph", reason);
    if (status == CM_BACKEND_OK)
        status = cuda_check(device, driver->cuStreamSynchronize(device->stream),
                            "upload a graph", reason);
    if (status == CM_BACKEND_OK)
        *ret = replay;
    else
        replay_drop(device, &replay);
    return status;
}

static int begin_time(const struct cm_device *device, struct cm_reason *reason) {
    return cuda_check(device, device->driver.cuEventRecord(device->begin, device->stream),
                      "record an event", reason);
}

static int end_time(const struct cm_device *device, double *ret_seconds,
                    struct cm_reason *reason) {
    float ms = 0;
    const struct cuda_driver *driver = &device->driver;
    int status = cuda_check(device, driver->cuEventRecord(device->end, device->stream),
                            "record an event", reason);
    if (status == CM_BACKEND_OK)
        status = cuda_check(device, driver->cuEventSynchronize(device->end), "run it", reason);
    if (status == CM_BACKEND_OK)
        status = cuda_check(device, driver->cuEventElapsedTime(&ms, device->begin, device->end),
                            "read the time", reason);
    if (status == CM_BACKEND_OK) *ret_seconds = MS * (double)ms;
    return status;
}

int replay_run(const struct cm_device *device, const struct replay *replay, double *ret_seconds,
               struct cm_reason *reason) {
    int status = begin_time(device, reason);
    if (status == CM_BACKEND_OK)
        status = cuda_check(device, device->driver.cuGraphLaunch(replay->exec, device->stream),
                            "launch it", reason);
    return status == CM_BACKEND_OK ? end_time(device, ret_seconds, reason) : status;
}

int replay_launch(const struct cm_device *device, const struct replay_job *job, uint32_t n,
                  int64_t first, int64_t n_sets, double *ret_seconds,
                  struct cm_reason *reason) {
    int status = begin_time(device, reason);
    if (status == CM_BACKEND_OK) status = launch_all(device, job, n, first, n_sets, reason);
    return status == CM_BACKEND_OK ? end_time(device, ret_seconds, reason) : status;
}

void replay_drop(const struct cm_device *device, struct replay *replay) {
    if (replay->exec != NULL) (void)device->driver.cuGraphExecDestroy(replay->exec);
    if (replay->graph != NULL) (void)device->driver.cuGraphDestroy(replay->graph);
    *replay = (struct replay){NULL, NULL};
}
