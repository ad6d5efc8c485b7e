/* SPDX-License-Identifier: Apache-2.0 */
/* Looks the demangler up at run time: the module is not linked with the C++ library, but
 * NVIDIA's libraries have loaded it. */
#include "backends/cuda/demangle.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/banned.h"

typedef char *demangle_function(const char *name, char *buffer, size_t *size, int *ret_status);

void demangle(char *name, size_t size) {
    demangle_function *function = NULL;
    int status = -1;
    if (strncmp(name, "_Z", 2) != 0) return;
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) return;
    void *symbol = dlsym(library, "__cxa_demangle");
    memcpy(&function, &symbol, sizeof(symbol));
    char *text = function != NULL ? function(name, NULL, NULL, &status) : NULL;
    if (text != NULL && status == 0) (void)snprintf(name, size, "%s", text);
    free(text);
    (void)dlclose(library);
}
