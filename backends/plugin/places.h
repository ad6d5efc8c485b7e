/* SPDX-License-Identifier: Apache-2.0 */
/* Search path of modules. */
#ifndef BACKENDS_PLUGIN_PLACES_H
#define BACKENDS_PLUGIN_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/backend.h"

struct arena;

struct module_place {
    const char *path;
    bool any_owner;          /* modules may belong to any user: the user named the place */
    struct cm_reason reason; /* why it is not searched; "" if it is */
};

struct places {
    size_t n;
    struct module_place *items;
};

/*
 * Returns the search path in `arena`: COSTMODEL_BACKEND_PATH (absolute folders separated by
 * colons) if set; else the folder relative to the program (of a program in a build folder:
 * `backends` next to it) and the installed one. Returns CM_OK or CM_NO_MEMORY.
 */
int places_find(struct arena *arena, struct places *ret) __attribute__((warn_unused_result));

/* The same from a text in the format of COSTMODEL_BACKEND_PATH. */
int places_from(const char *path, struct arena *arena, struct places *ret)
    __attribute__((warn_unused_result));

#endif
