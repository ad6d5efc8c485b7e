/* SPDX-License-Identifier: Apache-2.0 */
/* The algorithm chosen for each primitive: its later plans, alone or in a network, use it. */
#pragma once

#include <stddef.h>

#include "costmodel/backend.h"

struct cuda_provider;

struct choice {
    struct cm_primitive primitive;
    const struct cuda_provider *provider;
    int32_t candidate; /* number of the candidate of the provider, from 0 */
};

struct choices {
    size_t n, capacity;
    struct choice *items;
};

/* Returns the choice for the primitive; NULL if there is none. */
struct choice *choices_find(const struct choices *choices,
                            const struct cm_primitive *primitive);
/* Adds a choice, or replaces that for the same primitive. Does nothing if out of memory. */
void choices_set(struct choices *choices, const struct choice *choice);
void choices_drop(struct choices *choices);
