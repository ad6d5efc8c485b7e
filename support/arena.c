/* SPDX-License-Identifier: Apache-2.0 */
/* An arena has two stacks of blocks: ordinary blocks, which grow geometrically and are filled
 * from the bottom; and one block per large object, so that a large object does not waste the
 * rest of an ordinary block. Each block records the arena's total at its creation, which
 * decides whether it is younger than a mark. */
#include "support/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/status.h"

#define FIRST_BLOCK ((size_t)4096)
/* Small enough that malloc reuses memory freed by an earlier arena: page faults of fresh pages
 * would cost more than most of the analysis. */
#define LARGEST_BLOCK ((size_t)64 << 10)
#define FIRST_ITEMS   ((size_t)16) /* capacity of an array that grows */

#ifdef COSTMODEL_DEBUG_ARENA
static const bool one_object_a_block = true;
#else
static const bool one_object_a_block = false;
#endif

struct block {
    struct block *older;
    size_t created; /* arena->total at creation */
    size_t size;    /* bytes of `data` */
    size_t used;    /* bytes of `data` in use */
    size_t dirty;   /* bytes of `data` used before a restore; the bytes after them are zero */
    alignas(max_align_t) unsigned char data[];
};

struct arena {
    const char *name;
    size_t cap;            /* largest `total` */
    size_t total;          /* bytes in use, padding included */
    size_t next_size;      /* bytes of the next ordinary block */
    struct block *filling; /* ordinary blocks, newest first */
    struct block *oldest;  /* ordinary block */
    struct block *spare;   /* ordinary block freed by arena_restore, for reuse; NULL: none */
    struct block *large;   /* one object each, newest first */
    bool failed;
};

struct arena *arena_new(const char *name, size_t cap) {
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) return NULL;
    arena->name = name;
    arena->cap = cap != 0 ? cap : SIZE_MAX;
    arena->next_size = FIRST_BLOCK;
    return arena;
}

/* Frees the blocks of a stack created at `total` or later; returns the newest remaining one. */
static struct block *free_younger(struct block *block, size_t total) {
    while (block != NULL && block->created >= total) {
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
    free(arena->spare);
    free(arena);
}

/* Pushes a new block; NULL if out of memory. Uses calloc, not memset, to zero the data: pages
 * fresh from the system are zero, and calloc does not write to them. */
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

static bool is_affordable(const struct arena *arena, size_t size) {
    return size <= arena->cap - arena->total;
}

static void *fail(struct arena *arena) {
    arena->failed = true;
    return NULL;
}

/* Allocates from a new block. Not inlined: its register saves would slow every allocation. */
__attribute__((noinline)) static void *take_block(struct arena *arena, size_t size,
                                                  bool zeroed) {
    struct block *block = NULL;
    if (!is_affordable(arena, size)) return fail(arena);
    if (one_object_a_block || size > arena->next_size / 4) {
        block = push_block(arena, &arena->large, size, zeroed);
    } else if (arena->spare != NULL && arena->spare->size >= arena->next_size) {
        block = arena->spare;
        arena->spare = NULL;
        block->older = arena->filling;
        block->created = arena->total;
        arena->filling = block;
    } else {
        block = push_block(arena, &arena->filling, arena->next_size, true);
        if (arena->oldest == NULL) arena->oldest = block;
        if (block != NULL && arena->next_size < LARGEST_BLOCK) arena->next_size *= 2;
    }
    if (block == NULL) return fail(arena);
    block->used = size;
    arena->total += size;
    if (zeroed && block->dirty > 0) memset(block->data, 0, size);
    return block->data;
}

/* Allocates an object; zeroed on request, otherwise of undefined contents. `align` is a power
 * of two, because a division per allocation would be measurable. */
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

/* Allocates an object aligned for any type of that size: the size of a type is a multiple of
 * its alignment. */
static void *take_object(struct arena *arena, size_t size, bool zeroed) {
    const size_t taken = size == 0 ? 1 : size;
    const size_t lowest_bit = taken & -taken;
    const size_t align = lowest_bit < alignof(max_align_t) ? lowest_bit : alignof(max_align_t);
    return take(arena, taken, align, zeroed);
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

void *arena_grow(struct arena *arena, void *items, size_t n, size_t *capacity, size_t size) {
    if (n < *capacity) return items;
    const size_t larger = n > 0 ? 2 * n : FIRST_ITEMS;
    void *copy = arena_array_raw(arena, larger, size);
    if (copy == NULL) return NULL;
    if (n > 0) memcpy(copy, items, n * size);
    *capacity = larger;
    return copy;
}

bool arena_push(struct arena *arena, void *list, size_t *n, size_t *capacity, const void *item,
                size_t size) {
    char *items = NULL;
    memcpy(&items, list, sizeof items);
    items = arena_grow(arena, items, *n, capacity, size);
    if (items == NULL) return false;
    memcpy(list, &items, sizeof items);
    memcpy(items + (*n)++ * size, item, size);
    return true;
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
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) return fail(arena);
    char *text = take(arena, (size_t)length + 1, 1, false);
    if (text == NULL) return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

struct arena_mark arena_save(const struct arena *arena) {
    struct arena_mark mark = {arena->filling, 0, arena->total};
    if (arena->filling != NULL) mark.used = arena->filling->used;
    return mark;
}

/* Keeps the oldest ordinary block, even if it is younger than the mark, and one freed block as
 * a spare: a pass that restores after every node would otherwise call malloc for every node. */
void arena_restore(struct arena *arena, struct arena_mark mark) {
    if (arena->total == mark.total) return;
    arena->large = free_younger(arena->large, mark.total);
    struct block *block = arena->filling;
    while (block != NULL && block != arena->oldest && block->created >= mark.total) {
        struct block *older = block->older;
        free(arena->spare);
        arena->spare = block;
        if (block->used > block->dirty) block->dirty = block->used;
        block->used = 0;
        block = older;
    }
    arena->filling = block;
    if (block != NULL && (block == arena->oldest || block == mark.block)) {
        if (block->used > block->dirty) block->dirty = block->used;
        block->used = block == mark.block ? mark.used : 0;
    }
    arena->total = mark.total;
}

uint64_t arena_seed(const struct arena *arena) {
    return (uintptr_t)arena >> 4; /* the low bits are 0 */
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
    const int ended = arena && arena->failed ? CM_NO_MEMORY : status;
    arena_free(arena);
    return ended;
}
