/* SPDX-License-Identifier: Apache-2.0 */
/* Reads bytes from a file, a pipe or memory through one window: 4 KiB of a file or pipe, or the
 * whole of a memory source. Files are read with pread and never mapped: a mapping would count
 * as resident memory, and truncating a mapped file kills the program. */
#include "support/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/arena.h"
#include "support/diag.h"
#include "support/hash.h"
#include "support/system.h"

#define WINDOW_SIZE  ((size_t)4096)
#define FIRST_READ   ((size_t)1 << 16) /* bytes; source_read_all doubles it each time */
#define LARGEST_READ ((size_t)1 << 30) /* bytes per call of read; some systems refuse more */

struct source {
    char *name;
    int fd;        /* -1: memory */
    bool is_stdin; /* not closed by source_close */
    bool can_seek;
    uint64_t origin; /* file offset of position 0 */
    uint64_t size;   /* SOURCE_SIZE_UNKNOWN until a pipe has ended */
    uint64_t bytes_read;
    bool has_digest;
    uint64_t digest;             /* of the bytes read since source_begin_digest */
    struct source_window window; /* of `buffer`, or the memory of the caller */
    uint8_t buffer[WINDOW_SIZE];
};

static int source_new(const char *name, struct cm_diagnostics *diag, struct source **ret) {
    struct source *source = calloc(1, sizeof *source);
    if (source == NULL) return diag_no_memory(diag);
    source->fd = -1;
    source->window.bytes = source->buffer;
    source->size = SOURCE_SIZE_UNKNOWN;
    source->name = strdup(name);
    if (source->name == NULL) {
        free(source);
        return diag_no_memory(diag);
    }
    *ret = source;
    return CM_OK;
}

/* Opens a source on a descriptor and takes ownership of it. Determines size and origin:
 * standard input may be a file that is already partly read. */
static int open_fd(int fd, const char *name, bool is_stdin, struct cm_diagnostics *diag,
                   struct source **ret) {
    struct source *source = NULL;
    struct stat about;
    int status = source_new(name, diag, &source);
    if (status != CM_OK) {
        if (!is_stdin) close(fd);
        return status;
    }
    source->fd = fd;
    source->is_stdin = is_stdin;
    if (fstat(fd, &about) != 0)
        status = diag_system(diag, "read", name, errno);
    else if (S_ISDIR(about.st_mode))
        status = diag_system(diag, "read", name, EISDIR);
    if (status != CM_OK) {
        source_close(source);
        return status;
    }
    *ret = source;
    const off_t origin = S_ISREG(about.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    if (origin < 0) return CM_OK;
    source->can_seek = true;
    source->origin = (uint64_t)origin;
    source->size = origin < about.st_size ? (uint64_t)(about.st_size - origin) : 0;
    /* Without it the kernel reads ahead into weights that are skipped. */
    system_expect_random_reads(fd);
    return CM_OK;
}

int source_open(const char *path, struct cm_diagnostics *diag, struct source **ret) {
    if (strcmp(path, "-") == 0) return open_fd(STDIN_FILENO, "<stdin>", true, diag, ret);
    const int fd = system_open(path);
    if (fd < 0) return diag_system(diag, "open", path, errno);
    return open_fd(fd, path, false, diag, ret);
}

int source_open_descriptor(int fd, const char *name, struct cm_diagnostics *diag,
                           struct source **ret) {
    return open_fd(fd, name, false, diag, ret);
}

int source_open_memory(const void *data, size_t size, const char *name,
                       struct cm_diagnostics *diag, struct source **ret) {
    struct source *source = NULL;
    const int status = source_new(name, diag, &source);
    if (status != CM_OK) return status;
    source->can_seek = true;
    source->size = size;
    if (size > 0) source->window.bytes = data;
    source->window.length = size;
    *ret = source;
    return CM_OK;
}

void source_close(struct source *source) {
    if (source == NULL) return;
    if (source->fd >= 0 && !source->is_stdin) close(source->fd);
    free(source->name);
    free(source);
}

const char *source_name(const struct source *source) {
    return source->name;
}

uint64_t source_size(const struct source *source) {
    return source->size;
}

bool source_can_seek(const struct source *source) {
    return source->can_seek;
}

struct source_window *source_window(struct source *source) {
    return &source->window;
}

uint64_t source_position(const struct source *source) {
    return source->window.start + source->window.at;
}

void source_rewind(struct source *source) {
    BUG_ON(!source->can_seek);
    source->window.at = 0;
    if (source->fd < 0) return;
    source->window.start = 0;
    source->window.length = 0;
}

uint64_t source_bytes_read(const struct source *source) {
    return source->bytes_read;
}

void source_begin_digest(struct source *source) {
    source->has_digest = true;
}

uint64_t source_digest(const struct source *source) {
    return source->digest;
}

/* Reads once at `position` (ignored for a pipe); retries if interrupted by a signal. */
static int read_some(struct source *source, uint64_t position, void *buffer, size_t size,
                     size_t *ret_got, struct cm_diagnostics *diag) {
    const size_t max_bytes = size < LARGEST_READ ? size : LARGEST_READ;
    ptrdiff_t got = 0;
    do {
        got = source->can_seek
                  ? system_read_at(source->fd, buffer, max_bytes, source->origin + position)
                  : read(source->fd, buffer, max_bytes);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return diag_system(diag, "read", source->name, errno);
    source->bytes_read += (uint64_t)got;
    if (source->has_digest) source->digest = hash_text(buffer, (size_t)got, source->digest);
    *ret_got = (size_t)got;
    return CM_OK;
}

/* Reads up to `size` bytes at the position into `buffer`, which may be that of the window.
 * Requires an empty window. *ret_got is 0 at the end. */
static int read_next(struct source *source, void *buffer, size_t size, size_t *ret_got,
                     struct cm_diagnostics *diag) {
    const uint64_t position = source_position(source);
    size_t got = 0;
    if (source->fd >= 0 && position < source->size) {
        const int status = read_some(source, position, buffer, size, &got, diag);
        if (status != CM_OK) return status;
        source->window.start = position;
        source->window.at = 0;
        source->window.length = 0;
        if (got == 0) source->size = position;
    }
    *ret_got = got;
    return CM_OK;
}

/* Refills the empty window. *ret_got is 0 at the end. */
static int refill(struct source *source, size_t *ret_got, struct cm_diagnostics *diag) {
    const int status = read_next(source, source->buffer, WINDOW_SIZE, ret_got, diag);
    if (status == CM_OK && *ret_got > 0) source->window.length = *ret_got;
    return status;
}

/* Consumes up to `size` bytes of the window; returns how many. */
static size_t use_window(struct source *source, uint64_t size) {
    const size_t left = source->window.length - source->window.at;
    const size_t n = size < left ? (size_t)size : left;
    source->window.at += n;
    return n;
}

int source_read(struct source *source, void *buffer, size_t size, size_t *ret_got,
                struct cm_diagnostics *diag) {
    uint8_t *out = buffer;
    size_t done = 0;
    for (;;) {
        const uint8_t *from = source->window.bytes + source->window.at;
        const size_t n = use_window(source, size - done);
        size_t got = 0;
        if (n > 0) memcpy(out + done, from, n);
        done += n;
        if (done == size) break;
        const bool large = size - done >= WINDOW_SIZE && source->fd >= 0;
        const int status = large ? read_next(source, out + done, size - done, &got, diag)
                                 : refill(source, &got, diag);
        if (status != CM_OK) return status;
        if (got == 0) break;
        if (!large) continue; /* copies from the window next */
        source->window.start += got;
        done += got;
    }
    *ret_got = done;
    return CM_OK;
}

int source_byte(struct source *source, struct cm_diagnostics *diag) {
    size_t got = 0;
    if (source->window.at < source->window.length)
        return source->window.bytes[source->window.at++];
    if (refill(source, &got, diag) != CM_OK) return -2;
    return got == 0 ? -1 : source->window.bytes[source->window.at++];
}

int source_look(struct source *source, const uint8_t **ret, size_t *ret_size,
                struct cm_diagnostics *diag) {
    size_t got = 0;
    int status = CM_OK;
    if (source->window.at == source->window.length) status = refill(source, &got, diag);
    if (status < 0) return status;
    *ret = source->window.bytes + source->window.at;
    *ret_size = source->window.length - source->window.at;
    return CM_OK;
}

bool source_at_end(struct source *source, struct cm_diagnostics *diag) {
    size_t got = 0;
    if (source->window.at < source->window.length) return false;
    if (source->can_seek) return source_position(source) >= source->size;
    return refill(source, &got, diag) != CM_OK || got == 0;
}

int source_skip(struct source *source, uint64_t size, uint64_t *ret_got,
                struct cm_diagnostics *diag) {
    uint64_t done = use_window(source, size);
    size_t got = 1;
    if (source->can_seek && source->fd >= 0 && done < size) {
        const uint64_t position = source_position(source);
        const uint64_t left = source->size > position ? source->size - position : 0;
        const uint64_t n = size - done < left ? size - done : left;
        source->window.start = position + n;
        source->window.at = 0;
        source->window.length = 0;
        done += n;
    }
    while (!source->can_seek && done < size && got > 0) {
        const int status = refill(source, &got, diag);
        if (status != CM_OK) return status;
        done += use_window(source, size - done);
    }
    *ret_got = done;
    return CM_OK;
}

static int cut_short(const struct source *source, uint64_t offset, size_t size,
                     struct cm_diagnostics *diag) {
    return diag_error(
        diag, DIAG_FORMAT, "cannot read %zu bytes at offset %llu of \"%s\": its size is %llu",
        size, (unsigned long long)offset, source->name, (unsigned long long)source->size);
}

int source_read_at(struct source *source, uint64_t offset, void *buffer, size_t size,
                   struct cm_diagnostics *diag) {
    uint8_t *out = buffer;
    if (!source->can_seek) {
        return diag_error(diag, DIAG_VALUE,
                          "cannot read %zu bytes at offset %llu: already past it in a pipe",
                          size, (unsigned long long)offset);
    }
    if (offset > source->size || size > source->size - offset) {
        return cut_short(source, offset, size, diag);
    }
    if (source->fd < 0) {
        if (size > 0) memcpy(out, source->window.bytes + offset, size);
        return CM_OK;
    }
    for (size_t done = 0, got = 0; done < size; done += got) {
        const int status =
            read_some(source, offset + done, out + done, size - done, &got, diag);
        if (status != CM_OK) return status;
        if (got == 0) return cut_short(source, offset, size, diag);
    }
    return CM_OK;
}

/* Reads into a growing buffer, because the size of a pipe is unknown. Reads up to one byte more
 * than allowed, to detect a source that is too large. */
int source_read_all(struct source *source, size_t max_bytes, struct arena *arena,
                    struct cm_diagnostics *diag, char **ret_text, size_t *ret_size) {
    size_t capacity = 0;
    size_t size = 0;
    char *bytes = NULL;
    int status = CM_OK;
    while (status == CM_OK && size == capacity && size <= max_bytes) {
        size_t got = 0;
        capacity = capacity == 0 ? FIRST_READ : 2 * capacity;
        if (capacity > max_bytes + 1) capacity = max_bytes + 1;
        char *grown = realloc(bytes, capacity);
        if (grown == NULL) {
            status = diag_no_memory(diag);
            break;
        }
        bytes = grown;
        status = source_read(source, bytes + size, capacity - size, &got, diag);
        size += got;
    }
    if (status == CM_OK && size > max_bytes)
        status = diag_error(diag, DIAG_LIMIT, "\"%s\" has more than %zu bytes", source->name,
                            max_bytes);
    if (status == CM_OK) {
        *ret_text = arena_strndup(arena, bytes, size);
        *ret_size = size;
        if (*ret_text == NULL) status = diag_no_memory(diag);
    }
    free(bytes);
    return status;
}

int source_read_file(const char *path, size_t max_bytes, struct arena *arena,
                     struct cm_diagnostics *diag, char **ret_text, size_t *ret_size) {
    struct source *source = NULL;
    int status = arena ? source_open(path, diag, &source) : diag_no_memory(diag);
    if (source == NULL) return status;
    status = source_read_all(source, max_bytes, arena, diag, ret_text, ret_size);
    source_close(source);
    return status;
}
