/* SPDX-License-Identifier: Apache-2.0 */
/* --group REGEX replaces the tree of modules by one level of groups. If the path of a module
 * matches, its group is named by the text that the first subexpression matches, or by the whole
 * match if there is no subexpression. Nodes of other modules belong to the root. */
#pragma once

#include "passes/modules/module_tree.h"

/* Returns CM_OK if the expression is valid, else CM_USAGE with a message. */
int module_groups_check(const char *expression, struct arena *arena,
                        struct cm_diagnostics *diag) CM_MUST_CHECK;
/* Replaces scopes and modules by groups. */
int module_groups_make(const struct analysis *analysis, struct scopes *scopes,
                       struct module_paths *paths) CM_MUST_CHECK;
