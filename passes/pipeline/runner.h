/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the passes of a pipeline, and gives each only the tables that it reads. */
#pragma once

#include "passes/pass.h"

/* A list of passes. Pointers to their tables are in one struct, which begins with struct
 * analysis: struct analysis itself, or struct timing (timing/timing.h). */
struct pipeline {
    const struct pass *passes;
    size_t n;
    size_t size;                   /* of that struct, bytes */
    const struct pipeline *before; /* has run already: its tables may be read; NULL: none */
};

/* The row of a pass whose table has its pointer in `struct owner`. `upper` begins the name of
 * what the pass reads, and ends that of what it gives: INFER is INFER_READS, TABLE_INFER. */
#define PASS_ROW(owner, name, table, upper, summary)                                           \
    {                                                                                          \
#name, pass_##name, offsetof(struct owner, table), sizeof(struct table##_table),       \
            summary, upper##_READS, TABLE_##upper                                              \
    }

/* Allocates empty tables for all passes. Returns CM_OK or CM_NO_MEMORY (reported). */
int runner_start(const struct pipeline *pipeline, struct analysis *analysis) CM_MUST_CHECK;
/* Empties the tables of the passes from index `first` on, whose memory may already be freed. */
void runner_clear(const struct pipeline *pipeline, struct analysis *analysis, size_t first);
/* Runs the passes from index `first` up to the one that gives the last of `wanted`; 0: all.
 * Returns CM_OK, or the status of the first pass that fails. */
int runner_run(const struct pipeline *pipeline, struct analysis *analysis, size_t first,
               unsigned wanted) CM_MUST_CHECK;
