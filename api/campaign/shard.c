/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files of a shard. */
#include "api/campaign/shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/json/json_document.h"
#include "report/json/json_schema.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/system.h"
#include "support/text.h"

#define MAX_BYTES ((size_t)4 << 30) /* of one shard */

/* Hashes the manifest without its header, because the header contains the program version. */
const char *shard_identity(const struct cm_campaign *campaign, bool with_files,
                           struct arena *arena) {
    struct memory_stream stream;
    struct cm_campaign own = *campaign;
    struct cm_campaign_model *models =
        arena_copy(arena, campaign->models, campaign->n_models * sizeof(*models));
    if (models == NULL || !memory_stream_open(&stream)) return NULL;
    own.models = models;
    for (size_t i = 0; i < own.n_models && !with_files; i++) {
        models[i].bytes = CM_UNKNOWN;
        models[i].digest = NULL;
    }
    const int status = cm_campaign_write_json(&own, stream.out);
    const char *ret = NULL;
    if (memory_stream_close(&stream) && status == CM_OK) {
        const char *contents = strstr(stream.text, "\"models\"");
        if (contents == NULL) contents = stream.text;
        ret = arena_printf(arena, "%016" PRIx64, hash_text(contents, strlen(contents), 0));
    }
    free(stream.text);
    return ret;
}

const char *shard_key(const struct cm_campaign *campaign, const struct cm_combination *at,
                      const char *description, struct arena *arena) {
    struct text text;
    text_init(&text, arena);
    text_printf(&text, "%s\n%s\n%s\n%s\n%s\n%" PRId64 " %s\n", campaign->convention,
                campaign->mode, campaign->optimizer, campaign->runtime, at->model->path,
                at->model->bytes, at->model->digest ? at->model->digest : "");
    for (size_t i = 0; i < at->n_dims; i++)
        text_printf(&text, "%s=%zu\n", at->model->dims[i].name, at->dims[i]);
    text_printf(&text, "%" PRId64 "\n%s\n%s %s", at->batch, at->precision,
                at->device[0] != '\0' ? at->device : campaign->measure, description);
    if (text.failed) return NULL;
    return arena_printf(arena, "%016" PRIx64, hash_text(text.data, text.length, 0));
}

int shard_check_file(const char *path, struct cm_diagnostics *diag) {
    struct stat found;
    if (stat(path, &found) != 0 || S_ISREG(found.st_mode)) return CM_OK;
    return diag_error(diag, DIAG_IO, "'%s' is not a regular file", path);
}

bool shard_row_failed(const struct cm_sweep_row *row) {
    return !text_equal(row->state, "done") && !text_equal(row->state, "misfit");
}

static int read_header(const char *line, size_t length, struct arena *arena,
                       struct cm_diagnostics *diag, struct shard_header *ret) {
    struct shard_header header = {.schema = NULL};
    const int status = json_line_read(&json_shard, line, length, arena, diag, &header);
    if (status < 0) return status;
    if (!text_equal(header.schema, SHARD_SCHEMA))
        return diag_error(diag, DIAG_FORMAT, "schema is \"%.60s\", this program reads \"%s\"",
                          header.schema, SHARD_SCHEMA);
    *ret = header;
    return CM_OK;
}

/* A line of a file, for the location of errors. */
struct line_place {
    const char *path;
    size_t line; /* from 1 */
};

static void print_place(const struct diag_frame *frame, struct text *out) {
    const struct line_place *place = frame->context;
    text_append_label(out, place->path);
    text_printf(out, ", line %zu", place->line);
}

/* Reads the lines of a file; place->line is the current line. Writes NULs into `text`. */
static int read_lines(char *text, size_t size, bool is_part, struct arena *arena,
                      struct cm_diagnostics *diag, struct line_place *place,
                      struct shard_file *ret) {
    size_t n = 0;
    for (size_t i = 0; i < size; i++) n += text[i] == '\n';
    ret->rows = arena_array(arena, n + 1, sizeof(*ret->rows));
    ret->lines = arena_array(arena, n + 1, sizeof(*ret->lines));
    if (ret->rows == NULL || ret->lines == NULL) return diag_no_memory(diag);
    bool is_head = true;
    for (char *line = text; line < text + size; is_head = false) {
        char *end = memchr(line, '\n', (size_t)(text + size - line));
        if (end == NULL && is_part) break; /* a write that was cut off */
        if (end == NULL) end = text + size;
        const size_t length = (size_t)(end - line);
        place->line++;
        struct cm_sweep_row *row = &ret->rows[ret->n];
        const int status =
            is_head ? read_header(line, length, arena, diag, &ret->header)
                    : json_line_read(&json_sweep_row, line, length, arena, diag, row);
        if (status == CM_NO_MEMORY || (status < 0 && (!is_part || is_head))) return status;
        *end = '\0';
        if (status == CM_OK && !is_head) ret->lines[ret->n++] = line;
        if (status < 0) memset(row, 0, sizeof(*row));
        line = end + 1;
    }
    return CM_OK;
}

int shard_read(const char *path, bool is_part, struct arena *arena, struct cm_diagnostics *diag,
               struct shard_file *ret) {
    char *text = NULL;
    size_t size = 0;
    *ret = (struct shard_file){.n = 0};
    if (is_part && access(path, F_OK) != 0) return CM_OK;
    int status = shard_check_file(path, diag);
    if (status == CM_OK) status = source_read_file(path, MAX_BYTES, arena, diag, &text, &size);
    if (status < 0) return status;
    struct line_place place = {path, 0};
    struct diag_frame frame = {.label = "in", .print = print_place, .context = &place};
    diag_push(diag, &frame);
    status = read_lines(text, size, is_part, arena, is_part ? NULL : diag, &place, ret);
    diag_pop(diag, &frame);
    if (is_part && status == CM_REFUSED) { /* written by another version: ignore the file */
        *ret = (struct shard_file){.n = 0};
        return CM_OK;
    }
    if (status == CM_OK && ret->header.schema == NULL && !is_part)
        status = diag_error(diag, DIAG_FORMAT, "'%s' is not the file of a shard", path);
    return status;
}
