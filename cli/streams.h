/* SPDX-License-Identifier: Apache-2.0 */
/* The three standard streams: present, checked to the last byte, coloured for people only. */
#ifndef CLI_STREAMS_H
#define CLI_STREAMS_H

#include <stdbool.h>
#include <stdio.h>

struct cm_diagnostics;

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/*
 * Before anything is opened: a standard stream that the caller closed is made one that fails,
 * so that no file of ours takes its number; a reader that goes away is an error of a write, not
 * a signal.
 */
void streams_prepare(void);

/*
 * Whether all that was written has arrived. CM_OK, or CM_IO with a message; without one where
 * nobody listens any more (a closed pipe): there is nobody to blame.
 */
int streams_flush(FILE *stream, const char *name, struct cm_diagnostics *diag)
    __attribute__((warn_unused_result));

/* The same where the exit status says it all: that nobody listens any more is CM_OK. */
int streams_finish(FILE *stream, const char *name, struct cm_diagnostics *diag)
    __attribute__((warn_unused_result));

/* Writes to the stream: CM_OK, CM_IO or CM_NO_MEMORY, or CM_USAGE with nothing written. */
typedef int stream_writer(const void *context, FILE *out);

/* Into the file `path`, whole or not at all; NULL or "-": to standard output. The writer's
 * status, or CM_IO; with a message. */
int streams_write(const char *path, stream_writer *write, const void *context,
                  struct cm_diagnostics *diag) __attribute__((warn_unused_result));

/* NO_COLOR (https://no-color.org) and TERM=dumb are honoured, a plain file stays plain. */
bool streams_color(FILE *stream, enum color_choice choice);

/* Whether the locale's characters are UTF-8, as its name says. */
bool streams_utf8(void);

#endif
