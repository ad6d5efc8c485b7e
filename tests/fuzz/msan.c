/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSan of clang 14 does not intercept the stat functions of glibc 2.33 and later, and treats
 * their output as uninitialised.
 */
#include <fcntl.h>
#include <sanitizer/msan_interface.h>
#include <sys/stat.h>

int stat(const char *restrict path, struct stat *restrict ret) {
    const int status = fstatat(AT_FDCWD, path, ret, 0);
    __msan_unpoison(ret, sizeof(*ret));
    return status;
}

int lstat(const char *restrict path, struct stat *restrict ret) {
    const int status = fstatat(AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW);
    __msan_unpoison(ret, sizeof(*ret));
    return status;
}

int fstat(int descriptor, struct stat *ret) {
    const int status = fstatat(descriptor, "", ret, 0x1000 /* AT_EMPTY_PATH, of Linux */);
    __msan_unpoison(ret, sizeof(*ret));
    return status;
}
