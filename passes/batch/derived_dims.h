/* SPDX-License-Identifier: Apache-2.0 */
/* Binds symbolic dims that no option binds, if the model accepts one size only. */
#ifndef PASSES_BATCH_DERIVED_DIMS_H
#define PASSES_BATCH_DERIVED_DIMS_H

#include "passes/pass.h"

struct map;

/*
 * Binds unbound symbols of the table whose size the model determines. Example: the inputs
 * past.key [B,2,P,D] and the outputs present.key [B,2,T,D] share the symbol D, and the inferred
 * present.key is [B,2,?,32] without knowing D; if the model is valid for D = 32 and not for 33,
 * D is 32. `index` has the symbols by name. Returns CM_OK or CM_NO_MEMORY.
 */
int derived_dims_bind(const struct analysis *analysis, struct batch_table *table,
                      const struct map *index) CM_MUST_CHECK;

#endif
