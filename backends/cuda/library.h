/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vendor's library, found and loaded when it is needed: the module itself is linked with none
 * of them. They lie in other places by every way of installing them.
 */
#ifndef BACKENDS_CUDA_LIBRARY_H
#define BACKENDS_CUDA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "costmodel/backend.h"

#define LIBRARY_PATH 512

/* Absolute folders in the order in which they are asked; "" is where the loader looks. */
struct library_folders {
    size_t n;
    char (*items)[LIBRARY_PATH];
};

/*
 * `first`: folders between colons that come before all, or NULL; each must be absolute. Then
 * the loader's own places, those of deb and rpm, conda, pip, CUDNN_PATH, CUDA_HOME, the
 * toolkit.
 */
int library_find_folders(const char *first, struct library_folders *ret,
                         struct cm_reason *reason);
void library_drop_folders(struct library_folders *folders);

#define LIBRARY_SONAMES 3

struct library_name {
    const char *name;                         /* "cuDNN" */
    const char *sonames[LIBRARY_SONAMES + 1]; /* the best first; NULL ends them */
    bool of_system; /* it comes with the machine and is not looked for by hand */
};

struct library {
    void *handle;            /* never closed: threads of its own may run on */
    char path[LIBRARY_PATH]; /* what it was opened by: a path, or a soname */
};

/* CM_BACKEND_REFUSED: it is nowhere; the reason says where it was looked for. */
int library_open(const struct library_name *name, const struct library_folders *folders,
                 struct library *ret, struct cm_reason *reason);

struct library_symbol {
    const char *name;
    size_t offset; /* of the function pointer in its table */
    bool optional; /* NULL where the library has not got it */
};

/* Fills the pointers of `table`. */
int library_bind(const struct library *library, const char *name,
                 const struct library_symbol *symbols, size_t n, void *table,
                 struct cm_reason *reason);

#endif
