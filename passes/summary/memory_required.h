/* SPDX-License-Identifier: Apache-2.0 */
/* Pass memory_required: sums the device memory that the model requires. */
#pragma once

#include "passes/pass.h"

/* Tables that pass memory_required reads. */
#define MEMORY_REQUIRED_READS                                                                  \
    (TABLE_BIND | TABLE_INFER | TABLE_ARENA_PLAN | TABLE_PARAMS | TABLE_TRAINING |             \
     TABLE_DEVICE_MEMORY)

struct memory_required_table {
    size_t n_weights;
    struct cm_weights *weights; /* by dtype and storage; in `result_arena` */
    int64_t weight_bytes;       /* except weights that are graph inputs: the arena has them */
    int64_t required_bytes;     /* on the device */
};

pass_run pass_memory_required;
