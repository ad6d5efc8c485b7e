/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas: memory that is freed as a whole. Their names ("proto", "scratch", "page") are for
 * debuggers only. A failed allocation is sticky: callers may check arena_failed once per pass.
 * A debug build (COSTMODEL_DEBUG_ARENA) makes one malloc per object, so that ASan and valgrind
 * see every overrun. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A position to return to with arena_restore. */
struct arena_mark {
    void *block;
    size_t used;
    size_t total;
};

/* `name`: static text. `cap`: largest arena_used; 0: no cap. Returns NULL if out of memory. */
struct arena *arena_new(const char *name, size_t cap);
void arena_free(struct arena *arena);

/* Returns zeroed memory, aligned for any type whose size divides `size`; NULL if malloc fails
 * or the cap is reached. Size 0 returns a unique address. */
void *arena_alloc(struct arena *arena, size_t size);
/* The same for n * size bytes; checks the product. */
void *arena_array(struct arena *arena, size_t n, size_t size);
/* The same, not zeroed: for arrays that are written completely before they are read. */
void *arena_array_raw(struct arena *arena, size_t n, size_t size);
/* Makes room for one more item than n. If *capacity > n, returns `items`; else returns a copy
 * with room for 2 n items (16 if n is 0) and sets *capacity. Returns NULL if out of memory. New
 * items are not zeroed. */
void *arena_grow(struct arena *arena, void *items, size_t n, size_t *capacity, size_t size);
/* Appends a copy of the item of `size` bytes to the list of *n items at *list, a pointer to its
 * items. Returns false, without a change, if out of memory. */
bool arena_push(struct arena *arena, void *list, size_t *n, size_t *capacity, const void *item,
                size_t size);
char *arena_strdup(struct arena *arena, const char *text);
/* Copies exactly `length` bytes, NULs included, and appends a NUL. */
char *arena_strndup(struct arena *arena, const char *text, size_t length);
/* Returns a copy of `size` bytes; data may be NULL if size is 0. */
void *arena_copy(struct arena *arena, const void *data, size_t size);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* arena_save returns the current position; arena_restore frees all objects allocated since. */
struct arena_mark arena_save(const struct arena *arena);
void arena_restore(struct arena *arena, struct arena_mark mark);

/* Returns a hash seed that a file cannot predict if addresses are randomised; constant per
 * arena. */
uint64_t arena_seed(const struct arena *arena);

/* Returns the bytes in use: allocated and not restored, with padding. */
size_t arena_used(const struct arena *arena);

/* Returns true once any allocation has failed (sticky). */
bool arena_failed(const struct arena *arena);
/* Marks the arena as failed: an allocation elsewhere has failed that its contents depend on. */
void arena_set_failed(struct arena *arena);
/* Frees the arena; returns CM_NO_MEMORY if it has failed, otherwise `status`. NULL: the status.
 */
int arena_end(struct arena *arena, int status) __attribute__((warn_unused_result));
