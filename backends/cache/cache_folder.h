/* SPDX-License-Identifier: Apache-2.0 */
/* Folder of the cache: private to its owner, verified before each use, with few files. */
#ifndef BACKENDS_CACHE_CACHE_FOLDER_H
#define BACKENDS_CACHE_CACHE_FOLDER_H

#include <sys/stat.h>

#include "costmodel/backend.h"

#define CACHE_LONGEST_PATH 4096

/* Returns the reason (static text) if another user owns or may write the file; NULL if not. */
const char *cache_folder_doubt(const struct stat *status);

/* Returns CM_BACKEND_OK if the folder is missing or safe to read, else CM_BACKEND_REFUSED. */
int cache_folder_check(const char *folder, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* Creates the folder and its parents if needed, then checks it as cache_folder_check does. */
int cache_folder_make(const char *folder, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* Removes the oldest files with this suffix until `n_kept` are left or a removal fails. */
void cache_folder_prune(const char *folder, const char *suffix, int n_kept);

#endif
