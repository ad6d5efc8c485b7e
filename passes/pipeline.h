/* SPDX-License-Identifier: Apache-2.0 */
/* The list of passes in order, and the runner that checks what each needs and gives. */
#ifndef PASSES_PIPELINE_H
#define PASSES_PIPELINE_H

#include <stddef.h>

#include "passes/pass.h"

size_t pipeline_length(void);
const struct pass *pipeline_pass(size_t index);

/*
 * Runs every pass over `analysis`, whose model, options, arena and diag the caller has set; and
 * `kept`, unless no result is made of it.
 * CM_OK, or the status of the first pass that failed, its messages in the diag.
 */
int pipeline_run(struct analysis *analysis) CM_MUST_CHECK;

/* The same up to the pass that gives the last of those facts (enum pass_facts). */
int pipeline_run_to(struct analysis *analysis, unsigned wanted) CM_MUST_CHECK;

#endif
