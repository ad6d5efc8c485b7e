/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory of the driver's double. Each granule of 256 bytes records the work that wrote
 * it last. It is a misuse to read memory that was never written, or to access memory that
 * another stream may still write.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define GRANULE         ((size_t)256)
#define MAX_ALLOCATIONS 64

struct granule {
    int stream; /* 0: never written */
    uint64_t step;
};

static struct {
    char *base; /* NULL: free row */
    size_t size;
    struct granule *granules;
} allocations[MAX_ALLOCATIONS];

static int find(uint64_t at, size_t bytes) {
    for (int i = 0; i < MAX_ALLOCATIONS; i++) {
        const uint64_t base = (uint64_t)(uintptr_t)allocations[i].base;
        if (allocations[i].base == NULL || at < base || at - base > allocations[i].size)
            continue;
        if (bytes <= allocations[i].size - (at - base)) return i;
    }
    return -1;
}

EXPORT bool double_is_device(uint64_t at, size_t bytes) {
    return at != 0 && find(at, bytes) >= 0;
}

static void check_granule(const struct granule *granule, const struct double_launch *launch,
                          const struct double_access *access, int stream) {
    if (granule->stream == 0 && !access->writes)
        double_misuse("%s reads memory that nothing wrote", launch->name);
    if (granule->stream != 0 && granule->stream != stream &&
        granule->step > double_synced[granule->stream])
        double_misuse("%s races with work of another stream", launch->name);
}

CUresult memory_access(const struct double_launch *launch, int stream, bool runs) {
    for (int i = 0; i < launch->n_accesses; i++) {
        const struct double_access *access = &launch->accesses[i];
        const int which = find(access->at, access->bytes);
        if (access->at == 0 || which < 0) {
            double_misuse("%s accesses %zu bytes outside of any allocation", launch->name,
                          access->bytes);
            return CUDA_ERROR_INVALID_VALUE;
        }
        const size_t from = (size_t)(access->at - (uint64_t)(uintptr_t)allocations[which].base);
        for (size_t at = from / GRANULE; runs && at * GRANULE < from + access->bytes; at++) {
            struct granule *granule = &allocations[which].granules[at];
            check_granule(granule, launch, access, stream);
            if (access->writes) *granule = (struct granule){stream, double_step + 1};
        }
    }
    return CUDA_SUCCESS;
}

EXPORT void double_add_access(struct double_launch *launch, const void *at, size_t bytes,
                              bool writes) {
    if (launch->n_accesses == DOUBLE_ACCESSES) abort();
    launch->accesses[launch->n_accesses++] =
        (struct double_access){(uint64_t)(uintptr_t)at, bytes, writes};
}

EXPORT CUresult cuMemGetInfo(size_t *ret_free, size_t *ret_total) {
    const CUresult ready = double_needs_context("cuMemGetInfo");
    if (ready != CUDA_SUCCESS) return ready;
    *ret_total = double_state.memory;
    *ret_free = double_state.memory - double_state.n_allocated;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemAlloc(CUdeviceptr *ret, size_t size) {
    int row = 0;
    TRY("cuMemAlloc");
    CUresult result = double_needs_context("cuMemAlloc");
    if (result == CUDA_SUCCESS) result = double_unsafe();
    if (result != CUDA_SUCCESS) return result;
    if (size == 0) return CUDA_ERROR_INVALID_VALUE;
    if (size > double_state.memory - double_state.n_allocated) return CUDA_ERROR_OUT_OF_MEMORY;
    while (row < MAX_ALLOCATIONS && allocations[row].base != NULL) row++;
    if (row == MAX_ALLOCATIONS) abort();
    if (posix_memalign((void **)&allocations[row].base, GRANULE, size) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    allocations[row].size = size;
    allocations[row].granules = calloc(size / GRANULE + 1, sizeof(struct granule));
    double_state.n_allocations++;
    double_state.n_allocated += size;
    *ret = (CUdeviceptr)(uintptr_t)allocations[row].base;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemFree(CUdeviceptr base) {
    const CUresult result = double_unsafe();
    if (result != CUDA_SUCCESS) return result;
    for (int i = 0; i < MAX_ALLOCATIONS; i++) {
        if (base == 0 || allocations[i].base != (char *)(uintptr_t)base) continue;
        double_state.n_allocations--;
        double_state.n_allocated -= allocations[i].size;
        free(allocations[i].base);
        free(allocations[i].granules);
        allocations[i].base = NULL;
        return CUDA_SUCCESS;
    }
    double_misuse("cuMemFree: not an allocation");
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult copy(const char *call, CUstream stream, const struct double_launch *launch,
                     void *to, const void *from, size_t size) {
    int number = 0;
    TRY(call);
    CUresult result = driver_stream(call, stream, &number);
    if (result != CUDA_SUCCESS) return result;
    result = memory_access(launch, number, false);
    if (result != CUDA_SUCCESS) return result;
    memmove(to, from, size);
    return graph_enqueue(stream, CU_GRAPH_NODE_TYPE_MEMCPY, launch, NULL);
}

EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size,
                                  CUstream stream);
EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size,
                                  CUstream stream) {
    struct double_launch launch = {.name = "memcpy HtoD", .last = to, .grid = (unsigned)size};
    double_add_access(&launch, (void *)(uintptr_t)to, size, true);
    return copy("cuMemcpyHtoDAsync", stream, &launch, (void *)(uintptr_t)to, from, size);
}

EXPORT CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream stream);
EXPORT CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    struct double_launch launch = {
        .name = "memcpy DtoH", .first = from, .grid = (unsigned)size};
    double_add_access(&launch, (void *)(uintptr_t)from, size, false);
    return copy("cuMemcpyDtoHAsync", stream, &launch, to, (void *)(uintptr_t)from, size);
}

EXPORT CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size,
                                  CUstream stream);
EXPORT CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size,
                                  CUstream stream) {
    struct double_launch launch = {
        .name = "memcpy", .first = from, .last = to, .grid = (unsigned)size};
    double_add_access(&launch, (void *)(uintptr_t)from, size, false);
    double_add_access(&launch, (void *)(uintptr_t)to, size, true);
    return copy("cuMemcpyDtoDAsync", stream, &launch, (void *)(uintptr_t)to,
                (void *)(uintptr_t)from, size);
}
