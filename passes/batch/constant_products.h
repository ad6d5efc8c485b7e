/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Re-batches products whose operands are all constants, but which an export at batch N computes
 * N times: the projection of a learned query that was tiled to the batch (DETR, SigLIP), a
 * recurrent cell on a zero state, a convolution over position codes. If a file at batch 1 is
 * re-batched to N:
 *
 *     query [1,10,32] -> Tile [1,1,1] -> t [1,10,32] -> MatMul w -> p [1,10,32]
 *     MatMul(p, keys [N,32,16]): p must scale, but the Tile of 1s does not show it
 *
 * From the operand that must scale with the batch, constant_products_find traces the batch axis
 * back to where the constant was tiled. See docs/decisions/rebatching.md.
 */
#ifndef PASSES_BATCH_CONSTANT_PRODUCTS_H
#define PASSES_BATCH_CONSTANT_PRODUCTS_H

#include "passes/batch/batch_axis.h"

struct tiling_search;

/*
 * Finds where the constants that products are computed from were tiled, and appends to
 * `tilings` the change that scales each place. `probe` is at a solution of the search
 * (rebatch.c) at PROBE_BATCH, `changes` are its changes. Sets *ret to the state for
 * constant_products_undecided; NULL if there is no product of constants. Returns CM_OK or
 * CM_NO_MEMORY.
 */
int constant_products_find(struct probe *probe, const struct change_list *changes,
                           struct change_list *tilings,
                           struct tiling_search **ret) CM_MUST_CHECK;
/*
 * Call after the last constant_products_find. Returns the id of a node that computes or depends
 * on a product of constants and may or may not run for each sample; ID_NONE if none. Sets
 * *ret_constant to the id of the value that may have been tiled.
 */
uint32_t constant_products_undecided(const struct tiling_search *search,
                                     uint32_t *ret_constant);

#endif
