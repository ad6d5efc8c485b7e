/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSan of clang 14 does not know the stat family of glibc 2.33 and later, which became
 * functions of their own then, and takes what they write for uninitialised.
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
