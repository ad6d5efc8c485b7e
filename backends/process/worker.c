/* SPDX-License-Identifier: Apache-2.0 */
/* The measuring process is forked before the backend opens a device, so the program itself
 * never loads a driver. The process ends by _exit: its exit handlers and unwritten output are
 * copies of the program's and must not take effect twice. */
#include "backends/process/worker.h"

#include <string.h>
#include <unistd.h>

#include "backends/measure.h"
#include "backends/process/ipc.h"
#include "backends/process/subprocess.h"
#include "support/arena.h"
#include "support/child.h"

#include "support/banned.h"

/* Header of a packed network: primitives and steps follow. */
struct network_head {
    uint32_t n_primitives;
    uint32_t n_steps;
    int64_t arena_bytes;
    int64_t weight_bytes;
};

/* Largest payload of IPC_NETWORK, bytes. */
#define MAX_NETWORK                                                                            \
    (sizeof(struct network_head) +                                                             \
     SUBPROCESS_MAX_STEPS * (sizeof(struct cm_primitive) + sizeof(struct cm_network_step)))

void *worker_pack(const struct cm_network *network, struct arena *arena, size_t *ret_size) {
    const struct network_head head = {network->n_primitives, network->n_steps,
                                      network->arena_bytes, network->weight_bytes};
    const size_t primitives = network->n_primitives * sizeof(struct cm_primitive);
    const size_t steps = network->n_steps * sizeof(struct cm_network_step);
    char *bytes = arena_alloc(arena, sizeof(head) + primitives + steps);
    if (bytes == NULL) return NULL;
    memcpy(bytes, &head, sizeof(head));
    if (primitives > 0) memcpy(bytes + sizeof(head), network->primitives, primitives);
    if (steps > 0) memcpy(bytes + sizeof(head) + primitives, network->steps, steps);
    *ret_size = sizeof(head) + primitives + steps;
    return bytes;
}

/* The primitives follow the header, aligned to 8 bytes. */
_Static_assert(sizeof(struct network_head) % 8 == 0 && sizeof(struct cm_primitive) % 8 == 0,
               "what follows is aligned");

/* Sets *ret to a network that points into `bytes`; returns false if the bytes are invalid. */
static bool unpack(const void *bytes, size_t size, struct cm_network *ret) {
    struct network_head head;
    const char *at = bytes;
    if (size < sizeof(head)) return false;
    memcpy(&head, at, sizeof(head));
    if (head.n_primitives > SUBPROCESS_MAX_STEPS || head.n_steps > SUBPROCESS_MAX_STEPS)
        return false;
    const size_t primitives = head.n_primitives * sizeof(struct cm_primitive);
    const size_t steps = head.n_steps * sizeof(struct cm_network_step);
    if (size != sizeof(head) + primitives + steps) return false;
    *ret = (struct cm_network){.n_primitives = head.n_primitives,
                               .n_steps = head.n_steps,
                               .primitives = (const void *)(at + sizeof(head)),
                               .steps = (const void *)(at + sizeof(head) + primitives),
                               .arena_bytes = head.arena_bytes,
                               .weight_bytes = head.weight_bytes};
    for (uint32_t i = 0; i < ret->n_steps; i++)
        if (ret->steps[i].primitive >= ret->n_primitives) return false;
    return true;
}

/* State of the serving process. */
struct serving {
    const struct subprocess_setup *setup;
    struct cm_device *device;
    int socket;
};

/* Measures the requested primitive. Returns an ipc_status; *ret_status is the backend's. */
static int answer_primitive(const struct serving *serving, const struct ipc_head *head,
                            struct cm_measurement *ret, int *ret_status) {
    struct cm_primitive primitive;
    if (head->size != sizeof(primitive)) return IPC_BROKEN;
    const int frame = ipc_receive_payload(serving->socket, head, -1, &primitive);
    if (frame != IPC_OK) return frame;
    if (serving->setup->settings.plan_only != 0)
        *ret_status = measure_plan(serving->setup->backend, serving->device, &primitive, ret);
    else
        *ret_status = measure_primitive(serving->setup->backend, serving->device, &primitive,
                                        &serving->setup->policy, &timing_monotonic_clock, ret);
    return IPC_OK;
}

static int answer_network(const struct serving *serving, const struct ipc_head *head,
                          struct cm_measurement *ret, int *ret_status) {
    struct cm_network network;
    if (head->size > MAX_NETWORK) return IPC_BROKEN;
    struct arena *arena = arena_new("network", 0);
    void *bytes = arena ? arena_alloc(arena, (size_t)head->size) : NULL;
    int frame = IPC_CLOSED;
    if (bytes != NULL) frame = ipc_receive_payload(serving->socket, head, -1, bytes);
    if (frame == IPC_OK && !unpack(bytes, (size_t)head->size, &network)) frame = IPC_BROKEN;
    if (frame == IPC_OK)
        *ret_status = measure_network(serving->setup->backend, serving->device, &network,
                                      &serving->setup->policy, &timing_monotonic_clock, ret);
    arena_free(arena);
    return frame;
}

static int answer(const struct serving *serving, uint64_t sequence, struct cm_measurement *ret,
                  int *ret_status) {
    struct ipc_head head;
    const int frame = ipc_receive_head(serving->socket, sequence, -1, &head);
    if (frame != IPC_OK) return frame;
    if (head.kind == IPC_NETWORK) return answer_network(serving, &head, ret, ret_status);
    if (head.kind == IPC_REQUEST) return answer_primitive(serving, &head, ret, ret_status);
    return IPC_BROKEN;
}

static void serve(const struct serving *serving) {
    struct cm_measurement measurement;
    int status = CM_BACKEND_OK;
    for (uint64_t sequence = 1; status != CM_BACKEND_BROKEN; sequence++) {
        if (answer(serving, sequence, &measurement, &status) != IPC_OK) return;
        if (ipc_send(serving->socket, IPC_RESULT, sequence, &measurement,
                     sizeof(measurement)) != IPC_OK)
            return;
    }
}

_Noreturn void worker_main(const struct subprocess_setup *setup, int socket, pid_t parent) {
    struct worker_opened opened;
    struct cm_device *device = NULL;
    child_end_with_parent(parent);
    /* Standard output belongs to the report: libraries must print to standard error. */
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    memset(&opened, 0, sizeof(opened));
    opened.status = (int32_t)setup->backend->open(&setup->settings, &device, &opened.reason);
    if (opened.status == CM_BACKEND_OK) setup->backend->facts(device, &opened.facts);
    if (ipc_send(socket, IPC_OPENED, 0, &opened, sizeof(opened)) == IPC_OK &&
        opened.status == CM_BACKEND_OK) {
        const struct serving serving = {setup, device, socket};
        serve(&serving);
    }
    _exit(0);
}
