/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and loads modules: shared libraries that contain a backend. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/backend.h"

struct arena;

/* A folder of the search path. */
struct module_place {
    const char *path;
    bool any_owner; /* accept modules of any user: COSTMODEL_BACKEND_PATH names the folder */
    struct cm_reason reason; /* why the folder is not searched; "" if it is */
};

struct places {
    size_t n;
    struct module_place *items;
};

/* Sets *ret to the search path, in `arena`: the folders of COSTMODEL_BACKEND_PATH (absolute,
 * separated by colons) if it is set; else the folder of modules of this program (`backends`
 * next to it in a build folder) and the installed one. Returns CM_OK or CM_NO_MEMORY. */
int loader_places(struct arena *arena, struct places *ret) __attribute__((warn_unused_result));

/* Sets *ret to the folders of `path`, a text in the format of COSTMODEL_BACKEND_PATH. */
int loader_places_in(const char *path, struct arena *arena, struct places *ret)
    __attribute__((warn_unused_result));

/* Loads the module at the absolute path `name`, which stays loaded until the program ends. Its
 * code runs with the rights of the caller. Therefore neither the file nor a folder above it may
 * be writable by others, except a folder with the sticky bit, in which the next part of the
 * path must belong to root or the caller. Unless `any_owner`, all parts must. Returns
 * CM_BACKEND_OK, or CM_BACKEND_REFUSED with the reason. */
int loader_load(const char *name, bool any_owner, const struct cm_backend **ret,
                struct cm_reason *reason) __attribute__((warn_unused_result));
