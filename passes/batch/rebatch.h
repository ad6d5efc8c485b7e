/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Re-batches a model that was exported with a fixed batch.
 *
 * Exporters store the batch of the example input in constants: a Reshape's target, an Expand's
 * shape, a state tensor with a batch axis. The pass finds them by walking twice, at the file's
 * batch and at a large prime one: a dim that grew by exactly that factor holds the batch, and
 * an operator that no longer fits has a stale constant. The row-major order of the elements
 * decides which dim gets the new factor: with the target [128,8,32], [128,N,256] becomes
 * [128,8*N,32], not [N*128,8,32]. If two places are possible, the rest of the model decides: a
 * place is accepted only if every later operator fits with it, and with no other place. An
 * undecided place is an error, never a guess. See docs/decisions/rebatching.md.
 */
#ifndef PASSES_BATCH_REBATCH_H
#define PASSES_BATCH_REBATCH_H

#include "passes/pass.h"

/* `table->inputs` has the shapes of the file; axis 0 of input `first` is the batch. On CM_OK
 * the inputs, overrides, rebatched and batch of the table are those for `batch`. */
int rebatch(const struct analysis *analysis, struct batch_table *table, uint32_t first,
            int64_t batch) CM_MUST_CHECK;

#endif
