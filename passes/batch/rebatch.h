/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a model that was exported with a fixed batch to another batch.
 *
 * Exporters bake the batch of the example input into constants: a Reshape's target, an Expand's
 * shape, a state tensor with a batch axis. They are found by walking twice, at the file's own
 * batch and at a large prime one: a dim that grew by exactly that factor holds the batch, and
 * an operator that no longer fits names a stale constant. Where the new factor goes follows
 * from the row-major order of the elements: [128,N,256] under the target [128,8,32] is
 * [128,8*N,32], not [N*128,8,32]. Where two places are possible at first, the rest of the model
 * decides: a place stands only if every operator after it fits, and if no other place does as
 * well. What stays undecided is an error, never a guess. See docs/decisions/rebatching.md.
 */
#ifndef PASSES_BATCH_REBATCH_H
#define PASSES_BATCH_REBATCH_H

#include "passes/pass.h"

/*
 * `table->inputs` holds the shapes of the file; `first` is the input whose axis 0 is the batch.
 * On CM_OK inputs, overrides, rebatched and batch of the table are those for `batch`.
 */
int rebatch(const struct analysis *analysis, struct batch_table *table, uint32_t first,
            int64_t batch) CM_MUST_CHECK;

#endif
