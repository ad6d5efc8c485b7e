/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of values, as every pass and the result count them. */
#ifndef PASSES_LIFETIME_H
#define PASSES_LIFETIME_H

#include <stdint.h>

struct analysis;
struct fact;
struct lifetime_table;
struct model;

/* Bytes of a tensor as stored; DIM_UNKNOWN, DIM_OVERFLOW. */
int64_t lifetime_bytes(const struct fact *fact);

/* Bytes that a value owns in the arena: 0 of a view, a weight, a constant; at most so many
 * where only data decide; DIM_UNKNOWN. */
int64_t lifetime_owned(const struct analysis *analysis, uint32_t value);
/* The same for sums, which leave out what is unknown: 0 of that. */
int64_t lifetime_counted(const struct analysis *analysis, uint32_t value);

/*
 * The step until which a use by `node` keeps a value of graph `home` alive: what a body reads
 * from outside stays until the node that owns the body is done, since the body may run again.
 */
uint32_t lifetime_use_ends(const struct model *model, const struct lifetime_table *table,
                           uint32_t node, uint32_t home);

#endif
