/* SPDX-License-Identifier: Apache-2.0 */
/* Included by the compiler before every source file of the project (cmake/Layers.cmake): calls
 * of functions that cannot be used safely do not compile. */
#pragma once

/* The headers that declare these functions; a poisoned name cannot be declared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__ /* headers of other systems declare some of these functions later */
#undef alloca    /* a macro of glibc */
#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok strncpy strncat atoi atol atoll  \
    atof
#pragma GCC poison alloca tmpnam mktemp qsort
#endif
