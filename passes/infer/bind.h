/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about the operator rows that pass bind assigns to nodes, and about --trip-count. */
#ifndef PASSES_INFER_BIND_H
#define PASSES_INFER_BIND_H

#include "passes/pass.h"

/* Returns true for the row of unknown operators. */
bool bind_is_unknown(const struct op *op);

/* Returns true if the operator's saved tensors and gradient cost are unknown. This holds for
 * unknown operators and for custom operators without a description of their backward pass. */
bool bind_hides_gradient(const struct op *op);

/* Checks the outcomes (by node) of --trip-count after the walk: refuses nodes that are not
 * Loops or have a static count, and emits a note for each assumed count. */
int bind_check_trips(const struct analysis *analysis,
                     const enum trip_outcome *uses) CM_MUST_CHECK;

#endif
