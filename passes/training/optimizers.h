/* SPDX-License-Identifier: Apache-2.0 */
/* The optimizers that there are: one table, which says what a step of each keeps and costs. */
#ifndef PASSES_TRAINING_OPTIMIZERS_H
#define PASSES_TRAINING_OPTIMIZERS_H

#include <stddef.h>
#include <stdint.h>

struct optimizer {
    const char *name;
    int64_t states; /* numbers kept for each parameter */
    int64_t flops;  /* of a step, for each parameter */
};

/* By name; NULL: there is none. */
const struct optimizer *optimizers_find(const char *name);
/* In the order of the table; NULL past the last. */
const struct optimizer *optimizers_at(size_t index);

#endif
