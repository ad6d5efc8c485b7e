/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes use each parameter, be it through views, slices, casts or a quantization of it.
 */
#ifndef PASSES_PARAMS_USES_H
#define PASSES_PARAMS_USES_H

#include <stdbool.h>

#include "costmodel/costmodel.h"

struct arena;
struct cm_diagnostics;
struct model;
struct op;
struct params_table;

struct use_walk {
    const struct model *model;
    const struct op *const *ops; /* by node */
    const bool *carries;         /* by value: nothing but constants under other shapes */
    struct arena *arena;         /* of the table */
    struct arena *scratch;
    struct cm_diagnostics *diag;
};

/* Fills table->n_used and table->used from its params. CM_NO_MEMORY; CM_REFUSED past a limit.
 */
int uses_find(const struct use_walk *walk, struct params_table *table) CM_MUST_CHECK;

#endif
