/* SPDX-License-Identifier: Apache-2.0 */
/* How the runtimes map a graph to kernels. */
#pragma once

#include <stdbool.h>

#include "costmodel/backend.h"

enum runtime_rule {
    RUNTIME_FUSES_CHAINS = 1, /* connected nodes without a product between them: one kernel */
    RUNTIME_FUSES_EPILOGUES = 2, /* elementwise nodes that follow a product run in its kernel */
    RUNTIME_RUNS_MODULES = 4, /* the modules of the framework, not the exported file: norms that
                                 the exporter folded, conversions for autocast and layout */
};

/* Returns true if the runtime has this rule. */
bool runtime_rule(enum cm_runtime runtime, enum runtime_rule rule);
