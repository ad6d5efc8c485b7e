/* SPDX-License-Identifier: Apache-2.0 */
/* Search path of modules. It never includes the working directory: anyone who can write a file
 * there could run code as the caller. */
#include "backends/plugin/places.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/plugin/reason.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"

#include "support/banned.h"

#define LONGEST_PATH 4096

static size_t count_places(const char *path) {
    size_t n = 1;
    for (; *path != '\0'; path++) n += *path == ':';
    return n;
}

int places_from(const char *path, struct arena *arena, struct places *ret) {
    struct module_place *items = arena_array(arena, count_places(path), sizeof(*items));
    if (items == NULL) return CM_NO_MEMORY;
    size_t n = 0;
    while (*path != '\0') {
        const size_t length = strcspn(path, ":");
        if (length > 0) {
            items[n].path = arena_strndup(arena, path, length);
            if (items[n].path == NULL) return CM_NO_MEMORY;
            items[n].any_owner = true;
            if (path[0] != '/')
                (void)reason_fail(&items[n].reason, 0, "is not absolute: not searched");
            n++;
        }
        path += length + (path[length] == ':');
    }
    *ret = (struct places){n, items};
    return CM_OK;
}

/* Returns the folder of the program's file; NULL if unknown. */
static const char *program_folder(struct arena *arena) {
    char program[LONGEST_PATH];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (length <= 0) return NULL;
    program[length] = '\0';
    const char *slash = strrchr(program, '/');
    return slash ? arena_strndup(arena, program, (size_t)(slash - program)) : NULL;
}

/* Returns true if `folder` is a build folder of CMake, not that of an installed program. */
static bool is_build_folder(const char *folder, struct arena *arena) {
    const char *cache = arena_printf(arena, "%s/CMakeCache.txt", folder);
    return cache != NULL && access(cache, F_OK) == 0;
}

int places_find(struct arena *arena, struct places *ret) {
    const char *set = getenv("COSTMODEL_BACKEND_PATH");
    if (set != NULL) return places_from(set, arena, ret);
    struct module_place *items = arena_array(arena, 2, sizeof(*items));
    if (items == NULL) return CM_NO_MEMORY;
    size_t n = 0;
    const char *folder = program_folder(arena);
    if (folder != NULL) {
        const bool is_built = is_build_folder(folder, arena);
        items[n].path = is_built
                            ? arena_printf(arena, "%s/backends", folder)
                            : arena_printf(arena, "%s/../" COSTMODEL_BACKEND_FOLDER, folder);
        if (items[n++].path == NULL) return CM_NO_MEMORY;
    }
#ifdef COSTMODEL_BACKEND_INSTALLED
    items[n++].path = COSTMODEL_BACKEND_INSTALLED;
#endif
    *ret = (struct places){n, items};
    return CM_OK;
}
