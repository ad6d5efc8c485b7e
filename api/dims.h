/* SPDX-License-Identifier: Apache-2.0 */
/* The symbolic dims of a model and their sizes by the options, without a profile. */
#ifndef API_DIMS_H
#define API_DIMS_H

#include "costmodel/costmodel.h"

struct arena;
struct batch_table;
struct model;

/*
 * Computes the sizes that options give to dims, in `arena`. Unbound dims, for which a profile
 * would be refused, do not prevent the others from being bound. CM_OK, CM_NO_MEMORY.
 */
int dims_bind(struct model *model, const struct cm_options *options, struct arena *arena,
              struct cm_diagnostics *diag, struct batch_table *ret) CM_MUST_CHECK;

#endif
