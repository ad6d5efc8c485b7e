/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the stub driver. */
#include "backends/cuda/planning/stub_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "support/banned.h"

#define FILE_NAME "libcostmodel-planning.so"
#define MAX_PATH  4096

int stub_driver_load(struct cm_reason *reason) {
    static const char here;
    char path[MAX_PATH];
    Dl_info info;
    if (dladdr(&here, &info) != 0 && info.dli_fname != NULL && info.dli_fname[0] == '/') {
        const int folder = (int)(strrchr(info.dli_fname, '/') - info.dli_fname);
        const int length =
            snprintf(path, sizeof(path), "%.*s/%s", folder, info.dli_fname, FILE_NAME);
        if (length > 0 && length < MAX_PATH && dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL)
            return CM_BACKEND_OK;
    }
    (void)snprintf(reason->text, sizeof(reason->text),
                   FILE_NAME
                   " not found in the folder of the module: cannot plan without a driver");
    return CM_BACKEND_REFUSED;
}
