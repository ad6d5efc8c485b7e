/* SPDX-License-Identifier: Apache-2.0 */
/* The library by name or by path, and each function that is needed of it. */
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

int api_load(const char *path, struct onednn_api *ret, struct cm_reason *reason) {
    /* Never unloaded: the threads that it began would run on into nothing. */
    void *library = dlopen(path ? path : ONEDNN_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        return onednn_refuse(reason, CM_BACKEND_REFUSED, "oneDNN cannot be loaded: %s",
                             why ? why : "?");
    }
    const char *missing = NULL;
    void *symbol = NULL;
#define ONEDNN_LOAD(name)                                                                      \
    symbol = dlsym(library, #name);                                                            \
    memcpy(&ret->name, &symbol, sizeof(symbol));                                               \
    if (symbol == NULL) missing = #name;
    ONEDNN_COMMON(ONEDNN_LOAD)
    ONEDNN_OWN(ONEDNN_LOAD)
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
