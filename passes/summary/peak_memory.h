/* SPDX-License-Identifier: Apache-2.0 */
/* Pass peak_memory: lists the values live at the peak and computes the peak of each module. */
#pragma once

#include "passes/pass.h"

/* Tables that pass peak_memory reads. */
#define PEAK_MEMORY_READS (TABLE_LIVENESS | TABLE_MODULES)

struct live_value {
    uint32_t value;
    uint32_t module; /* of its producer; the root for inputs of the model */
    int64_t bytes;
};

struct peak_memory_table {
    int64_t *of_module; /* by module: peak of the live values produced inside it */
    size_t n_live;
    struct live_value *live; /* at the peak step, largest first */
};

pass_run pass_peak_memory;
