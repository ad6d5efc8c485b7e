/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of modules, and how often each is called: modules.c builds it. The steps of pass
 * modules fill in the rest: module_totals, module_outputs and module_classes, a file each.
 */
#ifndef PASSES_MODULES_MODULE_TREE_H
#define PASSES_MODULES_MODULE_TREE_H

#include "passes/modules/module_paths.h"
#include "passes/modules/module_scopes.h"

struct module_tree {
    const struct analysis *analysis;
    const struct scopes *scopes;
    const struct module_paths *paths;
    struct modules_table *table;
    struct arena *table_arena; /* of the table; everything else is in analysis->arena */
    uint32_t *of_scope;        /* by scope: index into the table */
    uint32_t *of_param;        /* by param: the module in its name, the root if it has none */
    uint32_t *first_scope;     /* by module: scope of its first call, ID_NONE if never called */
    bool *has_nodes;           /* by module: it contains nodes outside its children */
    /* By module: a Sequential that was called several times has one scope, while its children
     * have one per call. */
    bool *replayed;
};

/* Returns false for constants and shape arithmetic. */
bool module_is_result(const struct analysis *analysis, uint32_t value);
/* Returns the smallest module that contains all of the nodes; the root if there are none. */
uint32_t module_common(const struct modules_table *table, const uint32_t *nodes, size_t n);
/* Sums the costs and unites the parameters of each module. */
int module_totals(const struct module_tree *tree) CM_MUST_CHECK;
/* Lists the outputs of the first call of each module. */
int module_outputs(const struct module_tree *tree) CM_MUST_CHECK;
/* Sets classes and their arguments. */
int module_classes(const struct module_tree *tree) CM_MUST_CHECK;

#endif
