/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two times of a kernel on a modelled device (docs/times.md):
 *   lower bound   no implementation is faster: published peak rates, compulsory traffic, the
 *                 cheapest known algorithm
 *   expected time the time with a good library: tiles and waves of the multiprocessors, shares
 *                 of the peak rates that kernels reach, a launch per kernel
 */
#ifndef BACKENDS_DEVICE_KERNEL_TIME_H
#define BACKENDS_DEVICE_KERNEL_TIME_H

#include "backends/device/devices.h"
#include "costmodel/backend.h"

struct kernel_time {
    double expected;       /* seconds */
    double lower_bound;    /* seconds, <= expected */
    enum cm_limit limit;   /* of the expected time */
    enum device_rate rate; /* of the arithmetic; RATE_NONE if it has no FLOPs */
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

#endif
