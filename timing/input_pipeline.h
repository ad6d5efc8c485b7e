/* SPDX-License-Identifier: Apache-2.0 */
/* Pass input_pipeline: compares the demand for input samples with links. */
#pragma once

#include "timing/timing.h"

/* Tables that pass input_pipeline reads. */
#define INPUT_PIPELINE_READS                                                                   \
    (TABLE_BATCH | TABLE_ESTIMATE | TABLE_TIMES | TABLE_GRADIENT_KERNELS)

struct input_pipeline_table {
    struct cm_input_pipeline *pipeline; /* in `result_arena`; NULL: not requested or untimed */
};

pass_run pass_input_pipeline;
