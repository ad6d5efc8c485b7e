/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of constants that an export at another batch repeats: the projection of a learned
 * query that was tiled to the batch (DETR, SigLIP), a recurrent cell on a zero state, a
 * convolution over position codes. The file shows such a chain at its own batch only:
 *
 *     query [1,10,32] -> Tile [1,1,1] -> MatMul w -> [1,10,32] -> MatMul with keys [N,32,16]
 *
 * From the operand that must scale with the batch, the functions trace the batch axis back to
 * where the constant was tiled. See docs/decisions/rebatching.md.
 */
#ifndef PASSES_BATCH_CONSTANT_PRODUCTS_H
#define PASSES_BATCH_CONSTANT_PRODUCTS_H

#include "passes/batch/batch_axis.h"

struct scaling;

/*
 * Finds where constants that products are computed from were tiled to the batch. `probe` holds
 * a solution at PROBE_BATCH, and `changes` its changes. Appends a change to `tiles` for each
 * place. Sets *ret to NULL if there is no product of constants. Returns CM_OK or CM_NO_MEMORY.
 */
int constant_products_find(struct probe *probe, const struct change_list *changes,
                           struct change_list *tiles, struct scaling **ret) CM_MUST_CHECK;
/*
 * Returns a product of constants that may or may not be repeated for each sample when the tiles
 * are applied; ID_NONE if none. Sets *ret_constant to the constant that may
 * have been tiled.
 */
uint32_t constant_products_undecided(const struct scaling *scaling, uint32_t *ret_constant);

#endif
