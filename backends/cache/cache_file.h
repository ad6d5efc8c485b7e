/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a cache on its disk: read with every check, written whole or not at all. */
#ifndef BACKENDS_CACHE_CACHE_FILE_H
#define BACKENDS_CACHE_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "backends/cache/cache.h"

struct cache_list {
    size_t n;
    size_t capacity;
    struct cache_entry **items;
};

struct cache_file {
    const char *folder;
    const char *path; /* in it */
    const char *key;  /* which the file repeats */
    bool invented;    /* times of a table are believed */
};

/* A place in `folder` for a key; NULL path: no memory. */
struct cache_file cache_file_at(const char *folder, const char *key, bool invented,
                                struct arena *arena);

/* Whether a time is one that is kept. */
bool cache_keeps(const struct cm_measurement *measurement, bool invented);

/* CM_BACKEND_OK, CM_BACKEND_NO_MEMORY. */
int cache_list_add(struct cache_list *list, const struct cache_entry *entry,
                   struct arena *arena) __attribute__((warn_unused_result));
const struct cache_entry *cache_list_find(const struct cache_list *list,
                                          const struct cm_primitive *primitive);

/*
 * Adds what the file holds. A file that is not there holds nothing; one that is not as we write
 * it, or that others may write, is ignored: *note says why. CM_BACKEND_OK,
 * CM_BACKEND_NO_MEMORY.
 */
int cache_file_read(const struct cache_file *file, struct arena *arena, struct cache_list *ret,
                    struct cm_reason *note) __attribute__((warn_unused_result));

/*
 * Makes the folder where it is missing, and holds its lock: a descriptor for
 * cache_file_unlock, or -1 with the reason.
 */
int cache_file_lock(const struct cache_file *file, struct cm_reason *reason);
void cache_file_unlock(int lock);

/* The first `n` entries, under the lock. CM_BACKEND_OK, or a status with its reason. */
int cache_file_write(const struct cache_file *file, const struct cache_list *list, size_t n,
                     struct cm_reason *reason) __attribute__((warn_unused_result));

#endif
