/* SPDX-License-Identifier: Apache-2.0 */
/* Standard streams: preparation, checked writes, colours. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct cm_diagnostics;

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Flushes the stream. CM_OK if everything was written; CM_IO with a message, but without one if
 * a pipe was closed. */
int streams_flush(FILE *stream, const char *name, struct cm_diagnostics *diag)
    __attribute__((warn_unused_result));

/* As streams_flush, but CM_OK for a closed pipe: the exit status of `check` is its result. */
int streams_finish(FILE *stream, const char *name, struct cm_diagnostics *diag)
    __attribute__((warn_unused_result));

/* Writes to `out`. CM_OK, CM_IO, CM_NO_MEMORY; CM_USAGE: nothing was written. */
typedef int stream_writer(const void *context, FILE *out);

/* Writes the file `path` atomically, or standard output if it is NULL or "-". Returns the
 * status of the writer or CM_IO, with a message. */
int streams_write(const char *path, stream_writer *write, const void *context,
                  struct cm_diagnostics *diag) __attribute__((warn_unused_result));

/* Returns true if the stream gets colours. COLOR_AUTO: a terminal, unless NO_COLOR
 * (https://no-color.org) is set or TERM=dumb. */
bool streams_color(FILE *stream, enum color_choice choice);

/* Returns the columns of the stream: `width` if it is >= 0 (--width), else COLUMNS, else those
 * of the terminal; `otherwise` if none is known. */
int streams_columns(FILE *stream, int width, int otherwise);
/* Returns the lines of the stream: LINES, else those of the terminal, else `otherwise`. */
int streams_lines(FILE *stream, int otherwise);

/* Returns true if the name of the locale contains ".UTF-8" (or ".utf8"). */
bool streams_utf8(void);
