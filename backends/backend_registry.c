/* SPDX-License-Identifier: Apache-2.0 */
/* Lists backends and finds them by name: the built-in ones, then modules of the search path. */
#include "backends/backend_registry.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/plugin/reason.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/sort.h"
#include "support/text.h"

#define PREFIX       "costmodel-"
#define SUFFIX       ".so"
#define MAX_MODULES  64 /* per folder */
#define LONGEST_NAME 64

static const struct cm_backend *const built_in[] = {&roofline_backend};

#define N_BUILT_IN (sizeof(built_in) / sizeof(built_in[0]))

/* Returns true if a name is safe in a path: lower-case letters, digits and '-' only. */
static bool is_name(const char *name, size_t length) {
    if (length == 0 || length > LONGEST_NAME) return false;
    for (size_t i = 0; i < length; i++) {
        const char c = name[i];
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-') return false;
    }
    return true;
}

static int compare_names(const void *a, const void *b) {
    const char *const *left = a;
    const char *const *right = b;
    return strcmp(*left, *right);
}

/* Sets `ret` to the sorted names of the modules costmodel-NAME.so of a folder, at most
 * MAX_MODULES. Sets place->reason if the folder cannot be read, and returns CM_OK then too.
 * Returns CM_NO_MEMORY if out of memory. */
static int read_place(struct module_place *place, struct arena *arena, const char **ret,
                      size_t *ret_n) {
    const size_t around = strlen(PREFIX) + strlen(SUFFIX);
    const struct dirent *file = NULL;
    size_t n = 0;
    *ret_n = 0;
    if (place->reason.text[0] != '\0') return CM_OK;
    DIR *folder = opendir(place->path);
    if (folder == NULL) return reason_fail(&place->reason, CM_OK, "%s", strerror(errno));
    while (n < MAX_MODULES && (file = readdir(folder)) != NULL) {
        const char *name = file->d_name + strlen(PREFIX);
        const size_t length = strlen(file->d_name);
        if (!text_starts_with(file->d_name, PREFIX) || !text_ends_with(file->d_name, SUFFIX) ||
            length < around || !is_name(name, length - around))
            continue;
        ret[n] = arena_strndup(arena, name, length - around);
        if (ret[n++] == NULL) break;
    }
    (void)closedir(folder);
    if (n > 0 && ret[n - 1] == NULL) return CM_NO_MEMORY;
    sort_stable(ret, n, sizeof(*ret), compare_names);
    *ret_n = n;
    return CM_OK;
}

/* Appends a module to the list and loads it, unless an earlier entry has its name. */
static int add_module(const struct module_place *place, const char *name, struct arena *arena,
                      struct backends_list *list) {
    struct backends_entry *entry = &list->items[list->n];
    const struct backends_entry *before = list->items;
    while (before < entry && !text_equal(before->name, name)) before++;
    entry->name = name;
    entry->path = arena_printf(arena, "%s/" PREFIX "%s" SUFFIX, place->path, name);
    if (entry->path == NULL) return CM_NO_MEMORY;
    if (before < entry)
        (void)reason_fail(&entry->reason, 0, "%s comes first",
                          before->path ? before->path : "the built-in one");
    else if (loader_load(entry->path, place->any_owner, &entry->backend, &entry->reason) !=
             CM_BACKEND_OK)
        entry->backend = NULL;
    list->n++;
    return CM_OK;
}

int backends_list(const struct places *places, struct arena *arena, struct backends_list *ret) {
    struct backends_list list = {0, NULL};
    list.items = arena_array(arena, N_BUILT_IN + places->n * MAX_MODULES, sizeof(*list.items));
    if (list.items == NULL) return CM_NO_MEMORY;
    for (size_t i = 0; i < N_BUILT_IN; i++) {
        list.items[i].name = built_in[i]->name;
        list.items[i].backend = built_in[i];
    }
    list.n = N_BUILT_IN;
    for (size_t i = 0; i < places->n; i++) {
        const char *names[MAX_MODULES];
        size_t n = 0;
        int status = read_place(&places->items[i], arena, names, &n);
        for (size_t k = 0; status == CM_OK && k < n; k++)
            status = add_module(&places->items[i], names[k], arena, &list);
        if (status != CM_OK) return status;
    }
    *ret = list;
    return CM_OK;
}

/* Finds the first module `name` in the search path. Returns an enum cm_backend_status. */
static int find_module(const struct places *places, const char *name, struct arena *arena,
                       const char **ret_path, bool *ret_any_owner, struct cm_reason *reason) {
    for (size_t i = 0; i < places->n; i++) {
        if (places->items[i].reason.text[0] != '\0') continue;
        const char *path =
            arena_printf(arena, "%s/" PREFIX "%s" SUFFIX, places->items[i].path, name);
        if (path == NULL) return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
        if (access(path, F_OK) != 0) continue;
        *ret_path = path;
        *ret_any_owner = places->items[i].any_owner;
        return CM_BACKEND_OK;
    }
    if (places->n == 1 && places->items[0].reason.text[0] != '\0')
        return reason_fail(reason, CM_BACKEND_REFUSED, "%s %s", places->items[0].path,
                           places->items[0].reason.text);
    return reason_fail(reason, CM_BACKEND_REFUSED,
                       PREFIX "%s" SUFFIX " not found in the search path of modules; "
                              "docs/backends.md describes how to build it",
                       name);
}

int backends_find(const struct places *places, const char *name, struct arena *arena,
                  const struct cm_backend **ret, struct cm_reason *reason) {
    const char *path = NULL;
    bool any_owner = false;
    for (size_t i = 0; i < N_BUILT_IN; i++) {
        if (!text_equal(built_in[i]->name, name)) continue;
        *ret = built_in[i];
        return CM_BACKEND_OK;
    }
    if (!is_name(name, strlen(name)))
        return reason_fail(reason, CM_BACKEND_REFUSED,
                           "'%s' is not the name of a backend: a name has at most 64 "
                           "lower-case letters, digits and -",
                           name);
    const int status = find_module(places, name, arena, &path, &any_owner, reason);
    return status == CM_BACKEND_OK ? loader_load(path, any_owner, ret, reason) : status;
}

const char *backends_module(const struct places *places, const char *name,
                            struct arena *arena) {
    struct cm_reason reason;
    const char *path = NULL;
    bool any_owner = false;
    for (size_t i = 0; i < N_BUILT_IN; i++)
        if (text_equal(built_in[i]->name, name)) return NULL;
    return find_module(places, name, arena, &path, &any_owner, &reason) == CM_BACKEND_OK ? path
                                                                                         : NULL;
}
