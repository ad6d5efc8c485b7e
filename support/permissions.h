/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out who else can change a file or folder, as ssh does before it reads a key. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns true if the owner is root or the caller. */
static inline bool permissions_are_own(const struct stat *status) {
    return status->st_uid == 0 || status->st_uid == geteuid();
}

/* Returns true if everyone or the group may write. A group with the number of a user other than
 * root is this user's own: Ubuntu makes one for each user, and files that it may write. */
static inline bool permissions_are_shared(const struct stat *status) {
    const bool is_own_group = status->st_gid == geteuid() && status->st_gid != 0;
    return (status->st_mode & (is_own_group ? S_IWOTH : S_IWOTH | S_IWGRP)) != 0;
}
