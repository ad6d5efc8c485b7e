/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps outputs from overwriting inputs, each other, or the output of another process. */
#pragma once

#include <stdbool.h>

#include "costmodel/costmodel.h"

struct arena;

/* Returns true if both paths exist and are the same file. NULL and "-" are not files. */
bool outputs_is_file(const char *path, const char *other);

/* Sets *ret to true if both paths are in the same folder. CM_OK, CM_NO_MEMORY. */
int outputs_share_folder(const char *path, const char *other, struct arena *arena,
                         bool *ret) CM_MUST_CHECK;

/* Sets *ret to true if both paths name the same file, which need not exist. CM_OK,
 * CM_NO_MEMORY. */
int outputs_are_one(const char *path, const char *other, struct arena *arena,
                    bool *ret) CM_MUST_CHECK;

/* Refuses an output `path` that is the model file or an external weight file. CM_OK (also if
 * `path` is NULL or "-"), CM_USAGE with a message, CM_NO_MEMORY. */
int outputs_keep_weights(const struct cm_model *model, const char *path,
                         struct cm_diagnostics *diag) CM_MUST_CHECK;

/* Locks the folder of `path`, so that no other process updates `path`. Sets *ret to the lock,
 * for system_unlock_folder. CM_OK, also if the file system has no locks; CM_IO with a message
 * if another process holds the lock; CM_NO_MEMORY. */
int outputs_lock_folder(const char *path, struct arena *arena, struct cm_diagnostics *diag,
                        int *ret) CM_MUST_CHECK;
