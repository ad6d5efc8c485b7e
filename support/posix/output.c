/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic file output. The temporary file is in the folder of the target, because rename is
 * atomic only within one file system. It has no name until it is complete, so that
 * nothing is left if a signal ends the program (docs/decisions/temporary-files.md).
 *
 * Static functions return 0 or an errno value, except those that return a descriptor. */
#include "support/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/diag.h"
#include "support/system.h"

#define MAX_LINKS    40 /* symbolic links followed for one path, the limit of Linux */
#define MAX_ATTEMPTS 100

struct output {
    FILE *stream;
    char target[PATH_MAX];
    bool is_temporary;     /* the stream writes a file that replaces the target */
    char name[PATH_MAX];   /* of the complete temporary file; "": none yet */
    char backup[PATH_MAX]; /* link to the replaced file, of several outputs; "": none */
    bool is_replaced;      /* the target is the new file */
};

/* Replaces output->target, while it is a symbolic link, by the link's target, so that commit
 * replaces the file itself. */
static int resolve_links(struct output *output) {
    struct stat status;
    char next[PATH_MAX];
    char link[PATH_MAX];
    for (int i = 0; i < MAX_LINKS; i++) {
        if (lstat(output->target, &status) != 0 || !S_ISLNK(status.st_mode)) return 0;
        const ssize_t length = readlink(output->target, link, sizeof link - 1);
        if (length < 0) return errno;
        link[length] = '\0';
        const int folder = link[0] == '/' ? 0 : (int)system_folder_length(output->target);
        const int n = snprintf(next, sizeof next, "%.*s%s", folder, output->target, link);
        if (n < 0 || (size_t)n >= sizeof next) return ENAMETOOLONG;
        memcpy(output->target, next, (size_t)n + 1);
    }
    return ELOOP;
}

/* Writes the name of a temporary file in the folder of the target, a different one for each
 * attempt. */
static int name_temporary(const struct output *output, int attempt, char name[PATH_MAX]) {
    const int folder = (int)system_folder_length(output->target);
    const int n = snprintf(name, PATH_MAX, "%.*s.costmodel-%ld-%d", folder, output->target,
                           (long)getpid(), attempt);
    return n < 0 || n >= PATH_MAX ? ENAMETOOLONG : 0;
}

/* Blocks the signals that end a program, while a temporary file has a name. Sets *ret_before to
 * the previous mask. */
static void block_signals(sigset_t *ret_before) {
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &ending, ret_before);
}

/* Creates a file and removes its name. Returns a descriptor, or -1 with errno. */
static int create_unlinked(const struct output *output) {
    char name[PATH_MAX];
    sigset_t before;
    int fd = -1;
    int error = EEXIST;
    block_signals(&before);
    for (int i = 0; i < MAX_ATTEMPTS && error == EEXIST; i++) {
        error = name_temporary(output, i, name);
        if (error != 0) break;
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        error = fd < 0 ? errno : 0;
    }
    if (fd >= 0) (void)unlink(name);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return fd;
}

/* Creates a file without a name in the folder of the target; the umask sets its permissions.
 * Returns a descriptor, or -1 with errno. */
static int create_unnamed(const struct output *output) {
#ifdef O_TMPFILE
    char folder[PATH_MAX];
    const int length = (int)system_folder_length(output->target);
    const int n = snprintf(folder, sizeof folder, "%.*s.", length, output->target);
    const int fd = n < 0 || (size_t)n >= sizeof folder
                       ? -1
                       : open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
    if (fd >= 0) return fd;
#endif
    return create_unlinked(output); /* the file system has no unnamed files */
}

/* Opens the stream to a temporary file. `replaced` describes the file at the target (NULL:
 * none): the new file inherits its permissions; a read-only file is not replaced. */
static int open_beside(struct output *output, const struct stat *replaced) {
    if (replaced != NULL && access(output->target, W_OK) != 0) return errno;
    const int fd = create_unnamed(output);
    if (fd < 0) return errno;
    output->is_temporary = true;
    if (replaced != NULL) (void)fchmod(fd, replaced->st_mode & 0777);
    output->stream = fdopen(fd, "w");
    if (output->stream != NULL) return 0;
    const int error = errno;
    close(fd);
    return error;
}

int output_open(const char *path, struct cm_diagnostics *diag, struct output **ret) {
    struct stat status;
    struct output *output = calloc(1, sizeof *output);
    if (output == NULL) return diag_no_memory(diag);
    const size_t length = strlen(path);
    int error = length < sizeof output->target ? 0 : ENAMETOOLONG;
    if (length == 0) error = ENOENT;
    if (error == 0) {
        memcpy(output->target, path, length + 1);
        error = resolve_links(output);
    }
    if (error == 0) {
        const bool exists = stat(output->target, &status) == 0;
        if (!exists || S_ISREG(status.st_mode)) {
            error = open_beside(output, exists ? &status : NULL);
        } else {
            output->stream = fopen(output->target, "w");
            error = output->stream == NULL ? errno : 0;
        }
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

/* Flushes the file to the disk. A file system without fsync is not an error. */
static int sync_file(int fd) {
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

static int copy_bytes(int from, int to) {
    char bytes[4096];
    off_t at = 0;
    for (;;) {
        const ssize_t n = pread(from, bytes, sizeof bytes, at);
        if (n <= 0) return n < 0 ? errno : sync_file(to);
        const ssize_t written = write(to, bytes, (size_t)n);
        if (written < 0) return errno;
        at += written;
        if (written < n && lseek(to, at, SEEK_SET) < 0) return errno;
    }
}

/* Gives the open file `from`, which has no name, the name `name`: by a link, else by a copy. */
static int name_file(int from, const char *name) {
    struct stat status;
    char open_file[32];
    (void)snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", from);
    if (linkat(AT_FDCWD, open_file, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) return 0;
    if (errno == EEXIST) return EEXIST;
    if (fstat(from, &status) != 0) return errno;
    const int to = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0) return errno;
    int error = copy_bytes(from, to);
    if (fchmod(to, status.st_mode & 0777) != 0 && error == 0) error = errno;
    if (close(to) != 0 && error == 0) error = errno;
    if (error != 0) (void)unlink(name);
    return error;
}

/* Completes the temporary file and gives it a name. */
static int name_complete(struct output *output) {
    int error = ferror(output->stream) ? EIO : 0; /* an earlier write failed */
    if (error == 0 && fflush(output->stream) != 0) error = errno;
    if (error != 0 || !output->is_temporary) return error;
    /* After a crash the target must not be an incomplete file. */
    error = sync_file(fileno(output->stream));
    if (error != 0) return error;
    error = EEXIST;
    for (int i = 0; i < MAX_ATTEMPTS && error == EEXIST; i++) {
        error = name_temporary(output, i, output->name);
        if (error == 0) error = name_file(fileno(output->stream), output->name);
    }
    if (error != 0) output->name[0] = '\0';
    return error;
}

/* Links the file at the target to a temporary name, if it exists. */
static int back_up(struct output *output) {
    int error = EEXIST;
    if (!output->is_temporary || access(output->target, F_OK) != 0) return 0;
    for (int i = 0; i < MAX_ATTEMPTS && error == EEXIST; i++) {
        error = name_temporary(output, i, output->backup);
        if (error == 0 && link(output->target, output->backup) != 0) error = errno;
    }
    if (error != 0) output->backup[0] = '\0';
    return error;
}

static int replace_target(struct output *output) {
    if (!output->is_temporary) return 0;
    if (rename(output->name, output->target) != 0) return errno;
    output->name[0] = '\0';
    output->is_replaced = true;
    return 0;
}

/* Removes the temporary names. If the commit failed, restores the target. */
static void clean_up(struct output *output, bool failed) {
    if (failed && output->is_replaced)
        (void)(output->backup[0] ? rename(output->backup, output->target)
                                 : unlink(output->target));
    else if (output->backup[0] != '\0')
        (void)unlink(output->backup);
    if (output->name[0] != '\0') (void)unlink(output->name);
}

int output_commit_all(struct output *const *outputs, size_t n, struct cm_diagnostics *diag) {
    static int (*const steps[])(struct output *) = {name_complete, back_up, replace_target};
    const char *target = "";
    sigset_t before;
    int error = 0;
    block_signals(&before);
    for (size_t step = 0; step < sizeof steps / sizeof *steps; step++) {
        if (n == 1 && steps[step] == back_up) continue;
        for (size_t i = 0; i < n && error == 0; i++) {
            target = outputs[i]->target;
            error = steps[step](outputs[i]);
        }
    }
    const int status = error == 0 ? CM_OK : diag_system(diag, "write", target, error);
    for (size_t i = 0; i < n; i++) {
        clean_up(outputs[i], error != 0);
        output_abandon(outputs[i]);
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

void output_abandon(struct output *output) {
    if (output == NULL) return;
    if (output->stream != NULL) fclose(output->stream);
    free(output);
}

int output_commit_open(struct output *output, struct cm_diagnostics *diag, int *ret_fd) {
    *ret_fd = fcntl(fileno(output->stream), F_DUPFD_CLOEXEC, 0);
    if (*ret_fd >= 0) return output_commit_all(&output, 1, diag);
    const int status = diag_system(diag, "open", output->target, errno);
    output_abandon(output);
    return status;
}
