/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a module: a shared library that contains a backend. */
#ifndef BACKENDS_PLUGIN_LOADER_H
#define BACKENDS_PLUGIN_LOADER_H

#include <stdbool.h>

#include "costmodel/backend.h"

/*
 * Loads the module at the absolute path `name`, which stays loaded until the program ends. Its
 * code runs with the rights of the caller. Therefore neither the file nor a folder above it may
 * be writable by everyone, except a folder with the sticky bit. Unless `any_owner`, file and
 * folders must belong to root or the caller. Returns CM_BACKEND_OK, or CM_BACKEND_REFUSED with
 * the reason.
 */
int loader_load(const char *name, bool any_owner, const struct cm_backend **ret,
                struct cm_reason *reason) __attribute__((warn_unused_result));

#endif
