/* SPDX-License-Identifier: Apache-2.0 */
/* A result under construction, and the helpers that all parts of it use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "passes/pass.h"
#include "passes/public_figures.h"
#include "support/checked.h"

/* Cache of copied strings, by the address of the original. */
#define N_SHARED_TEXTS 64
struct shared_text {
    const char *text;
    const char *copy;
};

struct timing;

struct assembly {
    const struct analysis *analysis;
    const struct timing *timing; /* set by half_assemble */
    struct arena *arena;         /* the result's */
    struct cm_result *result;
    const struct cm_fit *fit; /* NULL: no memory limit */
    struct cm_value *values;  /* by value id, in the result's arena */
    struct shared_text shared[N_SHARED_TEXTS];
};

/* A failed allocation of these functions is sticky in the arena. */
/* Returns a copy; "" if text is NULL. */
const char *assembly_text(struct assembly *assembly, const char *text);
/* Like assembly_text, for a string that many nodes share (an operator type): copies it once. */
const char *assembly_shared(struct assembly *assembly, const char *text);
/* Returns value `id` of the result; for ID_NONE a value without a name, of unknown type. */
struct cm_value assembly_value(const struct assembly *assembly, uint32_t id);
/* Returns the `n` values in the order of their ids. */
const struct cm_value *assembly_values(struct assembly *assembly, const uint32_t *ids,
                                       size_t n);

/* Returns a copy of a list of ids. */
const size_t *assembly_indices(struct assembly *assembly, const uint32_t *from, size_t n);
