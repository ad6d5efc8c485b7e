/* SPDX-License-Identifier: Apache-2.0 */
/* Names of temporary files and folders of tests. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

/* Room for a name, with "/" and a file name of 31 characters below a folder. */
#define TEMPORARY_PATH 256

/* Writes a template for mkstemp or mkdtemp, in $TMPDIR or /tmp. Aborts if it does not fit. */
static inline void temporary_path(char path[TEMPORARY_PATH]) {
    const char *folder = getenv("TMPDIR");
    const int n = snprintf(path, TEMPORARY_PATH, "%s/costmodel_test_XXXXXX",
                           folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    if (n < 0 || n >= TEMPORARY_PATH - 32) abort();
}
