/* SPDX-License-Identifier: Apache-2.0 */
/* Search path of modules. */
#ifndef BACKENDS_PLUGIN_PLACES_H
#define BACKENDS_PLUGIN_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/backend.h"

struct arena;

/* A folder of the search path. */
struct module_place {
    const char *path;
    bool any_owner; /* accept modules of any user, because the caller named the folder */
    struct cm_reason reason; /* why it is not searched; "" if it is */
};

struct places {
    size_t n;
    struct module_place *items;
};

/*
 * Sets *ret to the search path, in `arena`: the folders of COSTMODEL_BACKEND_PATH (absolute,
 * separated by colons) if it is set; else a folder relative to the program (`backends` next to
 * it if it is in a build folder) and the installed one. Returns CM_OK or CM_NO_MEMORY.
 */
int places_find(struct arena *arena, struct places *ret) __attribute__((warn_unused_result));

/* Sets *ret to the folders of `path`, a text in the format of COSTMODEL_BACKEND_PATH. */
int places_from(const char *path, struct arena *arena, struct places *ret)
    __attribute__((warn_unused_result));

#endif
