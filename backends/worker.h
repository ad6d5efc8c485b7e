/* SPDX-License-Identifier: Apache-2.0 */
/* What runs in the process of a child (backends/child.h): opens the device, and serves. */
#ifndef BACKENDS_WORKER_H
#define BACKENDS_WORKER_H

#include <sys/types.h>

#include "costmodel/backend.h"

struct child_setup;

/* The first frame, number 0. */
struct worker_opened {
    int32_t status; /* what open returned */
    int32_t reserved;
    struct cm_device_facts facts;
    struct cm_reason reason;
};

/* Serves until the other end of the socket is closed. `parent` is who forked it. */
_Noreturn void worker_main(const struct child_setup *setup, int socket, pid_t parent);

#endif
