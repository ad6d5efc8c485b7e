/* SPDX-License-Identifier: Apache-2.0 */
/* Names what differs between operating systems. Each function is defined once per system, in
 * support/posix, support/windows or support/wasi; support/unix has what POSIX and WASI
 * share, support/absent what Windows and WASI share (docs/platforms.md). Also in these folders:
 * the atomic output of support/file.h, support/beneath.h and support/interrupt.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prepares the standard streams; must run before any file is opened. Replaces closed ones with
 * failing ones, so that no file gets their descriptors, and makes a closed pipe and a file
 * above the size limit write errors. On Windows, output has the bytes that were written. */
void system_prepare_streams(void);
bool system_is_terminal(FILE *stream);
/* Sets the size of the terminal of a stream in characters, 0 if there is none. */
void system_terminal_size(FILE *stream, int *ret_columns, int *ret_lines);

/* Opens a file for reading, not inherited by other programs. Returns a descriptor, or -1 and
 * sets errno. */
int system_open(const char *path);
/* Reads up to `size` bytes at `offset`. Returns their number, or -1 and sets errno. */
ptrdiff_t system_read_at(int fd, void *buffer, size_t size, uint64_t offset);
/* Tells the system that reads will not be sequential, so that it reads nothing ahead. */
void system_expect_random_reads(int fd);

/* Returns the length of `path` up to its last separator, inclusive; 0 if it has none. */
size_t system_folder_length(const char *path);
/* Returns true if both paths exist and are the same file or folder. */
bool system_is_same_file(const char *path, const char *other);
/* Returns the path with all links resolved, which the caller frees; NULL if it does not exist
 * or out of memory. */
char *system_resolve(const char *path);
/* Creates one folder. Returns 0, or -1 and sets errno. `mode`: permissions, where they exist.
 */
int system_make_folder(const char *path, unsigned mode);
/* Locks a folder against other processes. Returns a lock, -1 if the file system has no locks,
 * or -2 if another process holds it. */
int system_lock_folder(const char *folder);
void system_unlock_folder(int lock);

/* Writes the message of an errno value to `buffer`; returns false if there is none. */
bool system_error_text(int error, char *buffer, size_t size);
/* Returns true for errors that may not occur again, such as a full disk or a lost server. */
bool system_error_is_transient(int error);

/* A stream that writes to memory. */
struct memory_stream {
    FILE *out;
    char *text; /* after memory_stream_close: the bytes and a NUL; the caller frees them */
    size_t size;
};
bool memory_stream_open(struct memory_stream *stream) __attribute__((warn_unused_result));
/* Closes the stream. Returns false if a write or an allocation failed; then `text` is NULL or
 * incomplete, and must be freed too. */
bool memory_stream_close(struct memory_stream *stream) __attribute__((warn_unused_result));
