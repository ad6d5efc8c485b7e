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
struct subprocess;

struct subprocess_setup {
    const struct cm_backend *backend;
    struct cm_settings settings; /* borrowed as long as the subprocess lives */
    struct timing_policy policy;
    double open_timeout_s;    /* for the backend's open */
    double measure_timeout_s; /* for one primitive */
    double network_timeout_s; /* for a whole network, which is planned all at once */
};

/* The defaults for a backend: settings none, the default policy, 30, 20 and 120
 * seconds. */
void subprocess_setup_init(struct subprocess_setup *setup, const struct cm_backend *backend);

/*
 * Begins a process and opens the device there. CM_BACKEND_OK: *ret is ended with
 * subprocess_stop. Anything else has a reason.
 */
int subprocess_start(const struct subprocess_setup *setup, struct arena *arena,
                     struct subprocess **ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* What its device said of itself. */
const struct cm_device_facts *subprocess_facts(const struct subprocess *subprocess);

/* How many processes it took so far. */
int subprocess_n_processes(const struct subprocess *subprocess);

/* Fills *ret in any case: CM_CRASHED and CM_TIMED_OUT are states like any other. */
void subprocess_measure(struct subprocess *subprocess, const struct cm_primitive *primitive,
                        struct cm_measurement *ret);

/* The same for a whole network, of at most SUBPROCESS_MAX_STEPS steps and primitives. */
#define SUBPROCESS_MAX_STEPS 16384
void subprocess_measure_network(struct subprocess *subprocess, const struct cm_network *network,
                                struct cm_measurement *ret);

/* NULL is fine. */
void subprocess_stop(struct subprocess *subprocess);

#endif
