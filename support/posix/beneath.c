/* SPDX-License-Identifier: Apache-2.0 */
/* See beneath.h. Uses openat2 with RESOLVE_BENEATH on Linux 5.6 or newer, else opens the path
 * step by step. */
#include "support/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif
#endif

#define OPEN_FILE (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
#ifdef O_PATH /* requires no permission to list the folder */
#define OPEN_FOLDER (O_PATH | O_CLOEXEC | O_DIRECTORY)
#else
#define OPEN_FOLDER (O_RDONLY | O_CLOEXEC | O_DIRECTORY)
#endif

/* Closes fd and keeps errno. Returns -1. */
static int close_failed(int fd) {
    const int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

/* Returns true for an absolute path and one with a step "..". */
static bool leaves_folder(const char *path) {
    if (*path == '/') return true;
    for (const char *at = path; at; at = strchr(at, '/')) {
        if (*at == '/') at++;
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0')) return true;
    }
    return false;
}

int beneath_open_steps(const char *folder, const char *path) {
    if (leaves_folder(path)) {
        errno = EXDEV;
        return -1;
    }
    char step[NAME_MAX + 1];
    int at = open(folder, OPEN_FOLDER);
    if (at < 0) return -1;
    for (;;) {
        const size_t length = strcspn(path, "/");
        const char *next = path + length + strspn(path + length, "/");
        const int flags = *next != '\0' ? OPEN_FOLDER : OPEN_FILE;
        if (length >= sizeof step) {
            errno = ENAMETOOLONG;
            return close_failed(at);
        }
        memcpy(step, path, length);
        step[length] = '\0';
        const int fd = openat(at, step, flags | O_NOFOLLOW);
        (void)close_failed(at);
        if (fd < 0 || *next == '\0') return fd;
        at = fd;
        path = next;
    }
}

/* Opens the path step by step if the kernel lacks openat2 (ENOSYS, before 5.6), if a container
 * forbids it (EPERM), or if a folder was renamed concurrently (EAGAIN). */
int beneath_open(const char *folder, const char *path) {
#ifdef SYS_openat2
    const struct open_how how = {
        .flags = OPEN_FILE,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    const int at = leaves_folder(path) ? -1 : open(folder, OPEN_FOLDER);
    if (at >= 0) {
        const long fd = syscall(SYS_openat2, at, path, &how, sizeof how);
        (void)close_failed(at);
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EAGAIN)) return (int)fd;
    }
#endif
    return beneath_open_steps(folder, path);
}
