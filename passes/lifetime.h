/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of values, as every pass and the result count them. */
#ifndef PASSES_LIFETIME_H
#define PASSES_LIFETIME_H

#include <stdint.h>

struct analysis;
struct fact;

/* Bytes of a tensor as stored; DIM_UNKNOWN, DIM_OVERFLOW. */
int64_t lifetime_bytes(const struct fact *fact);

/* Bytes that a value owns in the arena: 0 of a view, a weight, a constant; DIM_UNKNOWN. */
int64_t lifetime_owned(const struct analysis *analysis, uint32_t value);

#endif
