/* SPDX-License-Identifier: Apache-2.0 */
/* One primitive on one device, in this process: plan, warm up, sample cold, sample warm; or
 * the plan alone. */
#ifndef BACKENDS_MEASURE_H
#define BACKENDS_MEASURE_H

#include "costmodel/backend.h"

#include "backends/timing.h"

/*
 * Always fills *ret: a primitive that cannot be measured has a state and a reason. Gives the
 * backend's status, so that the caller of CM_BACKEND_BROKEN can give the process up.
 */
int measure_primitive(const struct cm_backend *backend, struct cm_device *device,
                      const struct cm_primitive *primitive, const struct timing_policy *policy,
                      const struct timing_clock *clock, struct cm_measurement *ret);

/*
 * The same for a whole network, warm alone: ret->warm and what ran. A backend without the slot
 * refuses it.
 */
int measure_network(const struct cm_backend *backend, struct cm_device *device,
                    const struct cm_network *network, const struct timing_policy *policy,
                    const struct timing_clock *clock, struct cm_measurement *ret);

/* The same, but nothing is run: what has a plan is CM_PLANNED, with how it would run. */
int measure_plan(const struct cm_backend *backend, struct cm_device *device,
                 const struct cm_primitive *primitive, struct cm_measurement *ret);

#endif
