/* SPDX-License-Identifier: Apache-2.0 */
/* Warms up the device and measures its SM clock. An idle device runs at a fraction of its
 * maximum clock (for example 345 of 1980 MHz on an H200) and needs some hundred milliseconds of
 * work to reach the maximum, so work precedes each timing, and the clock of each sample is
 * measured (as nvbench does). */
#pragma once

#include <stdbool.h>

#include <cuda.h>

#include "costmodel/backend.h"

enum warmup_stamp { WARMUP_BEGIN, WARMUP_END, WARMUP_STAMPS };

struct warmup {
    CUmodule module; /* NULL if the driver rejects it: then the functions have no effect */
    CUfunction empty, spin, stamp;
    CUdeviceptr stamps; /* device memory for two clock readings */
    double mhz;         /* steady clock under load; 0 if unknown */
    double sample_mhz;  /* mean clock of the last sample; 0 if unknown */
    int n_slow;         /* samples accepted with a low clock since the last warmup_clocks */
    struct cm_reason reason; /* why there is no module */
    double busy_at;          /* monotonic seconds at the end of the last work */
};

/* Loads the kernels and runs work until the clock is steady. If the driver rejects the
 * kernels, leaves module NULL and returns CM_BACKEND_OK. */
int warmup_open(struct cm_device *device, struct cm_reason *reason);
void warmup_close(struct cm_device *device);

/* If the device has been idle, runs work until its clock is steady again. */
int warmup_resume(struct cm_device *device, struct cm_reason *reason);
/* Returns monotonic seconds. */
double warmup_now(void);
/* Records that the device has just finished work. */
void warmup_busy(struct cm_device *device);

/* Enqueues a clock reading. May run under capture. */
int warmup_read_clock(const struct cm_device *device, enum warmup_stamp which,
                      struct cm_reason *reason);
/* Computes the mean clock between the two readings of a sample. Sets *ret_accepted to true if
 * this clock is unknown or at least 75 % of the steady clock. If `last`, the caller uses the
 * sample even if it is not accepted, and n_slow counts it. */
int warmup_check_sample(struct cm_device *device, bool *ret_accepted, bool last,
                        struct cm_reason *reason);
/* Sets the SM clock to the mean of the last sample, if known, and adds "low clock" to the
 * reasons for throttling if n_slow > 0; then forgets both. */
void warmup_clocks(struct cm_device *device, struct cm_clocks *ret);
