/* SPDX-License-Identifier: Apache-2.0 */
/* --batch 1,8,32: the batches that are asked for, and how a sweep over them ends. */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct invocation;

#define BATCHES_MOST 64 /* of one list */

struct batches {
    size_t n; /* 0: not given */
    const int64_t *items;
};

/* What stands behind --batch; NULL: nothing. CM_OK, CM_USAGE, CM_NO_MEMORY. */
int sweep_read(const struct invocation *call, const char *text,
               struct batches *ret) CM_MUST_CHECK;

/* The exit status of the worst of its rows. */
int sweep_exit(const struct cm_sweep *sweep);

#endif
