/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass modules: recovers the module hierarchy and sums the costs of each module, in steps: the
 * scope of each node (module_sources), the module of each scope (module_paths), the tree
 * (module_tree), and the costs, outputs and classes of modules (module_totals, module_outputs,
 * module_types).
 */
#include "passes/modules/module_groups.h"
#include "passes/modules/module_sources.h"
#include "passes/modules/module_tree.h"
#include "passes/pass.h"

#include "support/banned.h"

/* The trees of scopes and paths are in scratch memory: they are larger than the table. */
int pass_modules(const struct analysis *analysis, void *own) {
    struct analysis building = *analysis;
    building.arena = analysis->scratch;
    struct scopes scopes = {0};
    struct module_paths names = {0};
    struct module_tree tree = {.analysis = &building,
                               .scopes = &scopes,
                               .names = &names,
                               .table = own,
                               .tables = analysis->arena};
    int status = module_sources_find_scopes(&building, &scopes, own);
    if (status == CM_OK) status = module_paths_find(&building, &scopes, &names);
    if (status == CM_OK && analysis->options->group)
        status = module_groups_make(&building, &scopes, &names);
    if (status == CM_OK) status = module_tree_build(&tree);
    if (status == CM_OK) status = module_totals(&tree);
    if (status == CM_OK) status = module_outputs(&tree);
    if (status == CM_OK) status = module_types(&tree);
    return status;
}
