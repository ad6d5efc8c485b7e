/* SPDX-License-Identifier: Apache-2.0 */
/* Loads NVIDIA's libraries at run time: the module is not linked with them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/backend.h"

#define LIBRARY_PATH 512

/* Absolute folders in search order; "" is the loader's search path. */
struct library_folders {
    size_t n;
    char (*items)[LIBRARY_PATH];
};

/* Sets *ret to the folders to search: those of `first` (absolute, separated by colons; NULL:
 * none), the loader's search path, and the folders of deb, rpm, conda, pip, CUDNN_PATH,
 * CUDA_HOME and the CUDA toolkit. CM_BACKEND_REFUSED if one of `first` is not absolute. */
int library_find_folders(const char *first, struct library_folders *ret,
                         struct cm_reason *reason);
void library_drop_folders(struct library_folders *folders);

#define LIBRARY_SONAMES 3

struct library_name {
    const char *name;                         /* "cuDNN" */
    const char *sonames[LIBRARY_SONAMES + 1]; /* in order of preference; NULL-terminated */
    bool of_system; /* part of the system: the error message suggests no folder */
};

struct library_symbol {
    const char *name;
    size_t offset; /* offset of the function pointer in the table, bytes */
    bool optional; /* the pointer is NULL if the library lacks the function */
};

/* Loads a library and fills the function pointers of `table`. The library is never closed: its
 * threads may still run. Returns CM_BACKEND_OK, or CM_BACKEND_REFUSED with the reason if no
 * file can be loaded or the library lacks a function that is not optional. */
int library_load(const struct library_name *name, const struct library_folders *folders,
                 const struct library_symbol *symbols, size_t n, void *table,
                 struct cm_reason *reason);

/* Loads the stub driver for planning without a device (planning/driver.c) from the folder of
 * the module. Later loads of libcuda.so.1 find it. CM_BACKEND_REFUSED if it is missing. */
int library_load_stub(struct cm_reason *reason);
