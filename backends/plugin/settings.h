/* SPDX-License-Identifier: Apache-2.0 */
/* What the user set of a backend's options: `onednn:threads=2,library=/opt/libdnnl.so.3`. */
#ifndef BACKENDS_PLUGIN_SETTINGS_H
#define BACKENDS_PLUGIN_SETTINGS_H

#include "costmodel/backend.h"

struct arena;

/*
 * Parts the text behind --backend into the name of the backend and its settings, in `arena`.
 * CM_BACKEND_OK, CM_BACKEND_REFUSED (a setting without a name or `=`), CM_BACKEND_NO_MEMORY.
 */
int settings_parse(const char *text, struct arena *arena, const char **ret_name,
                   struct cm_settings *ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* The value, the last one where it was set twice; NULL: not set. */
const char *settings_get(const struct cm_settings *settings, const char *name);

/* Refuses the first setting that the backend has no option for. */
int settings_check(const struct cm_settings *settings, const struct cm_backend *backend,
                   struct cm_reason *reason) __attribute__((warn_unused_result));

#endif
