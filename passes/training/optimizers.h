/* SPDX-License-Identifier: Apache-2.0 */
/* The table of optimizers: states, temporaries and cost of a step. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct value_info;
struct optimizer_cost;

struct optimizer {
    const char *name;
    int64_t flops;  /* of a step, per parameter element */
    int64_t states; /* values per parameter element */
    /* Sets the states of a parameter, and whatever else differs from the other columns. */
    void (*rule)(const struct optimizer *optimizer, const struct value_info *parameter,
                 struct optimizer_cost *ret);
    int64_t temporaries; /* of an update: values per parameter element */
    bool is_paged;       /* its states are in unified memory */
};

/* States and operations of an optimizer for one parameter; may be DIM_UNKNOWN, DIM_OVERFLOW. */
struct optimizer_cost {
    int64_t flops;           /* of a step */
    int64_t state_bytes;     /* on the device */
    int64_t host_bytes;      /* states in unified memory, which the host keeps */
    int64_t temporary_bytes; /* of an update, beyond states */
    bool is_alone;           /* temporaries are freed before the update of the next parameter */
};

/* Returns the optimizer of that name; NULL: unknown. */
const struct optimizer *optimizers_find(const char *name);
/* Returns the optimizers in the order of the table; NULL past the last. */
const struct optimizer *optimizers_at(size_t index);
struct optimizer_cost optimizers_cost(const struct optimizer *optimizer,
                                      const struct value_info *parameter);
