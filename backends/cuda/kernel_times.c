/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts events into a captured graph. The graph of n executions with k kernels each is a
 * chain of n * k nodes. Events are inserted around the last of these nodes:
 *
 *     .. - kernel - event 0 - kernel - event 1 - kernel - event 2
 *
 * The executions without events run first and evict the caches, as in the cold timing of the
 * layer. Events have a resolution of half a microsecond, so the time of a kernel is the mean
 * over several executions. */
#include "backends/cuda/kernel_times.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cuda/refuse.h"

#define MS 1e-3

static int refuse_graph(struct cm_reason *reason) {
    return cuda_refuse(reason, CM_BACKEND_REFUSED,
                       "the graph is not a chain of the kernels of the layer");
}

/* Lists the `n` nodes of a chain in order. The query fails if a dependency is not plain, as for
 * kernels that overlap by programmatic dependent launch. */
static int list_chain(const struct cm_device *device, CUgraph graph, CUgraphNode *ret, size_t n,
                      struct cm_reason *reason) {
    const struct cuda_driver *driver = &device->driver;
    CUgraphNode next[2] = {NULL, NULL};
    size_t n_next = 2;
    size_t n_listed = 0;
    CUresult result = driver->cuGraphGetRootNodes(graph, next, &n_next);
    while (result == CUDA_SUCCESS && n_next == 1 && n_listed < n) {
        const CUgraphNode node = next[0];
        ret[n_listed++] = node;
        n_next = 2;
        result = driver->cuGraphNodeGetDependentNodes(node, next, &n_next);
    }
    if (result == CUDA_SUCCESS && n_listed == n && n_next == 0) return CM_BACKEND_OK;
    if (result == CUDA_SUCCESS) return refuse_graph(reason);
    return cuda_check(device, result, "read a graph", reason);
}

/* Inserts events around the last `times->n` nodes. */
static int insert_events(const struct cm_device *device, const CUgraphNode *nodes, size_t n,
                         struct kernel_times *times, struct cm_reason *reason) {
    const struct cuda_driver *driver = &device->driver;
    const CUgraph graph = times->replay.graph;
    const size_t first = n - (size_t)times->n;
    for (size_t i = first; i <= n; i++) {
        const CUgraphNode before = i > 0 ? nodes[i - 1] : NULL;
        const CUgraphNode after = i < n ? nodes[i] : NULL;
        CUgraphNode node = NULL;
        CUevent *event = &times->events[i - first];
        CUresult result = driver->cuEventCreate(event, CU_EVENT_DEFAULT);
        if (result != CUDA_SUCCESS)
            return cuda_check(device, result, "create an event", reason);
        result =
            driver->cuGraphAddEventRecordNode(&node, graph, &before, before != NULL, *event);
        if (result == CUDA_SUCCESS && before != NULL && after != NULL)
            result = driver->cuGraphRemoveDependencies(graph, &before, &after, 1);
        if (result == CUDA_SUCCESS && after != NULL)
            result = driver->cuGraphAddDependencies(graph, &node, &after, 1);
        if (result != CUDA_SUCCESS)
            return cuda_check(device, result, "insert an event into a graph", reason);
    }
    return CM_BACKEND_OK;
}

/* Chooses the timed nodes: those of the last executions, as many as there are events for. */
static int choose(const struct cm_device *device, const CUgraphNode *nodes, size_t n,
                  uint32_t n_executions, const struct replay_kernels *kernels,
                  struct kernel_times *times, struct cm_reason *reason) {
    if (n_executions == 0 || n == 0 || n % n_executions != 0) return refuse_graph(reason);
    const size_t each = n / n_executions;
    if (each > KERNEL_TIMES_MOST)
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "%zu kernels run, at most %d are timed one by one", each,
                           KERNEL_TIMES_MOST);
    const size_t most = KERNEL_TIMES_MOST / each;
    times->n_executions = (int32_t)(n_executions < most ? n_executions : most);
    times->n = times->n_executions * (int32_t)each;
    for (int32_t i = 0; i < times->n; i++) {
        times->kernels[i] =
            replay_kernel_at(device, nodes[n - (size_t)times->n + (size_t)i], kernels);
        if (times->kernels[i] < 0) return refuse_graph(reason);
    }
    return CM_BACKEND_OK;
}

int kernel_times_make(const struct cm_device *device, const struct replay_job *job,
                      const struct replay_kernels *kernels, struct kernel_times *ret,
                      struct cm_reason *reason) {
    const struct cuda_driver *driver = &device->driver;
    struct kernel_times times;
    CUgraphNode *nodes = NULL;
    size_t n = 0;
    memset(&times, 0, sizeof(times));
    if (driver->cuGraphGetRootNodes == NULL || driver->cuGraphNodeGetDependentNodes == NULL ||
        driver->cuGraphAddEventRecordNode == NULL || driver->cuGraphAddDependencies == NULL ||
        driver->cuGraphRemoveDependencies == NULL)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "the driver cannot change graphs");
    int status = replay_record(device, job, &times.replay, reason);
    if (status == CM_BACKEND_OK)
        status = cuda_check(device, driver->cuGraphGetNodes(times.replay.graph, NULL, &n),
                            "read a graph", reason);
    if (status == CM_BACKEND_OK) nodes = calloc(n + 1, sizeof(*nodes));
    if (status == CM_BACKEND_OK && nodes == NULL)
        status = cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    if (status == CM_BACKEND_OK)
        status = list_chain(device, times.replay.graph, nodes, n, reason);
    if (status == CM_BACKEND_OK)
        status = choose(device, nodes, n, job->n, kernels, &times, reason);
    if (status == CM_BACKEND_OK) status = insert_events(device, nodes, n, &times, reason);
    free(nodes);
    if (status == CM_BACKEND_OK) status = replay_instantiate(device, &times.replay, reason);
    if (status == CM_BACKEND_OK)
        *ret = times;
    else
        kernel_times_drop(device, &times);
    return status;
}

int kernel_times_run(const struct cm_device *device, const struct kernel_times *times,
                     double *ret_seconds, struct cm_reason *reason) {
    const struct cuda_driver *driver = &device->driver;
    int status = cuda_check(device, driver->cuGraphLaunch(times->replay.exec, device->stream),
                            "launch it", reason);
    if (status == CM_BACKEND_OK)
        status =
            cuda_check(device, driver->cuStreamSynchronize(device->stream), "run it", reason);
    for (int i = 0; i < CM_MAX_KERNELS; i++) ret_seconds[i] = 0;
    for (int32_t i = 0; i < times->n && status == CM_BACKEND_OK; i++) {
        float ms = 0;
        status = cuda_check(
            device, driver->cuEventElapsedTime(&ms, times->events[i], times->events[i + 1]),
            "read the time", reason);
        ret_seconds[times->kernels[i]] += MS * (double)ms / times->n_executions;
    }
    return status;
}

void kernel_times_drop(const struct cm_device *device, struct kernel_times *times) {
    replay_drop(device, &times->replay);
    for (int i = 0; i <= KERNEL_TIMES_MOST; i++)
        if (times->events[i] != NULL) (void)device->driver.cuEventDestroy(times->events[i]);
    memset(times, 0, sizeof(*times));
}
