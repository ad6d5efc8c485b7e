/* SPDX-License-Identifier: Apache-2.0 */
/* A list of distinct primitives. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "costmodel/backend.h"
#include "costmodel/status.h"

struct arena;

/* Hash table of primitives by their bytes: linear probing, at most half full. */
struct primitive_index {
    size_t capacity; /* a power of two */
    uint32_t *slots; /* index into items, plus one; 0: free */
    size_t n;
    struct cm_primitive *items; /* in order of first use */
};

/* Makes an empty list of at most `capacity` primitives. Returns CM_OK or CM_NO_MEMORY. */
int primitive_index_init(struct primitive_index *index, size_t capacity, struct arena *arena);
/* Returns the index of an equal primitive; if there is none, adds the primitive. */
uint32_t primitive_index_add(struct primitive_index *index,
                             const struct cm_primitive *primitive);
