/* SPDX-License-Identifier: Apache-2.0 */
/* What runs in the process of a subprocess (backends/process/subprocess.h): opens the device,
 * and serves. */
#ifndef BACKENDS_PROCESS_WORKER_H
#define BACKENDS_PROCESS_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "costmodel/backend.h"

struct arena;
struct subprocess_setup;

/* The first frame, number 0. */
struct worker_opened {
    int32_t status; /* what open returned */
    int32_t reserved;
    struct cm_device_facts facts;
    struct cm_reason reason;
};

/* A network as one run of bytes, in `arena`; NULL: no memory. */
void *worker_pack(const struct cm_network *network, struct arena *arena, size_t *ret_size);
/* The network in the bytes, which it points into; false: they are none. */
bool worker_unpack(const void *bytes, size_t size, struct cm_network *ret);

/* Serves until the other end of the socket is closed. `parent` is who forked it. */
_Noreturn void worker_main(const struct subprocess_setup *setup, int socket, pid_t parent);

#endif
