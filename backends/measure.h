/* SPDX-License-Identifier: Apache-2.0 */
/* Plans one primitive or network in this process and times it: a primitive first cold and then
 * warm, a network warm only. Or only makes the plan. */
#pragma once

#include "costmodel/backend.h"

#include "backends/timing.h"

/* Measures a primitive. Always fills *ret; a primitive that cannot be measured gets a state and
 * a reason. Returns the backend's status: after CM_BACKEND_BROKEN the process must end. */
int measure_primitive(const struct cm_backend *backend, struct cm_device *device,
                      const struct cm_primitive *primitive, const struct timing_policy *policy,
                      struct cm_measurement *ret);

/* Measures a whole network like a primitive, but warm only, into ret->warm. Refuses the network
 * if the backend is a model or has no function `network`. */
int measure_network(const struct cm_backend *backend, struct cm_device *device,
                    const struct cm_network *network, const struct timing_policy *policy,
                    struct cm_measurement *ret);

/* Plans a primitive without running it: fills the facts of the plan and sets the state
 * CM_PLANNED, or CM_VIEW for a view. */
int measure_plan(const struct cm_backend *backend, struct cm_device *device,
                 const struct cm_primitive *primitive, struct cm_measurement *ret);
