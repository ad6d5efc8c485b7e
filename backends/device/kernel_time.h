/* SPDX-License-Identifier: Apache-2.0 */
/* Two times of a kernel on a modelled device (docs/times.md):
 *   lower bound   no implementation is faster: published peak rates, compulsory traffic, the
 *                 cheapest known algorithm
 *   expected time the time with a good library: tiles and waves of the multiprocessors, shares
 *                 of the peak rates that kernels reach, a launch per kernel
 */
#pragma once

#include "backends/device/devices.h"
#include "costmodel/backend.h"

/* The tiles of a product and the seconds of its arithmetic. */
struct kernel_tiles {
    double seconds;
    double m, n;   /* of a tile; 0: the time is not that of tiles */
    double splits; /* parts of the sum, each with tiles of its own */
    double n_tiles, waves;
};

struct kernel_time {
    double expected;       /* seconds */
    double lower_bound;    /* seconds, <= expected */
    enum cm_limit limit;   /* of the expected time */
    enum device_rate rate; /* of the arithmetic; RATE_NONE if it has no FLOPs */
    /* Parts of the expected time: */
    struct kernel_tiles arithmetic;
    double memory;  /* seconds */
    double extra;   /* seconds of extra kernels, without their launches */
    double launch;  /* seconds */
    double traffic; /* seconds of memory and extra that compulsory traffic would save */
    double launches;
    double memory_bytes, cache_bytes; /* moved from memory, and from the last-level cache */
    double bandwidth_share;           /* of the peak bandwidth, for memory_bytes */
    double rate_share;                /* of the rate, by the arithmetic; 0: it has none */
    double without;                   /* expected seconds without the part that limits it */
    enum cm_limit next;               /* what then limits it */
};

/* Returns the rate of the primitive's arithmetic, RATE_NONE if the device has none for it. */
enum device_rate kernel_rate(const struct device_model *model,
                             const struct cm_primitive *primitive, enum cm_precision precision);

/* Computes both times of a primitive. Its FLOPs and bytes must be known and, if it has FLOPs,
 * the device must have a rate for it. */
struct kernel_time kernel_time(const struct device_model *model,
                               const struct device_efficiency *efficiency,
                               const struct cm_primitive *primitive,
                               enum cm_precision precision);

/* The same for an opened device of roofline_backend, if it can estimate the primitive. */
struct kernel_time roofline_kernel_time(const struct cm_device *device,
                                        const struct cm_primitive *primitive);
