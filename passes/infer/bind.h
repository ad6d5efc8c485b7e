/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about the operator rows that pass bind assigns to nodes. */
#ifndef PASSES_INFER_BIND_H
#define PASSES_INFER_BIND_H

#include <stdbool.h>

struct op;

/* Returns true for the row of unknown operators. */
bool bind_is_unknown(const struct op *op);

/* Returns true if the operator's saved tensors and gradient cost are unknown. This holds for
 * unknown operators and for custom operators without a description of their backward pass. */
bool bind_hides_gradient(const struct op *op);

#endif
