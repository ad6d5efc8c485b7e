/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --group REGEX: instead of the tree of modules one level of groups. A module whose path the
 * expression matches is in the group named by what its first subexpression matched, or the
 * whole of it where it has none; nodes of other modules are the model's own.
 */
#ifndef PASSES_MODULES_MODULE_GROUPS_H
#define PASSES_MODULES_MODULE_GROUPS_H

#include "passes/modules/module_paths.h"

/* Whether the expression can be used; else a message and CM_USAGE. */
int module_groups_check(const char *expression, struct arena *arena,
                        struct cm_diagnostics *diag) CM_MUST_CHECK;
/* Puts groups in the place of scopes and modules. */
int module_groups_make(const struct analysis *analysis, struct scopes *scopes,
                       struct module_paths *names) CM_MUST_CHECK;

#endif
