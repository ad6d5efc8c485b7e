/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child processes that run tasks. A task is a range of items, and a process answers each item
 * with one line. If a process dies, the item that it did not answer is reported, and the rest
 * of the range runs in another process.
 */
#ifndef API_CAMPAIGN_WORKERS_H
#define API_CAMPAIGN_WORKERS_H

#include <stddef.h>
#include <stdio.h>

#include "costmodel/status.h"

struct cm_diagnostics;

struct workers_job {
    size_t n; /* items */
    /* Returns the number of items, from `first` on, that one task takes. */
    size_t (*task)(void *context, size_t first);
    /* In a child process: runs the items and writes a line for each. Returns a status. */
    int (*run)(void *context, size_t first, size_t n, FILE *out);
    /* Takes `n` answered items and their lines. */
    int (*take)(void *context, size_t first, size_t n, char *lines, size_t size);
    /* Takes an item whose process died: how. */
    int (*lose)(void *context, size_t item, const char *how);
    void *context;
};

/* Returns the number of cores that this process may use. */
size_t workers_cores(void);

/* Runs all items in at most `jobs` processes at a time. Returns CM_OK, or the first failure of
 * `take` or `lose`, CM_IO or CM_NO_MEMORY. */
int workers_run(const struct workers_job *job, size_t jobs,
                struct cm_diagnostics *diag) CM_MUST_CHECK;

#endif
