/* SPDX-License-Identifier: Apache-2.0 */
/* --op-costs: reads descriptions of operators into rows that pass bind looks up first. */
#include "costmodel/op_costs.h"

#include "ops/custom/custom_op.h"
#include "report/json/json_document.h"
#include "report/json/json_schema.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/diag.h"
#include "support/file.h"

#define MAX_BYTES ((size_t)1 << 20) /* of a hand-written file */

int cm_op_costs_make(const struct cm_op_description *operators, size_t n,
                     struct cm_diagnostics *diagnostics, struct cm_op_costs **ret_costs) {
    int status =
        arguments_check(ARGUMENT_cm_op_description, operators, n, ret_costs, diagnostics);
    if (status < 0) return status;
    struct arena *arena = arena_new("op costs", 0);
    if (!arena) return diag_no_memory(diagnostics);
    struct cm_op_costs *costs = arena_alloc(arena, sizeof(*costs));
    status = costs ? custom_op_read(operators, n, arena, diagnostics, costs) : CM_NO_MEMORY;
    if (arena_failed(arena)) status = diag_no_memory(diagnostics);
    if (status == CM_OK)
        *ret_costs = costs;
    else
        arena_free(arena);
    return status;
}

int cm_op_costs_load_memory(const char *text, size_t size, const char *name,
                            struct cm_diagnostics *diagnostics,
                            struct cm_op_costs **ret_costs) {
    if (text == NULL || name == NULL || ret_costs == NULL) return diag_null(diagnostics);
    struct op_costs_file *file = NULL;
    struct diag_frame frame = {.label = "in", .what = name};
    if (size > MAX_BYTES)
        return diag_error(diagnostics, DIAG_LIMIT, "'%s' must have at most %zu bytes", name,
                          MAX_BYTES);
    int status = json_document_read(&json_op_costs, text, size, name, diagnostics, &file);
    if (status != CM_OK) return status;
    diag_push(diagnostics, &frame);
    status = cm_op_costs_make(file->operators, file->n_operators, diagnostics, ret_costs);
    diag_pop(diagnostics, &frame);
    arena_free(file->arena);
    return status;
}

int cm_op_costs_load_file(const char *path, struct cm_diagnostics *diagnostics,
                          struct cm_op_costs **ret_costs) {
    if (path == NULL || ret_costs == NULL) return diag_null(diagnostics);
    struct arena *arena = arena_new("op costs text", 0);
    char *text = NULL;
    size_t size = 0;
    int status = source_read_file(path, MAX_BYTES, arena, diagnostics, &text, &size);
    if (status == CM_OK)
        status = cm_op_costs_load_memory(text, size, path, diagnostics, ret_costs);
    arena_free(arena);
    return status;
}

void cm_op_costs_free(struct cm_op_costs *costs) {
    if (costs) arena_free(costs->arena);
}
