/* SPDX-License-Identifier: Apache-2.0 */
/* Pass gradient_kernels: models the kernels of backward and of the optimizer. */
#pragma once

#include "costmodel/backend.h"
#include "costmodel/result.h"
#include "timing/timing.h"

/* Tables that pass gradient_kernels reads. */
#define GRADIENT_KERNELS_READS                                                                 \
    (TABLE_INFER | TABLE_LIVENESS | TABLE_KERNELS | TABLE_PRIMITIVES | TABLE_ESTIMATE |        \
     TABLE_COUNT | TABLE_TRAINING | TABLE_TIMES)

/* Kernels of backward and of the optimizer. Unless a training step on a modelled device is
 * requested, the table is empty and its times are DIM_UNKNOWN. */
struct gradient_kernels_table {
    size_t n;
    struct cm_primitive *items; /* distinct; the optimizer's is the last */
    int64_t *runs;              /* by item: in one step */
    int64_t backward_ps;        /* with recomputation */
    int64_t update_ps;          /* of the optimizer */
    int64_t iteration_ps;       /* expected: forward, backward, update, waits for the host */
    enum cm_time_kind kind;     /* of iteration_ps */
    int64_t iteration_lower_bound_ps;
    struct cm_losses losses; /* of backward and update */
};

pass_run pass_gradient_kernels;
