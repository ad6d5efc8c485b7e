/* SPDX-License-Identifier: Apache-2.0 */
/* See system.h: files, folders and terminals of POSIX. */
#include "support/system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a closed descriptor with the wrong direction, so that using it fails with EBADF. */
static void open_if_closed(int fd, int flags) {
    if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) (void)open("/dev/null", flags);
}

void system_prepare_streams(void) {
    open_if_closed(STDIN_FILENO, O_WRONLY);
    open_if_closed(STDOUT_FILENO, O_RDONLY);
    open_if_closed(STDERR_FILENO, O_RDONLY);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

bool system_is_terminal(FILE *stream) {
    return isatty(fileno(stream)) == 1;
}

void system_terminal_size(FILE *stream, int *ret_columns, int *ret_lines) {
    struct winsize size = {0};
    (void)ioctl(fileno(stream), TIOCGWINSZ, &size);
    *ret_columns = size.ws_col;
    *ret_lines = size.ws_row;
}

int system_open(const char *path) {
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

ptrdiff_t system_read_at(int fd, void *buffer, size_t size, uint64_t offset) {
    return pread(fd, buffer, size, (off_t)offset);
}

void system_expect_random_reads(int fd) {
#ifdef POSIX_FADV_RANDOM
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
#else
    (void)fd;
#endif
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

char *system_resolve(const char *path) {
    return realpath(path, NULL);
}

int system_make_folder(const char *path, unsigned mode) {
    return mkdir(path, mode);
}

int system_lock_folder(const char *folder) {
    const int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return lock;
    (void)close(lock);
    return -2;
}

void system_unlock_folder(int lock) {
    if (lock >= 0) (void)close(lock);
}

bool system_error_text(int error, char *buffer, size_t size) {
    return strerror_r(error, buffer, size) == 0;
}

bool system_error_is_transient(int error) {
    static const int errors[] = {EIO,   EMFILE, ENFILE,    ENOMEM,  EAGAIN, EINTR,
                                 EBUSY, ENOSPC, ETIMEDOUT, ENOBUFS, ESTALE, EDQUOT};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i] == error) return true;
    return false;
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
