/* SPDX-License-Identifier: Apache-2.0 */
/* What other passes ask about operators that nobody knows. */
#ifndef PASSES_BIND_H
#define PASSES_BIND_H

#include <stdbool.h>

struct op;

/* Whether this is the row that bind gives to nodes of unknown operators. */
bool bind_is_unknown(const struct op *op);

#endif
