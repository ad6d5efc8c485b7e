/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a system that support/absent calls. */
#pragma once

#include <stdio.h>

/* Creates a file that must not exist. Returns a stream of bytes, or NULL and sets errno. */
FILE *absent_create(const char *path);
/* Flushes a file to the disk. Returns 0, or -1 and sets errno. */
int absent_sync(FILE *stream);
/* Renames a file, and replaces the file `to`. Returns 0, or -1 and sets errno. */
int absent_rename(const char *from, const char *to);
