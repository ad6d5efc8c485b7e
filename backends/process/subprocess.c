/* SPDX-License-Identifier: Apache-2.0 */
/* The program's side: starts processes, sends requests, reaps processes. */
#include "backends/process/subprocess.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
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
#include "backends/process/worker.h"
#include "support/arena.h"

#include "support/banned.h"

struct subprocess {
    struct subprocess_setup setup;
    pid_t pid;         /* 0 if there is no process */
    int socket;        /* -1 if there is none */
    uint64_t sequence; /* number of the last request */
    int n_processes;
    bool gone; /* restarting the process failed */
    struct worker_opened opened;
    struct cm_device *device; /* opened in this process, for roofline; else NULL */
};

void subprocess_setup_init(struct subprocess_setup *setup, const struct cm_backend *backend) {
    *setup = (struct subprocess_setup){
        .backend = backend,
        .policy = timing_default_policy,
        /* Opening the device and the first layer load about a gigabyte of libraries from disk.
         * A plan compiles for about a second; a network compiles its plans one by one. */
        .open_timeout_s = 90,
        .measure_timeout_s = 60,
        .network_timeout_s = 300,
        .stop = -1,
    };
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

static void describe_end(int status, struct cm_reason *reason) {
    if (WIFSIGNALED(status))
        (void)reason_fail(reason, 0, "the measuring process was killed by signal %d",
                          WTERMSIG(status));
    else
        (void)reason_fail(reason, 0, "the measuring process exited with status %d",
                          WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

/* Time for a process that closed the connection to exit by itself. */
#define EXIT_SECONDS 1.0

/* Ends a process that gave no valid answer. Returns the state of the primitive. */
static enum cm_measure_state lose_process(struct subprocess *subprocess, int ipc_status,
                                          double timeout_s, struct cm_reason *reason) {
    if (ipc_status == IPC_TIMEOUT) {
        (void)end_process(subprocess, 0);
        (void)reason_fail(reason, 0, "no answer within %g s", timeout_s);
        return CM_TIMED_OUT;
    }
    if (ipc_status == IPC_STOPPED) {
        (void)end_process(subprocess, 0);
        (void)reason_fail(reason, 0, "interrupted");
        return CM_TIMED_OUT;
    }
    if (ipc_status == IPC_BROKEN) {
        (void)end_process(subprocess, 0);
        (void)reason_fail(reason, 0, "the measuring process sent an invalid message");
        return CM_CRASHED;
    }
    describe_end(end_process(subprocess, EXIT_SECONDS), reason);
    return CM_CRASHED;
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
        worker_main(&subprocess->setup, sockets[1], self);
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

static int begin_process(struct subprocess *subprocess, struct cm_reason *reason) {
    const double timeout_s = subprocess->setup.open_timeout_s;
    int status = fork_process(subprocess, reason);
    if (status != CM_BACKEND_OK) return status;
    int frame = ipc_wait(subprocess->socket, subprocess->setup.stop, timeout_s);
    if (frame == IPC_OK)
        frame = ipc_receive(subprocess->socket, IPC_OPENED, 0, &subprocess->opened,
                            sizeof(subprocess->opened), timeout_s);
    if (frame != IPC_OK) {
        (void)lose_process(subprocess, frame, timeout_s, reason);
        return CM_BACKEND_REFUSED;
    }
    if (subprocess->opened.status == CM_BACKEND_OK) return CM_BACKEND_OK;
    (void)end_process(subprocess, EXIT_SECONDS);
    *reason = subprocess->opened.reason;
    return subprocess->opened.status;
}

static int open_here(struct subprocess *subprocess, struct cm_reason *reason) {
    const struct subprocess_setup *setup = &subprocess->setup;
    const int status = setup->backend->open(&setup->settings, &subprocess->device, reason);
    if (status == CM_BACKEND_OK)
        setup->backend->facts(subprocess->device, &subprocess->opened.facts);
    return status;
}

int subprocess_start(const struct subprocess_setup *setup, struct arena *arena,
                     struct subprocess **ret, struct cm_reason *reason) {
    struct subprocess *subprocess = arena_alloc(arena, sizeof(*subprocess));
    if (subprocess == NULL) return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    subprocess->setup = *setup;
    subprocess->socket = -1;
    const bool is_here = setup->backend == &roofline_backend && setup->settings.plan_only == 0;
    const int status =
        is_here ? open_here(subprocess, reason) : begin_process(subprocess, reason);
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

/* A request to the process. */
struct question {
    enum ipc_kind kind;
    const void *payload;
    size_t size;
    double timeout_s;
};

static int request(struct subprocess *subprocess, const struct question *question,
                   struct cm_measurement *ret) {
    const int status = ipc_send(subprocess->socket, question->kind, ++subprocess->sequence,
                                question->payload, question->size);
    if (status != IPC_OK) return status;
    const int waited =
        ipc_wait(subprocess->socket, subprocess->setup.stop, question->timeout_s);
    if (waited != IPC_OK) return waited;
    return ipc_receive(subprocess->socket, IPC_RESULT, subprocess->sequence, ret, sizeof(*ret),
                       question->timeout_s);
}

/* Sends a request, to a new process if there is none, and always fills *ret. */
static void ask(struct subprocess *subprocess, const struct question *question,
                struct cm_measurement *ret) {
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
    const int status = request(subprocess, question, ret);
    if (status == IPC_OK && ret->state != CM_CRASHED && (ret->flags & CM_FLAG_LOST) == 0)
        return;
    if (status == IPC_OK) { /* the device is lost, the process exits by itself */
        ret->flags &= ~(uint32_t)CM_FLAG_LOST;
        (void)end_process(subprocess, EXIT_SECONDS);
        return;
    }
    memset(ret, 0, sizeof(*ret));
    ret->state = (int32_t)lose_process(subprocess, status, question->timeout_s, &reason);
    ret->reason = reason;
}

void subprocess_measure(struct subprocess *subprocess, const struct cm_primitive *primitive,
                        struct cm_measurement *ret) {
    const struct question question = {IPC_REQUEST, primitive, sizeof(*primitive),
                                      subprocess->setup.measure_timeout_s};
    if (subprocess->device == NULL)
        ask(subprocess, &question, ret);
    else
        (void)measure_primitive(subprocess->setup.backend, subprocess->device, primitive,
                                &subprocess->setup.policy, &timing_monotonic_clock, ret);
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
    const void *payload = arena ? worker_pack(network, arena, &size) : NULL;
    const struct question question = {IPC_NETWORK, payload, size,
                                      subprocess->setup.network_timeout_s};
    if (payload != NULL)
        ask(subprocess, &question, ret);
    else
        (void)reason_fail(&ret->reason, 0, "out of memory");
    arena_free(arena);
}

void subprocess_stop(struct subprocess *subprocess) {
    if (subprocess == NULL) return;
    if (subprocess->device != NULL) subprocess->setup.backend->close(subprocess->device);
    (void)end_process(subprocess, EXIT_SECONDS);
}
