/* SPDX-License-Identifier: Apache-2.0 */
/* Registry of backends: the built-in ones and the modules costmodel-NAME.so of the search path,
 * which never includes the working directory. Unusable backends are listed with a reason. */
#pragma once

#include <stddef.h>

#include "costmodel/backend.h"

#include "backends/plugin/loader.h"

struct arena;

extern const struct cm_backend roofline_backend;

struct backends_entry {
    const char *name;
    const char *path;                 /* path of the module; NULL if built in */
    const struct cm_backend *backend; /* NULL if unusable: see `reason` */
    struct cm_reason reason;
};

struct backends_list {
    size_t n;
    struct backends_entry *items;
};

/* Lists all backends: the built-in ones, then the modules of each folder in order of name.
 * Loads every module, but opens no device. Returns CM_OK or CM_NO_MEMORY. */
int backends_list(const struct places *places, struct arena *arena, struct backends_list *ret)
    __attribute__((warn_unused_result));

/* Finds one backend by name without loading others. Sets *reason unless CM_BACKEND_OK. */
int backends_find(const struct places *places, const char *name, struct arena *arena,
                  const struct cm_backend **ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* Returns the path of the module; NULL if the backend is built in or not found. */
const char *backends_module(const struct places *places, const char *name, struct arena *arena);
