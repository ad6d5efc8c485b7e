/* SPDX-License-Identifier: Apache-2.0 */
/* See system.h: WebAssembly with the interface WASI preview 1, whose host opens all files. */
#include "support/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/absent.h"
#include "support/beneath.h"

void system_prepare_streams(void) {}

void system_terminal_size(FILE *stream, int *ret_columns, int *ret_lines) {
    (void)stream;
    *ret_columns = 0;
    *ret_lines = 0;
}

int system_open(const char *path) {
    return open(path, O_RDONLY | O_CLOEXEC);
}

void system_expect_random_reads(int fd) {
    (void)fd;
}

char *system_resolve(const char *path) { /* links are the host's */
    return access(path, F_OK) == 0 ? strdup(path) : NULL;
}

int system_lock_folder(const char *folder) {
    (void)folder;
    return -1;
}

void system_unlock_folder(int lock) {
    (void)lock;
}

bool system_error_is_transient(int error) {
    return error == EIO || error == ENOMEM || error == EAGAIN || error == EINTR ||
           error == ENOSPC;
}

/* The host lets no path leave the folders that it gave to the program. */
int beneath_open(const char *folder, const char *path) {
    char *name = NULL;
    const size_t length = strlen(folder) + strlen(path) + 2;
    if (path[0] == '/' || strcmp(path, "..") == 0 || strncmp(path, "../", 3) == 0 ||
        strstr(path, "/../") != NULL) {
        errno = EXDEV;
        return -1;
    }
    name = malloc(length);
    if (name == NULL) return -1;
    (void)snprintf(name, length, "%s/%s", folder, path);
    const int fd = system_open(name);
    free(name);
    return fd;
}

FILE *absent_create(const char *path) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd < 0 ? NULL : fdopen(fd, "w");
}

int absent_sync(FILE *stream) {
    return fsync(fileno(stream));
}

int absent_rename(const char *from, const char *to) {
    return rename(from, to);
}
