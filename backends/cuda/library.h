/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a vendor's library at run time: the module is linked with none of them. */
#ifndef BACKENDS_CUDA_LIBRARY_H
#define BACKENDS_CUDA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/backend.h"

#define LIBRARY_PATH 512

/* Absolute folders in search order; "" is the loader's search path. */
struct library_folders {
    size_t n;
    char (*items)[LIBRARY_PATH];
};

/*
 * `first`: folders separated by colons that are searched first, or NULL; each must be absolute.
 * Then the loader's path and the folders of deb, rpm, conda, pip, CUDNN_PATH, CUDA_HOME,
 * toolkit.
 */
int library_find_folders(const char *first, struct library_folders *ret,
                         struct cm_reason *reason);
void library_drop_folders(struct library_folders *folders);

#define LIBRARY_SONAMES 3

struct library_name {
    const char *name;                         /* "cuDNN" */
    const char *sonames[LIBRARY_SONAMES + 1]; /* in order of preference; NULL-terminated */
    bool of_system; /* part of the system: only the loader's path is searched */
};

struct library {
    void *handle;            /* never closed: the library's threads may still run */
    char path[LIBRARY_PATH]; /* path or soname it was loaded by */
};

/* Returns CM_BACKEND_REFUSED if not found; the reason lists where it was searched. */
int library_open(const struct library_name *name, const struct library_folders *folders,
                 struct library *ret, struct cm_reason *reason);

struct library_symbol {
    const char *name;
    size_t offset; /* of the function pointer in its table */
    bool optional; /* NULL if the library lacks it */
};

/* Fills the pointers of `table`. */
int library_bind(const struct library *library, const char *name,
                 const struct library_symbol *symbols, size_t n, void *table,
                 struct cm_reason *reason);

#endif
