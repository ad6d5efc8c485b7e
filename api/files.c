/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a path is a file of the model, so that it is not overwritten. */
#include "costmodel/costmodel.h"

#include <string.h>
#include <sys/stat.h>

#include "api/handle.h"
#include "ir/graph.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

struct question {
    struct arena *arena;
    const char *folder; /* of the model, with a trailing slash */
    struct stat asked;
    const char *last; /* location checked last: most tensors share one */
};

static bool is_same_file(const struct question *question, const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && found.st_dev == question->asked.st_dev &&
           found.st_ino == question->asked.st_ino;
}

static int ask_constant(struct question *question, const struct constant *constant, bool *ret) {
    if (constant == NULL || constant->place != CONSTANT_EXTERNAL || *ret) return CM_OK;
    if (question->last && text_equal(question->last, constant->location)) return CM_OK;
    const struct arena_mark mark = arena_save(question->arena);
    const char *path =
        arena_printf(question->arena, "%s%s", question->folder, constant->location);
    if (path == NULL) return CM_NO_MEMORY;
    *ret = is_same_file(question, path);
    arena_restore(question->arena, mark);
    question->last = constant->location;
    return CM_OK;
}

static int ask_all(struct question *question, const struct model *model, bool *ret) {
    int status = CM_OK;
    for (size_t i = 0; i < model->n_values && status == CM_OK; i++)
        status = ask_constant(question, model->values[i].constant, ret);
    for (size_t i = 0; i < model->n_nodes; i++)
        for (size_t a = 0; a < model->nodes[i].n_attrs; a++) {
            const struct attr *attr = &model->nodes[i].attrs[a];
            if (attr->kind != ATTR_TENSOR && attr->kind != ATTR_TENSORS) continue;
            for (size_t k = 0; k < attr->n && status == CM_OK; k++)
                status = ask_constant(question, attr->tensors[k], ret);
        }
    return status;
}

int cm_model_reads_file(const struct cm_model *model, const char *path,
                        struct cm_diagnostics *diagnostics, bool *ret) {
    if (model == NULL || path == NULL || ret == NULL) return diag_null(diagnostics);
    struct question question = {.last = NULL};
    const char *of_model = model->model->path;
    const char *slash = strrchr(of_model, '/');
    const size_t length = slash ? (size_t)(slash - of_model) + 1 : 0;
    bool reads = false;
    int status = CM_NO_MEMORY;
    if (stat(path, &question.asked) != 0) {
        *ret = false;
        return CM_OK;
    }
    question.arena = arena_new("files", 0);
    if (question.arena != NULL)
        question.folder = arena_strndup(question.arena, of_model, length);
    if (question.folder != NULL) {
        reads = is_same_file(&question, of_model);
        status = ask_all(&question, model->model, &reads);
    }
    arena_free(question.arena);
    if (status != CM_OK) return diag_no_memory(diagnostics);
    *ret = reads;
    return CM_OK;
}
