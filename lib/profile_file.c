/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON begins with '{', perhaps behind blanks. No ONNX file does: '{' would be a group, which
 * proto3 has not, and a blank is field 1 or 4 of a wire type that they do not have.
 */
#include "lib/profile_file.h"

#include <string.h>

#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"

#include "support/banned.h"

#define FIRST_CAPACITY ((size_t)1 << 16)
#define MOST           ((size_t)1 << 30) /* the reader of JSON says which size it takes */

int profile_file_is(struct source *source, struct cm_diagnostics *diag, bool *ret) {
    const uint8_t *bytes = NULL;
    size_t size = 0;
    size_t i = 0;
    const int status = source_look(source, &bytes, &size, diag);
    if (status < 0) return status;
    while (i < size && memchr(" \t\r\n", bytes[i], 4) != NULL) i++;
    *ret = i < size && bytes[i] == '{';
    return CM_OK;
}

/* All of it in one piece; a pipe does not say how much that is. */
static int read_rest(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
                     char **ret, size_t *ret_size) {
    const uint64_t known = source_size(source);
    size_t capacity = known == SOURCE_SIZE_UNKNOWN ? FIRST_CAPACITY
                      : known < MOST               ? (size_t)known + 1
                                                   : MOST;
    char *text = arena_alloc(arena, capacity);
    size_t size = 0;
    while (text != NULL) {
        size_t got = 0;
        const int status = source_read(source, text + size, capacity - size, &got, diag);
        if (status < 0) return status;
        size += got;
        if (size < capacity || capacity >= MOST) break;
        char *grown = arena_alloc(arena, 2 * capacity);
        if (grown != NULL) memcpy(grown, text, size);
        text = grown;
        capacity *= 2;
    }
    if (text == NULL) return diag_no_memory(diag);
    *ret = text;
    *ret_size = size;
    return CM_OK;
}

int profile_file_read(struct source *source, struct cm_diagnostics *diag,
                      struct cm_result **ret) {
    struct arena *arena = arena_new("profile file", 0);
    char *text = NULL;
    size_t size = 0;
    if (arena == NULL) return diag_no_memory(diag);
    int status = read_rest(source, arena, diag, &text, &size);
    if (status == CM_OK)
        status = cm_result_read_json(text, size, source_name(source), diag, ret);
    arena_free(arena);
    return status;
}
