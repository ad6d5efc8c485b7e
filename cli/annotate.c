/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the annotated model; protects input files from being overwritten. */
#include "cli/annotate.h"

#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/request.h"
#include "cli/streams.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

int annotate_check(const struct invocation *call, const struct request *request) {
    const char *path = request->annotate;
    if (path == NULL || request->model == NULL) return CM_OK;
    if (text_equal(request->model, "-"))
        return options_fault(call,
                             "option --annotate requires the path of the model, standard input "
                             "cannot be read twice");
    if (text_equal(path, "-"))
        return options_fault(call, "option --annotate requires a file, got '-'");
    if (outputs_is_file(path, request->model))
        return options_fault(call, "annotated model '%s' is the model file", path);
    const int status = binding_check_output(call, &request->binding, path);
    if (status != CM_OK || request->output == NULL) return status;
    bool is_one = false;
    if (outputs_are_one(path, request->output, call->arena, &is_one) != CM_OK)
        return diag_no_memory(call->diag);
    if (is_one)
        return options_fault(call, "--output and --annotate are the same file '%s'", path);
    return CM_OK;
}

/* Warns if external weights would not be found: their paths are relative to the model's folder.
 */
static int warn_of_weights(const struct request *request, const struct cm_result *result,
                           struct cm_diagnostics *diag) {
    const struct cm_memory *memory = &result->memory;
    bool is_external = false;
    bool in_same_folder = false;
    for (size_t i = 0; i < memory->n_weights; i++)
        is_external |= text_equal(memory->weights[i].storage, "external");
    if (!is_external) return CM_OK;
    struct arena *arena = arena_new("path", 0);
    if (arena == NULL) return diag_no_memory(diag);
    const int status =
        outputs_share_folder(request->annotate, request->model, arena, &in_same_folder);
    arena_free(arena);
    if (status != CM_OK) return diag_no_memory(diag);
    if (in_same_folder) return CM_OK;
    diag_warn(diag, DIAG_IO,
              "the model has external weight files, which '%s' expects in its own folder",
              request->annotate);
    diag_hint(diag, "copy the weight files there, or write it to the folder of the model");
    return CM_OK;
}

/* Context of write_model. */
struct annotating {
    struct cm_model *model;
    const struct cm_result *result;
    struct cm_diagnostics *diag;
};

static int write_model(const void *context, FILE *out) {
    const struct annotating *annotating = context;
    return cm_model_annotate(annotating->model, annotating->result, annotating->diag, out);
}

int annotate_file(const struct request *request, struct cm_model *model,
                  const struct cm_result *result, struct cm_diagnostics *diag) {
    const struct annotating annotating = {model, result, diag};
    const int status = warn_of_weights(request, result, diag);
    if (status != CM_OK) return status;
    return streams_write(request->annotate, write_model, &annotating, diag);
}
