/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the library, by name or path, and its functions. */
#include "backends/onednn/api.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/banned.h"

int onednn_refuse(struct cm_reason *reason, int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason->text, sizeof(reason->text), format, args);
    va_end(args);
    return status;
}

static int api_version(const struct onednn_api *api, struct cm_reason *reason) {
    const dnnl_version_t *version = api->dnnl_version();
    if (version->major == DNNL_VERSION_MAJOR) return CM_BACKEND_OK;
    return onednn_refuse(reason, CM_BACKEND_REFUSED,
                         "the library is oneDNN %d.%d, this module was built for %d",
                         version->major, version->minor, DNNL_VERSION_MAJOR);
}

/* Opens the library, which is never unloaded: its threads may still run. */
static void *open_named(const char *name) {
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/* Tries the name of the major version, then names with a minor version, newest first. */
static void *open_installed(struct cm_reason *reason) {
    char name[sizeof(ONEDNN_SONAME) + 16];
    void *library = open_named(ONEDNN_SONAME);
    if (library != NULL) return library;
    const char *why = dlerror();
    (void)onednn_refuse(reason, 0, "oneDNN cannot be loaded: %s", why ? why : "?");
    for (int minor = ONEDNN_MAX_MINOR; minor >= 0 && library == NULL; minor--) {
        (void)snprintf(name, sizeof(name), "%s.%d", ONEDNN_SONAME, minor);
        library = open_named(name);
    }
    return library;
}

static void *open_path(const char *path, struct cm_reason *reason) {
    void *library = open_named(path);
    const char *why = library == NULL ? dlerror() : NULL;
    if (library == NULL)
        (void)onednn_refuse(reason, 0, "oneDNN cannot be loaded: %s", why ? why : "?");
    return library;
}

int api_load(const char *path, struct onednn_api *ret, struct cm_reason *reason) {
    void *library = path ? open_path(path, reason) : open_installed(reason);
    if (library == NULL) return CM_BACKEND_REFUSED;
    memset(reason, 0, sizeof(*reason));
    const char *missing = NULL;
    void *symbol = NULL;
#define ONEDNN_LOAD(name)                                                                      \
    symbol = dlsym(library, #name);                                                            \
    memcpy(&ret->name, &symbol, sizeof(symbol));                                               \
    if (symbol == NULL) missing = #name;
    ONEDNN_OPTIONAL(ONEDNN_LOAD)
    missing = NULL; /* optional functions, missing in older versions */
    ONEDNN_COMMON(ONEDNN_LOAD)
    ONEDNN_OF_VERSION(ONEDNN_LOAD)
#undef ONEDNN_LOAD
    if (ret->dnnl_version != NULL) {
        const int status = api_version(ret, reason);
        if (status != CM_BACKEND_OK) return status;
    }
    if (missing != NULL)
        return onednn_refuse(reason, CM_BACKEND_REFUSED, "the library has no function '%s'",
                             missing);
    return CM_BACKEND_OK;
}
