/* SPDX-License-Identifier: Apache-2.0 */
/* --batch 1,8,32: the requested batches, and the exit status of a sweep. */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct invocation;

#define BATCHES_MOST 64 /* largest length of a list */

struct batches {
    size_t n; /* 0: not given */
    const int64_t *items;
};

/* Parses the value of --batch (NULL: not given). CM_OK, CM_USAGE, CM_NO_MEMORY. */
int sweep_read(const struct invocation *call, const char *text,
               struct batches *ret) CM_MUST_CHECK;

/* Returns the exit status of the worst row. */
int sweep_exit(const struct cm_sweep *sweep);

#endif
