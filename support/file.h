/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where bytes come from: a file, a pipe, or memory, behind one interface that reads forward and
 * skips, and, where the source can (file, memory), reads a place again.
 */
#ifndef SUPPORT_FILE_H
#define SUPPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct cm_diagnostics;

struct source; /* opaque */

/* What is already read: bytes[at .. length) not yet taken, at the position start + at. */
struct source_window {
    const uint8_t *bytes;
    size_t length;
    size_t at;
    uint64_t start;
};

#define SOURCE_SIZE_UNKNOWN UINT64_MAX

/* "-" is standard input. CM_OK, CM_IO (a directory, missing, not readable), CM_NO_MEMORY. Free
 * with source_close. */
int source_open(const char *path, struct cm_diagnostics *diag, struct source **ret)
    __attribute__((warn_unused_result));
int source_open_memory(const void *data, size_t size, const char *name,
                       struct cm_diagnostics *diag, struct source **ret)
    __attribute__((warn_unused_result));
void source_close(struct source *source);

const char *source_name(const struct source *source);
/* Bytes in all, or SOURCE_SIZE_UNKNOWN for a pipe (known again once its end was seen). */
uint64_t source_size(const struct source *source);
bool source_can_seek(const struct source *source);
uint64_t source_position(const struct source *source);
/* Back to the first byte; only of a source that can seek. */
void source_rewind(struct source *source);
/* Bytes that were really read from the file so far: what "weights are never read" is checked
 * by. */
uint64_t source_bytes_read(const struct source *source);

/*
 * Forward: up to `size` bytes at the position into `buffer` through one small window (4 KiB
 * reads; larger requests go straight to the buffer). *ret_got < size means the end. CM_OK or
 * CM_IO.
 */
int source_read(struct source *source, void *buffer, size_t size, size_t *ret_got,
                struct cm_diagnostics *diag) __attribute__((warn_unused_result));
/* One byte, or -1 at the end, or -2 on an error that was reported. */
int source_byte(struct source *source, struct cm_diagnostics *diag);
/* One object as long as the source is. A parser that looks at every byte does so in place, and
 * moves `at` on itself, up to `length`. */
struct source_window *source_window(struct source *source);
/* What is there to look at, *ret_size bytes, having read on where nothing was left: 0 is the
 * end. Nothing is taken. CM_OK or CM_IO. */
int source_look(struct source *source, const uint8_t **ret, size_t *ret_size,
                struct cm_diagnostics *diag) __attribute__((warn_unused_result));
/* Whether no byte is left; an error that was reported counts as the end. */
bool source_at_end(struct source *source, struct cm_diagnostics *diag);
/* Steps over `size` bytes: a seek where possible, else read and dropped. *ret_got < size: the
 * end came. */
int source_skip(struct source *source, uint64_t size, uint64_t *ret_got,
                struct cm_diagnostics *diag) __attribute__((warn_unused_result));
/* Exactly `size` bytes at `offset`; a pipe gives CM_REFUSED with DIAG_VALUE: the pipe has
 * passed them. */
int source_read_at(struct source *source, uint64_t offset, void *buffer, size_t size,
                   struct cm_diagnostics *diag) __attribute__((warn_unused_result));

#define FILE_MOST_JSON ((size_t)512 << 20) /* bytes; a profile of 10^5 nodes has 50 MB */

/*
 * All that is left, in one piece of `arena`. Of more than `most` bytes one is read past them,
 * and no more. CM_OK, CM_REFUSED (DIAG_LIMIT: there are more), CM_IO, CM_NO_MEMORY.
 */
int source_read_all(struct source *source, size_t most, struct arena *arena,
                    struct cm_diagnostics *diag, char **ret_text, size_t *ret_size)
    __attribute__((warn_unused_result));

/*
 * Output whole or not at all: written to a temporary file beside `path`, renamed by commit,
 * removed by abandon. A path that is not a regular file (/dev/null, a pipe) is written
 * directly.
 */
struct output; /* opaque */
int output_open(const char *path, struct cm_diagnostics *diag, struct output **ret)
    __attribute__((warn_unused_result));
FILE *output_stream(struct output *output);
int output_commit(struct output *output, struct cm_diagnostics *diag)
    __attribute__((warn_unused_result));
void output_abandon(struct output *output);
/* Whether all that was written to a stream, whoever's, got out of it: CM_OK, CM_IO. */
int output_flush(FILE *stream) __attribute__((warn_unused_result));

#endif
