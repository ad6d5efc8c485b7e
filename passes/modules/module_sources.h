/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the scope of every node. A module source derives scopes from one kind of data in the
 * file. The most reliable source that locates a node decides; nodes that no source locates join
 * their neighbours. A new source is a row in module_sources.c. */
#pragma once

#include "passes/modules/module_scopes.h"
#include "passes/modules/modules.h"

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
    /* Initializes the source. Returns false if the file has no data for it. NULL: no
     * initialization. If memory runs out in `start` or `find`, the arena has failed. */
    bool (*start)(struct scope_finder *finder);
    /* Returns the node's scope, ID_NONE if the source does not locate the node. */
    uint32_t (*find)(struct scope_finder *finder, uint32_t node);
};

/* module_source_exporter.c: modules that the exporter recorded. */
bool source_metadata_start(struct scope_finder *finder);
uint32_t source_metadata_find(struct scope_finder *finder, uint32_t node);
bool source_functions_start(struct scope_finder *finder);
uint32_t source_functions_find(struct scope_finder *finder, uint32_t node);

/* module_source_names.c: naming conventions of nodes, values and parameters. */
uint32_t source_slashes_find(struct scope_finder *finder, uint32_t node);
uint32_t source_fused_find(struct scope_finder *finder, uint32_t node);
uint32_t source_params_find(struct scope_finder *finder, uint32_t node);
bool source_paddle_start(struct scope_finder *finder);
uint32_t source_paddle_find(struct scope_finder *finder, uint32_t node);
bool source_mxnet_start(struct scope_finder *finder);
uint32_t source_mxnet_find(struct scope_finder *finder, uint32_t node);
uint32_t source_types_find(struct scope_finder *finder, uint32_t node);

/* Returns the source at the index; NULL past the last. */
const struct module_source *module_source_at(size_t index);
/* Returns the source of that name, or NULL. */
const struct module_source *module_source_by_name(const char *name);

/* Sets the scope of every node. Sets table->sources to the number of nodes that each source
 * located, then those that joined neighbours ("joined") and those in the root ("none"); omits
 * zeros. */
int module_sources_find_scopes(const struct analysis *analysis, struct scopes *scopes,
                               struct modules_table *table) CM_MUST_CHECK;
