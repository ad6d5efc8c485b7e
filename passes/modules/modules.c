/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass modules: recovers the module hierarchy and sums the costs of each module, in steps: the
 * scope of each node (module_sources), the module of each scope (module_paths), with --group
 * the groups that replace both (module_groups), the tree (module_tree), and the costs, outputs
 * and classes of modules (module_totals, module_outputs, module_classes).
 */
#include "passes/modules/module_groups.h"
#include "passes/modules/module_sources.h"
#include "passes/modules/module_tree.h"
#include "passes/pass.h"

#include "support/banned.h"

int pass_modules(const struct analysis *analysis, void *own) {
    /* the trees of scopes and paths are larger than the table and end with the pass */
    struct analysis on_scratch = *analysis;
    on_scratch.arena = analysis->scratch;
    struct scopes scopes = {0};
    struct module_paths paths = {0};
    struct module_tree tree = {.analysis = &on_scratch,
                               .scopes = &scopes,
                               .paths = &paths,
                               .table = own,
                               .table_arena = analysis->arena};
    int status = module_sources_find_scopes(&on_scratch, &scopes, own);
    if (status == CM_OK) status = module_paths_find(&on_scratch, &scopes, &paths);
    if (status == CM_OK && analysis->options->group)
        status = module_groups_make(&on_scratch, &scopes, &paths);
    if (status == CM_OK) status = module_tree_build(&tree);
    if (status == CM_OK) status = module_totals(&tree);
    if (status == CM_OK) status = module_outputs(&tree);
    if (status == CM_OK) status = module_classes(&tree);
    return status;
}
