/* SPDX-License-Identifier: Apache-2.0 */
/* Where modules are looked for. */
#ifndef BACKENDS_PLUGIN_PLACES_H
#define BACKENDS_PLUGIN_PLACES_H

#include <stddef.h>

#include "costmodel/backend.h"

struct arena;

struct module_place {
    const char *path;
    struct cm_reason reason; /* why it is not searched; "" it is */
};

struct places {
    size_t n;
    struct module_place *items;
};

/*
 * The places of this program: those of COSTMODEL_BACKEND_PATH (absolute, between colons) where
 * that is set, else beside the program's folder and where it was installed. In `arena`;
 * CM_OK or CM_NO_MEMORY.
 */
int places_find(struct arena *arena, struct places *ret) __attribute__((warn_unused_result));

/* The same from a given text in the form of COSTMODEL_BACKEND_PATH. */
int places_from(const char *path, struct arena *arena, struct places *ret)
    __attribute__((warn_unused_result));

#endif
