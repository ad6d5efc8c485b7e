/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the stub driver. */
#include "backends/cuda/planning/stub_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "support/banned.h"

#define FILE_NAME "libcostmodel-planning.so"
#define MAX_PATH  4096

/* Sets `ret` to the path of the stub driver, which is in the folder of the module. Returns 0,
 * or -1 if the folder is unknown or the path too long. */
static int find_path(char *ret, size_t size) {
    static const char here;
    Dl_info info;
    if (dladdr(&here, &info) == 0 || info.dli_fname == NULL) return -1;
    const char *slash = strrchr(info.dli_fname, '/');
    const int folder = slash != NULL ? (int)(slash - info.dli_fname) + 1 : 0;
    const int length = snprintf(ret, size, "%.*s%s", folder, info.dli_fname, FILE_NAME);
    return length > 0 && (size_t)length < size && ret[0] == '/' ? 0 : -1;
}

int stub_driver_load(struct cm_reason *reason) {
    char path[MAX_PATH];
    if (find_path(path, sizeof(path)) == 0 && dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL)
        return CM_BACKEND_OK;
    (void)snprintf(reason->text, sizeof(reason->text),
                   FILE_NAME
                   " not found in the folder of the module: cannot plan without a driver");
    return CM_BACKEND_REFUSED;
}
