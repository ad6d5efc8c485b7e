/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline of the static core: it knows no device, no kernel and no time. */
#pragma once

#include "passes/pipeline/runner.h"

extern const struct pipeline core_pipeline;

/* Runs the passes up to the one that gives the last of `wanted` (enum pass_tables); 0 runs all.
 * The caller sets the model, options, arena and diag of `analysis`, and `result_arena` if it
 * makes a result. Returns CM_OK, or the status of the first pass that fails; its messages are
 * in the diag. */
int pipeline_run_to(struct analysis *analysis, unsigned wanted) CM_MUST_CHECK;

/* Clears the tables of the pass that gives `stale` and of all later passes, and runs these
 * passes, for example with other options than before. The tables of the earlier passes are kept
 * as they are. The memory of the cleared tables may already be freed. `stale` is TABLE_LIVENESS
 * or later, because pass precision fills the table of infer. */
int pipeline_run_from(struct analysis *analysis, enum pass_tables stale) CM_MUST_CHECK;
