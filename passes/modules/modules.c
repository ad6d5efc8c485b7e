/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pass modules: the hierarchy that the model was written in, and what each of its modules
 * costs. Four questions in a row: in which scope does a node stand (module_scopes), of which
 * module is that an entry (module_paths), what is the tree of them (module_tree), and what does
 * a module cost, give and call itself (module_totals, module_outputs, module_types).
 */
#include "passes/modules/module_groups.h"
#include "passes/modules/module_tree.h"
#include "passes/pass.h"

#include "support/banned.h"

/* Trees of scopes and paths are built in scratch memory: they are larger than what comes of
 * them. */
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
    int status = scopes_find(&building, &scopes, own);
    if (status == CM_OK) status = module_paths_find(&building, &scopes, &names);
    if (status == CM_OK && analysis->options->group)
        status = module_groups_make(&building, &scopes, &names);
    if (status == CM_OK) status = module_tree_build(&tree);
    if (status == CM_OK) status = module_totals(&tree);
    if (status == CM_OK) status = module_outputs(&tree);
    if (status == CM_OK) status = module_types(&tree);
    return status;
}
