/* SPDX-License-Identifier: Apache-2.0 */
/* See system.h: files, folders and terminals of POSIX. */
#include "support/system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
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

void system_terminal_size(FILE *stream, int *ret_columns, int *ret_lines) {
    struct winsize size = {0};
    (void)ioctl(fileno(stream), TIOCGWINSZ, &size);
    *ret_columns = size.ws_col;
    *ret_lines = size.ws_row;
}

int system_open(const char *path) {
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

void system_expect_random_reads(int fd) {
#ifdef POSIX_FADV_RANDOM
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
#else
    (void)fd;
#endif
}

char *system_resolve(const char *path) {
    return realpath(path, NULL);
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

bool system_error_is_transient(int error) {
    static const int errors[] = {EIO,   EMFILE, ENFILE,    ENOMEM,  EAGAIN, EINTR,
                                 EBUSY, ENOSPC, ETIMEDOUT, ENOBUFS, ESTALE, EDQUOT};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i] == error) return true;
    return false;
}
