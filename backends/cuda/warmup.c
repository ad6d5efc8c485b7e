/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device that has had nothing to do runs at a fraction of its clock (an H200 was seen at 345
 * of 1980 MHz) and takes a few hundred milliseconds of work to come up.
 */
#include "backends/cuda/warmup.h"

#include <stdlib.h>
#include <time.h>

#include "backends/cuda/jit/jit.h"
#include "backends/cuda/refuse.h"
#include "backends/cuda/replay.h"

#include "support/banned.h"

#define ROUSE_S       0.3
#define FLOOR_KERNELS 512 /* what lies before the first of them is shared by all */
#define FLOOR_SAMPLES 11
#define SPIN_BLOCK    256

static const char source[] =
    "extern \"C\" __global__ void costmodel_empty() {}\n"
    "extern \"C\" __global__ void costmodel_spin(float seed) {\n"
    "    float a = seed, b = threadIdx.x;\n"
    "    for (int i = 0; i < 100000; i++) { a = a * b + seed; b = b * a - seed; }\n"
    "    if (a == 12345.678f && b == a) __trap();\n"
    "}\n";

struct rouse {
    struct cm_device *device;
    CUmodule module;
    CUfunction empty, spin;
};

static int launch_empty(void *context, int64_t set, CUstream stream, struct cm_reason *reason) {
    const struct rouse *rouse = context;
    (void)set;
    return device_check(rouse->device,
                        rouse->device->driver.cuLaunchKernel(rouse->empty, 1, 1, 1, 32, 1, 1, 0,
                                                             stream, NULL, NULL),
                        "launch a kernel", reason);
}

static int spin(const struct rouse *rouse, struct cm_reason *reason) {
    struct cm_device *device = rouse->device;
    float seed = 0.5F;
    void *args[] = {&seed};
    const unsigned blocks = (unsigned)(device->n_units > 0 ? 2 * device->n_units : 1);
    const CUresult launched = device->driver.cuLaunchKernel(
        rouse->spin, blocks, 1, 1, SPIN_BLOCK, 1, 1, 0, device->stream, args, NULL);
    const int status = device_check(device, launched, "launch a kernel", reason);
    if (status != CM_BACKEND_OK) return status;
    return device_check(device, device->driver.cuStreamSynchronize(device->stream), "run it",
                        reason);
}

static double now(void) {
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int come_up(const struct rouse *rouse, struct cm_reason *reason) {
    const double end = now() + ROUSE_S;
    int status = CM_BACKEND_OK;
    while (status == CM_BACKEND_OK && now() < end) status = spin(rouse, reason);
    return status;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A device on which nothing can be captured has no floor that is known. */
static int find_floor(const struct rouse *rouse, struct cm_reason *reason) {
    struct cm_device *device = rouse->device;
    struct replay replay = {NULL, NULL};
    double samples[FLOOR_SAMPLES];
    struct rouse own = *rouse;
    const struct replay_job job = {launch_empty, &own};
    int status = replay_capture(device, &job, FLOOR_KERNELS, 0, 1, &replay, reason);
    if (status == CM_BACKEND_REFUSED) return CM_BACKEND_OK;
    if (status == CM_BACKEND_OK) status = replay_run(device, &replay, &samples[0], reason);
    for (int i = 0; i < FLOOR_SAMPLES && status == CM_BACKEND_OK; i++)
        status = replay_run(device, &replay, &samples[i], reason);
    replay_drop(device, &replay);
    if (status != CM_BACKEND_OK) return status;
    qsort(samples, FLOOR_SAMPLES, sizeof(samples[0]), compare);
    device->floor = samples[FLOOR_SAMPLES / 2] / FLOOR_KERNELS;
    return CM_BACKEND_OK;
}

static int load(struct rouse *rouse, struct cm_reason *reason) {
    const struct cuda_driver *driver = &rouse->device->driver;
    char *cubin = NULL;
    size_t size = 0;
    int status =
        jit_compile(&rouse->device->nvrtc, source, rouse->device->sm, &cubin, &size, reason);
    if (status != CM_BACKEND_OK) return status;
    CUresult result = driver->cuModuleLoadData(&rouse->module, cubin);
    if (result == CUDA_SUCCESS)
        result = driver->cuModuleGetFunction(&rouse->empty, rouse->module, "costmodel_empty");
    if (result == CUDA_SUCCESS)
        result = driver->cuModuleGetFunction(&rouse->spin, rouse->module, "costmodel_spin");
    free(cubin);
    return device_check(rouse->device, result, "load a kernel", reason);
}

int warmup_device(struct cm_device *device, struct cm_reason *reason) {
    struct rouse rouse = {.device = device};
    if (!device->has_nvrtc.here) return CM_BACKEND_OK;
    int status = load(&rouse, reason);
    /* An architecture that this NVRTC does not know: products run all the same. */
    if (status == CM_BACKEND_REFUSED && rouse.module == NULL) return CM_BACKEND_OK;
    if (status == CM_BACKEND_OK) status = come_up(&rouse, reason);
    if (status == CM_BACKEND_OK) status = find_floor(&rouse, reason);
    if (rouse.module != NULL) (void)device->driver.cuModuleUnload(rouse.module);
    return status;
}
