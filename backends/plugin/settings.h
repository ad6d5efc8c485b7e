/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a backend: `onednn:threads=2,library=/opt/libdnnl.so.3`. */
#pragma once

#include <stdbool.h>

#include "costmodel/backend.h"

struct arena;

/* Splits the argument of --backend into the backend's name and its settings, in `arena`.
 * Returns CM_BACKEND_OK, CM_BACKEND_REFUSED (missing name or `=`) or CM_BACKEND_NO_MEMORY. */
int settings_parse(const char *text, struct arena *arena, const char **ret_name,
                   struct cm_settings *ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* Returns true if the argument of --backend names this backend. */
bool settings_name(const char *text, const struct cm_backend *backend);

/* Returns the value of a setting, the last one if it is set twice; NULL if it is not set. */
const char *settings_get(const struct cm_settings *settings, const char *name);

/* Returns CM_BACKEND_REFUSED with a reason if a setting is not an option of the backend, else
 * CM_BACKEND_OK. */
int settings_check(const struct cm_settings *settings, const struct cm_backend *backend,
                   struct cm_reason *reason) __attribute__((warn_unused_result));
