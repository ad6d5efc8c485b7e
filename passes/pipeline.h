/* SPDX-License-Identifier: Apache-2.0 */
/* The list of passes in order, and the runner that checks what each requires. */
#ifndef PASSES_PIPELINE_H
#define PASSES_PIPELINE_H

#include <stddef.h>

#include "passes/pass.h"

size_t pipeline_length(void);
const struct pass *pipeline_pass(size_t index);

/*
 * Runs every pass. The caller sets the model, options, arena and diag of `analysis`, and
 * `result_arena` if it makes a result. Returns CM_OK, or the status of the first pass that
 * fails; its messages are in the diag.
 */
int pipeline_run(struct analysis *analysis) CM_MUST_CHECK;

/* Runs the passes up to the one that completes `wanted` (enum pass_facts); 0 runs all. */
int pipeline_run_to(struct analysis *analysis, unsigned wanted) CM_MUST_CHECK;

/*
 * Runs the pass that gives `stale` and all later ones, also again with other options; the
 * tables of the earlier passes are those of an earlier run, and what the later ones allocated
 * may have been freed.
 */
int pipeline_run_from(struct analysis *analysis, enum pass_facts stale) CM_MUST_CHECK;

#endif
