/* SPDX-License-Identifier: Apache-2.0 */
/* What other passes ask about operators that nobody knows. */
#ifndef PASSES_INFER_BIND_H
#define PASSES_INFER_BIND_H

#include <stdbool.h>

struct op;

/* Whether this is the row that bind gives to nodes of unknown operators. */
bool bind_is_unknown(const struct op *op);

/* Whether nobody knows what a training step keeps of it and what its gradient costs: of unknown
 * operators, and of those whose outputs a user describes. */
bool bind_hides_gradient(const struct op *op);

#endif
