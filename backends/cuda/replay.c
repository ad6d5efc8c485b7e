/* SPDX-License-Identifier: Apache-2.0 */
/* Captures, instantiates and launches CUDA graphs; times a graph of empty kernels. */
#include "backends/cuda/replay.h"

#include <stdlib.h>

#include "backends/cuda/refuse.h"
#include "support/sort.h"

#define MS            1e-3
#define FLOOR_KERNELS 512 /* so many that the latency before the first is small */
#define FLOOR_SAMPLES 11
#define FLOOR_THREADS 32

static int launch_all(const struct cm_device *device, const struct replay_job *job,
                      struct cm_reason *reason) {
    int status = CM_BACKEND_OK;
    for (uint32_t i = 0; i < job->n && status == CM_BACKEND_OK; i++)
        status =
            job->launch(job->context, (job->first + i) % job->n_sets, device->stream, reason);
    return status;
}

/* `external`: under capture, adds a node that records the event in each launch of the graph. */
static int record_event(const struct cm_device *device, CUevent event, bool external,
                        struct cm_reason *reason) {
    return cuda_check(device,
                      device->driver.cuEventRecordWithFlags(event, device->stream,
                                                            external ? CU_EVENT_RECORD_EXTERNAL
                                                                     : CU_EVENT_RECORD_DEFAULT),
                      "record an event", reason);
}

/* Enqueues the executions, with clock readings and events around them. */
static int launch_timed(const struct cm_device *device, const struct replay_job *job,
                        struct cm_reason *reason) {
    int status = warmup_read_clock(device, WARMUP_BEGIN, reason);
    if (status == CM_BACKEND_OK) status = record_event(device, device->begin, true, reason);
    if (status == CM_BACKEND_OK) status = launch_all(device, job, reason);
    if (status == CM_BACKEND_OK) status = record_event(device, device->end, true, reason);
    if (status == CM_BACKEND_OK) status = warmup_read_clock(device, WARMUP_END, reason);
    return status;
}

/* Captures a job. Ends the capture after a failed launch too, else the stream stays in it. */
int replay_record(const struct cm_device *device, const struct replay_job *job,
                  struct replay *replay, struct cm_reason *reason) {
    const struct cuda_driver *driver = &device->driver;
    struct cm_reason unused = {""};
    int status = cuda_check(
        device,
        driver->cuStreamBeginCapture(device->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        "begin a capture", reason);
    if (status != CM_BACKEND_OK) return status;
    status =
        replay->timed ? launch_timed(device, job, reason) : launch_all(device, job, reason);
    const CUresult ended = driver->cuStreamEndCapture(device->stream, &replay->graph);
    if (status != CM_BACKEND_OK) {
        const int worse = cuda_check(device, ended, "end the capture", &unused);
        return worse == CM_BACKEND_BROKEN ? worse : status;
    }
    return cuda_check(device, ended, "end the capture", reason);
}

/* Uploads the graph now, because even its first launch is timed. */
int replay_instantiate(const struct cm_device *device, struct replay *replay,
                       struct cm_reason *reason) {
    const struct cuda_driver *driver = &device->driver;
    int status =
        cuda_check(device, driver->cuGraphInstantiateWithFlags(&replay->exec, replay->graph, 0),
                   "make a graph", reason);
    if (status == CM_BACKEND_OK)
        status = cuda_check(device, driver->cuGraphUpload(replay->exec, device->stream),
                            "upload a graph", reason);
    if (status == CM_BACKEND_OK)
        status = cuda_check(device, driver->cuStreamSynchronize(device->stream),
                            "upload a graph", reason);
    return status;
}

int replay_capture(const struct cm_device *device, const struct replay_job *job, bool timed,
                   struct replay *ret, struct cm_reason *reason) {
    struct replay replay = {.timed = timed};
    int status = replay_record(device, job, &replay, reason);
    if (status == CM_BACKEND_OK) status = replay_instantiate(device, &replay, reason);
    if (status == CM_BACKEND_OK)
        *ret = replay;
    else
        replay_drop(device, &replay);
    return status;
}

int replay_capture_timed(struct cm_device *device, const struct replay_job *job,
                         struct replay *ret, struct cm_reason *reason) {
    int status = CM_BACKEND_REFUSED;
    if (!device->no_external_events) status = replay_capture(device, job, true, ret, reason);
    if (status != CM_BACKEND_REFUSED) return status;
    status = replay_capture(device, job, false, ret, reason);
    if (status == CM_BACKEND_OK) device->no_external_events = true;
    return status;
}

static int read_time(const struct cm_device *device, double *ret_seconds,
                     struct cm_reason *reason) {
    float ms = 0;
    const int status =
        cuda_check(device, device->driver.cuEventElapsedTime(&ms, device->begin, device->end),
                   "read the time", reason);
    if (status == CM_BACKEND_OK) *ret_seconds = MS * (double)ms;
    return status;
}

static int end_time(const struct cm_device *device, double *ret_seconds,
                    struct cm_reason *reason) {
    int status = record_event(device, device->end, false, reason);
    if (status == CM_BACKEND_OK)
        status = cuda_check(device, device->driver.cuEventSynchronize(device->end), "run it",
                            reason);
    return status == CM_BACKEND_OK ? read_time(device, ret_seconds, reason) : status;
}

int replay_run(const struct cm_device *device, const struct replay *replay, double *ret_seconds,
               struct cm_reason *reason) {
    int status = CM_BACKEND_OK;
    if (!replay->timed) status = record_event(device, device->begin, false, reason);
    if (status == CM_BACKEND_OK)
        status = cuda_check(device, device->driver.cuGraphLaunch(replay->exec, device->stream),
                            "launch it", reason);
    if (status != CM_BACKEND_OK) return status;
    if (!replay->timed) return end_time(device, ret_seconds, reason);
    status = cuda_check(device, device->driver.cuStreamSynchronize(device->stream), "run it",
                        reason);
    return status == CM_BACKEND_OK ? read_time(device, ret_seconds, reason) : status;
}

int replay_launch(const struct cm_device *device, const struct replay_job *job,
                  double *ret_seconds, struct cm_reason *reason) {
    int status = record_event(device, device->begin, false, reason);
    if (status == CM_BACKEND_OK) status = launch_all(device, job, reason);
    return status == CM_BACKEND_OK ? end_time(device, ret_seconds, reason) : status;
}

void replay_drop(const struct cm_device *device, struct replay *replay) {
    if (replay->exec != NULL) (void)device->driver.cuGraphExecDestroy(replay->exec);
    if (replay->graph != NULL) (void)device->driver.cuGraphDestroy(replay->graph);
    *replay = (struct replay){.graph = NULL};
}

static int launch_empty(void *context, int64_t set, CUstream stream, struct cm_reason *reason) {
    const struct cm_device *device = context;
    (void)set;
    return cuda_check(device,
                      device->driver.cuLaunchKernel(device->warmup.empty, 1, 1, 1,
                                                    FLOOR_THREADS, 1, 1, 0, stream, NULL, NULL),
                      "launch a kernel", reason);
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

int replay_floor(struct cm_device *device, struct cm_reason *reason) {
    struct replay replay = {.graph = NULL};
    double samples[FLOOR_SAMPLES];
    const struct replay_job job = {
        .launch = launch_empty, .context = device, .n = FLOOR_KERNELS, .n_sets = 1};
    if (device->warmup.module == NULL) return CM_BACKEND_OK;
    int status = replay_capture_timed(device, &job, &replay, reason);
    if (status == CM_BACKEND_REFUSED) return CM_BACKEND_OK;
    if (status == CM_BACKEND_OK) status = replay_run(device, &replay, &samples[0], reason);
    for (int i = 0; i < FLOOR_SAMPLES && status == CM_BACKEND_OK; i++)
        status = replay_run(device, &replay, &samples[i], reason);
    replay_drop(device, &replay);
    if (status != CM_BACKEND_OK) return status;
    sort_stable(samples, FLOOR_SAMPLES, sizeof(samples[0]), compare);
    device->floor = samples[FLOOR_SAMPLES / 2] / FLOOR_KERNELS;
    return CM_BACKEND_OK;
}
