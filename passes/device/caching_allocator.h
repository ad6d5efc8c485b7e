/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch's caching allocator of device memory, replayed without a device
 * (c10/cuda/CUDACachingAllocator.cpp with its default settings). Memory comes from the driver
 * in segments, which are never returned:
 *
 *     block of a tensor        rounded up to 512 B
 *     segment for <= 1 MiB     2 MiB, for small blocks only
 *     segment for < 10 MiB     20 MiB
 *     segment for larger ones  rounded up to 2 MiB
 *
 * A request takes the smallest free block that holds it (of equal ones the one with the lowest
 * address). The rest of a block is split off if it is at least 512 B, for large blocks more
 * than 1 MiB. A released block merges with free neighbours in its segment. */
#pragma once

#include <stdint.h>

struct arena;
struct caching_allocator;

/* Returns NULL if out of memory; later failures mark the arena as failed. */
struct caching_allocator *caching_allocator_new(struct arena *arena);
/* Returns a block of at least `bytes` > 0 bytes; UINT32_MAX if out of memory. */
uint32_t caching_allocator_take(struct caching_allocator *allocator, int64_t bytes);
/* Returns the rounded size of a block. */
int64_t caching_allocator_size(const struct caching_allocator *allocator, uint32_t block);
void caching_allocator_release(struct caching_allocator *allocator, uint32_t block);
/* Returns the bytes of all segments; at least 2^60 if the sum is larger. */
int64_t caching_allocator_reserved(const struct caching_allocator *allocator);
