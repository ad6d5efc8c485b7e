/* SPDX-License-Identifier: Apache-2.0 */
/* The algorithm that was chosen for each primitive. Later plans of the primitive, by itself or
 * in a network, run the same. */
#ifndef BACKENDS_CUDA_CHOICES_H
#define BACKENDS_CUDA_CHOICES_H

#include <stddef.h>

#include "costmodel/backend.h"

struct cuda_provider;

struct choice {
    struct cm_primitive primitive;
    const struct cuda_provider *provider;
    int32_t candidate;
};

struct choices {
    size_t n, capacity;
    struct choice *items;
};

/* Returns NULL if there is none. */
const struct choice *choices_find(const struct choices *choices,
                                  const struct cm_primitive *primitive);
/* Adds a choice, or replaces the earlier one of the primitive. Stores nothing if out of memory.
 */
void choices_set(struct choices *choices, const struct choice *choice);
void choices_drop(struct choices *choices);

#endif
