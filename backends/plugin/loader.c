/* SPDX-License-Identifier: Apache-2.0 */
/* See loader.h. The search path never includes the working directory: anyone who can write a
 * file there could run code as the caller. */
#include "backends/plugin/loader.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/plugin/reason.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/permissions.h"

int loader_places_in(const char *path, struct arena *arena, struct places *ret) {
    size_t n = 1;
    for (const char *at = path; *at != '\0'; at++) n += *at == ':';
    struct module_place *items = arena_array(arena, n, sizeof(*items));
    if (items == NULL) return CM_NO_MEMORY;
    n = 0;
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

/* Returns the folder of modules of this program: `backends` next to it in a build folder of
 * CMake, else ../COSTMODEL_BACKEND_FOLDER. NULL if unknown or out of memory. */
static const char *own_folder(struct arena *arena) {
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (length <= 0) return NULL;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash == NULL) return NULL;
    *slash = '\0';
    const char *cache = arena_printf(arena, "%s/CMakeCache.txt", program);
    if (cache != NULL && access(cache, F_OK) == 0)
        return arena_printf(arena, "%s/backends", program);
    return arena_printf(arena, "%s/../" COSTMODEL_BACKEND_FOLDER, program);
}

int loader_places(struct arena *arena, struct places *ret) {
    const char *set = getenv("COSTMODEL_BACKEND_PATH");
    if (set != NULL) return loader_places_in(set, arena, ret);
    struct module_place *items = arena_array(arena, 2, sizeof(*items));
    if (items == NULL) return CM_NO_MEMORY;
    size_t n = 0;
    items[n].path = own_folder(arena);
    if (arena_failed(arena)) return CM_NO_MEMORY;
    if (items[n].path != NULL) n++;
#ifdef COSTMODEL_BACKEND_INSTALLED
    items[n++].path = COSTMODEL_BACKEND_INSTALLED;
#endif
    *ret = (struct places){n, items};
    return CM_OK;
}

/* Returns the name of the first required member that is not set; NULL if all are set. */
static const char *missing_slot(const struct cm_backend *backend) {
    if (backend->name == NULL || backend->name[0] == '\0') return "name";
    if (backend->summary == NULL) return "summary";
    if (backend->open == NULL) return "open";
    if (backend->facts == NULL) return "facts";
    if (backend->close == NULL) return "close";
    if (backend->estimate != NULL) return NULL;
    if (backend->plan == NULL) return "plan";
    if (backend->run == NULL) return "run";
    if (backend->plan_facts == NULL) return "plan_facts";
    return backend->drop == NULL ? "drop" : NULL;
}

/* Checks the permissions and the owner of the file or folder `path`, and of each folder above
 * it. The path must not contain links. */
static int check_path(const char *path, bool any_owner, struct cm_reason *reason) {
    char part[PATH_MAX];
    struct stat status;
    uid_t stranger = 0; /* owner of the part below, if it is another user */
    memcpy(part, path, strlen(path) + 1);
    for (;;) {
        if (stat(part, &status) != 0)
            return reason_fail(reason, CM_BACKEND_REFUSED, "file '%s' not found", part);
        const bool is_shared = permissions_are_shared(&status);
        if (is_shared && !(S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0))
            return reason_fail(reason, CM_BACKEND_REFUSED,
                               "'%s' must not be writable by its group or everyone", part);
        if (is_shared && stranger != 0)
            return reason_fail(reason, CM_BACKEND_REFUSED,
                               "its path in '%s', which others may write, must belong to root "
                               "or to you, not to user %lu",
                               part, (unsigned long)stranger);
        stranger = permissions_are_own(&status) ? 0 : status.st_uid;
        if (!any_owner && stranger != 0)
            return reason_fail(reason, CM_BACKEND_REFUSED,
                               "'%s' must belong to root or to you, not to user %lu, unless "
                               "COSTMODEL_BACKEND_PATH names its folder",
                               part, (unsigned long)stranger);
        if (part[1] == '\0') return CM_BACKEND_OK;
        char *slash = strrchr(part, '/');
        slash[slash == part] = '\0'; /* "/a" -> "/" */
    }
}

/* Sets `ret` to the path of the file `name` with all links resolved. Checks this path and,
 * because `name` itself may be a link, the folder that contains `name`. */
static int resolve(const char *name, bool any_owner, char ret[PATH_MAX],
                   struct cm_reason *reason) {
    char folder[PATH_MAX];
    struct stat status;
    if (name[0] != '/')
        return reason_fail(reason, CM_BACKEND_REFUSED, "the path '%s' is not absolute", name);
    if (stat(name, &status) != 0 || realpath(name, ret) == NULL)
        return reason_fail(reason, CM_BACKEND_REFUSED, "file '%s' not found", name);
    if (!S_ISREG(status.st_mode)) /* dlopen's messages are obscure */
        return reason_fail(reason, CM_BACKEND_REFUSED, "'%s' is not a file", name);
    memcpy(folder, name, strlen(name) + 1); /* fits: realpath accepted it */
    strrchr(folder, '/')[1] = '\0';
    char *resolved = realpath(folder, NULL);
    if (resolved == NULL)
        return reason_fail(reason, CM_BACKEND_REFUSED, "file '%s' not found", folder);
    int checked = check_path(resolved, any_owner, reason);
    free(resolved);
    return checked == CM_BACKEND_OK ? check_path(ret, any_owner, reason) : checked;
}

int loader_load(const char *name, bool any_owner, const struct cm_backend **ret,
                struct cm_reason *reason) {
    char path[PATH_MAX];
    const int status = resolve(name, any_owner, path, reason);
    if (status != CM_BACKEND_OK) return status;
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL) {
        const char *why = dlerror();
        return reason_fail(reason, CM_BACKEND_REFUSED, "the module cannot be loaded: %s",
                           why ? why : "?");
    }
    cm_backend_entry *entry = NULL;
    void *symbol = dlsym(module, CM_BACKEND_ENTRY);
    /* POSIX: dlsym returns a function's address as an object pointer. */
    memcpy(&entry, &symbol, sizeof(entry));
    if (entry == NULL)
        return reason_fail(reason, CM_BACKEND_REFUSED, "the module has no symbol '%s'",
                           CM_BACKEND_ENTRY);
    const struct cm_backend *backend = entry(CM_BACKEND_ABI);
    if (backend == NULL)
        return reason_fail(reason, CM_BACKEND_REFUSED,
                           "the module does not support interface version %d", CM_BACKEND_ABI);
    if (backend->abi != CM_BACKEND_ABI)
        return reason_fail(reason, CM_BACKEND_REFUSED,
                           "the module has interface version %u, this program has %d",
                           (unsigned)backend->abi, CM_BACKEND_ABI);
    if (backend->size != sizeof(*backend))
        return reason_fail(reason, CM_BACKEND_REFUSED,
                           "the module's struct has %u bytes, this program's has %zu",
                           (unsigned)backend->size, sizeof(*backend));
    const char *missing = missing_slot(backend);
    if (missing != NULL)
        return reason_fail(reason, CM_BACKEND_REFUSED, "the module does not define '%s'",
                           missing);
    *ret = backend;
    return CM_BACKEND_OK;
}
