/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads constants from files. An external file must be inside the model's folder: its path
 * comes from the model, which is untrusted.
 */
#include "frontend/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

struct reader {
    struct source *source;
    const char *folder; /* of the model, "." if its path has none */
};

static const char *folder_of(const char *path, struct arena *arena) {
    const char *slash = strrchr(path, '/');
    if (!slash) return arena_strdup(arena, ".");
    return arena_strndup(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

static bool has_parent_step(const char *path) {
    for (const char *at = path; at; at = strchr(at, '/')) {
        if (*at == '/') at++;
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0')) return true;
    }
    return false;
}

/* Returns true if `path` is below `folder`, both with links resolved, or does not exist:
 * opening it reports that. */
static bool lies_below(const char *path, const char *folder) {
    char *real_path = realpath(path, NULL);
    bool is_missing = !real_path && errno == ENOENT;
    char *real_folder = realpath(folder, NULL);
    size_t length = real_folder ? strlen(real_folder) : 0;
    bool below = is_missing;
    below =
        below || (real_path && real_folder && strncmp(real_path, real_folder, length) == 0 &&
                  (real_path[length] == '/' || (length > 0 && real_folder[length - 1] == '/')));
    free(real_path);
    free(real_folder);
    return below;
}

/* Checked before opening, which would wait for the writer of a FIFO or rewind a tape. */
static int check_place(const char *path, const struct reader *reader,
                       const struct constant *constant, struct cm_diagnostics *diag) {
    struct stat status;
    if (!lies_below(path, reader->folder))
        return diag_error(diag, DIAG_VALUE,
                          "external data '%s' must not link outside the model's folder",
                          constant->location);
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return diag_error(diag, DIAG_VALUE, "external data '%s' must be a regular file",
                          constant->location);
    return CM_OK;
}

static int read_external(const struct reader *reader, const struct constant *constant,
                         void *buffer, size_t size, struct cm_diagnostics *diag) {
    struct source *source = NULL;
    if (constant->location[0] == '/' || has_parent_step(constant->location))
        return diag_error(diag, DIAG_VALUE,
                          "external data '%s' must be inside the model's folder",
                          constant->location);
    struct arena *scratch = arena_new("path", 0);
    const char *path =
        scratch ? arena_printf(scratch, "%s/%s", reader->folder, constant->location) : NULL;
    int status = path ? check_place(path, reader, constant, diag) : diag_no_memory(diag);
    if (status == CM_OK) status = source_open(path, diag, &source);
    if (status == CM_OK) status = source_read_at(source, constant->offset, buffer, size, diag);
    if (source) source_close(source);
    arena_free(scratch);
    return status;
}

static int read(void *context, const struct constant *constant, void *buffer, size_t size,
                struct cm_diagnostics *diag) {
    const struct reader *reader = context;
    if (constant->place == CONSTANT_EXTERNAL)
        return read_external(reader, constant, buffer, size, diag);
    return source_read_at(reader->source, constant->offset, buffer, size, diag);
}

int reader_make(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
                struct constant_reader *ret) {
    struct reader *reader = arena_alloc(arena, sizeof(*reader));
    const char *folder = folder_of(source_name(source), arena);
    if (!reader || !folder) return diag_no_memory(diag);
    *reader = (struct reader){.source = source, .folder = folder};
    *ret = (struct constant_reader){.read = read, .context = reader};
    return CM_OK;
}
