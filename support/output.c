/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic file output. The temporary file is in the folder of the target, because rename is
 * atomic only within one file system.
 */
#include "support/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/diag.h"

#include "support/banned.h"

#define MAX_LINKS    40 /* as Linux counts them */
#define MAX_ATTEMPTS 100

struct output {
    FILE *stream;
    char target[PATH_MAX];
    char temporary[PATH_MAX]; /* "": the target is written directly */
};

/* Returns the length of `path` up to its last slash, inclusive; 0 if it has none. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Replaces output->target, a symbolic link, by its target. Returns 0 or an errno. */
static int follow_link(struct output *output) {
    char next[PATH_MAX];
    char link[PATH_MAX];
    const ssize_t length = readlink(output->target, link, sizeof link - 1);
    if (length < 0) return errno;
    link[length] = '\0';
    const int folder = link[0] == '/' ? 0 : (int)folder_length(output->target);
    const int n = snprintf(next, sizeof next, "%.*s%s", folder, output->target, link);
    if (n < 0 || (size_t)n >= sizeof next) return ENAMETOOLONG;
    memcpy(output->target, next, (size_t)n + 1);
    return 0;
}

/* Follows links to the file itself, so that commit replaces the file and not a link. Returns 0
 * or an errno. */
static int resolve_links(struct output *output) {
    struct stat status;
    for (int i = 0; i < MAX_LINKS; i++) {
        if (lstat(output->target, &status) != 0 || !S_ISLNK(status.st_mode)) return 0;
        const int error = follow_link(output);
        if (error != 0) return error;
    }
    return ELOOP;
}

/* Creates a file with a unique name in the folder of the target, with permissions by the umask.
 * Returns a descriptor, or -1 with errno. */
static int create_temporary(struct output *output) {
    const int folder = (int)folder_length(output->target);
    int fd = -1;
    for (int i = 0; i < MAX_ATTEMPTS && fd < 0; i++) {
        const int n =
            snprintf(output->temporary, sizeof output->temporary, "%.*s.costmodel-%ld-%d",
                     folder, output->target, (long)getpid(), i);
        if (n < 0 || (size_t)n >= sizeof output->temporary) errno = ENAMETOOLONG;
        if (n < 0 || (size_t)n >= sizeof output->temporary) break;
        fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    if (fd < 0) output->temporary[0] = '\0';
    return fd;
}

/* Opens the stream to a temporary file. The new file inherits the permissions of the old one; a
 * read-only file is not replaced. Returns 0 or an errno. */
static int open_beside(struct output *output, const struct stat *replaced) {
    if (replaced != NULL && access(output->target, W_OK) != 0) return errno;
    const int fd = create_temporary(output);
    if (fd < 0) return errno;
    if (replaced != NULL) (void)fchmod(fd, replaced->st_mode & 0777);
    output->stream = fdopen(fd, "w");
    if (output->stream != NULL) return 0;
    const int error = errno;
    close(fd);
    return error;
}

static int open_directly(struct output *output) {
    output->stream = fopen(output->target, "w");
    return output->stream == NULL ? errno : 0;
}

/* Returns 0 or an errno. */
static int open_target(struct output *output) {
    struct stat status;
    const int error = resolve_links(output);
    if (error != 0) return error;
    if (stat(output->target, &status) != 0) return open_beside(output, NULL);
    return S_ISREG(status.st_mode) ? open_beside(output, &status) : open_directly(output);
}

int output_open(const char *path, struct cm_diagnostics *diag, struct output **ret) {
    struct output *output = calloc(1, sizeof *output);
    if (output == NULL) return diag_no_memory(diag);
    const size_t length = strlen(path);
    int error = length < sizeof output->target ? 0 : ENAMETOOLONG;
    if (length == 0) error = ENOENT;
    if (error == 0) {
        memcpy(output->target, path, length + 1);
        error = open_target(output);
    }
    if (error != 0) {
        output_abandon(output);
        return diag_system(diag, "write", path, error);
    }
    *ret = output;
    return CM_OK;
}

FILE *output_stream(struct output *output) {
    return output->stream;
}

/* Flushes and closes the stream. Returns 0 or an errno; EIO if an earlier write failed. */
static int close_stream(struct output *output) {
    int error = ferror(output->stream) ? EIO : 0;
    if (fflush(output->stream) != 0) error = errno;
    if (fclose(output->stream) != 0 && error == 0) error = errno;
    output->stream = NULL;
    return error;
}

int output_commit(struct output *output, struct cm_diagnostics *diag) {
    int status = CM_OK;
    int error = close_stream(output);
    if (error == 0 && output->temporary[0] != '\0') {
        if (rename(output->temporary, output->target) != 0) error = errno;
        if (error == 0) output->temporary[0] = '\0';
    }
    if (error != 0) status = diag_system(diag, "write", output->target, error);
    output_abandon(output);
    return status;
}

void output_abandon(struct output *output) {
    if (output == NULL) return;
    if (output->stream != NULL) fclose(output->stream);
    if (output->temporary[0] != '\0') unlink(output->temporary);
    free(output);
}

int output_flush(FILE *stream) {
    return fflush(stream) != 0 || ferror(stream) != 0 ? CM_IO : CM_OK;
}
