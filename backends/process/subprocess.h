/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a backend in a child process: after a crash, a hang or a lost device, only the current
 * primitive has no time, and the next one runs in a new process. The roofline backend only
 * computes, so it runs in this process. */
#pragma once

#include <stdbool.h>

#include "costmodel/backend.h"

#include "backends/timing.h"

struct arena;
struct subprocess;

struct subprocess_setup {
    const struct cm_backend *backend;
    struct cm_settings settings; /* borrowed during the life of the subprocess */
    struct timing_policy policy;
    double open_timeout_s;    /* limit for opening the device */
    double measure_timeout_s; /* limit per primitive */
    double network_timeout_s; /* limit for a whole network, planning included */
    int stop; /* descriptor that is readable once the user interrupts; -1: none */
};

/* Defaults: no settings, default policy, timeouts of 90, 60 and 300 seconds. */
void subprocess_setup_init(struct subprocess_setup *setup, const struct cm_backend *backend);

/* Starts a process and opens the device in it. After CM_BACKEND_OK, the caller must end *ret by
 * subprocess_stop; any other status has a reason. */
int subprocess_start(const struct subprocess_setup *setup, struct arena *arena,
                     struct subprocess **ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* Returns the facts of the device. */
const struct cm_device_facts *subprocess_facts(const struct subprocess *subprocess);

/* Returns true if the user interrupted; the remaining primitives then have no time. */
bool subprocess_is_stopped(const struct subprocess *subprocess);

/* Returns the number of processes started so far. */
int subprocess_n_processes(const struct subprocess *subprocess);

/* Measures a primitive. Always fills *ret; after a crash or a hang, ret->state is CM_CRASHED or
 * CM_TIMED_OUT. */
void subprocess_measure(struct subprocess *subprocess, const struct cm_primitive *primitive,
                        struct cm_measurement *ret);

/* Measures a network; refuses one of more than SUBPROCESS_MAX_STEPS steps or primitives. Always
 * fills *ret. */
#define SUBPROCESS_MAX_STEPS 16384
void subprocess_measure_network(struct subprocess *subprocess, const struct cm_network *network,
                                struct cm_measurement *ret);

/* Ends the process and closes the device. Accepts NULL. */
void subprocess_stop(struct subprocess *subprocess);
