/* SPDX-License-Identifier: Apache-2.0 */
/* The public API: loads a model, runs the passes and assembles the result. */
#include "costmodel/costmodel.h"

#include <string.h>
#include <unistd.h>

#include "api/assemble.h"
#include "api/handle.h"
#include "api/profiling.h"
#include "frontend/load.h"
#include "ir/graph.h"
#include "ops/flops/names/convention_names.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

const struct cm_convention *cm_convention_at(size_t index) {
    return conventions_at(index);
}

/* Takes ownership of the source, also on failure. */
static int load_source(struct source *source, struct cm_diagnostics *diagnostics,
                       struct cm_model **ret_model) {
    size_t from = cm_diagnostics_count(diagnostics);
    struct arena *arena = arena_new("model", 0);
    struct cm_model *model = arena ? arena_alloc(arena, sizeof(*model)) : NULL;
    int status = CM_OK;
    if (!model) {
        arena_free(arena);
        source_close(source);
        return diag_no_memory(diagnostics);
    }
    *model = (struct cm_model){.arena = arena, .source = source};
    status = load_model(source, arena, diagnostics, &model->model);
    if (status == CM_OK) status = assemble_messages(diagnostics, from, arena, &model->notes);
    if (status < 0) {
        cm_model_free(model);
        return diag_finish(diagnostics, status);
    }
    *ret_model = model;
    return CM_OK;
}

#define TRANSFORMERS_EXPORT "optimum-cli export onnx FOLDER --model "

/* Opens a model file. If the path is a folder with a well-known file, adds a hint. */
static int open_file(const char *path, struct cm_diagnostics *diag, struct source **ret) {
    static const struct {
        const char *file;
        const char *before, *after; /* the hint, around the path of the folder */
    } known[] = {
        {"model.onnx", "give the model in it: ", "/model.onnx"},
        {"saved_model.pb",
         "a TensorFlow SavedModel, export it: python -m tf2onnx.convert --output model.onnx "
         "--saved-model ",
         ""},
        {"model.safetensors", "weights of Transformers, export them: " TRANSFORMERS_EXPORT, ""},
        {"model.safetensors.index.json",
         "weights of Transformers, export them: " TRANSFORMERS_EXPORT, ""},
        {"Manifest.json", "a Core ML package, export the original model to ONNX instead of ",
         ""},
    };
    const int status = source_open(path, diag, ret);
    struct arena *arena = status < 0 ? arena_new("folder", 0) : NULL;
    for (size_t i = 0; arena != NULL && i < sizeof(known) / sizeof(*known); i++) {
        const char *file = arena_printf(arena, "%s/%s", path, known[i].file);
        if (file == NULL || access(file, F_OK) != 0) continue;
        diag_hint(diag, "%s%s%s", known[i].before, path, known[i].after);
        break;
    }
    arena_free(arena);
    return status;
}

int model_load(const char *path, bool has_digest, struct cm_diagnostics *diag,
               struct cm_model **ret) {
    struct source *source = NULL;
    int status = open_file(path, diag, &source);
    if (status < 0) return status;
    if (has_digest) source_begin_digest(source);
    return load_source(source, diag, ret);
}

int cm_model_load_file(const char *path, struct cm_diagnostics *diagnostics,
                       struct cm_model **ret_model) {
    if (path == NULL || ret_model == NULL) return diag_null(diagnostics);
    return model_load(path, false, diagnostics, ret_model);
}

/* Detects a profile: JSON or HTML, which begin with '{' or '<', maybe after blanks. An ONNX
 * file begins with neither: as tags of fields, '{' and '<' would be groups, which proto3 lacks,
 * and a blank would be field 1 or 4 of ModelProto with a wrong wire type. */
static int is_profile(struct source *source, struct cm_diagnostics *diag, bool *ret) {
    static const char blanks[] = {' ', '\t', '\r', '\n'};
    const uint8_t *bytes = NULL;
    size_t size = 0;
    size_t i = 0;
    const int status = source_look(source, &bytes, &size, diag);
    if (status < 0) return status;
    while (i < size && memchr(blanks, bytes[i], sizeof blanks)) i++;
    /* HTML, but not XML such as "<?xml" or OpenVINO's "<net". */
    const bool is_page = i < size && bytes[i] == '<' &&
                         (size - i == 1 || (bytes[i + 1] != '?' && bytes[i + 1] != 'n'));
    *ret = is_page || (i < size && bytes[i] == '{');
    return CM_OK;
}

/* Takes ownership of the source, also on failure. */
static int read_profile(struct source *source, struct cm_diagnostics *diagnostics,
                        struct cm_result **ret_result) {
    struct arena *arena = arena_new("profile file", 0);
    char *text = NULL;
    size_t size = 0;
    int status = arena
                     ? source_read_all(source, FILE_MAX_JSON, arena, diagnostics, &text, &size)
                     : diag_no_memory(diagnostics);
    if (status == CM_OK)
        status = cm_result_read_json(text, size, source_name(source), diagnostics, ret_result);
    arena_free(arena);
    source_close(source);
    return status;
}

int cm_load_file(const char *path, struct cm_diagnostics *diagnostics,
                 struct cm_model **ret_model, struct cm_result **ret_result) {
    if (path == NULL || ret_model == NULL || ret_result == NULL) return diag_null(diagnostics);
    struct source *source = NULL;
    bool has_profile = false;
    int status = open_file(path, diagnostics, &source);
    if (status < 0) return status;
    status = is_profile(source, diagnostics, &has_profile);
    if (status < 0) {
        source_close(source);
        return status;
    }
    return has_profile ? read_profile(source, diagnostics, ret_result)
                       : load_source(source, diagnostics, ret_model);
}

int cm_model_load_memory(const void *data, size_t size, const char *name,
                         struct cm_diagnostics *diagnostics, struct cm_model **ret_model) {
    if ((data == NULL && size > 0) || name == NULL || ret_model == NULL)
        return diag_null(diagnostics);
    struct source *source = NULL;
    int status = source_open_memory(data, size, name, diagnostics, &source);
    return status < 0 ? status : load_source(source, diagnostics, ret_model);
}

void cm_model_free(struct cm_model *model) {
    if (!model) return;
    source_close(model->source);
    arena_free(model->arena);
}

const char *cm_model_path(const struct cm_model *model) {
    return model ? model->model->path : NULL;
}

int cm_model_profile(struct cm_model *model, const struct cm_options *options,
                     struct cm_diagnostics *diagnostics, struct cm_result **ret_result) {
    struct profiling profiling;
    options = ARGUMENTS_TAKE(cm_options, options, model && ret_result, diagnostics);
    if (options == NULL) return CM_USAGE;
    const size_t from = cm_diagnostics_count(diagnostics);
    int status = profiling_begin(&profiling, model, options, diagnostics);
    if (status == CM_OK)
        status = profiling_finish(&profiling, options, diagnostics, from, ret_result);
    if (status == CM_OK) profiling.result_arena = NULL; /* the result owns it */
    profiling_end(&profiling);
    return status;
}

void cm_result_free(struct cm_result *result) {
    if (result) arena_free(result->arena);
}
