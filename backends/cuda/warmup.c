/* SPDX-License-Identifier: Apache-2.0 */
/* An idle device runs at a fraction of its maximum clock (for example 345 of 1980 MHz on an
 * H200) and needs a few hundred milliseconds of work to reach that maximum. */
#include "backends/cuda/warmup.h"

#include <stdlib.h>
#include <time.h>

#include "backends/cuda/jit/jit.h"
#include "backends/cuda/refuse.h"
#include "backends/cuda/replay.h"

#include "support/banned.h"

#define WARMUP_SECONDS 0.3
#define FLOOR_KERNELS  512 /* they share the latency before the first kernel */
#define FLOOR_SAMPLES  11
#define SPIN_BLOCK     256

static const char source[] =
    "extern \"C\" __global__ void costmodel_empty() {}\n"
    "extern \"C\" __global__ void costmodel_spin(float seed) {\n"
    "    float a = seed, b = threadIdx.x;\n"
    "    for (int i = 0; i < 100000; i++) { a = a * b + seed; b = b * a - seed; }\n"
    "    if (a == 12345.678f && b == a) __trap();\n"
    "}\n";

struct warmup {
    struct cm_device *device;
    CUmodule module;
    CUfunction empty, spin;
};

static int launch_empty(void *context, int64_t set, CUstream stream, struct cm_reason *reason) {
    const struct warmup *warmup = context;
    (void)set;
    return cuda_check(warmup->device,
                      warmup->device->driver.cuLaunchKernel(warmup->empty, 1, 1, 1, 32, 1, 1, 0,
                                                            stream, NULL, NULL),
                      "launch a kernel", reason);
}

static int spin(const struct warmup *warmup, struct cm_reason *reason) {
    struct cm_device *device = warmup->device;
    float seed = 0.5F;
    void *args[] = {&seed};
    const unsigned blocks = (unsigned)(device->n_units > 0 ? 2 * device->n_units : 1);
    const CUresult launched = device->driver.cuLaunchKernel(
        warmup->spin, blocks, 1, 1, SPIN_BLOCK, 1, 1, 0, device->stream, args, NULL);
    const int status = cuda_check(device, launched, "launch a kernel", reason);
    if (status != CM_BACKEND_OK) return status;
    return cuda_check(device, device->driver.cuStreamSynchronize(device->stream), "run it",
                      reason);
}

static double now(void) {
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int spin_until_warm(const struct warmup *warmup, struct cm_reason *reason) {
    const double end = now() + WARMUP_SECONDS;
    int status = CM_BACKEND_OK;
    while (status == CM_BACKEND_OK && now() < end) status = spin(warmup, reason);
    return status;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Leaves device->floor at 0 if the kernels cannot be captured. */
static int measure_floor(const struct warmup *warmup, struct cm_reason *reason) {
    struct cm_device *device = warmup->device;
    struct replay replay = {NULL, NULL};
    double samples[FLOOR_SAMPLES];
    struct warmup own = *warmup;
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

static int load(struct warmup *warmup, struct cm_reason *reason) {
    const struct cuda_driver *driver = &warmup->device->driver;
    char *cubin = NULL;
    size_t size = 0;
    int status =
        jit_compile(&warmup->device->nvrtc, source, warmup->device->sm, &cubin, &size, reason);
    if (status != CM_BACKEND_OK) return status;
    CUresult result = driver->cuModuleLoadData(&warmup->module, cubin);
    if (result == CUDA_SUCCESS)
        result = driver->cuModuleGetFunction(&warmup->empty, warmup->module, "costmodel_empty");
    if (result == CUDA_SUCCESS)
        result = driver->cuModuleGetFunction(&warmup->spin, warmup->module, "costmodel_spin");
    free(cubin);
    return cuda_check(warmup->device, result, "load a kernel", reason);
}

int warmup_device(struct cm_device *device, struct cm_reason *reason) {
    struct warmup warmup = {.device = device};
    if (!device->has_nvrtc.available) return CM_BACKEND_OK;
    int status = load(&warmup, reason);
    /* This NVRTC does not support the architecture: libraries still run. */
    if (status == CM_BACKEND_REFUSED && warmup.module == NULL) return CM_BACKEND_OK;
    if (status == CM_BACKEND_OK) status = spin_until_warm(&warmup, reason);
    if (status == CM_BACKEND_OK) status = measure_floor(&warmup, reason);
    if (warmup.module != NULL) (void)device->driver.cuModuleUnload(warmup.module);
    return status;
}
