/* SPDX-License-Identifier: Apache-2.0 */
/* Cache of measured times, one file per device: a second run measures only new primitives.
 * Every entry is validated before use. */
#ifndef BACKENDS_CACHE_CACHE_H
#define BACKENDS_CACHE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

#include "backends/timing.h"

#define CACHE_MAX_ENTRIES 2048 /* per file; the oldest entries are dropped */
#define CACHE_MAX_FILES   32   /* per folder; the files written longest ago are removed */

struct arena;
struct cache;

/* All inputs of a measured time except the primitive. */
struct cache_key {
    const struct cm_backend *backend;
    const char *module; /* path of the module; NULL if built in */
    const struct cm_device_facts *facts;
    const struct cm_settings *settings;
    const struct timing_policy *policy;
};

struct cache_entry {
    int64_t when; /* seconds since 1970 */
    struct cm_primitive primitive;
    struct cm_measurement measurement;
};

/*
 * Opens the entries of `folder` for this key; cache_save creates the folder if needed.
 * `invented`: also accept times from a table. Returns CM_BACKEND_OK, also if the file was
 * ignored (*note has the reason), or CM_BACKEND_NO_MEMORY.
 */
int cache_open(const char *folder, const struct cache_key *key, bool invented,
               struct arena *arena, struct cache **ret, struct cm_reason *note)
    __attribute__((warn_unused_result));

/* Returns NULL if there is no entry. Valid until the next cache_put. */
const struct cache_entry *cache_find(const struct cache *cache,
                                     const struct cm_primitive *primitive);

/* Adds a time measured at `when`. Ignores modelled and unstable times and those of a throttled
 * device. Returns CM_BACKEND_OK or CM_BACKEND_NO_MEMORY. */
int cache_put(struct cache *cache, const struct cm_primitive *primitive,
              const struct cm_measurement *measurement, int64_t when)
    __attribute__((warn_unused_result));

/* Merges the new entries with those that other processes have written meanwhile. Returns
 * CM_BACKEND_OK, or a status with its reason; on failure the old file is unchanged. */
int cache_save(struct cache *cache, struct cm_reason *reason)
    __attribute__((warn_unused_result));

#endif
