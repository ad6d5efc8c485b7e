/* SPDX-License-Identifier: Apache-2.0 */
/* Reads constants from files. An external file must be inside the model's folder: its path
 * comes from the model, which is untrusted. */
#include "frontend/reader.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/arena.h"
#include "support/beneath.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/system.h"

struct reader {
    struct source *source;
    const char *folder; /* of the model, "." if its path has none */
};

/* Returns why the file cannot be opened, as a part of a message; NULL for a system error. */
static const char *reason_of(int error) {
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return "was not found";
    case EXDEV:
        return "leads outside the model's folder";
    case ELOOP:
        return "is a symbolic link that is not followed";
    case EACCES:
        return "must not be read: permission denied";
    default:
        return NULL;
    }
}

/* Opens the external file. Checks the open descriptor, not the path: the file behind a path may
 * change between a check and opening it. Sets *ret_reason, and not *ret, if the file cannot be
 * used. */
static int open_external(const struct reader *reader, const struct constant *constant,
                         struct cm_diagnostics *diag, struct source **ret,
                         const char **ret_reason) {
    struct stat status;
    const int fd = beneath_open(reader->folder, constant->location);
    if (fd < 0) {
        *ret_reason = reason_of(errno);
        return *ret_reason ? CM_OK : diag_system(diag, "open", constant->location, errno);
    }
    if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode)) {
        *ret_reason = "is not a regular file";
        (void)close(fd);
        return CM_OK;
    }
    return source_open_descriptor(fd, constant->location, diag, ret);
}

static int read_constant(void *context, const struct constant *constant, void *buffer,
                         size_t size, struct cm_diagnostics *diag, const char **ret_reason) {
    const struct reader *reader = context;
    if (constant->place == CONSTANT_EXTERNAL) {
        struct source *source = NULL;
        int status = open_external(reader, constant, diag, &source, ret_reason);
        if (status == CM_OK && source && size > 0)
            status = source_read_at(source, constant->offset, buffer, size, diag);
        source_close(source);
        return status;
    }
    if (!source_can_seek(reader->source)) {
        *ret_reason = "were skipped, and a pipe cannot be read twice";
        return CM_OK;
    }
    return size == 0 ? CM_OK
                     : source_read_at(reader->source, constant->offset, buffer, size, diag);
}

int reader_make(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
                struct constant_reader *ret) {
    struct reader *reader = arena_alloc(arena, sizeof(*reader));
    const char *path = source_name(source);
    const size_t length = system_folder_length(path);
    const char *folder = length > 0 ? arena_strndup(arena, path, length) : ".";
    if (!reader || !folder) return diag_no_memory(diag);
    *reader = (struct reader){.source = source, .folder = folder};
    *ret = (struct constant_reader){.read = read_constant, .context = reader};
    return CM_OK;
}
