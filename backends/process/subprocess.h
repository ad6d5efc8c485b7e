/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend in a process of its own, so that a crash, a lost device or a hang costs the
 * primitive that it happened to and nothing else. The next primitive begins a new process.
 */
#ifndef BACKENDS_PROCESS_SUBPROCESS_H
#define BACKENDS_PROCESS_SUBPROCESS_H

#include "costmodel/backend.h"

#include "backends/timing.h"

struct arena;
struct child;

struct child_setup {
    const struct cm_backend *backend;
    struct cm_settings settings; /* borrowed as long as the child lives */
    struct timing_policy policy;
    double open_timeout_s;    /* for the backend's open */
    double measure_timeout_s; /* for one primitive */
    double network_timeout_s; /* for a whole network, which is planned all at once */
};

/* The defaults for a backend: settings none, the default policy, 30, 20 and 120
 * seconds. */
void child_setup_init(struct child_setup *setup, const struct cm_backend *backend);

/*
 * Begins a process and opens the device there. CM_BACKEND_OK: *ret is ended with child_stop.
 * Anything else has a reason.
 */
int child_start(const struct child_setup *setup, struct arena *arena, struct child **ret,
                struct cm_reason *reason) __attribute__((warn_unused_result));

/* What its device said of itself. */
const struct cm_device_facts *child_facts(const struct child *child);

/* How many processes it took so far. */
int child_n_processes(const struct child *child);

/* Fills *ret in any case: CM_CRASHED and CM_TIMED_OUT are states like any other. */
void child_measure(struct child *child, const struct cm_primitive *primitive,
                   struct cm_measurement *ret);

/* The same for a whole network, of at most CHILD_MOST_STEPS steps and primitives. */
#define CHILD_MOST_STEPS 16384
void child_measure_network(struct child *child, const struct cm_network *network,
                           struct cm_measurement *ret);

/* NULL is fine. */
void child_stop(struct child *child);

#endif
