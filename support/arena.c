/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks in two stacks: ordinary ones that grow geometrically and are filled from the bottom,
 * and one of its own for each large object, so that a large object does not end the block that
 * small ones are still filling. Each block knows how many bytes had been handed out when it was
 * made; that alone says whether it is younger than a mark.
 */
#include "support/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/banned.h"

#define FIRST_BLOCK ((size_t)4096)
/* Small enough that malloc serves it from memory that an earlier arena gave back, not from
 * fresh pages: touching those costs more than most of the analysis. */
#define LARGEST_BLOCK ((size_t)64 << 10)

#ifdef COSTMODEL_DEBUG_ARENA
static const bool one_object_a_block = true;
#else
static const bool one_object_a_block = false;
#endif

struct block {
    struct block *older;
    size_t born; /* arena->total when it was made */
    size_t size; /* of data */
    size_t used;
    size_t soiled; /* bytes that were handed out before a restore; the rest is still zero */
    alignas(max_align_t) unsigned char data[];
};

struct arena {
    const char *lifetime;
    size_t cap;
    size_t total;
    size_t next_size;      /* of the next ordinary block */
    struct block *filling; /* ordinary blocks, newest first */
    struct block *large;   /* one object each, newest first */
};

struct arena *arena_new(const char *lifetime, size_t cap) {
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) return NULL;
    arena->lifetime = lifetime;
    arena->cap = cap;
    arena->next_size = FIRST_BLOCK;
    return arena;
}

/* Frees the blocks of a stack that were made at `total` or later; the oldest that stays. */
static struct block *free_younger(struct block *block, size_t total) {
    while (block != NULL && block->born >= total) {
        struct block *older = block->older;
        free(block);
        block = older;
    }
    return block;
}

void arena_free(struct arena *arena) {
    if (arena == NULL) return;
    free_younger(arena->filling, 0);
    free_younger(arena->large, 0);
    free(arena);
}

static struct block *push_block(const struct arena *arena, struct block **stack, size_t size) {
    struct block *block = NULL;
    if (size > SIZE_MAX - sizeof *block) return NULL;
    block = calloc(1, sizeof *block + size); /* pages fresh from the system need no zeroing */
    if (block == NULL) return NULL;
    block->older = *stack;
    block->born = arena->total;
    block->size = size;
    *stack = block;
    return block;
}

/* The block that has room for `stride` more bytes: the one being filled, or a new one. */
static struct block *block_with_room(struct arena *arena, size_t stride) {
    struct block *block = arena->filling;
    if (block != NULL && stride <= block->size - block->used) return block;
    if (stride > arena->next_size / 4) return push_block(arena, &arena->large, stride);
    block = push_block(arena, &arena->filling, arena->next_size);
    if (block != NULL && arena->next_size < LARGEST_BLOCK) arena->next_size *= 2;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size) {
    const size_t align = alignof(max_align_t);
    if (size > SIZE_MAX - align) return NULL;
    const size_t stride = size == 0 ? align : (size + align - 1) / align * align;
    if (stride > SIZE_MAX - arena->total) return NULL;
    if (arena->cap != 0 && arena->total + stride > arena->cap) return NULL;

    struct block *block = one_object_a_block ? push_block(arena, &arena->large, size)
                                             : block_with_room(arena, stride);
    if (block == NULL) return NULL;
    unsigned char *object = block->data + block->used;
    if (block->used < block->soiled) memset(object, 0, size);
    block->used += one_object_a_block ? size : stride;
    arena->total += stride;
    return object;
}

void *arena_array(struct arena *arena, size_t n, size_t size) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(n, size, &bytes)) return NULL;
    return arena_alloc(arena, bytes);
}

char *arena_strdup(struct arena *arena, const char *text) {
    return arena_strndup(arena, text, strlen(text));
}

char *arena_strndup(struct arena *arena, const char *text, size_t length) {
    if (length == SIZE_MAX) return NULL;
    char *copy = arena_alloc(arena, length + 1);
    if (copy != NULL && length > 0) memcpy(copy, text, length);
    return copy;
}

void *arena_copy(struct arena *arena, const void *data, size_t size) {
    void *copy = arena_alloc(arena, size);
    if (copy != NULL && size > 0) memcpy(copy, data, size);
    return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) return NULL;
    char *text = arena_alloc(arena, (size_t)length + 1);
    if (text != NULL) vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

struct arena_mark arena_save(const struct arena *arena) {
    struct arena_mark mark = {arena->filling, 0, arena->total};
    if (arena->filling != NULL) mark.used = arena->filling->used;
    return mark;
}

void arena_restore(struct arena *arena, struct arena_mark mark) {
    arena->large = free_younger(arena->large, mark.total);
    arena->filling = free_younger(arena->filling, mark.total);
    if (arena->filling != NULL && arena->filling == mark.block) {
        struct block *block = arena->filling;
        if (block->used > block->soiled) block->soiled = block->used;
        block->used = mark.used;
    }
    arena->total = mark.total;
}

size_t arena_used(const struct arena *arena) {
    return arena->total;
}
