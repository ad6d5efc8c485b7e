/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers walk the tree without looking back, so a file whose children form a ring, or which
 * lists one twice, must not get that far.
 */
#include "report/json_check.h"

#include <stdbool.h>

#include "costmodel/result.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

static int check_root(const struct cm_result *result, struct cm_diagnostics *diag) {
    if (result->n_modules == 0)
        return diag_error(diag, DIAG_FORMAT, "modules: there is no root");
    if (result->modules[0].parent != CM_NO_INDEX || result->modules[0].depth != 0)
        return diag_error(diag, DIAG_FORMAT, "modules[0]: the root has a parent");
    return CM_OK;
}

/* Children come later, name this module as their parent, and stand one level deeper. */
static int check_children(const struct cm_result *result, size_t index, bool *listed,
                          struct cm_diagnostics *diag) {
    const struct cm_module *module = &result->modules[index];
    for (size_t i = 0; i < module->n_children; i++) {
        size_t child = module->children[i];
        if (child <= index || child >= result->n_modules)
            return diag_error(diag, DIAG_FORMAT,
                              "modules[%zu].children[%zu]: expected an index from %zu to %zu, "
                              "have %zu",
                              index, i, index + 1, result->n_modules - 1, child);
        if (result->modules[child].parent != index || listed[child])
            return diag_error(diag, DIAG_FORMAT, "modules[%zu]: has several parents", child);
        if (result->modules[child].depth != module->depth + 1)
            return diag_error(diag, DIAG_FORMAT, "modules[%zu].depth: expected %d, have %d",
                              child, module->depth + 1, result->modules[child].depth);
        listed[child] = true;
    }
    return CM_OK;
}

static int check_tree(const struct cm_result *result, struct arena *arena,
                      struct cm_diagnostics *diag) {
    bool *listed = arena_array(arena, result->n_modules, sizeof(*listed));
    if (listed == NULL) return diag_no_memory(diag);
    for (size_t i = 0; i < result->n_modules; i++) {
        if (i > 0 && !listed[i])
            return diag_error(diag, DIAG_FORMAT, "modules[%zu]: no module has it as a child",
                              i);
        int status = check_children(result, i, listed, diag);
        if (status != CM_OK) return status;
    }
    return CM_OK;
}

int json_check(const struct cm_result *result, struct arena *arena,
               struct cm_diagnostics *diag) {
    int status = check_root(result, diag);
    if (status == CM_OK) status = check_tree(result, arena, diag);
    return status;
}
