/* SPDX-License-Identifier: Apache-2.0 */
/* Included last by every source file of the project: calls of functions that cannot be used
 * safely do not compile. */
#ifndef SUPPORT_BANNED_H
#define SUPPORT_BANNED_H

#if defined(__GNUC__)
#undef alloca /* a macro of glibc */
#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok strncpy strncat atoi atol atoll  \
    atof
#pragma GCC poison alloca setjmp longjmp tmpnam mktemp
#endif

#endif
