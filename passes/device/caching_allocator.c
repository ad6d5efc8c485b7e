/* SPDX-License-Identifier: Apache-2.0 */
#include "passes/device/caching_allocator.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "support/arena.h"

#define NONE             UINT32_MAX
#define MIB              (INT64_C(1) << 20)
#define ROUNDING         INT64_C(512)
#define LARGEST_SMALL    MIB /* of a small block */
#define SMALL_SEGMENT    (2 * MIB)
#define MEDIUM_SEGMENT   (20 * MIB) /* for large blocks below SMALLEST_OWN */
#define SMALLEST_OWN     (10 * MIB) /* such a request gets a segment of its own size */
#define SEGMENT_ROUNDING (2 * MIB)
#define LARGEST          (INT64_C(1) << 60) /* larger than any device: sums stop here */

/* A part of a segment. */
struct block {
    int64_t bytes;
    int64_t address; /* segments lie in the order of their allocation */
    uint32_t before; /* neighbours in the segment; NONE */
    uint32_t after;
    bool is_free;
    bool is_small; /* of a segment for small blocks */
};

/* Free blocks, by size and address. */
struct pool {
    uint32_t *blocks;
    size_t n;
    size_t capacity;
};

struct caching_allocator {
    struct arena *arena;
    struct block *blocks;
    size_t n;
    size_t capacity;
    uint32_t unused; /* list of blocks that merged into others, linked by `after` */
    struct pool small;
    struct pool large;
    int64_t reserved;
};

struct caching_allocator *caching_allocator_new(struct arena *arena) {
    struct caching_allocator *allocator = arena_alloc(arena, sizeof *allocator);
    if (!allocator) return NULL;
    *allocator = (struct caching_allocator){.arena = arena, .unused = NONE};
    return allocator;
}

/* Returns the index of a new block; NONE if out of memory. */
static uint32_t add_block(struct caching_allocator *allocator, struct block block) {
    uint32_t id = allocator->unused;
    if (id == NONE)
        return arena_push(allocator->arena, &allocator->blocks, &allocator->n,
                          &allocator->capacity, &block, sizeof block)
                   ? (uint32_t)allocator->n - 1
                   : NONE;
    allocator->unused = allocator->blocks[id].after;
    allocator->blocks[id] = block;
    return id;
}

static struct pool *pool_of(struct caching_allocator *allocator, bool is_small) {
    return is_small ? &allocator->small : &allocator->large;
}

/* Returns the index of the first free block in the pool that is not before (bytes, address). */
static size_t find_free(const struct caching_allocator *allocator, const struct pool *pool,
                        int64_t bytes, int64_t address) {
    size_t low = 0;
    size_t high = pool->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct block *block = &allocator->blocks[pool->blocks[middle]];
        if (block->bytes < bytes || (block->bytes == bytes && block->address < address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_free(struct caching_allocator *allocator, uint32_t id) {
    struct block *block = &allocator->blocks[id];
    struct pool *pool = pool_of(allocator, block->is_small);
    const size_t at = find_free(allocator, pool, block->bytes, block->address);
    uint32_t *blocks =
        arena_grow(allocator->arena, pool->blocks, pool->n, &pool->capacity, sizeof *blocks);
    if (!blocks) return;
    pool->blocks = blocks;
    memmove(&blocks[at + 1], &blocks[at], (pool->n - at) * sizeof *blocks);
    blocks[at] = id;
    pool->n++;
    block->is_free = true;
}

static void remove_free(struct caching_allocator *allocator, struct pool *pool, size_t at) {
    allocator->blocks[pool->blocks[at]].is_free = false;
    pool->n--;
    memmove(&pool->blocks[at], &pool->blocks[at + 1], (pool->n - at) * sizeof *pool->blocks);
}

static uint32_t new_segment(struct caching_allocator *allocator, int64_t bytes, bool is_small) {
    const int64_t size = is_small               ? SMALL_SEGMENT
                         : bytes < SMALLEST_OWN ? MEDIUM_SEGMENT
                                                : (bytes + SEGMENT_ROUNDING - 1) /
                                                      SEGMENT_ROUNDING * SEGMENT_ROUNDING;
    const struct block whole = {.bytes = size,
                                .address = allocator->reserved,
                                .before = NONE,
                                .after = NONE,
                                .is_small = is_small};
    if (allocator->reserved < LARGEST) allocator->reserved += size;
    return add_block(allocator, whole);
}

/* Splits off what a request of `bytes` leaves of the block. */
static void split(struct caching_allocator *allocator, uint32_t id, int64_t bytes) {
    const struct block from = allocator->blocks[id];
    const int64_t rest = from.bytes - bytes;
    if (from.is_small ? rest < ROUNDING : rest <= LARGEST_SMALL) return;
    const uint32_t new = add_block(allocator, (struct block){.bytes = rest,
                                                             .address = from.address + bytes,
                                                             .before = id,
                                                             .after = from.after,
                                                             .is_small = from.is_small});
    if (new == NONE) return;
    if (from.after != NONE) allocator->blocks[from.after].before = new;
    allocator->blocks[id].after = new;
    allocator->blocks[id].bytes = bytes;
    add_free(allocator, new);
}

uint32_t caching_allocator_take(struct caching_allocator *allocator, int64_t bytes) {
    if (bytes > LARGEST) bytes = LARGEST;
    bytes = (bytes + ROUNDING - 1) / ROUNDING * ROUNDING;
    const bool is_small = bytes <= LARGEST_SMALL;
    struct pool *pool = pool_of(allocator, is_small);
    const size_t at = find_free(allocator, pool, bytes, -1);
    uint32_t id = NONE;
    if (at < pool->n) {
        id = pool->blocks[at];
        remove_free(allocator, pool, at);
    } else {
        id = new_segment(allocator, bytes, is_small);
    }
    if (id != NONE) split(allocator, id, bytes);
    return id;
}

int64_t caching_allocator_size(const struct caching_allocator *allocator, uint32_t block) {
    return allocator->blocks[block].bytes;
}

/* Merges `after` into the block before it. */
static void merge(struct caching_allocator *allocator, uint32_t id, uint32_t after) {
    struct block *into = &allocator->blocks[id];
    const struct block from = allocator->blocks[after];
    into->bytes += from.bytes;
    into->after = from.after;
    if (from.after != NONE) allocator->blocks[from.after].before = id;
    allocator->blocks[after].after = allocator->unused;
    allocator->unused = after;
}

/* Removes the block from its pool if it is free; returns false if it is not. */
static bool take_free(struct caching_allocator *allocator, uint32_t id) {
    if (id == NONE || !allocator->blocks[id].is_free) return false;
    const struct block *block = &allocator->blocks[id];
    struct pool *pool = pool_of(allocator, block->is_small);
    remove_free(allocator, pool, find_free(allocator, pool, block->bytes, block->address));
    return true;
}

void caching_allocator_release(struct caching_allocator *allocator, uint32_t block) {
    const uint32_t after = allocator->blocks[block].after;
    const uint32_t before = allocator->blocks[block].before;
    if (take_free(allocator, after)) merge(allocator, block, after);
    if (take_free(allocator, before)) {
        merge(allocator, before, block);
        block = before;
    }
    add_free(allocator, block);
}

int64_t caching_allocator_reserved(const struct caching_allocator *allocator) {
    return allocator->reserved;
}
