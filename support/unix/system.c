/* SPDX-License-Identifier: Apache-2.0 */
/* See system.h: what POSIX and WASI share. */
#include "support/system.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool system_is_terminal(FILE *stream) {
    return isatty(fileno(stream)) == 1;
}

ptrdiff_t system_read_at(int fd, void *buffer, size_t size, uint64_t offset) {
    return pread(fd, buffer, size, (off_t)offset);
}

size_t system_folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

bool system_is_same_file(const char *path, const char *other) {
    struct stat one;
    struct stat two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

int system_make_folder(const char *path, unsigned mode) {
    return mkdir(path, mode);
}

bool system_error_text(int error, char *buffer, size_t size) {
    return strerror_r(error, buffer, size) == 0;
}

bool memory_stream_open(struct memory_stream *stream) {
    *stream = (struct memory_stream){.text = NULL};
    stream->out = open_memstream(&stream->text, &stream->size);
    return stream->out != NULL;
}

bool memory_stream_close(struct memory_stream *stream) {
    const bool failed = ferror(stream->out) != 0;
    return fclose(stream->out) == 0 && !failed;
}
