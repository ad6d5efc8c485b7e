/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measuring process (backends/process/subprocess.h): opens the device and serves requests.
 */
#ifndef BACKENDS_PROCESS_WORKER_H
#define BACKENDS_PROCESS_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "costmodel/backend.h"

struct arena;
struct subprocess_setup;

/* Payload of IPC_OPENED, the first frame, which has number 0. */
struct worker_opened {
    int32_t status; /* status of cm_backend.open */
    int32_t reserved;
    struct cm_device_facts facts;
    struct cm_reason reason;
};

/* Packs a network into a payload of IPC_NETWORK in `arena`; returns NULL if out of memory. */
void *worker_pack(const struct cm_network *network, struct arena *arena, size_t *ret_size);

/* Opens the device and serves requests until the socket is closed or the device is lost.
 * `parent` is the process that forked this one. */
_Noreturn void worker_main(const struct subprocess_setup *setup, int socket, pid_t parent);

#endif
