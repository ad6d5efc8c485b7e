/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the scope of every node. Asks the module sources, most reliable first; the first that
 * locates a node decides. The other nodes join their neighbours. A new source is a row in
 * module_sources.c.
 */
#ifndef PASSES_MODULES_MODULE_SOURCES_H
#define PASSES_MODULES_MODULE_SOURCES_H

#include "passes/modules/module_scopes.h"

/* State that the sources share. */
struct scope_finder {
    const struct analysis *analysis;
    const struct model *model;
    struct scopes *scopes;
    uint32_t *of_call;   /* by function call: its scope, ID_NONE if metadata locates it */
    struct visit *visit; /* state of source metadata */
};

struct module_source {
    const char *name; /* for --module-source and reports */
    const char *summary;
    bool guesses; /* a heuristic: used only if earlier sources locate no node of the file */
    bool foreign; /* its modules are unrelated to the names of parameters */
    /* Initializes the source. Sets *ret to false if the file has no data for it. NULL: no
     * initialization. */
    int (*start)(struct scope_finder *finder, bool *ret);
    /* Finds the node's scope, ID_NONE if the source does not locate the node. */
    int (*find)(struct scope_finder *finder, uint32_t node, uint32_t *ret);
};

/* module_source_exporter.c: modules that the exporter recorded. */
int metadata_start(struct scope_finder *finder, bool *ret) CM_MUST_CHECK;
int metadata_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int functions_start(struct scope_finder *finder, bool *ret) CM_MUST_CHECK;
int functions_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;

/* module_source_names.c: naming conventions of nodes, values and parameters. */
int slashes_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int fused_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int params_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int paddle_start(struct scope_finder *finder, bool *ret) CM_MUST_CHECK;
int paddle_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int mxnet_start(struct scope_finder *finder, bool *ret) CM_MUST_CHECK;
int mxnet_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int types_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;

/* Returns NULL past the last source. */
const struct module_source *module_source_at(size_t index);
/* Returns NULL if there is none. */
const struct module_source *module_source_by_name(const char *name);

/* Sets the scope of every node. table->sources: the number of nodes that each source located,
 * then `joined` and `none`; zeros are left out. */
int module_sources_find_scopes(const struct analysis *analysis, struct scopes *scopes,
                               struct modules_table *table) CM_MUST_CHECK;

#endif
