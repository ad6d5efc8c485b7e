/* SPDX-License-Identifier: Apache-2.0 */
/* Pool of child processes. A task is a range of items; a process writes one line of output per
 * item, in order. If a process terminates abnormally, the first item without output is reported
 * as lost, and a new process runs the items after it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "costmodel/status.h"

struct cm_diagnostics;

struct workers_job {
    size_t n; /* items */
    /* Returns the number of items of the task that starts at item `first`. */
    size_t (*task)(void *context, size_t first);
    /* In a child process: runs the items and writes a line for each. Returns a status. */
    int (*run)(void *context, size_t first, size_t n, FILE *out);
    /* Called with `n` finished items and their lines. Returns a status. */
    int (*done)(void *context, size_t first, size_t n, char *lines, size_t size);
    /* Called with an item whose process died; `how`: "the process was killed by signal 9", NULL
     * if out of memory. `is_crash`: by a fault of the program. Returns a status. */
    int (*lost)(void *context, size_t item, const char *how, bool is_crash);
    void *context;
};

/* Returns the number of cores that this process may use. */
size_t workers_cores(void);

/* Runs all items in at most `jobs` processes at a time. Returns CM_OK, the first failure of
 * `done` or `lost`, CM_IO or CM_NO_MEMORY. */
int workers_run(const struct workers_job *job, size_t jobs,
                struct cm_diagnostics *diag) CM_MUST_CHECK;
