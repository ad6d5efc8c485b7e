/* SPDX-License-Identifier: Apache-2.0 */
/* Output of files: what all systems share. */
#include "support/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "costmodel/status.h"
#include "support/system.h"

int output_commit(struct output *output, struct cm_diagnostics *diag) {
    return output_commit_all(&output, 1, diag);
}

int output_flush(FILE *stream) {
    return fflush(stream) != 0 || ferror(stream) != 0 ? CM_IO : CM_OK;
}

int output_make_folder(const char *path, unsigned mode) {
    int error = 0;
    char *copy = strdup(path);
    if (copy == NULL) return ENOMEM;
    for (size_t i = 1; copy[i - 1] != '\0' && error == 0; i++) {
        const char end = copy[i];
        if (end != '/' && end != '\0') continue;
        copy[i] = '\0';
        const bool exists =
            access(copy, F_OK) == 0 || system_make_folder(copy, mode) == 0 || errno == EEXIST;
        error = exists ? 0 : errno;
        copy[i] = end;
    }
    free(copy);
    return error;
}
