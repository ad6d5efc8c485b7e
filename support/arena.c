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

#include "costmodel/status.h"

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
    size_t created; /* arena->total when it was made */
    size_t size;    /* of data */
    size_t used;
    size_t dirty; /* bytes that were handed out before a restore; the rest is still zero */
    alignas(max_align_t) unsigned char data[];
};

struct arena {
    const char *liveness;
    size_t cap;
    size_t total;
    size_t next_size;      /* of the next ordinary block */
    struct block *filling; /* ordinary blocks, newest first */
    struct block *oldest;  /* of the ordinary ones */
    struct block *large;   /* one object each, newest first */
    bool failed;
};

struct arena *arena_new(const char *liveness, size_t cap) {
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) return NULL;
    arena->liveness = liveness;
    arena->cap = cap != 0 ? cap : SIZE_MAX;
    arena->next_size = FIRST_BLOCK;
    return arena;
}

/* Frees the blocks of a stack that were made at `total` or later, up to `kept`; the newest that
 * stays. */
static struct block *free_younger(struct block *block, const struct block *kept, size_t total) {
    while (block != NULL && block != kept && block->created >= total) {
        struct block *older = block->older;
        free(block);
        block = older;
    }
    return block;
}

void arena_free(struct arena *arena) {
    if (arena == NULL) return;
    free_younger(arena->filling, NULL, 0);
    free_younger(arena->large, NULL, 0);
    free(arena);
}

/* Pages fresh from the system need no zeroing, as calloc knows. */
static struct block *push_block(const struct arena *arena, struct block **stack, size_t size,
                                bool zeroed) {
    if (size > SIZE_MAX - sizeof(struct block)) return NULL;
    struct block *block =
        zeroed ? calloc(1, sizeof *block + size) : malloc(sizeof *block + size);
    if (block == NULL) return NULL;
    block->older = *stack;
    block->created = arena->total;
    block->size = size;
    block->used = block->dirty = 0;
    *stack = block;
    return block;
}

/* A block with room for `size` more bytes, where the one being filled has none. */
static struct block *new_block(struct arena *arena, size_t size, bool zeroed) {
    if (one_object_a_block || size > arena->next_size / 4)
        return push_block(arena, &arena->large, size, zeroed);
    struct block *block = push_block(arena, &arena->filling, arena->next_size, true);
    if (arena->oldest == NULL) arena->oldest = block;
    if (block != NULL && arena->next_size < LARGEST_BLOCK) arena->next_size *= 2;
    return block;
}

static bool is_affordable(const struct arena *arena, size_t size) {
    return size <= arena->cap - arena->total;
}

static void *fail(struct arena *arena) {
    arena->failed = true;
    return NULL;
}

/*
 * From a block of its own, or a new one that is filled from now on: zero where that is asked.
 * Not inlined: the registers that it saves would be saved for every object.
 */
__attribute__((noinline)) static void *take_block(struct arena *arena, size_t size,
                                                  bool zeroed) {
    if (!is_affordable(arena, size)) return fail(arena);
    struct block *block = new_block(arena, size, zeroed);
    if (block == NULL) return fail(arena);
    block->used = size;
    arena->total += size;
    return block->data;
}

/*
 * Zero where that is asked; else zero, or what was there before a restore. `align` is a power
 * of two: this is asked for every object that there is, and a division would show.
 */
static void *take(struct arena *arena, size_t size, size_t align, bool zeroed) {
    if (one_object_a_block || arena->filling == NULL) return take_block(arena, size, zeroed);
    struct block *block = arena->filling;
    const size_t begin = (block->used + align - 1) & ~(align - 1);
    if (begin > block->size || size > block->size - begin)
        return take_block(arena, size, zeroed);
    const size_t stride = begin - block->used + size;
    if (!is_affordable(arena, stride)) return fail(arena);
    const bool dirty = block->used < block->dirty;
    block->used = begin + size;
    arena->total += stride;
    unsigned char *object = block->data + begin;
    return dirty && zeroed ? memset(object, 0, size) : object;
}

/* What any type of that size can want: the size of a type is a multiple of its alignment. */
static size_t alignment_of(size_t size) {
    const size_t lowest_bit = size & -size;
    return lowest_bit < alignof(max_align_t) ? lowest_bit : alignof(max_align_t);
}

static void *take_object(struct arena *arena, size_t size, bool zeroed) {
    const size_t taken = size == 0 ? 1 : size;
    return take(arena, taken, alignment_of(taken), zeroed);
}

void *arena_alloc(struct arena *arena, size_t size) {
    return take_object(arena, size, true);
}

void *arena_array(struct arena *arena, size_t n, size_t size) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(n, size, &bytes)) return fail(arena);
    return take_object(arena, bytes, true);
}

void *arena_array_raw(struct arena *arena, size_t n, size_t size) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(n, size, &bytes)) return fail(arena);
    return take_object(arena, bytes, false);
}

char *arena_strdup(struct arena *arena, const char *text) {
    return arena_strndup(arena, text, strlen(text));
}

char *arena_strndup(struct arena *arena, const char *text, size_t length) {
    if (length == SIZE_MAX) return fail(arena);
    char *copy = take(arena, length + 1, 1, false);
    if (copy == NULL) return NULL;
    if (length > 0) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void *arena_copy(struct arena *arena, const void *data, size_t size) {
    void *copy = take_object(arena, size, false);
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
    if (length < 0) return fail(arena);
    char *text = take(arena, (size_t)length + 1, 1, false);
    if (text != NULL) vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

struct arena_mark arena_save(const struct arena *arena) {
    struct arena_mark mark = {arena->filling, 0, arena->total};
    if (arena->filling != NULL) mark.used = arena->filling->used;
    return mark;
}

/* The oldest ordinary block stays even where it is younger, emptied: whoever goes back to the
 * start again and again would else ask malloc for it every time. */
void arena_restore(struct arena *arena, struct arena_mark mark) {
    if (arena->total == mark.total) return; /* nothing was taken: as at most nodes */
    arena->large = free_younger(arena->large, NULL, mark.total);
    arena->filling = free_younger(arena->filling, arena->oldest, mark.total);
    struct block *block = arena->filling;
    if (block != NULL && (block == arena->oldest || block == mark.block)) {
        if (block->used > block->dirty) block->dirty = block->used;
        block->used = block == mark.block ? mark.used : 0;
    }
    arena->total = mark.total;
}

uint64_t arena_seed(const struct arena *arena) {
    return (uintptr_t)arena >> 4; /* the rest is 0 */
}

size_t arena_used(const struct arena *arena) {
    return arena->total;
}

bool arena_failed(const struct arena *arena) {
    return arena->failed;
}

void arena_set_failed(struct arena *arena) {
    arena->failed = true;
}

int arena_end(struct arena *arena, int status) {
    const int ended = arena->failed ? CM_NO_MEMORY : status;
    arena_free(arena);
    return ended;
}
