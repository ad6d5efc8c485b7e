/* SPDX-License-Identifier: Apache-2.0 */
/* The model handle. */
#pragma once

#include "api/assemble.h"
#include "passes/batch/batch.h"

struct arena;
struct batch_table;
struct model;
struct source;

struct cm_model {
    struct arena *arena; /* owns the handle itself */
    struct source *source;
    struct model *model;
    struct message_list notes; /* messages of loading, for every result */
};

/* As cm_model_load_file; with `has_digest`, its source_digest is a hash of what is read. */
int model_load(const char *path, bool has_digest, struct cm_diagnostics *diag,
               struct cm_model **ret) CM_MUST_CHECK;

/* Refuses options that are invalid for every model. CM_OK, CM_USAGE, CM_NO_MEMORY. */
int profile_options_check(const struct cm_options *options, struct arena *arena,
                          struct cm_diagnostics *diagnostics) CM_MUST_CHECK;

/* Computes the sizes that `options` give to symbolic dims, in `arena`. Binds the others if some
 * are unbound, for which a profile would be refused. CM_OK, CM_NO_MEMORY. */
int dims_bind(struct model *model, const struct cm_options *options, struct arena *arena,
              struct cm_diagnostics *diag, struct batch_table *ret) CM_MUST_CHECK;
