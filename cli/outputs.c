/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of paths, and locks of folders. */
#include "cli/outputs.h"

#include "support/arena.h"
#include "support/diag.h"
#include "support/system.h"
#include "support/text.h"

static bool is_path(const char *path) {
    return path != NULL && !text_equal(path, "-");
}

bool outputs_is_file(const char *path, const char *other) {
    return is_path(path) && is_path(other) && system_is_same_file(path, other);
}

static const char *folder_of(const char *path, struct arena *arena) {
    const size_t length = system_folder_length(path);
    return length > 0 ? arena_strndup(arena, path, length) : "./";
}

static const char *name_of(const char *path) {
    return path + system_folder_length(path);
}

int outputs_share_folder(const char *path, const char *other, struct arena *arena, bool *ret) {
    const char *folder = folder_of(path, arena);
    const char *other_folder = folder_of(other, arena);
    if (folder == NULL || other_folder == NULL) return CM_NO_MEMORY;
    *ret = text_equal(folder, other_folder) || outputs_is_file(folder, other_folder);
    return CM_OK;
}

int outputs_are_one(const char *path, const char *other, struct arena *arena, bool *ret) {
    *ret = outputs_is_file(path, other);
    if (*ret || !is_path(path) || !is_path(other)) return CM_OK;
    if (!text_equal(name_of(path), name_of(other))) return CM_OK;
    return outputs_share_folder(path, other, arena, ret);
}

int outputs_keep_weights(const struct cm_model *model, const char *path,
                         struct cm_diagnostics *diag) {
    bool is_read = false;
    if (!is_path(path)) return CM_OK;
    const int status = cm_model_reads_file(model, path, diag, &is_read);
    if (status != CM_OK || !is_read) return status;
    return diag_error(diag, DIAG_USAGE, "output '%s' is a weight file of the model", path);
}

int outputs_lock_folder(const char *path, struct arena *arena, struct cm_diagnostics *diag,
                        int *ret) {
    const char *folder = folder_of(path, arena);
    if (folder == NULL) return diag_no_memory(diag);
    *ret = system_lock_folder(folder);
    if (*ret != -2) return CM_OK;
    return diag_error(diag, DIAG_IO, "another process updates '%s': run again", path);
}
