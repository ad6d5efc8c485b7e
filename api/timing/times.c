/* SPDX-License-Identifier: Apache-2.0 */
/* --times: reads files of times that another tool measured. */
#include "costmodel/times.h"

#include "backends/times/times.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"

int cm_times_load_memory(const char *text, size_t size, const char *name,
                         struct cm_diagnostics *diagnostics, struct cm_times **ret_times) {
    if (text == NULL || name == NULL || ret_times == NULL) return diag_null(diagnostics);
    struct arena *arena = arena_new("times", 0);
    if (arena == NULL) return diag_no_memory(diagnostics);
    struct cm_times *times = arena_alloc(arena, sizeof(*times));
    const char *path = arena_strdup(arena, name);
    struct diag_frame frame = {.label = "in", .what = name};
    int status = CM_NO_MEMORY;
    if (times != NULL && path != NULL) {
        *times = (struct cm_times){.arena = arena, .path = path};
        diag_push(diagnostics, &frame);
        status = times_read(text, size, diagnostics, times);
        diag_pop(diagnostics, &frame);
    }
    if (arena_failed(arena) && status != CM_REFUSED) status = diag_no_memory(diagnostics);
    if (status == CM_OK)
        *ret_times = times;
    else
        arena_free(arena);
    return status;
}

int cm_times_load_file(const char *path, struct cm_diagnostics *diagnostics,
                       struct cm_times **ret_times) {
    if (path == NULL || ret_times == NULL) return diag_null(diagnostics);
    struct arena *arena = arena_new("times text", 0);
    char *text = NULL;
    size_t size = 0;
    int status = source_read_file(path, FILE_MAX_JSON, arena, diagnostics, &text, &size);
    if (status == CM_OK)
        status = cm_times_load_memory(text, size, path, diagnostics, ret_times);
    arena_free(arena);
    return status;
}

void cm_times_free(struct cm_times *times) {
    if (times) arena_free(times->arena);
}
