/* SPDX-License-Identifier: Apache-2.0 */
/* Loader of modules. */
#ifndef BACKENDS_PLUGIN_LOADER_H
#define BACKENDS_PLUGIN_LOADER_H

#include <stdbool.h>

#include "costmodel/backend.h"

/*
 * Loads the module at the absolute path `name`. It stays loaded until the program ends. Its
 * code runs as the caller, so it is refused if the file or a folder above it is writable by
 * everyone (except a folder with the sticky bit) or, unless `any_owner`, belongs to a user
 * other than root and the caller.
 */
int loader_load(const char *name, bool any_owner, const struct cm_backend **ret,
                struct cm_reason *reason) __attribute__((warn_unused_result));

#endif
