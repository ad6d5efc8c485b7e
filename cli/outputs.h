/* SPDX-License-Identifier: Apache-2.0 */
/* What is written must not destroy what it is made from, nor what else is written. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdbool.h>

#include "costmodel/costmodel.h"

struct arena;

/* Whether both are there and are one file, by whatever name. NULL and "-" are none. */
bool outputs_is_file(const char *path, const char *other);

/* Whether they stand in one folder. CM_OK, CM_NO_MEMORY. */
int outputs_share_folder(const char *path, const char *other, struct arena *arena,
                         bool *ret) CM_MUST_CHECK;

/* Whether writing to both would write one file, which need not be there yet. CM_OK,
 * CM_NO_MEMORY. */
int outputs_are_one(const char *path, const char *other, struct arena *arena,
                    bool *ret) CM_MUST_CHECK;

/*
 * Weights in files of their own are known once the model is read, and nothing is written yet.
 * CM_OK, also of a path that is NULL or "-"; CM_USAGE with a message, CM_NO_MEMORY.
 */
int outputs_keep_weights(const struct cm_model *model, const char *path,
                         struct cm_diagnostics *diag) CM_MUST_CHECK;

#endif
