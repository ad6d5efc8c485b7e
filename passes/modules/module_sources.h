/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of modules: what in a file may tell the module of a node, the best first. A node is
 * placed by the first of them that knows it. A new one is a row in module_sources.c.
 */
#ifndef PASSES_MODULES_MODULE_SOURCES_H
#define PASSES_MODULES_MODULE_SOURCES_H

#include "passes/modules/module_scopes.h"

struct call;

/* What the sources share while scopes are being found. */
struct scope_finder {
    const struct analysis *analysis;
    const struct model *model;
    struct scopes *scopes;
    uint32_t *of_call;   /* by call: scope, ID_NONE where the metadata tells of it */
    struct visit *visit; /* source metadata: where the walk stands */
};

struct module_source {
    const char *name; /* of --module-source and in reports */
    const char *summary;
    /* It guesses from what names have in common, and is asked only where no source before it
     * knows any node of the file. */
    bool guesses;
    bool foreign; /* its modules are not those that parameters are named for */
    /* Prepares; *ret: whether the file is of its kind at all. NULL: it always is. */
    int (*start)(struct scope_finder *finder, bool *ret);
    /* The node's scope; ID_NONE where it knows none. */
    int (*find)(struct scope_finder *finder, uint32_t node, uint32_t *ret);
};

/* NULL past the last. */
const struct module_source *module_source_at(size_t index);
const struct module_source *module_source_find(const char *name);

/* module_source_metadata.c, module_source_functions.c, module_source_scopes.c,
 * module_source_params.c, module_source_styles.c */
int metadata_start(struct scope_finder *finder, bool *ret) CM_MUST_CHECK;
int metadata_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int functions_start(struct scope_finder *finder, bool *ret) CM_MUST_CHECK;
int functions_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int named_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int fused_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int params_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int paddle_start(struct scope_finder *finder, bool *ret) CM_MUST_CHECK;
int paddle_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int mxnet_start(struct scope_finder *finder, bool *ret) CM_MUST_CHECK;
int mxnet_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;
int types_find(struct scope_finder *finder, uint32_t node, uint32_t *ret) CM_MUST_CHECK;

/* Length of what stands before the last '/': 0 where there is none, or nothing before it. */
size_t scope_length(const char *name);
/* "a.b.c" as the scope a/b/c. */
int enter_module_path(struct scope_finder *finder, const char *path, size_t length,
                      uint32_t *ret) CM_MUST_CHECK;
/* The scope of those parts, none of which is a further entry of another's module. */
int enter_distinct(struct scope_finder *finder, const char *text, size_t length,
                   uint32_t *ret) CM_MUST_CHECK;

/* What the module paths of parameters have in common. */
struct common {
    const char *front; /* NULL: no parameter yet */
    size_t length;
};

void common_add(struct common *common, const char *param_name);

/* Nodes that no source knows join the module around those that they read and those that read
 * them. */
int scopes_join(struct scope_finder *finder) CM_MUST_CHECK;

#endif
