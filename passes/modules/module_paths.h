/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From scopes to the modules that they are entries of: "layer1/layer1.0/conv1" is module
 * layer1.0.conv1, "pool_1" the second entry of pool. Where the names of the parameters used in
 * a scope contradict it (an exporter drops what is only a container), they win.
 */
#ifndef PASSES_MODULES_MODULE_PATHS_H
#define PASSES_MODULES_MODULE_PATHS_H

#include "passes/modules/module_scopes.h"

struct module_paths {
    struct paths paths;        /* written with '.': the modules, those of parameters last */
    uint32_t *of_scope;        /* by scope */
    int *repeat;               /* by scope: 0 the first entry under its parent scope */
    struct paths of_params;    /* every module that a parameter's name has, and those above */
    uint32_t *of_param;        /* by param: in of_params; 0 where its name has none */
    uint32_t *of_param_module; /* by entry of of_params: the same in `paths` */
};

int module_paths_find(const struct analysis *analysis, const struct scopes *scopes,
                      struct module_paths *ret) CM_MUST_CHECK;

#endif
