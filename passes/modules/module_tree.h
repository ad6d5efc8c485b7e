/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modules themselves, and how often each was entered. The steps that pass modules takes on
 * the tree, each in its own file, fill in the rest: module_totals, module_outputs,
 * module_types.
 */
#ifndef PASSES_MODULES_MODULE_TREE_H
#define PASSES_MODULES_MODULE_TREE_H

#include "passes/modules/module_paths.h"
#include "passes/modules/module_scopes.h"

struct module_tree {
    const struct analysis *analysis;
    const struct scopes *scopes;
    const struct module_paths *names;
    struct modules_table *table;
    struct arena *tables;  /* for the table; all else is in the analysis' own */
    uint32_t *of_scope;    /* by scope: index into the table */
    uint32_t *of_param;    /* by param: the module whose name it bears, the root where none */
    uint32_t *first_scope; /* by module: scope of its first call, ID_NONE if never entered */
    bool *has_nodes;       /* by module: nodes stand in it that are in no module below */
    /*
     * By module: a Sequential that was called several times has one scope, and its children
     * have one for each call.
     */
    bool *replayed;
};

/* Sets path, name, parent, depth, children and calls of every module, and of_node. */
int module_tree_build(struct module_tree *tree) CM_MUST_CHECK;
/* Whether a node's output is what a module works on: not a constant, nor shape arithmetic. */
bool module_is_result(const struct analysis *analysis, uint32_t value);
/* Sums of costs and unions of parameters. */
int module_totals(const struct module_tree *tree) CM_MUST_CHECK;
/* The values of its first call that leave each module. */
int module_outputs(const struct module_tree *tree) CM_MUST_CHECK;
/* Classes, and what stands in their brackets. */
int module_types(const struct module_tree *tree) CM_MUST_CHECK;

#endif
