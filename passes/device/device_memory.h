/* SPDX-License-Identifier: Apache-2.0 */
/* Pass device_memory: estimates the device memory of a process that trains the model with
 * PyTorch, as its driver reports it, with an interval. The allocations of the step are replayed
 * through the framework's allocator (caching_allocator.h); what cannot be derived from the file
 * is fitted to measured processes (docs/memory.md). */
#pragma once

#include "passes/pass.h"

/* Tables that pass device_memory reads. */
#define DEVICE_MEMORY_READS (TABLE_INFER | TABLE_PARAMS | TABLE_TRAINING)

struct device_memory_table {
    struct cm_device_memory estimate; /* `parts` in `result_arena` */
};

pass_run pass_device_memory;
