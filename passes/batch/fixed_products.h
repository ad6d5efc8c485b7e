/* SPDX-License-Identifier: Apache-2.0 */
/* Finds products that a solution of re-batching leaves at the batch of the file. */
#ifndef PASSES_BATCH_FIXED_PRODUCTS_H
#define PASSES_BATCH_FIXED_PRODUCTS_H

#include "passes/batch/rebatch.h"

/*
 * Sets *ret to a node with MACs whose size does not scale although its result may hold a row
 * per sample; ID_NONE if there is none. `after`: the values at PROBE_BATCH, `changes`: the
 * operands that the solution changed. Such a result
 *  - is an operand whose shape was changed, as if it had been computed for each sample;
 *  - is an output of the model whose first dim is the batch of the file; or
 *  - is broadcast to the batch in a body, or comes from a body and is broadcast to the batch.
 *    In the graph itself, constant_products.c decides about products of constants.
 * CM_OK, CM_NO_MEMORY.
 */
int fixed_products_find(const struct search *search, const struct value_info *after,
                        const struct change_list *changes, uint32_t *ret) CM_MUST_CHECK;

#endif
