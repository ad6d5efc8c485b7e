/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is JSON if it begins with blanks and '{'. No ONNX file does: '{' would be a group,
 * which proto3 lacks, and a blank is field 1 or 4 with a wire type that those fields do not
 * have.
 */
#include "api/profile_file.h"

#include <string.h>

#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"

#include "support/banned.h"

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

int profile_file_is(struct source *source, struct cm_diagnostics *diag, bool *ret) {
    const uint8_t *bytes = NULL;
    size_t size = 0;
    size_t i = 0;
    const int status = source_look(source, &bytes, &size, diag);
    if (status < 0) return status;
    while (i < size && is_blank(bytes[i])) i++;
    *ret = i < size && bytes[i] == '{';
    return CM_OK;
}

int profile_file_read(struct source *source, struct cm_diagnostics *diag,
                      struct cm_result **ret) {
    struct arena *arena = arena_new("profile file", 0);
    char *text = NULL;
    size_t size = 0;
    if (arena == NULL) return diag_no_memory(diag);
    int status = source_read_all(source, FILE_MOST_JSON, arena, diag, &text, &size);
    if (status == CM_OK)
        status = cm_result_read_json(text, size, source_name(source), diag, ret);
    arena_free(arena);
    return status;
}
