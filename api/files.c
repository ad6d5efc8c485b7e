/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a path is a file of the model, so that it is not overwritten. */
#include "costmodel/costmodel.h"

#include "api/handle.h"
#include "ir/graph.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/system.h"
#include "support/text.h"

struct file_query {
    struct arena *arena;
    const char *folder; /* of the model, with a trailing slash */
    const char *asked;
    const char *last; /* location checked last: most tensors share one */
};

/* Sets *ret to true if the file contains the external data of the constant. */
static int ask_constant(struct file_query *query, const struct constant *constant, bool *ret) {
    if (constant == NULL || constant->place != CONSTANT_EXTERNAL || *ret) return CM_OK;
    if (query->last && text_equal(query->last, constant->location)) return CM_OK;
    const struct arena_mark mark = arena_save(query->arena);
    const char *path = arena_printf(query->arena, "%s%s", query->folder, constant->location);
    if (path == NULL) return CM_NO_MEMORY;
    *ret = system_is_same_file(path, query->asked);
    arena_restore(query->arena, mark);
    query->last = constant->location;
    return CM_OK;
}

static int ask_all(struct file_query *query, const struct model *model, bool *ret) {
    int status = CM_OK;
    for (size_t i = 0; i < model->n_values && status == CM_OK; i++)
        status = ask_constant(query, model->values[i].constant, ret);
    for (size_t i = 0; i < model->n_nodes; i++)
        for (size_t a = 0; a < model->nodes[i].n_attrs; a++) {
            const struct attr *attr = &model->nodes[i].attrs[a];
            if (attr->kind != ATTR_TENSOR && attr->kind != ATTR_TENSORS) continue;
            for (size_t k = 0; k < attr->n && status == CM_OK; k++)
                status = ask_constant(query, attr->tensors[k], ret);
        }
    return status;
}

int cm_model_reads_file(const struct cm_model *model, const char *path,
                        struct cm_diagnostics *diagnostics, bool *ret) {
    if (model == NULL || path == NULL || ret == NULL) return diag_null(diagnostics);
    struct file_query query = {.asked = path};
    const char *of_model = model->model->path;
    const size_t length = system_folder_length(of_model);
    bool reads = false;
    int status = CM_NO_MEMORY;
    query.arena = arena_new("files", 0);
    if (query.arena != NULL) query.folder = arena_strndup(query.arena, of_model, length);
    if (query.folder != NULL) {
        reads = system_is_same_file(of_model, path);
        status = ask_all(&query, model->model, &reads);
    }
    arena_free(query.arena);
    if (status != CM_OK) return diag_no_memory(diagnostics);
    *ret = reads;
    return CM_OK;
}
