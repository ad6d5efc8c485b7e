/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the scope of every node from the sources of the module hierarchy in a file, in order of
 * reliability. The first source that knows a node decides. A new source is a row in
 * module_sources.c.
 */
#ifndef PASSES_MODULES_MODULE_SOURCES_H
#define PASSES_MODULES_MODULE_SOURCES_H

#include "passes/modules/module_source.h"

/* Returns NULL past the last source. */
const struct module_source *module_source_at(size_t index);
const struct module_source *module_source_find(const char *name);

/* Finds all scopes; lists in the table which sources knew how many nodes. */
int module_sources_find_scopes(const struct analysis *analysis, struct scopes *ret,
                               struct modules_table *table) CM_MUST_CHECK;

#endif
