/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ kernels as nsys prints them. */
#ifndef BACKENDS_CUDA_DEMANGLE_H
#define BACKENDS_CUDA_DEMANGLE_H

#include <stddef.h>

/* Replaces a mangled name by the demangled one, truncated to `size` bytes. Leaves other names
 * unchanged, and all names if the C++ library is missing. */
void demangle(char *name, size_t size);

#endif
