/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic file output without links and unnamed files. The temporary file has a name, in the
 * folder of the target, from the start: a program that is killed leaves it.
 *
 * Static functions return 0 or an errno value. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/absent.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/system.h"

#define MAX_ATTEMPTS    1000
#define MAX_PATH_LENGTH 4096

struct output {
    FILE *stream;
    bool is_temporary; /* the stream writes a file that replaces the target */
    bool is_replaced;  /* the target is the new file */
    char target[MAX_PATH_LENGTH];
    char name[MAX_PATH_LENGTH];   /* of the temporary file; "": none */
    char backup[MAX_PATH_LENGTH]; /* of the replaced file, of several outputs; "": none */
};

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

/* Writes a name beside the target that no file has. */
static int name_beside(const struct output *output, const char *use, int attempt,
                       char name[MAX_PATH_LENGTH]) {
    const int n =
        snprintf(name, MAX_PATH_LENGTH, "%.*s.costmodel-%s-%d",
                 (int)system_folder_length(output->target), output->target, use, attempt);
    return n < 0 || n >= MAX_PATH_LENGTH ? ENAMETOOLONG : 0;
}

static int open_beside(struct output *output) {
    int error = EEXIST;
    if (exists(output->target) && access(output->target, W_OK) != 0) return errno;
    for (int i = 0; i < MAX_ATTEMPTS && error == EEXIST; i++) {
        error = name_beside(output, "new", i, output->name);
        if (error != 0) break;
        output->stream = absent_create(output->name);
        error = output->stream == NULL ? errno : 0;
    }
    output->is_temporary = error == 0;
    if (error != 0) output->name[0] = '\0';
    return error;
}

int output_open(const char *path, struct cm_diagnostics *diag, struct output **ret) {
    struct stat status;
    const size_t length = strlen(path);
    struct output *output = calloc(1, sizeof *output);
    if (output == NULL) return diag_no_memory(diag);
    int error = length == 0 ? ENOENT : length < sizeof output->target ? 0 : ENAMETOOLONG;
    if (error == 0) {
        memcpy(output->target, path, length + 1);
        if (stat(path, &status) != 0 || S_ISREG(status.st_mode)) {
            error = open_beside(output);
        } else {
            output->stream = fopen(path, "wb");
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

/* Writes everything to the disk and closes the file. */
static int complete(struct output *output) {
    int error = ferror(output->stream) ? EIO : 0; /* an earlier write failed */
    if (error == 0 && fflush(output->stream) != 0) error = errno;
    /* A file system without fsync is not an error. */
    if (error == 0 && output->is_temporary && absent_sync(output->stream) != 0 &&
        errno != EINVAL && errno != ENOTSUP && errno != ENOSYS)
        error = errno;
    if (fclose(output->stream) != 0 && error == 0) error = errno;
    output->stream = NULL;
    return error;
}

static int back_up(struct output *output) {
    int error = EEXIST;
    if (!output->is_temporary || !exists(output->target)) return 0;
    for (int i = 0; i < MAX_ATTEMPTS && error == EEXIST; i++) {
        error = name_beside(output, "old", i, output->backup);
        if (error == 0 && exists(output->backup)) error = EEXIST;
    }
    if (error == 0 && absent_rename(output->target, output->backup) != 0) error = errno;
    if (error != 0) output->backup[0] = '\0';
    return error;
}

static int replace_target(struct output *output) {
    if (!output->is_temporary) return 0;
    if (absent_rename(output->name, output->target) != 0) return errno;
    output->name[0] = '\0';
    output->is_replaced = true;
    return 0;
}

/* Removes the backup. If the commit failed, restores the target. */
static void clean_up(struct output *output, bool failed) {
    if (failed && output->backup[0] != '\0')
        (void)absent_rename(output->backup, output->target);
    else if (failed && output->is_replaced)
        (void)unlink(output->target);
    else if (output->backup[0] != '\0')
        (void)unlink(output->backup);
}

int output_commit_all(struct output *const *outputs, size_t n, struct cm_diagnostics *diag) {
    static int (*const steps[])(struct output *) = {complete, back_up, replace_target};
    const char *target = "";
    int error = 0;
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
    return status;
}

int output_commit_open(struct output *output, struct cm_diagnostics *diag, int *ret_fd) {
    char target[MAX_PATH_LENGTH];
    memcpy(target, output->target, strlen(output->target) + 1);
    const int status = output_commit_all(&output, 1, diag);
    if (status != CM_OK) return status;
    *ret_fd = open(target, O_WRONLY | O_APPEND
#ifdef O_BINARY
                               | O_BINARY
#endif
    );
    return *ret_fd >= 0 ? CM_OK : diag_system(diag, "open", target, errno);
}

void output_abandon(struct output *output) {
    if (output == NULL) return;
    if (output->stream != NULL) fclose(output->stream);
    if (output->name[0] != '\0') (void)unlink(output->name);
    free(output);
}
