/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates, fills and repeats sets of operands. */
#include "backends/cuda/sets.h"

#include <stdlib.h>

#include "backends/cuda/refuse.h"
#include "backends/primitive.h"
#include "support/checked.h"

/* The sets span three times the cache if they fit, as in CUTLASS's profiler: then no
 * replacement policy keeps a line. */
#define CACHES        3
#define MAX_SETS      256
#define PATTERN_BYTES ((int64_t)1 << 20)

/* Returns operand i: inputs precede outputs. */
static const struct cm_tensor *tensor_at(const struct cm_primitive *primitive, int32_t i) {
    return i < primitive->n_inputs ? &primitive->inputs[i]
                                   : &primitive->outputs[i - primitive->n_inputs];
}

/* Returns the member of `operands` for the address of operand i. */
static CUdeviceptr *address_at(const struct cm_primitive *primitive, int32_t i,
                               struct cuda_operands *operands) {
    return i < primitive->n_inputs ? &operands->inputs[i]
                                   : &operands->outputs[i - primitive->n_inputs];
}

/* Copies a pattern to the start, then doubles the filled part. Copies in the stream: a
 * synchronous copy may return before the device memory is written, and the stream would not
 * wait for it. */
int sets_fill(const struct cm_device *device, const struct fill *fill, CUdeviceptr at,
              int64_t bytes, struct cm_reason *reason) {
    const struct cuda_driver *driver = &device->driver;
    /* The pattern is repeated, so it must end with a whole row of indices. */
    const int64_t row =
        primitive_element_size(fill->element) * (fill->indices.n > 0 ? fill->indices.n : 1);
    const int64_t head = bytes < PATTERN_BYTES ? bytes : PATTERN_BYTES - PATTERN_BYTES % row;
    if (bytes == 0) return CM_BACKEND_OK;
    void *pattern = malloc((size_t)head);
    if (pattern == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    fill_pattern(fill, pattern, (size_t)head);
    CUresult result = driver->cuMemcpyHtoDAsync(at, pattern, (size_t)head, device->stream);
    for (int64_t done = head; done < bytes && result == CUDA_SUCCESS; done *= 2) {
        const int64_t more = bytes - done < done ? bytes - done : done;
        result =
            driver->cuMemcpyDtoDAsync(at + (CUdeviceptr)done, at, (size_t)more, device->stream);
    }
    const CUresult waited = driver->cuStreamSynchronize(device->stream);
    free(pattern);
    return cuda_check(device, result != CUDA_SUCCESS ? result : waited, "fill operands",
                      reason);
}

int sets_make(struct cm_device *device, const struct cm_primitive *primitive, struct sets *ret,
              struct cuda_operands *ret_first, struct cm_reason *reason) {
    const int32_t n = primitive->n_inputs + primitive->n_outputs;
    struct cuda_operands first = {.workspace = 0};
    struct sets sets = {.n = 1};
    for (int32_t i = 0; i < n; i++) {
        *address_at(primitive, i, &first) =
            (CUdeviceptr)(is_known(sets.bytes) ? sets.bytes : 0);
        checked_add_to(&sets.bytes, memory_align(primitive_span(tensor_at(primitive, i))));
    }
    if (sets.bytes == 0)
        sets.bytes = MEMORY_ALIGNMENT; /* an empty operand has an address too */
    const int64_t n_sets =
        1 + CACHES * device->cache_bytes / (is_known(sets.bytes) ? sets.bytes : 1);
    const int64_t all = checked_add(checked_mul(sets.bytes, n_sets),
                                    memory_align(device->options.workspace_bytes));
    int status = memory_take(device, sets.bytes, all, &sets.block, reason);
    if (status != CM_BACKEND_OK) return status;
    for (int32_t i = 0; i < n; i++) {
        const struct cm_tensor *tensor = tensor_at(primitive, i);
        CUdeviceptr *at = address_at(primitive, i, &first);
        struct fill fill = {.element = tensor->element};
        if (i < primitive->n_inputs) fill = fill_for(primitive, i);
        *at += sets.block.base;
        status = sets_fill(device, &fill, *at, primitive_span(tensor), reason);
        if (status == CM_BACKEND_OK) continue;
        memory_give_back(device, &sets.block);
        return status;
    }
    *ret = sets;
    *ret_first = first;
    return CM_BACKEND_OK;
}

int sets_reserve(const struct cm_device *device, struct sets *sets, int64_t workspace_bytes,
                 struct cm_reason *reason) {
    const int64_t workspace = memory_align(workspace_bytes);
    const int64_t end = sets->block.bytes - sets->block.bytes % MEMORY_ALIGNMENT;
    const int64_t room = end - sets->bytes;
    if (workspace_bytes < 0 || !is_known(workspace) || workspace > room)
        return cuda_refuse(
            reason, CM_BACKEND_NO_MEMORY,
            "no room for a workspace of %lld bytes beside %lld bytes of operands",
            (long long)workspace_bytes, (long long)sets->bytes);
    const int64_t want = 1 + CACHES * device->cache_bytes / sets->bytes;
    const int64_t most = (end - workspace) / sets->bytes;
    sets->n = want < MAX_SETS ? want : MAX_SETS;
    if (sets->n > most) sets->n = most;
    sets->workspace = sets->block.base + (CUdeviceptr)(end - workspace);
    return CM_BACKEND_OK;
}

/* Before a cycle returns to a set, the other sets must fill the cache. */
bool sets_are_cold(const struct cm_device *device, const struct sets *sets, int64_t used) {
    return used > 0 && (used - 1) * sets->bytes >= device->cache_bytes;
}

int sets_repeat(const struct cm_device *device, struct sets *sets, struct cm_reason *reason) {
    const struct cuda_driver *driver = &device->driver;
    CUresult result = CUDA_SUCCESS;
    for (int64_t i = 1; i < sets->n && result == CUDA_SUCCESS; i++)
        result = driver->cuMemcpyDtoDAsync(
            sets->block.base + (CUdeviceptr)i * (CUdeviceptr)sets->bytes, sets->block.base,
            (size_t)sets->bytes, device->stream);
    if (result == CUDA_SUCCESS) result = driver->cuStreamSynchronize(device->stream);
    return cuda_check(device, result, "fill operands", reason);
}

void sets_drop(struct cm_device *device, struct sets *sets) {
    memory_give_back(device, &sets->block);
    *sets = (struct sets){.n = 0};
}

struct cuda_operands sets_at(const struct sets *sets, const struct cuda_operands *first,
                             int64_t index) {
    struct cuda_operands at = *first;
    const CUdeviceptr offset = (CUdeviceptr)index * (CUdeviceptr)sets->bytes;
    for (int i = 0; i < CM_MAX_INPUTS; i++)
        if (at.inputs[i] != 0) at.inputs[i] += offset;
    for (int i = 0; i < CM_MAX_OUTPUTS; i++)
        if (at.outputs[i] != 0) at.outputs[i] += offset;
    at.workspace = sets->workspace;
    return at;
}
