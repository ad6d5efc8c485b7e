/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured times that outlive the program: a file for each device, so that a second run asks
 * only for what is new. Nothing in the file is believed before it was checked.
 */
#ifndef BACKENDS_CACHE_CACHE_H
#define BACKENDS_CACHE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

#include "backends/timing.h"

#define CACHE_MOST_ENTRIES 2048 /* in one file; the oldest go */
#define CACHE_MOST_FILES   32   /* in the folder; those written longest ago go */

struct arena;
struct cache;

/* All that a time depends on, but for the primitive. */
struct cache_key {
    const struct cm_backend *backend;
    const char *module; /* its file; NULL: built in */
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
 * What `folder` holds for this key; a folder that is not there yet is made when something is
 * saved. CM_BACKEND_OK, also where a file was ignored: then *note says why. `invented`: times
 * of a table are kept too. CM_BACKEND_NO_MEMORY.
 */
int cache_open(const char *folder, const struct cache_key *key, bool invented,
               struct arena *arena, struct cache **ret, struct cm_reason *note)
    __attribute__((warn_unused_result));

/* NULL: it has none. Borrowed until the next call of cache_put. */
const struct cache_entry *cache_find(const struct cache *cache,
                                     const struct cm_primitive *primitive);

/*
 * Takes a time that was measured at `when`, unless it is one that is not kept: modelled,
 * unstable, of a device that was held back. CM_BACKEND_OK, CM_BACKEND_NO_MEMORY.
 */
int cache_put(struct cache *cache, const struct cm_primitive *primitive,
              const struct cm_measurement *measurement, int64_t when)
    __attribute__((warn_unused_result));

/*
 * Writes what was put, together with what others have written meanwhile. CM_BACKEND_OK, or a
 * status with its reason; the file that was there is then as it was.
 */
int cache_save(struct cache *cache, struct cm_reason *reason)
    __attribute__((warn_unused_result));

#endif
