/* SPDX-License-Identifier: Apache-2.0 */
/* A cache file on disk: every entry is validated on reading; writing is atomic. */
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
    const char *path; /* path of the file in `folder` */
    const char *key;  /* text of the key; the file contains it too */
    bool invented;    /* also accept CM_INVENTED times */
};

/* Returns the file of a key in `folder`; its path is NULL if out of memory. */
struct cache_file cache_file_at(const char *folder, const char *key, bool invented,
                                struct arena *arena);

/* Returns true if the cache accepts this measurement: it ran and its times are stable. */
bool cache_keeps(const struct cm_measurement *measurement, bool invented);

/* Appends a copy of the entry. Returns CM_BACKEND_OK or CM_BACKEND_NO_MEMORY. */
int cache_list_add(struct cache_list *list, const struct cache_entry *entry,
                   struct arena *arena) __attribute__((warn_unused_result));
/* Returns the entry of the primitive; NULL if there is none. */
const struct cache_entry *cache_list_find(const struct cache_list *list,
                                          const struct cm_primitive *primitive);

/*
 * Adds the valid entries of the file to *ret. A missing file adds none; a file that is invalid
 * or that another user owns or may write is ignored, with the reason in *note. Returns
 * CM_BACKEND_OK or CM_BACKEND_NO_MEMORY.
 */
int cache_file_read(const struct cache_file *file, struct arena *arena, struct cache_list *ret,
                    struct cm_reason *note) __attribute__((warn_unused_result));

/* Creates the folder if needed and locks it. Returns a descriptor for cache_file_unlock, or -1
 * with the reason. */
int cache_file_lock(const struct cache_file *file, struct cm_reason *reason);
void cache_file_unlock(int lock);

/* Replaces the file by the first `n` entries of the list; requires the lock. Returns
 * CM_BACKEND_OK, or a status with its reason. */
int cache_file_write(const struct cache_file *file, const struct cache_list *list, size_t n,
                     struct cm_reason *reason) __attribute__((warn_unused_result));

#endif
