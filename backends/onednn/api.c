/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the oneDNN library and its functions. */
#include "backends/onednn/api.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int onednn_refuse(struct cm_reason *reason, int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason->text, sizeof(reason->text), format, args);
    va_end(args);
    return status;
}

/* Opens the library, which is never unloaded: its threads may still run. Without a path, tries
 * the name of the major version, then names with a minor version, newest first. */
static void *open_library(const char *path, struct cm_reason *reason) {
    char name[sizeof(ONEDNN_SONAME) + 16];
    void *library = dlopen(path ? path : ONEDNN_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) return library;
    const char *why = dlerror();
    (void)onednn_refuse(reason, 0, "oneDNN cannot be loaded: %s", why ? why : "?");
    for (int minor = ONEDNN_MAX_MINOR; !path && minor >= 0 && library == NULL; minor--) {
        (void)snprintf(name, sizeof(name), "%s.%d", ONEDNN_SONAME, minor);
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

int api_load(const char *path, struct onednn_api *ret, struct cm_reason *reason) {
    void *library = open_library(path, reason);
    if (library == NULL) return CM_BACKEND_REFUSED;
    memset(reason, 0, sizeof(*reason));
    const char *missing = NULL;
    void *symbol = NULL;
#define ONEDNN_LOAD(name)                                                                      \
    symbol = dlsym(library, #name);                                                            \
    memcpy(&ret->name, &symbol, sizeof(symbol));                                               \
    if (symbol == NULL) missing = #name;
    ONEDNN_OPTIONAL(ONEDNN_LOAD)
    missing = NULL; /* older versions lack the optional functions */
    ONEDNN_COMMON(ONEDNN_LOAD)
    ONEDNN_OF_VERSION(ONEDNN_LOAD)
#undef ONEDNN_LOAD
    const dnnl_version_t *version = ret->dnnl_version != NULL ? ret->dnnl_version() : NULL;
    if (version != NULL && version->major != DNNL_VERSION_MAJOR)
        return onednn_refuse(reason, CM_BACKEND_REFUSED,
                             "the library is oneDNN %d.%d, this module was built for %d",
                             version->major, version->minor, DNNL_VERSION_MAJOR);
    if (missing != NULL)
        return onednn_refuse(reason, CM_BACKEND_REFUSED, "the library has no function '%s'",
                             missing);
    return CM_BACKEND_OK;
}
