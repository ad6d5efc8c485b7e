/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces malloc, calloc and realloc for the program and its libraries (symbols of the program
 * take precedence), and forwards to the allocator of the sanitizer or of libc by its internal
 * names.
 *
 * The environment configures a program without code changes: FAILING_AT=n, FAILING_ALWAYS, and
 * FAILING_COUNT=path, the file to which the number of allocations is written at exit.
 */
#include "failing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef FAILING_UNDER_SANITIZER
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t n, size_t size);
void *REAL(realloc)(void *old, size_t size);

static struct {
    bool started;
    bool always;
    size_t nth;
    size_t n;
} failing;

void failing_start(size_t nth, bool always) {
    failing.nth = nth;
    failing.always = always;
    failing.n = 0;
    failing.started = true;
}

size_t failing_stop(void) {
    failing.started = false;
    return failing.n;
}

static bool fails(void) {
    if (!failing.started) return false;
    failing.n++;
    if (failing.n != failing.nth && !(failing.always && failing.n > failing.nth)) return false;
    if (getenv("FAILING_ABORT")) abort(); /* for a debugger */
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) {
    return fails() ? NULL : REAL(malloc)(size);
}

void *calloc(size_t n, size_t size) {
    return fails() ? NULL : REAL(calloc)(n, size);
}

void *realloc(void *old, size_t size) {
    return fails() ? NULL : REAL(realloc)(old, size);
}

__attribute__((constructor)) static void begin(void) {
    const char *nth = getenv("FAILING_AT");
    if (nth) failing_start(strtoul(nth, NULL, 10), getenv("FAILING_ALWAYS") != NULL);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAILING_COUNT");
    const size_t n = failing_stop();
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%zu\n", n);
    fclose(file);
}
