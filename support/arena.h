/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory by lifetime. An arena is named for when it ends ("proto", "model", "scratch",
 * "result"); nothing in it is freed alone. A debug build (COSTMODEL_DEBUG_ARENA) makes one
 * malloc per object, so that ASan and valgrind see each overrun; the interface is the same.
 */
#ifndef SUPPORT_ARENA_H
#define SUPPORT_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Where an arena stands, to go back to. */
struct arena_mark {
    void *block;
    size_t used;
    size_t total;
};

/* `lifetime` says when it ends (static text). `cap`: bytes it may hand out, 0 no cap. NULL: no
 * memory. */
struct arena *arena_new(const char *liveness, size_t cap);
void arena_free(struct arena *arena);

/* Zeroed, aligned for any type of that size (an array's members may stand in it, a struct with
 * a tail of odd length may not). NULL when malloc fails or the cap is reached. size 0 gives a
 * unique address. */
void *arena_alloc(struct arena *arena, size_t size);
/* n * size bytes, the product checked. */
void *arena_array(struct arena *arena, size_t n, size_t size);
/* The same, not zeroed: for what is written in full before any of it is read. */
void *arena_array_raw(struct arena *arena, size_t n, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
/* A copy of size bytes (NULL data with size 0 is fine). */
void *arena_copy(struct arena *arena, const void *data, size_t size);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Frees all that came after the mark. */
struct arena_mark arena_save(const struct arena *arena);
void arena_restore(struct arena *arena, struct arena_mark mark);

/* A number that no file knows, where addresses are random: for hash_text. One arena's stays. */
uint64_t arena_seed(const struct arena *arena);

/* Bytes handed out. */
size_t arena_used(const struct arena *arena);

/*
 * Whether it could not give something, ever. Whoever goes on without what it did not get, as
 * without what is not known, is found out by those who ask this in the end.
 */
bool arena_failed(const struct arena *arena);
/* As if it could not: memory for what belongs to it ended outside of it (a path, a buffer). */
void arena_set_failed(struct arena *arena);
/* Frees it: `status` (enum cm_status), CM_NO_MEMORY where it has failed. */
int arena_end(struct arena *arena, int status) __attribute__((warn_unused_result));

#endif
