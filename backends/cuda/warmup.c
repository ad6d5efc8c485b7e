/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that raise and measure the SM clock. */
#include "backends/cuda/warmup.h"

#include <string.h>
#include <time.h>

#include "backends/cuda/device.h"
#include "backends/cuda/refuse.h"

/* The first warm-up ends after this time without an increase of the clock. */
#define STEADY_CLOCK_NS 300e6
#define MAX_WARMUP_NS   2e9   /* first warm-up: upper limit */
#define RESUME_NS       100e6 /* later warm-ups: upper limit */
#define IDLE_SECONDS    1e-3  /* idle time after which the clock may have dropped */
#define STEADY          0.01  /* relative change of the clock that is ignored */
#define ACCEPTED        0.75 /* minimum of sample clock / steady clock; nvbench uses the same */
#define SPIN_BLOCK      256
#define SPIN_LOOPS      200000 /* about half a millisecond */

/* Kernels in PTX, which needs no compiler: the driver translates it for every device since
 * sm_50. The trap of costmodel_spin never runs; it keeps the loop from being optimized away. */
static const char program[] = ".version 6.3\n.target sm_50\n.address_size 64\n"
                              ".visible .entry costmodel_empty()\n{\nret;\n}\n"
                              ".visible .entry costmodel_stamp(.param .u64 to)\n{\n"
                              ".reg .b64 %a<4>;\n.reg .b32 %s;\n"
                              "ld.param.u64 %a0, [to];\n"
                              "cvta.to.global.u64 %a1, %a0;\n"
                              "mov.u64 %a2, %globaltimer;\n"
                              "mov.u64 %a3, %clock64;\n"
                              "mov.u32 %s, %smid;\n"
                              "st.global.u64 [%a1], %a2;\n"
                              "st.global.u64 [%a1+8], %a3;\n"
                              "st.global.u32 [%a1+16], %s;\n"
                              "ret;\n}\n"
                              ".visible .entry costmodel_spin(.param .u32 n)\n{\n"
                              ".reg .f32 %f<3>;\n.reg .b32 %r<3>;\n.reg .pred %p<3>;\n"
                              "ld.param.u32 %r0, [n];\n"
                              "mov.u32 %r1, %tid.x;\n"
                              "cvt.rn.f32.u32 %f0, %r1;\n"
                              "mov.f32 %f1, 0f3F000000;\n"
                              "again:\n"
                              "fma.rn.f32 %f1, %f1, %f0, 0f3F000000;\n"
                              "sub.u32 %r0, %r0, 1;\n"
                              "setp.ne.u32 %p0, %r0, 0;\n"
                              "@%p0 bra again;\n"
                              "setp.eq.f32 %p1, %f1, 0f4640E6B7;\n" /* never: keeps the loop */
                              "@%p1 trap;\n"
                              "ret;\n}\n";

struct reading {
    uint64_t nanoseconds, cycles; /* each multiprocessor counts its own cycles */
    uint32_t unit;                /* multiprocessor that ran the kernel */
    uint32_t reserved;
};

double warmup_now(void) {
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void warmup_busy(struct cm_device *device) {
    device->warmup.busy_at = warmup_now();
}

static int launch(const struct cm_device *device, CUfunction function, unsigned blocks,
                  unsigned threads, void **args, struct cm_reason *reason) {
    return cuda_check(device,
                      device->driver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0,
                                                    device->stream, args, NULL),
                      "launch a kernel", reason);
}

int warmup_read_clock(const struct cm_device *device, enum warmup_stamp which,
                      struct cm_reason *reason) {
    CUdeviceptr to =
        device->warmup.stamps + (CUdeviceptr)which * (CUdeviceptr)sizeof(struct reading);
    void *args[] = {&to};
    if (device->warmup.module == NULL) return CM_BACKEND_OK;
    return launch(device, device->warmup.stamp, 1, 1, args, reason);
}

/* Waits for the stream. *ret_mhz: mean clock between the two readings; 0 if unknown. *ret_ns:
 * device time of the second reading. */
static int read_clocks(struct cm_device *device, double *ret_mhz, double *ret_ns,
                       struct cm_reason *reason) {
    struct reading stamps[WARMUP_STAMPS];
    const struct cuda_driver *driver = &device->driver;
    memset(stamps, 0, sizeof(stamps));
    CUresult result = driver->cuMemcpyDtoHAsync(stamps, device->warmup.stamps, sizeof(stamps),
                                                device->stream);
    if (result == CUDA_SUCCESS) result = driver->cuStreamSynchronize(device->stream);
    const double cycles = (double)stamps[WARMUP_END].cycles - (double)stamps[0].cycles;
    const double ns = (double)stamps[WARMUP_END].nanoseconds - (double)stamps[0].nanoseconds;
    const bool same = stamps[0].unit == stamps[WARMUP_END].unit;
    *ret_mhz = same && cycles > 0 && ns > 0 ? 1e3 * cycles / ns : 0;
    *ret_ns = (double)stamps[WARMUP_END].nanoseconds;
    return cuda_check(device, result, "read the clock", reason);
}

/* Runs all multiprocessors for about half a millisecond and measures their clock. */
static int spin(struct cm_device *device, double *ret_mhz, double *ret_ns,
                struct cm_reason *reason) {
    unsigned loops = SPIN_LOOPS;
    void *args[] = {&loops};
    const unsigned blocks = (unsigned)(device->n_units > 0 ? 2 * device->n_units : 1);
    int status = warmup_read_clock(device, WARMUP_BEGIN, reason);
    if (status == CM_BACKEND_OK)
        status = launch(device, device->warmup.spin, blocks, SPIN_BLOCK, args, reason);
    if (status == CM_BACKEND_OK) status = warmup_read_clock(device, WARMUP_END, reason);
    return status == CM_BACKEND_OK ? read_clocks(device, ret_mhz, ret_ns, reason) : status;
}

/* Runs work until the clock has not increased for STEADY_CLOCK_NS, but at most for
 * MAX_WARMUP_NS. Two equal readings do not suffice, because the clock increases in steps. */
static int spin_until_steady(struct cm_device *device, struct cm_reason *reason) {
    struct warmup *warmup = &device->warmup;
    double mhz = 0;
    double begin = 0;
    double at = 0;
    int status = spin(device, &mhz, &begin, reason);
    double risen = at = begin;
    warmup->mhz = mhz;
    while (status == CM_BACKEND_OK && at - risen < STEADY_CLOCK_NS &&
           at - begin < MAX_WARMUP_NS) {
        const double before = at;
        status = spin(device, &mhz, &at, reason);
        if (mhz > warmup->mhz * (1 + STEADY)) risen = at;
        if (mhz > 0) warmup->mhz = mhz;
        if (!(at > before)) break; /* the device timer does not advance */
    }
    warmup_busy(device);
    return status;
}

int warmup_resume(struct cm_device *device, struct cm_reason *reason) {
    const struct warmup *warmup = &device->warmup;
    double mhz = 0;
    double begin = 0;
    if (warmup->module == NULL || warmup_now() - warmup->busy_at < IDLE_SECONDS)
        return CM_BACKEND_OK;
    int status = spin(device, &mhz, &begin, reason);
    double at = begin;
    while (status == CM_BACKEND_OK && mhz > 0 && mhz < warmup->mhz * (1 - STEADY) &&
           at - begin < RESUME_NS)
        status = spin(device, &mhz, &at, reason);
    warmup_busy(device);
    return status;
}

int warmup_check_sample(struct cm_device *device, bool *ret_accepted, bool last,
                        struct cm_reason *reason) {
    struct warmup *warmup = &device->warmup;
    *ret_accepted = true;
    if (warmup->module == NULL) return CM_BACKEND_OK;
    double at = 0;
    const int status = read_clocks(device, &warmup->sample_mhz, &at, reason);
    *ret_accepted = warmup->sample_mhz == 0 || warmup->sample_mhz >= ACCEPTED * warmup->mhz;
    if (!*ret_accepted && last) warmup->n_slow++;
    /* 0: warmup_resume runs work before the next sample. */
    warmup->busy_at = *ret_accepted ? warmup_now() : 0;
    return status;
}

void warmup_clocks(struct cm_device *device, struct cm_clocks *ret) {
    struct warmup *warmup = &device->warmup;
    if (warmup->sample_mhz > 0) ret->unit_mhz = (int32_t)(warmup->sample_mhz + 0.5);
    if (warmup->n_slow > 0)
        cuda_append(ret->throttle, sizeof(ret->throttle), ", ", "low clock");
    warmup->n_slow = 0;
    warmup->sample_mhz = 0;
}

int warmup_open(struct cm_device *device, struct cm_reason *reason) {
    struct warmup *warmup = &device->warmup;
    const struct cuda_driver *driver = &device->driver;
    CUresult result = driver->cuModuleLoadData(&warmup->module, program);
    if (result == CUDA_SUCCESS)
        result = driver->cuModuleGetFunction(&warmup->empty, warmup->module, "costmodel_empty");
    if (result == CUDA_SUCCESS)
        result = driver->cuModuleGetFunction(&warmup->spin, warmup->module, "costmodel_spin");
    if (result == CUDA_SUCCESS)
        result = driver->cuModuleGetFunction(&warmup->stamp, warmup->module, "costmodel_stamp");
    if (result == CUDA_SUCCESS)
        result = driver->cuMemAlloc(&warmup->stamps, WARMUP_STAMPS * sizeof(struct reading));
    const int status = cuda_check(device, result, "load a kernel", reason);
    if (status == CM_BACKEND_OK) return spin_until_steady(device, reason);
    if (status != CM_BACKEND_REFUSED || warmup->module != NULL) return status;
    (void)cuda_refuse(&warmup->reason, 0, "clocks are not measured: %s", reason->text);
    return CM_BACKEND_OK;
}

void warmup_close(struct cm_device *device) {
    struct warmup *warmup = &device->warmup;
    if (warmup->stamps != 0) (void)device->driver.cuMemFree(warmup->stamps);
    if (warmup->module != NULL) (void)device->driver.cuModuleUnload(warmup->module);
    *warmup = (struct warmup){.module = NULL};
}
