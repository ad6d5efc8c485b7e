/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between the program and a measuring process. A message is a frame: a header with a
 * sequence number and a checksum, then the payload. Number and checksum detect a process that
 * corrupted its memory before it died. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum ipc_kind { IPC_OPENED = 1, IPC_REQUEST, IPC_RESULT, IPC_NETWORK };

enum ipc_status {
    IPC_OK = 0,
    IPC_CLOSED = -1,  /* the other end is closed */
    IPC_TIMEOUT = -2, /* no complete frame in time */
    IPC_BROKEN = -3,  /* not the expected frame */
    IPC_STOPPED = -4, /* the user interrupted */
};

/* Sends a frame through `socket`, one end of a socketpair. Never raises SIGPIPE. Returns IPC_OK
 * or IPC_CLOSED. */
int ipc_send(int socket, enum ipc_kind kind, uint64_t sequence, const void *payload,
             size_t size) __attribute__((warn_unused_result));

/* Waits up to `timeout_s` seconds (< 0: forever) for a frame of this kind, sequence number and
 * size. `payload` is valid only on IPC_OK. Returns IPC_STOPPED if the descriptor `stop` (-1:
 * none) is readable before the frame begins. */
int ipc_receive(int socket, int stop, enum ipc_kind kind, uint64_t sequence, void *payload,
                size_t size, double timeout_s) __attribute__((warn_unused_result));

/* Header of a frame. */
struct ipc_head {
    uint32_t magic;
    uint32_t kind; /* enum ipc_kind */
    uint64_t sequence;
    uint64_t size; /* payload bytes */
    uint64_t sum;  /* hash_bytes of the payload */
};

/* Do the work of ipc_receive in two steps, for a caller that accepts several kinds. */
int ipc_receive_head(int socket, uint64_t sequence, double timeout_s, struct ipc_head *ret)
    __attribute__((warn_unused_result));
int ipc_receive_payload(int socket, const struct ipc_head *head, double timeout_s,
                        void *payload) __attribute__((warn_unused_result));
