/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps scopes to modules: "layer1/layer1.0/conv1" is module layer1.0.conv1, "pool_1" the second
 * call of pool. If the names of the parameters used in a scope contradict the name of the scope
 * (an exporter drops containers that are never called), the parameters decide.
 */
#ifndef PASSES_MODULES_MODULE_PATHS_H
#define PASSES_MODULES_MODULE_PATHS_H

#include "passes/modules/module_scopes.h"

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

#endif
