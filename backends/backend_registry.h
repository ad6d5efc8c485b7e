/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which backends there are: the built-in ones, and the modules costmodel-NAME.so of a search
 * path that never holds the working directory. What cannot be used is listed with its reason.
 */
#ifndef BACKENDS_BACKEND_REGISTRY_H
#define BACKENDS_BACKEND_REGISTRY_H

#include <stddef.h>

#include "costmodel/backend.h"

#include "backends/plugin/places.h"

struct arena;

extern const struct cm_backend roofline_backend;
extern const struct cm_backend fake_backend;

struct backends_entry {
    const char *name;
    const char *path;                 /* of the module; NULL: built in */
    const struct cm_backend *backend; /* NULL: it cannot be used, and `reason` says why */
    struct cm_reason reason;
};

struct backends_list {
    size_t n;
    struct backends_entry *items;
};

/*
 * All that there are, by name within the built-in ones and within each place. Loads every
 * module, opens no device. CM_OK or CM_NO_MEMORY.
 */
int backends_list(const struct places *places, struct arena *arena, struct backends_list *ret)
    __attribute__((warn_unused_result));

/* The one of this name, loading no other. CM_BACKEND_OK, or a status with its reason. */
int backends_find(const struct places *places, const char *name, struct arena *arena,
                  const struct cm_backend **ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* The file that it would come from; NULL: it is built in, or there is none. */
const char *backends_module(const struct places *places, const char *name, struct arena *arena);

#endif
