/* SPDX-License-Identifier: Apache-2.0 */
/* The free dims of a model, and what options make of them, without a profile. */
#ifndef API_DIMS_H
#define API_DIMS_H

#include "costmodel/costmodel.h"

struct arena;
struct batch_table;
struct model;

/*
 * The sizes that options give to dims, in `arena`. Where a profile would be refused for those
 * that nobody bound, the others are bound all the same. CM_OK, CM_NO_MEMORY.
 */
int dims_bind(struct model *model, const struct cm_options *options, struct arena *arena,
              struct cm_diagnostics *diag, struct batch_table *ret) CM_MUST_CHECK;

#endif
