/* SPDX-License-Identifier: Apache-2.0 */
/* Cache of measured times: a second run measures only new primitives. There is one file per
 * struct cache_key. Every entry is validated before use. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

#include "backends/timing.h"

#define CACHE_MAX_ENTRIES 2048 /* per file; the oldest entries are dropped */
#define CACHE_MAX_FILES   32   /* per folder; the files written longest ago are removed */

struct arena;
struct cache;

/* Everything that a measured time depends on, except the primitive. */
struct cache_key {
    const struct cm_backend *backend;
    const char *module; /* path of the module; NULL if built in */
    const struct cm_device_facts *facts;
    const struct cm_settings *settings;
    const struct timing_policy *policy;
};

struct cache_entry {
    int64_t when; /* time of the measurement, seconds since 1970 */
    struct cm_primitive primitive;
    struct cm_measurement measurement;
};

/* Opens the cache and reads the file of this key in `folder`; cache_save creates a missing
 * folder. `invented`: also accept CM_INVENTED times, those of the fake backend. An invalid or
 * unsafe file is ignored, with the reason in *note. Returns CM_BACKEND_OK or
 * CM_BACKEND_NO_MEMORY. */
int cache_open(const char *folder, const struct cache_key *key, bool invented,
               struct arena *arena, struct cache **ret, struct cm_reason *note)
    __attribute__((warn_unused_result));

/* Returns the entry of the primitive, valid until the next cache_put; NULL if there is none. */
const struct cache_entry *cache_find(const struct cache *cache,
                                     const struct cm_primitive *primitive);

/* Adds a time measured at `when` (seconds since 1970) unless the primitive has an entry.
 * Ignores modelled times, unstable times and times measured while the device throttled.
 * Returns CM_BACKEND_OK or CM_BACKEND_NO_MEMORY. */
int cache_put(struct cache *cache, const struct cm_primitive *primitive,
              const struct cm_measurement *measurement, int64_t when)
    __attribute__((warn_unused_result));

/* Writes the new entries, merged with entries that other processes have written since
 * cache_open. Returns CM_BACKEND_OK, or another status and sets *reason; on failure the old
 * file is unchanged. */
int cache_save(struct cache *cache, struct cm_reason *reason)
    __attribute__((warn_unused_result));
