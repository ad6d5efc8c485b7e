/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides of a connection: the measuring process opens the device and serves requests; the
 * program starts the process, sends requests and reaps it. The process is forked before the
 * backend opens a device, so the program itself never loads a driver. The process ends by
 * _exit: its exit handlers and unwritten output are copies of the program's, and must not take
 * effect twice. */
#include "backends/process/subprocess.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/backend_registry.h"
#include "backends/measure.h"
#include "backends/plugin/reason.h"
#include "backends/process/ipc.h"
#include "support/arena.h"
#include "support/child.h"

/* Payload of IPC_OPENED, the first frame, which has number 0. */
struct opened {
    int32_t status; /* status of cm_backend.open */
    int32_t reserved;
    struct cm_device_facts facts;
    struct cm_reason reason;
};

struct subprocess {
    struct subprocess_setup setup;
    pid_t pid;         /* 0 if there is no process */
    int socket;        /* -1 if there is none */
    uint64_t sequence; /* number of the last request */
    int n_processes;
    bool gone; /* restarting the process failed */
    struct opened opened;
    struct cm_device *device; /* opened in this process, for roofline; else NULL */
};

void subprocess_setup_init(struct subprocess_setup *setup, const struct cm_backend *backend) {
    *setup = (struct subprocess_setup){
        .backend = backend,
        .policy = timing_default_policy,
        /* Opening the device and the first layer load about a gigabyte of libraries from disk.
         * Compiling a plan takes about a second; a network compiles its plans one by one. */
        .open_timeout_s = 90,
        .measure_timeout_s = 60,
        .network_timeout_s = 300,
        .stop = -1,
    };
}

/* Largest payload of IPC_NETWORK, bytes. */
#define MAX_NETWORK                                                                            \
    (sizeof(struct cm_network) +                                                               \
     SUBPROCESS_MAX_STEPS * (sizeof(struct cm_primitive) + sizeof(struct cm_network_step)))

/* Packs a network into a payload of IPC_NETWORK in `arena`: the struct, its primitives and its
 * steps. The other process replaces the pointers in the struct (unpack). Returns NULL if out of
 * memory. */
static void *pack(const struct cm_network *network, struct arena *arena, size_t *ret_size) {
    const size_t head = sizeof(*network);
    const size_t primitives = network->n_primitives * sizeof(struct cm_primitive);
    const size_t steps = network->n_steps * sizeof(struct cm_network_step);
    char *bytes = arena_alloc(arena, head + primitives + steps);
    if (bytes == NULL) return NULL;
    memcpy(bytes, network, head);
    if (primitives > 0) memcpy(bytes + head, network->primitives, primitives);
    if (steps > 0) memcpy(bytes + head + primitives, network->steps, steps);
    *ret_size = head + primitives + steps;
    return bytes;
}

_Static_assert(sizeof(struct cm_network) % 8 == 0 && sizeof(struct cm_primitive) % 8 == 0,
               "primitives and steps are aligned to 8 bytes");

/* Sets *ret to a network that points into `bytes`; returns false if the bytes are invalid. */
static bool unpack(const void *bytes, size_t size, struct cm_network *ret) {
    const char *at = (const char *)bytes + sizeof(*ret);
    if (size < sizeof(*ret)) return false;
    memcpy(ret, bytes, sizeof(*ret));
    if (ret->n_primitives > SUBPROCESS_MAX_STEPS || ret->n_steps > SUBPROCESS_MAX_STEPS)
        return false;
    const size_t primitives = ret->n_primitives * sizeof(struct cm_primitive);
    const size_t steps = ret->n_steps * sizeof(struct cm_network_step);
    if (size != sizeof(*ret) + primitives + steps) return false;
    ret->primitives = (const void *)at;
    ret->steps = (const void *)(at + primitives);
    for (uint32_t i = 0; i < ret->n_steps; i++)
        if (ret->steps[i].primitive >= ret->n_primitives) return false;
    return true;
}

/* Measures or plans the primitive or network of a frame. Sets *ret_status to the backend's
 * status. Returns false if the frame is invalid. */
static bool answer(const struct subprocess_setup *setup, struct cm_device *device,
                   const struct ipc_head *head, const void *payload, struct cm_measurement *ret,
                   int *ret_status) {
    const struct cm_primitive *primitive = payload;
    struct cm_network network;
    if (head->kind == IPC_NETWORK) {
        if (!unpack(payload, (size_t)head->size, &network)) return false;
        *ret_status = measure_network(setup->backend, device, &network, &setup->policy, ret);
        return true;
    }
    if (setup->settings.plan_only != 0)
        *ret_status = measure_plan(setup->backend, device, primitive, ret);
    else
        *ret_status = measure_primitive(setup->backend, device, primitive, &setup->policy, ret);
    return true;
}

/* Serves requests until the socket is closed or the device is lost. */
static void serve(const struct subprocess_setup *setup, struct cm_device *device, int socket) {
    struct cm_measurement measurement;
    struct cm_primitive primitive;
    struct ipc_head head;
    int status = CM_BACKEND_OK;
    for (uint64_t sequence = 1; status != CM_BACKEND_BROKEN; sequence++) {
        if (ipc_receive_head(socket, sequence, -1, &head) != IPC_OK) return;
        struct arena *arena = NULL;
        void *payload = NULL;
        if (head.kind == IPC_REQUEST && head.size == sizeof(primitive)) payload = &primitive;
        if (head.kind == IPC_NETWORK && head.size <= MAX_NETWORK) {
            arena = arena_new("network", 0);
            payload = arena ? arena_alloc(arena, (size_t)head.size) : NULL;
        }
        const bool answered = payload != NULL &&
                              ipc_receive_payload(socket, &head, -1, payload) == IPC_OK &&
                              answer(setup, device, &head, payload, &measurement, &status);
        arena_free(arena);
        if (!answered ||
            ipc_send(socket, IPC_RESULT, sequence, &measurement, sizeof(measurement)) != IPC_OK)
            return;
    }
}

/* Opens the device and serves requests. `parent` is the process that forked this one. */
static _Noreturn void run_process(const struct subprocess_setup *setup, int socket,
                                  pid_t parent) {
    struct opened opened;
    struct cm_device *device = NULL;
    child_end_with_parent(parent);
    /* Standard output belongs to the report: libraries must print to standard error. */
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    memset(&opened, 0, sizeof(opened));
    opened.status = (int32_t)setup->backend->open(&setup->settings, &device, &opened.reason);
    if (opened.status == CM_BACKEND_OK) setup->backend->facts(device, &opened.facts);
    if (ipc_send(socket, IPC_OPENED, 0, &opened, sizeof(opened)) == IPC_OK &&
        opened.status == CM_BACKEND_OK)
        serve(setup, device, socket);
    _exit(0);
}

/* Waits up to `seconds` for a process to exit; returns false if it has not. */
static bool reap_within(pid_t pid, double seconds, int *ret_status) {
    const struct timespec pause = {0, 2000000};
    const struct timing_clock *clock = &timing_monotonic_clock;
    const double begin = clock->now(clock->context);
    for (;;) {
        const pid_t got = waitpid(pid, ret_status, WNOHANG);
        if (got == pid) return true;
        /* If SIGCHLD is ignored, the system reaps the process. */
        if (got < 0 && errno == ECHILD) return true;
        if (clock->now(clock->context) - begin >= seconds) return false;
        (void)nanosleep(&pause, NULL);
    }
}

/* Time for a killed process to end. */
#define KILL_SECONDS 10.0

/* Closes the connection, waits up to `patience_s` seconds for the process to exit, then kills
 * it. Returns its wait status; 0 if unknown. */
static int end_process(struct subprocess *subprocess, double patience_s) {
    int status = 0;
    if (subprocess->pid == 0) return 0;
    (void)close(subprocess->socket);
    subprocess->socket = -1;
    if (!reap_within(subprocess->pid, patience_s, &status)) {
        (void)kill(subprocess->pid, SIGKILL);
        /* A process inside a driver call ends only when that call returns. */
        if (!reap_within(subprocess->pid, KILL_SECONDS, &status)) status = 0;
    }
    subprocess->pid = 0;
    return status;
}

/* Time for a process that closed the connection to exit by itself. */
#define EXIT_SECONDS 1.0

/* Ends a process that gave no valid answer. Sets *reason and returns the state of the
 * measurement, CM_TIMED_OUT or CM_CRASHED. */
static enum cm_measure_state lose_process(struct subprocess *subprocess, int ipc_status,
                                          double timeout_s, struct cm_reason *reason) {
    const bool is_closed = ipc_status == IPC_CLOSED;
    const int status = end_process(subprocess, is_closed ? EXIT_SECONDS : 0);
    if (ipc_status == IPC_TIMEOUT)
        (void)reason_fail(reason, 0, "no answer within %g s", timeout_s);
    else if (ipc_status == IPC_STOPPED)
        (void)reason_fail(reason, 0, "interrupted");
    else if (ipc_status == IPC_BROKEN)
        (void)reason_fail(reason, 0, "the measuring process sent an invalid message");
    else if (WIFSIGNALED(status))
        (void)reason_fail(reason, 0, "the measuring process was killed by signal %d",
                          WTERMSIG(status));
    else
        (void)reason_fail(reason, 0, "the measuring process exited with status %d",
                          WIFEXITED(status) ? WEXITSTATUS(status) : 0);
    return ipc_status == IPC_TIMEOUT || ipc_status == IPC_STOPPED ? CM_TIMED_OUT : CM_CRASHED;
}

static int fork_process(struct subprocess *subprocess, struct cm_reason *reason) {
    int sockets[2];
    const pid_t self = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        return reason_fail(reason, CM_BACKEND_REFUSED, "cannot create a socket: %s",
                           strerror(errno));
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(sockets[0]);
        run_process(&subprocess->setup, sockets[1], self);
    }
    const int error = errno;
    (void)close(sockets[1]);
    if (pid < 0) {
        (void)close(sockets[0]);
        return reason_fail(reason, CM_BACKEND_REFUSED, "cannot create a process: %s",
                           strerror(error));
    }
    subprocess->pid = pid;
    subprocess->socket = sockets[0];
    subprocess->sequence = 0;
    subprocess->n_processes++;
    return CM_BACKEND_OK;
}

/* Starts a process and waits until it has opened the device. */
static int begin_process(struct subprocess *subprocess, struct cm_reason *reason) {
    const double timeout_s = subprocess->setup.open_timeout_s;
    int status = fork_process(subprocess, reason);
    if (status != CM_BACKEND_OK) return status;
    const int frame = ipc_receive(subprocess->socket, subprocess->setup.stop, IPC_OPENED, 0,
                                  &subprocess->opened, sizeof(subprocess->opened), timeout_s);
    if (frame != IPC_OK) {
        (void)lose_process(subprocess, frame, timeout_s, reason);
        return CM_BACKEND_REFUSED;
    }
    if (subprocess->opened.status == CM_BACKEND_OK) return CM_BACKEND_OK;
    (void)end_process(subprocess, EXIT_SECONDS);
    *reason = subprocess->opened.reason;
    return subprocess->opened.status;
}

int subprocess_start(const struct subprocess_setup *setup, struct arena *arena,
                     struct subprocess **ret, struct cm_reason *reason) {
    struct subprocess *subprocess = arena_alloc(arena, sizeof(*subprocess));
    if (subprocess == NULL) return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    subprocess->setup = *setup;
    subprocess->socket = -1;
    int status = CM_BACKEND_OK;
    if (setup->backend == &roofline_backend && setup->settings.plan_only == 0) {
        status = setup->backend->open(&setup->settings, &subprocess->device, reason);
        if (status == CM_BACKEND_OK)
            setup->backend->facts(subprocess->device, &subprocess->opened.facts);
    } else {
        status = begin_process(subprocess, reason);
    }
    if (status == CM_BACKEND_OK) *ret = subprocess;
    return status;
}

const struct cm_device_facts *subprocess_facts(const struct subprocess *subprocess) {
    return &subprocess->opened.facts;
}

bool subprocess_is_stopped(const struct subprocess *subprocess) {
    struct pollfd stop = {.fd = subprocess->setup.stop, .events = POLLIN};
    return poll(&stop, 1, 0) > 0;
}

int subprocess_n_processes(const struct subprocess *subprocess) {
    return subprocess->n_processes;
}

/* Sends a request and fills *ret with the answer or a failure. First starts a new process if
 * the last one ended. */
static void ask(struct subprocess *subprocess, enum ipc_kind kind, const void *payload,
                size_t size, double timeout_s, struct cm_measurement *ret) {
    struct cm_reason reason = {""};
    memset(ret, 0, sizeof(*ret));
    if (subprocess_is_stopped(subprocess)) {
        ret->state = CM_TIMED_OUT;
        (void)reason_fail(&ret->reason, 0, "interrupted");
        return;
    }
    if (subprocess->pid == 0 && !subprocess->gone)
        subprocess->gone =
            begin_process(subprocess, &subprocess->opened.reason) != CM_BACKEND_OK;
    if (subprocess->gone) {
        (void)reason_fail(&ret->reason, 0, "the device could not be opened again: %s",
                          subprocess->opened.reason.text);
        return;
    }
    int status = ipc_send(subprocess->socket, kind, ++subprocess->sequence, payload, size);
    if (status == IPC_OK)
        status = ipc_receive(subprocess->socket, subprocess->setup.stop, IPC_RESULT,
                             subprocess->sequence, ret, sizeof(*ret), timeout_s);
    if (status != IPC_OK) {
        memset(ret, 0, sizeof(*ret));
        ret->state = (int32_t)lose_process(subprocess, status, timeout_s, &reason);
        ret->reason = reason;
        return;
    }
    if (ret->state == CM_CRASHED || (ret->flags & CM_FLAG_LOST) != 0) {
        /* The device is lost: the process exits by itself. */
        ret->flags &= ~(uint32_t)CM_FLAG_LOST;
        (void)end_process(subprocess, EXIT_SECONDS);
    }
}

void subprocess_measure(struct subprocess *subprocess, const struct cm_primitive *primitive,
                        struct cm_measurement *ret) {
    const struct subprocess_setup *setup = &subprocess->setup;
    if (subprocess->device == NULL)
        ask(subprocess, IPC_REQUEST, primitive, sizeof(*primitive), setup->measure_timeout_s,
            ret);
    else
        (void)measure_primitive(setup->backend, subprocess->device, primitive, &setup->policy,
                                ret);
}

void subprocess_measure_network(struct subprocess *subprocess, const struct cm_network *network,
                                struct cm_measurement *ret) {
    size_t size = 0;
    memset(ret, 0, sizeof(*ret));
    if (network->n_steps > SUBPROCESS_MAX_STEPS ||
        network->n_primitives > SUBPROCESS_MAX_STEPS) {
        (void)reason_fail(&ret->reason, 0, "the network has %u steps, the limit is %d",
                          (unsigned)network->n_steps, SUBPROCESS_MAX_STEPS);
        return;
    }
    struct arena *arena = arena_new("request", 0);
    const void *payload = arena ? pack(network, arena, &size) : NULL;
    if (payload != NULL)
        ask(subprocess, IPC_NETWORK, payload, size, subprocess->setup.network_timeout_s, ret);
    else
        (void)reason_fail(&ret->reason, 0, "out of memory");
    arena_free(arena);
}

void subprocess_stop(struct subprocess *subprocess) {
    if (subprocess == NULL) return;
    if (subprocess->device != NULL) subprocess->setup.backend->close(subprocess->device);
    (void)end_process(subprocess, EXIT_SECONDS);
}
