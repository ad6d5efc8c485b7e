/* SPDX-License-Identifier: Apache-2.0 */
/* Input and output of files. A source reads bytes from a file, a pipe or memory. All sources
 * can be read forward and skipped; files and memory can also be read at an offset. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct cm_diagnostics;

struct source; /* opaque */

/* Buffered bytes: bytes[at] to bytes[length - 1] are not consumed yet. bytes[0] has the
 * position `start` in the source. */
struct source_window {
    const uint8_t *bytes;
    size_t length;
    size_t at;
    uint64_t start;
};

#define SOURCE_SIZE_UNKNOWN UINT64_MAX

/* Opens a file; "-" is standard input. The caller closes it with source_close. Returns CM_OK,
 * CM_IO (missing, unreadable, a directory) or CM_NO_MEMORY. */
int source_open(const char *path, struct cm_diagnostics *diag, struct source **ret)
    __attribute__((warn_unused_result));
/* Opens a source on `data`, which must outlive it. `name` is for messages. */
int source_open_memory(const void *data, size_t size, const char *name,
                       struct cm_diagnostics *diag, struct source **ret)
    __attribute__((warn_unused_result));
/* Opens a source on a file descriptor and takes ownership: closes the descriptor on failure,
 * too. `name` is for messages. */
int source_open_descriptor(int fd, const char *name, struct cm_diagnostics *diag,
                           struct source **ret) __attribute__((warn_unused_result));
void source_close(struct source *source);

const char *source_name(const struct source *source);
/* Returns the total size in bytes; SOURCE_SIZE_UNKNOWN for a pipe that has not ended yet. */
uint64_t source_size(const struct source *source);
bool source_can_seek(const struct source *source);
uint64_t source_position(const struct source *source);
/* Sets the position to the first byte; requires a source that can seek. */
void source_rewind(struct source *source);
/* Returns the number of bytes read from the file so far. Tests use it to prove that weights are
 * never read. */
uint64_t source_bytes_read(const struct source *source);
/* source_digest returns a hash of the bytes read from the file since source_begin_digest. The
 * same reads of an equal file give the same hash. */
void source_begin_digest(struct source *source);
uint64_t source_digest(const struct source *source);

/* Reads up to `size` bytes at the position: through a window of 4 KiB, or directly to `buffer`
 * if the request is larger. *ret_got < size means the end. Returns CM_OK or CM_IO. */
int source_read(struct source *source, void *buffer, size_t size, size_t *ret_got,
                struct cm_diagnostics *diag) __attribute__((warn_unused_result));
/* Returns the next byte; -1 at the end, -2 on an error (reported). */
int source_byte(struct source *source, struct cm_diagnostics *diag);
/* Returns the window, valid as long as the source. A parser may consume bytes itself by
 * advancing `at` up to `length`. */
struct source_window *source_window(struct source *source);
/* Refills the window if it is empty; sets *ret to the buffered bytes and *ret_size to their
 * number, 0 at the end. Consumes nothing. Returns CM_OK or CM_IO. */
int source_look(struct source *source, const uint8_t **ret, size_t *ret_size,
                struct cm_diagnostics *diag) __attribute__((warn_unused_result));
/* Returns true at the end, or after an error (reported). */
bool source_at_end(struct source *source, struct cm_diagnostics *diag);
/* Skips `size` bytes: seeks if possible, else reads them. *ret_got < size means the end. */
int source_skip(struct source *source, uint64_t size, uint64_t *ret_got,
                struct cm_diagnostics *diag) __attribute__((warn_unused_result));
/* Reads exactly `size` bytes at `offset`. Returns CM_OK, CM_IO or CM_REFUSED (DIAG_VALUE: the
 * source is a pipe; DIAG_FORMAT: the file is too short). */
int source_read_at(struct source *source, uint64_t offset, void *buffer, size_t size,
                   struct cm_diagnostics *diag) __attribute__((warn_unused_result));

#define FILE_MAX_JSON ((size_t)128 << 20) /* bytes; a profile of 10^5 nodes has 50 MB */

/* Reads the rest of the source into one block of `arena` and adds a NUL that *ret_size does not
 * count. Returns CM_OK, CM_REFUSED (DIAG_LIMIT: more than `max_bytes` bytes), CM_IO or
 * CM_NO_MEMORY. */
int source_read_all(struct source *source, size_t max_bytes, struct arena *arena,
                    struct cm_diagnostics *diag, char **ret_text, size_t *ret_size)
    __attribute__((warn_unused_result));
/* The same for a file. `arena` NULL: CM_NO_MEMORY. */
int source_read_file(const char *path, size_t max_bytes, struct arena *arena,
                     struct cm_diagnostics *diag, char **ret_text, size_t *ret_size)
    __attribute__((warn_unused_result));

/* Atomic file output: writes to a file without a name in the folder of `path`. output_commit
 * replaces the file at `path` by this file; output_abandon, or the end of the process, deletes
 * it. If `path` exists but is not a regular file (/dev/null, a pipe), writes to it directly. */
struct output; /* opaque */
int output_open(const char *path, struct cm_diagnostics *diag, struct output **ret)
    __attribute__((warn_unused_result));
FILE *output_stream(struct output *output);
int output_commit(struct output *output, struct cm_diagnostics *diag)
    __attribute__((warn_unused_result));
/* Commits n outputs: all, or none if one cannot be written, synchronized or renamed; then the
 * files before are restored. A crash of the machine between two renames may leave some
 * replaced. Requires hard links if n > 1 and a target exists. */
int output_commit_all(struct output *const *outputs, size_t n, struct cm_diagnostics *diag)
    __attribute__((warn_unused_result));
/* As output_commit. Sets *ret_fd to a descriptor that appends to the file, even if the file is
 * replaced later where the system allows that; the caller closes it. On failure also abandons.
 */
int output_commit_open(struct output *output, struct cm_diagnostics *diag, int *ret_fd)
    __attribute__((warn_unused_result));
void output_abandon(struct output *output);
/* Creates a folder and its missing parents with the permissions `mode`. Returns 0 or an errno
 * value. */
int output_make_folder(const char *path, unsigned mode) __attribute__((warn_unused_result));
/* Flushes a stream. Returns CM_IO if any write to it has failed, else CM_OK. */
int output_flush(FILE *stream) __attribute__((warn_unused_result));
