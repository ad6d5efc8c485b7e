/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the scope of every node. Asks the module sources, most reliable first; the first that
 * locates a node decides. The other nodes join their neighbours. A new source is a row in
 * module_sources.c.
 */
#ifndef PASSES_MODULES_MODULE_SOURCES_H
#define PASSES_MODULES_MODULE_SOURCES_H

#include "passes/modules/module_source.h"

/* Returns NULL past the last source. */
const struct module_source *module_source_at(size_t index);
/* Returns NULL if there is none. */
const struct module_source *module_source_by_name(const char *name);

/* Sets the scope of every node. table->sources: the number of nodes that each source located,
 * then `joined` and `none`; zeros are left out. */
int module_sources_find_scopes(const struct analysis *analysis, struct scopes *ret,
                               struct modules_table *table) CM_MUST_CHECK;

#endif
