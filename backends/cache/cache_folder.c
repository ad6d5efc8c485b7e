/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses folders and files that other users can write: the times in them could be forged. */
#include "backends/cache/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backends/plugin/reason.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

#define MAX_PRUNED 1000 /* per call, so that the loop ends */

const char *cache_folder_doubt(const struct stat *status) {
    if (status->st_uid != geteuid()) return "it belongs to another user";
    return (status->st_mode & 022) != 0 ? "others may write it" : NULL;
}

int cache_folder_check(const char *folder, struct cm_reason *reason) {
    struct stat status;
    if (folder[0] != '/')
        return reason_fail(reason, CM_BACKEND_REFUSED, "the path is not absolute");
    if (stat(folder, &status) != 0 && errno == ENOENT) return CM_BACKEND_OK;
    if (stat(folder, &status) != 0)
        return reason_fail(reason, CM_BACKEND_REFUSED, "%s", strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return reason_fail(reason, CM_BACKEND_REFUSED, "not a directory");
    const char *doubt = cache_folder_doubt(&status);
    return doubt ? reason_fail(reason, CM_BACKEND_REFUSED, "%s", doubt) : CM_BACKEND_OK;
}

int cache_folder_make(const char *folder, struct cm_reason *reason) {
    const bool is_long = strlen(folder) >= CACHE_LONGEST_PATH;
    const int error = is_long ? ENAMETOOLONG : output_make_folder(folder, 0700);
    if (error != 0) return reason_fail(reason, CM_BACKEND_REFUSED, "%s", strerror(error));
    return cache_folder_check(folder, reason);
}

/* Returns the number of files with this suffix; sets `ret` to the path of the oldest one. */
static int find_oldest(const char *folder, const char *suffix, char *ret, size_t size) {
    struct timespec oldest = {0, 0};
    int n = 0;
    DIR *stream = opendir(folder);
    if (stream == NULL) return 0;
    for (const struct dirent *file = readdir(stream); file != NULL; file = readdir(stream)) {
        char path[CACHE_LONGEST_PATH];
        struct stat status;
        if (!text_ends_with(file->d_name, suffix)) continue;
        const int length = snprintf(path, sizeof(path), "%s/%s", folder, file->d_name);
        if (length < 0 || (size_t)length >= size || lstat(path, &status) != 0) continue;
        const bool older =
            status.st_mtim.tv_sec < oldest.tv_sec ||
            (status.st_mtim.tv_sec == oldest.tv_sec && status.st_mtim.tv_nsec < oldest.tv_nsec);
        if (n++ > 0 && !older) continue;
        oldest = status.st_mtim;
        memcpy(ret, path, (size_t)length + 1);
    }
    (void)closedir(stream);
    return n;
}

void cache_folder_prune(const char *folder, const char *suffix, int n_kept) {
    char path[CACHE_LONGEST_PATH];
    for (int i = 0; i < MAX_PRUNED; i++) {
        if (find_oldest(folder, suffix, path, sizeof(path)) <= n_kept) return;
        if (unlink(path) != 0) return;
    }
}
