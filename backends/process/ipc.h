/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between the program and the process that measures: framed, numbered and summed, so
 * that a process that writes through a wild pointer before it dies is found out.
 */
#ifndef BACKENDS_PROCESS_IPC_H
#define BACKENDS_PROCESS_IPC_H

#include <stddef.h>
#include <stdint.h>

enum ipc_kind { IPC_OPENED = 1, IPC_REQUEST, IPC_RESULT, IPC_NETWORK };

enum ipc_status {
    IPC_OK = 0,
    IPC_CLOSED = -1,  /* nobody is on the other side any more */
    IPC_TIMEOUT = -2, /* nothing whole came in time */
    IPC_BROKEN = -3,  /* what came is not what was waited for */
};

/* `socket` is one end of a socketpair. Never raises SIGPIPE. IPC_OK or IPC_CLOSED. */
int ipc_send(int socket, enum ipc_kind kind, uint64_t sequence, const void *payload,
             size_t size) __attribute__((warn_unused_result));

/*
 * Waits for a frame of this kind, number and size until `timeout_s` is over; < 0: for ever.
 * `payload` holds what came only on IPC_OK.
 */
int ipc_receive(int socket, enum ipc_kind kind, uint64_t sequence, void *payload, size_t size,
                double timeout_s) __attribute__((warn_unused_result));

/* The head of a frame of any kind. */
struct ipc_head {
    uint32_t magic;
    uint32_t kind; /* enum ipc_kind */
    uint64_t sequence;
    uint64_t size; /* of the payload */
    uint64_t sum;
};

/* The same in two steps, for one who serves several kinds: the head, then its payload. */
int ipc_receive_head(int socket, uint64_t sequence, double timeout_s, struct ipc_head *ret)
    __attribute__((warn_unused_result));
int ipc_receive_payload(int socket, const struct ipc_head *head, double timeout_s,
                        void *payload) __attribute__((warn_unused_result));

#endif
