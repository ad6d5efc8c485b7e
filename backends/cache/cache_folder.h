/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of the cache: made for its owner alone, believed only while it is so, bounded. */
#ifndef BACKENDS_CACHE_CACHE_FOLDER_H
#define BACKENDS_CACHE_CACHE_FOLDER_H

#include <sys/stat.h>

#include "costmodel/backend.h"

#define CACHE_LONGEST_PATH 4096

/* Why what stands there could be another's; NULL: it is ours, and only we write it. */
const char *cache_folder_doubt(const struct stat *status);

/* Whether it may be read: CM_BACKEND_OK, also where it is missing, or CM_BACKEND_REFUSED. */
int cache_folder_check(const char *folder, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* Makes it, and those above it, where they are missing. */
int cache_folder_make(const char *folder, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* Leaves the `most` files written last whose name ends so. What cannot be removed stays. */
void cache_folder_prune(const char *folder, const char *suffix, int most);

#endif
