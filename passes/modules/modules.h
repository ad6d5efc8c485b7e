/* SPDX-License-Identifier: Apache-2.0 */
/* Pass modules: recovers the module hierarchy and sums the costs of each module. */
#pragma once

#include "passes/pass.h"

/* Tables that pass modules reads. */
#define MODULES_READS                                                                          \
    (TABLE_BIND | TABLE_BATCH | TABLE_INFER | TABLE_FUSED_PATTERNS | TABLE_LIVENESS |          \
     TABLE_PARAMS | TABLE_COUNT)

struct modules_table {
    /* modules[0] is the root; parents precede children, in order of first use. */
    size_t n_modules;
    /* Rows of the result, in `result_arena`. api/assemble.c fills in outputs, peak, training
     * and times; figures may still be DIM_OVERFLOW. */
    struct cm_module *modules;
    uint32_t *parents; /* by module: ID_NONE for the root */
    uint32_t *of_node; /* by node: index into modules */
    /* Values of a module's first call that are used outside it: module i has
     * outputs[first_output[i] .. first_output[i + 1]). */
    uint32_t *first_output; /* by module, n_modules + 1 entries */
    uint32_t *outputs;
    size_t n_sources;
    struct cm_name_count *sources; /* module sources, and the number of nodes of each */
};

pass_run pass_modules;
