/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline of the timing half, which runs after that of the static core. */
#pragma once

#include "passes/pipeline/pipeline.h"
#include "timing/timing.h"

extern const struct pipeline timing_pipeline;

/* Sets timing->core to the analysis, whose passes have run, and runs the passes up to the one
 * that gives the last of `wanted`; 0: all. Returns CM_OK, or
 * the status of the first pass that fails; its messages are in the diag. */
int timing_passes_run(const struct analysis *core, unsigned wanted,
                      struct timing *timing) CM_MUST_CHECK;
/* The same for the float model that a QDQ file was made from. */
int timing_passes_run_float(const struct analysis *core, unsigned wanted,
                            struct timing *timing) CM_MUST_CHECK;
