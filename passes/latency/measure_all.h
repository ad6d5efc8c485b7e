/* SPDX-License-Identifier: Apache-2.0 */
/* Asking for times: what the cache has is not asked for again. */
#ifndef PASSES_LATENCY_MEASURE_ALL_H
#define PASSES_LATENCY_MEASURE_ALL_H

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/backend.h"

struct analysis;
struct cache;
struct subprocess;
struct estimate_table;

struct survey {
    const struct analysis *analysis;
    struct subprocess *child;
    double drift;        /* how far two rounds may differ */
    struct cache *cache; /* NULL: none */
    int64_t when;        /* seconds since 1970 */
    bool failed;         /* out of memory */
};

/*
 * Fills items, ceilings and what is cached of *ret; its facts are there. CM_OK, CM_NO_MEMORY.
 */
int measure_all_run(struct survey *survey, struct estimate_table *ret)
    __attribute__((warn_unused_result));

#endif
