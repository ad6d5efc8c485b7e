/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about nodes of unknown operators. */
#ifndef PASSES_INFER_BIND_H
#define PASSES_INFER_BIND_H

#include <stdbool.h>

struct op;

/* Returns true for the row of unknown operators. */
bool bind_is_unknown(const struct op *op);

/* Returns true if the operator's saved tensors and gradient cost are unknown: unknown
 * operators, and custom operators without a backward description. */
bool bind_hides_gradient(const struct op *op);

#endif
