/* SPDX-License-Identifier: Apache-2.0 */
/* The table of optimizers: state and cost of a step. */
#ifndef PASSES_TRAINING_OPTIMIZERS_H
#define PASSES_TRAINING_OPTIMIZERS_H

#include <stddef.h>
#include <stdint.h>

struct optimizer {
    const char *name;
    int64_t states; /* values per parameter element */
    int64_t flops;  /* of a step, per parameter element */
};

/* Returns the optimizer of that name; NULL: unknown. */
const struct optimizer *optimizers_find(const char *name);
/* Returns the optimizers in the order of the table; NULL past the last. */
const struct optimizer *optimizers_at(size_t index);

#endif
