/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the passes up to the one that binds dims, and drops their messages. */
#include "api/handle.h"

#include "passes/batch/batch.h"
#include "passes/pipeline/pipeline.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/diag.h"

int dims_bind(struct model *model, const struct cm_options *options, struct arena *arena,
              struct cm_diagnostics *diag, struct batch_table *ret) {
    struct cm_diagnostics *unheard = cm_diagnostics_new();
    struct analysis analysis = {
        .model = model, .arena = arena, .diag = unheard, .options = options};
    const int status = unheard ? pipeline_run_to(&analysis, TABLE_BATCH) : CM_NO_MEMORY;
    if (analysis.batch) *ret = *analysis.batch;
    cm_diagnostics_free(unheard);
    return status == CM_NO_MEMORY ? diag_no_memory(diag) : CM_OK;
}

int cm_model_dims(struct cm_model *model, const struct cm_options *options,
                  struct cm_diagnostics *diagnostics, struct cm_dims **ret_dims) {
    options = ARGUMENTS_TAKE(cm_options, options, model && ret_dims, diagnostics);
    if (options == NULL) return CM_USAGE;
    struct arena *arena = arena_new("dims", 0);
    if (arena == NULL) return diag_no_memory(diagnostics);
    struct batch_table table = {0};
    struct cm_dims *dims = arena_alloc(arena, sizeof(*dims));
    int status = dims_bind(model->model, options, arena, diagnostics, &table);
    struct cm_named_size *list = arena_array(arena, table.n_symbols, sizeof(*list));
    for (size_t i = 0; list && i < table.n_symbols; i++) {
        const int64_t size = table.symbols[i].size;
        list[i] =
            (struct cm_named_size){table.symbols[i].name, is_known(size) ? size : CM_UNKNOWN};
    }
    if (arena_failed(arena)) status = diag_no_memory(diagnostics);
    if (status < 0 || dims == NULL) {
        arena_free(arena);
        return status;
    }
    *dims = (struct cm_dims){table.n_symbols, list, arena};
    *ret_dims = dims;
    return CM_OK;
}

void cm_dims_free(struct cm_dims *dims) {
    if (dims != NULL) arena_free(dims->arena);
}
