/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of modules, and how often each module is called. modules.c builds the tree. Three
 * more steps of pass modules fill in the rest: module_totals, module_outputs,
 * module_classes. */
#pragma once

#include "passes/modules/module_scopes.h"
#include "passes/modules/modules.h"

/* Maps scopes to modules: "layer1/layer1.0/conv1" is module layer1.0.conv1, "pool_1" the second
 * call of pool. If the names of the parameters used in a scope contradict the name of the scope
 * (an exporter drops containers that are never called), the parameters decide. */
struct module_paths {
    struct paths paths;        /* separated by '.': modules, those without nodes last */
    uint32_t *of_scope;        /* by scope: its module, an entry of `paths` */
    int *repeat;               /* by scope: 0 for the first call in its parent scope */
    struct paths of_params;    /* modules in the names of parameters, and their parents */
    uint32_t *of_param;        /* by param: entry of of_params; 0 if its name has no module */
    uint32_t *of_param_module; /* by entry of of_params: its entry in `paths` */
};

/* Maps all scopes to modules. Returns CM_OK or CM_NO_MEMORY. */
int module_paths_find(const struct analysis *analysis, const struct scopes *scopes,
                      struct module_paths *ret) CM_MUST_CHECK;

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
    /* By module: true for a Sequential that was called several times but has only one scope,
     * while its children have one scope per call. */
    bool *replayed;
};

/* Returns true if the value may be an output of a module: an activation, a view, or a float
 * constant that is computed with a learned parameter. */
bool module_is_result(const struct analysis *analysis, uint32_t value);
/* Returns the smallest module that contains all of the nodes; the root if there are none. */
uint32_t module_common(const struct modules_table *table, const uint32_t *nodes, size_t n);
/* Sums the costs and unites the parameters of each module. */
int module_totals(const struct module_tree *tree) CM_MUST_CHECK;
/* Lists the outputs of the first call of each module. */
int module_outputs(const struct module_tree *tree) CM_MUST_CHECK;
/* Sets the class of each module and its arguments. */
int module_classes(const struct module_tree *tree) CM_MUST_CHECK;
