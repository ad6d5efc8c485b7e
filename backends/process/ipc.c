/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives frames. Uses sockets, not pipes: MSG_NOSIGNAL avoids SIGPIPE when the
 * other end is closed. */
#include "backends/process/ipc.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/timing.h"
#include "support/hash.h"

#define IPC_MAGIC 0x636d666d /* "cmfm" */

static int send_all(int socket, const void *data, size_t size) {
    const char *bytes = data;
    while (size > 0) {
        const ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return IPC_CLOSED;
        bytes += sent;
        size -= (size_t)sent;
    }
    return IPC_OK;
}

int ipc_send(int socket, enum ipc_kind kind, uint64_t sequence, const void *payload,
             size_t size) {
    const struct ipc_head head = {IPC_MAGIC, (uint32_t)kind, sequence, size,
                                  hash_bytes(HASH_BYTES_BEGIN, payload, size)};
    const int status = send_all(socket, &head, sizeof(head));
    return status == IPC_OK ? send_all(socket, payload, size) : status;
}

static double now(void) {
    return timing_monotonic_clock.now(timing_monotonic_clock.context);
}

/* Waits until the socket (IPC_OK) or `stop` (IPC_STOPPED) is readable. `deadline`: monotonic
 * seconds or INFINITY. */
static int wait_readable(int socket, int stop, double deadline) {
    for (;;) {
        const double left = deadline - now();
        if (left <= 0) return IPC_TIMEOUT;
        struct pollfd readable[] = {{.fd = socket, .events = POLLIN},
                                    {.fd = stop, .events = POLLIN}};
        /* Wait at most a minute per call: poll takes milliseconds as an int. */
        const int ms = left < 60 ? (int)ceil(left * 1e3) : 60000;
        const int n = poll(readable, 2, ms); /* poll ignores a descriptor of -1 */
        if (n > 0) return readable[1].revents != 0 ? IPC_STOPPED : IPC_OK;
        if (n < 0 && errno != EINTR) return IPC_CLOSED;
    }
}

static int receive_all(int socket, void *data, size_t size, double deadline) {
    char *bytes = data;
    while (size > 0) {
        const int status = wait_readable(socket, -1, deadline);
        if (status != IPC_OK) return status;
        const ssize_t got = recv(socket, bytes, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return IPC_CLOSED;
        bytes += got;
        size -= (size_t)got;
    }
    return IPC_OK;
}

static double deadline_of(double timeout_s) {
    return timeout_s < 0 ? INFINITY : now() + timeout_s;
}

int ipc_receive_head(int socket, uint64_t sequence, double timeout_s, struct ipc_head *ret) {
    const int status = receive_all(socket, ret, sizeof(*ret), deadline_of(timeout_s));
    if (status != IPC_OK) return status;
    return ret->magic == IPC_MAGIC && ret->sequence == sequence ? IPC_OK : IPC_BROKEN;
}

int ipc_receive_payload(int socket, const struct ipc_head *head, double timeout_s,
                        void *payload) {
    const int status = receive_all(socket, payload, (size_t)head->size, deadline_of(timeout_s));
    if (status != IPC_OK) return status;
    return hash_bytes(HASH_BYTES_BEGIN, payload, (size_t)head->size) == head->sum ? IPC_OK
                                                                                  : IPC_BROKEN;
}

int ipc_receive(int socket, int stop, enum ipc_kind kind, uint64_t sequence, void *payload,
                size_t size, double timeout_s) {
    struct ipc_head head;
    const double deadline = deadline_of(timeout_s);
    int status = wait_readable(socket, stop, deadline);
    if (status != IPC_OK) return status;
    status = ipc_receive_head(socket, sequence, fmax(deadline - now(), 0), &head);
    if (status != IPC_OK) return status;
    if (head.kind != (uint32_t)kind || head.size != size) return IPC_BROKEN;
    return ipc_receive_payload(socket, &head, fmax(deadline - now(), 0), payload);
}
