/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates the shared block and private blocks of device memory. */
#include "backends/cuda/memory.h"

#include "backends/cuda/device.h"
#include "backends/cuda/refuse.h"
#include "support/checked.h"

#define MIN_BLOCK ((int64_t)1 << 20)

int64_t memory_align(int64_t bytes) {
    const int64_t more = checked_add(bytes, MEMORY_ALIGNMENT - 1);
    return is_known(more) ? more - more % MEMORY_ALIGNMENT : more;
}

/* Allocates the shared block: options.memory_bytes if set and free, else half of the free
 * memory. Halves the size after each failure, because memory may be fragmented. */
static void make_block(struct cm_device *device) {
    struct memory *memory = &device->memory;
    size_t free_bytes = 0;
    size_t total = 0;
    int64_t bytes = device->options.memory_bytes;
    if (memory->base != 0) return;
    if (device->driver.cuMemGetInfo(&free_bytes, &total) != CUDA_SUCCESS) return;
    if (bytes == 0 || bytes > (int64_t)free_bytes) bytes = (int64_t)(free_bytes / 2);
    for (; bytes >= MIN_BLOCK; bytes /= 2) {
        bytes -= bytes % MEMORY_ALIGNMENT;
        if (device->driver.cuMemAlloc(&memory->base, (size_t)bytes) != CUDA_SUCCESS) continue;
        memory->bytes = bytes;
        return;
    }
    memory->base = 0;
}

/* Tries to allocate `wish` bytes, then half of them, and so on down to `least` bytes. */
int memory_take_private(struct cm_device *device, int64_t least, int64_t wish,
                        struct memory_block *ret, struct cm_reason *reason) {
    struct memory_block block = {.bytes = is_known(wish) && wish > least ? wish : least};
    CUresult result = device->driver.cuMemAlloc(&block.base, (size_t)block.bytes);
    while (result == CUDA_ERROR_OUT_OF_MEMORY && block.bytes > least) {
        block.bytes = block.bytes / 2 > least ? block.bytes / 2 : least;
        result = device->driver.cuMemAlloc(&block.base, (size_t)block.bytes);
    }
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return cuda_refuse(reason, CM_BACKEND_NO_MEMORY,
                           "needs %lld bytes, more than the device has free", (long long)least);
    const int status = cuda_check(device, result, "allocate memory", reason);
    if (status == CM_BACKEND_OK) *ret = block;
    return status;
}

int memory_take(struct cm_device *device, int64_t least, int64_t wish, struct memory_block *ret,
                struct cm_reason *reason) {
    struct memory *memory = &device->memory;
    const int64_t limit = device->options.memory_bytes;
    if (!is_known(least) || (limit > 0 && least > limit))
        return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "needs %lld bytes, the limit is %lld",
                           (long long)least, (long long)limit);
    if (!memory->taken) {
        make_block(device);
        if (memory->base != 0 && memory->bytes >= least) {
            memory->taken = true;
            *ret = (struct memory_block){memory->base, memory->bytes, true};
            return CM_BACKEND_OK;
        }
        memory_drop(device);
    }
    return memory_take_private(device, least, wish, ret, reason);
}

void memory_give_back(struct cm_device *device, const struct memory_block *block) {
    if (block->shared)
        device->memory.taken = false;
    else if (block->base != 0)
        (void)device->driver.cuMemFree(block->base);
}

void memory_drop(struct cm_device *device) {
    if (device->memory.base != 0) (void)device->driver.cuMemFree(device->memory.base);
    device->memory = (struct memory){.base = 0};
}
