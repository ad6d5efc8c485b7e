/* SPDX-License-Identifier: Apache-2.0 */
/* Pass advice: suggests optimizations, if latencies are available. */
#pragma once

#include "timing/timing.h"

/* Tables that pass advice reads. */
#define ADVICE_READS                                                                           \
    (TABLE_LIVENESS | TABLE_KERNELS | TABLE_PRIMITIVES | TABLE_ESTIMATE | TABLE_COUNT |        \
     TABLE_MODULES | TABLE_MEMORY_REQUIRED | TABLE_ROOFLINE_BOUNDS)

struct advice_table {
    size_t n;
    struct cm_advice *items; /* each gain is on top of those before it; in `result_arena` */
};

pass_run pass_advice;

/* Lists the picked nodes and their modules, each once, ascending. */
int advice_list_nodes(const struct timing *timing, const bool *picked, struct cm_advice *ret);
