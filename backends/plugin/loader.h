/* SPDX-License-Identifier: Apache-2.0 */
/* Loader of modules. */
#ifndef BACKENDS_PLUGIN_LOADER_H
#define BACKENDS_PLUGIN_LOADER_H

#include "costmodel/backend.h"

/* Loads a module by its absolute path. It stays loaded until the program ends. */
int loader_load(const char *path, const struct cm_backend **ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));

#endif
