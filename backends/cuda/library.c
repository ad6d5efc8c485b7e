/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and loads shared libraries. Relative paths and the working directory are never
 * searched: another user who can write a file there could run code as the caller. A library
 * that is already loaded satisfies later loads of its soname, so cuBLASLt and NVRTC must be
 * loaded before cuDNN (see device.c). */
#include "backends/cuda/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/cuda/refuse.h"

#define MAX_FOLDERS 128
#define STUB_NAME   "libcostmodel-planning.so"
#define STUB_PATH   4096

/* Folders by installation method; skipped if the variable is not an absolute path. */
static const struct {
    const char *variable;
    const char *pattern;
} places[] = {
    {NULL, "/usr/lib/x86_64-linux-gnu"},
    {NULL, "/usr/lib/aarch64-linux-gnu"},
    {NULL, "/usr/lib64"},
    {"CONDA_PREFIX", "/lib"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/*/lib"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/*/lib"},
    {"HOME", "/.local/lib/python3*/site-packages/nvidia/*/lib"},
    {NULL, "/usr/local/lib/python3*/*-packages/nvidia/*/lib"},
    {NULL, "/usr/lib/python3*/*-packages/nvidia/*/lib"},
    {"CUDNN_PATH", "/lib"},
    {"CUDNN_PATH", "/lib64"},
    {"CUDA_HOME", "/lib64"},
    {"CUDA_HOME", "/lib"},
    {"CUDA_PATH", "/lib64"},
    {NULL, "/usr/local/cuda/lib64"},
    {NULL, "/usr/local/cuda/lib"},
};

static void add_folder(struct library_folders *folders, const char *folder, size_t length) {
    if (folders->n == MAX_FOLDERS || length >= LIBRARY_PATH) return;
    for (size_t i = 0; i < folders->n; i++)
        if (strlen(folders->items[i]) == length &&
            memcmp(folders->items[i], folder, length) == 0)
            return;
    char *item = folders->items[folders->n++];
    memcpy(item, folder, length);
    item[length] = '\0';
}

int library_find_folders(const char *first, struct library_folders *ret,
                         struct cm_reason *reason) {
    struct library_folders folders = {0, calloc(MAX_FOLDERS, LIBRARY_PATH)};
    if (folders.items == NULL)
        return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    while (first != NULL && *first != '\0') {
        const size_t length = strcspn(first, ":");
        if (first[0] != '/') {
            library_drop_folders(&folders);
            return cuda_refuse(reason, CM_BACKEND_REFUSED, "libraries must be absolute paths");
        }
        add_folder(&folders, first, length);
        first += length + (first[length] == ':');
    }
    add_folder(&folders, "", 0);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char path[LIBRARY_PATH];
        const char *variable = places[i].variable;
        const char *prefix = variable != NULL ? getenv(variable) : "";
        if (prefix == NULL || (variable != NULL && prefix[0] != '/')) continue;
        const int length = snprintf(path, sizeof(path), "%s%s", prefix, places[i].pattern);
        if (length < 0 || (size_t)length >= sizeof(path)) continue;
        glob_t found = {0};
        if (glob(path, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                add_folder(&folders, found.gl_pathv[k], strlen(found.gl_pathv[k]));
        globfree(&found);
    }
    *ret = folders;
    return CM_BACKEND_OK;
}

void library_drop_folders(struct library_folders *folders) {
    free(folders->items);
    *folders = (struct library_folders){0, NULL};
}

/* Loads a library from one folder; "" is the loader's search path. Sets `path`, a buffer of
 * LIBRARY_PATH bytes, to the path tried. Returns NULL after a failure, and sets *fault to the
 * loader's message if the file exists but cannot be loaded. */
static void *open_in(const char *folder, const char *soname, char *path,
                     struct cm_reason *fault) {
    const bool is_listed = folder[0] != '\0';
    const int length =
        snprintf(path, LIBRARY_PATH, "%s%s%s", folder, is_listed ? "/" : "", soname);
    if (length < 0 || length >= LIBRARY_PATH) return NULL;
    if (is_listed && access(path, R_OK) != 0) return NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle != NULL) return handle;
    const char *why = dlerror();
    if (is_listed) (void)cuda_refuse(fault, 0, "%s", why ? why : path);
    return NULL;
}

/* Reports a library that is missing or cannot be loaded; docs/backends.md lists the folders. */
static int refuse_absent(const struct library_name *name, const struct library_folders *folders,
                         const struct cm_reason *fault, struct cm_reason *reason) {
    if (fault->text[0] != '\0')
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "%s cannot be loaded: %.200s",
                           name->name, fault->text);
    if (name->of_system)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "no %s: %s is not on this machine",
                           name->name, name->sonames[0]);
    return cuda_refuse(reason, CM_BACKEND_REFUSED,
                       "no %s: %s is neither where the loader looks nor in %zu folders of deb, "
                       "rpm, conda, pip and the toolkit; cuda:libraries=PATH names another",
                       name->name, name->sonames[0], folders->n - 1);
}

int library_load(const struct library_name *name, const struct library_folders *folders,
                 const struct library_symbol *symbols, size_t n, void *table,
                 struct cm_reason *reason) {
    struct cm_reason fault = {""};
    char path[LIBRARY_PATH];
    void *handle = NULL;
    for (size_t folder = 0; folder < folders->n && handle == NULL; folder++)
        for (size_t i = 0; name->sonames[i] != NULL && handle == NULL; i++)
            handle = open_in(folders->items[folder], name->sonames[i], path, &fault);
    if (handle == NULL) return refuse_absent(name, folders, &fault, reason);
    for (size_t i = 0; i < n; i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        /* C has no cast from the object pointer of dlsym to a function pointer. */
        memcpy((char *)table + symbols[i].offset, &symbol, sizeof(symbol));
        if (symbol == NULL && !symbols[i].optional)
            return cuda_refuse(reason, CM_BACKEND_REFUSED,
                               "%s (%.120s) has no function '%s': version too old", name->name,
                               path, symbols[i].name);
    }
    return CM_BACKEND_OK;
}

int library_load_stub(struct cm_reason *reason) {
    static const char here;
    char path[STUB_PATH];
    Dl_info info;
    if (dladdr(&here, &info) != 0 && info.dli_fname != NULL && info.dli_fname[0] == '/') {
        const int folder = (int)(strrchr(info.dli_fname, '/') - info.dli_fname);
        const int length =
            snprintf(path, sizeof(path), "%.*s/%s", folder, info.dli_fname, STUB_NAME);
        if (length > 0 && (size_t)length < sizeof(path) &&
            dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL)
            return CM_BACKEND_OK;
    }
    (void)snprintf(reason->text, sizeof(reason->text),
                   STUB_NAME
                   " not found in the folder of the module: cannot plan without a driver");
    return CM_BACKEND_REFUSED;
}
