/* SPDX-License-Identifier: Apache-2.0 */
/* Times as CSV (RFC 4180) with the columns node,time_us. Rows of one node add up. */
#include "backends/times/times.h"

#include "backends/times/times_names.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

struct csv {
    const char *at;
    const char *end;
    size_t line; /* 1-based */
    struct cm_diagnostics *diag;
    struct cm_times *times;
};

/* Reads one field up to the comma or the end of the line, without its quotes. Returns NULL if a
 * quote is not closed or if out of memory, which is sticky in the arena. */
static char *read_field(struct csv *csv) {
    const char *start = csv->at;
    size_t n = 0;
    if (start == csv->end || *start != '"') {
        while (csv->at < csv->end && strchr(",\r\n", *csv->at) == NULL) csv->at++;
        return arena_strndup(csv->times->arena, start, (size_t)(csv->at - start));
    }
    const char *close = start + 1;
    while (close < csv->end && (*close != '"' || (close + 1 < csv->end && close[1] == '"')))
        close += *close == '"' ? 2 : 1;
    if (close >= csv->end) return NULL;
    char *field = arena_alloc(csv->times->arena, (size_t)(close - start)); /* zeroed */
    for (const char *from = start + 1; field && from < close; from += *from == '"' ? 2 : 1)
        field[n++] = *from;
    csv->at = close + 1;
    return field;
}

/* Consumes the end of a line: "\n", "\r\n" or the end of the text; returns false if absent. */
static bool end_line(struct csv *csv) {
    if (csv->at < csv->end && *csv->at == '\r') csv->at++;
    if (csv->at == csv->end) return true;
    if (*csv->at != '\n') return false;
    csv->at++;
    csv->line++;
    return true;
}

static int read_row(struct csv *csv) {
    struct times_refs refs = {.arena = csv->times->arena};
    const size_t line = csv->line;
    double us = 0;
    const char *name = read_field(csv);
    const char *time = NULL;
    if (name != NULL && csv->at < csv->end && *csv->at == ',') {
        csv->at++;
        time = read_field(csv);
    }
    if (arena_failed(csv->times->arena)) return diag_no_memory(csv->diag);
    if (time == NULL || !end_line(csv))
        return diag_error(csv->diag, DIAG_FORMAT,
                          "line %zu must have two fields, node and time_us", line);
    if (name[0] == '\0')
        return diag_error(csv->diag, DIAG_FORMAT, "line %zu must name a node", line);
    if (!text_to_real(time, &us) || !(us >= 0 && us < 1e15))
        return diag_error(csv->diag, DIAG_FORMAT,
                          "line %zu: time_us must be a time in microseconds, got '%s'", line,
                          time);
    const double s = us * 1e-6;
    struct times_layer *layer = times_add_layer(csv->times, name, &refs);
    if (layer == NULL) return diag_no_memory(csv->diag);
    layer->timing = (struct cm_timing){s, s, s, s, s, 1, 1};
    layer->mean = s;
    return CM_OK;
}

int times_read_csv(const char *text, size_t size, struct cm_diagnostics *diag,
                   struct cm_times *ret) {
    static const char heading[] = "node,time_us";
    struct csv csv = {text, text + size, 1, diag, ret};
    size_t n_lines = 1;
    if (!text_is_utf8(text, size)) return diag_error(diag, DIAG_FORMAT, "not UTF-8 text");
    if (size < strlen(heading) || memcmp(text, heading, strlen(heading)) != 0)
        return diag_error(diag, DIAG_FORMAT,
                          "times must be JSON of ONNX Runtime, PyTorch, OpenVINO or trtexec, "
                          "counters of OpenVINO, or CSV whose first line is '%s'",
                          heading);
    csv.at += strlen(heading);
    if (!end_line(&csv)) return diag_error(diag, DIAG_FORMAT, "line 1 must be '%s'", heading);
    for (size_t i = 0; i < size; i++) n_lines += text[i] == '\n';
    *ret = (struct cm_times){.arena = ret->arena,
                             .path = ret->path,
                             .tool = "csv",
                             .provider = "",
                             .runs = 1,
                             .has_times = true};
    ret->layers = arena_array(ret->arena, n_lines, sizeof(*ret->layers));
    if (ret->layers == NULL) return diag_no_memory(diag);
    int status = CM_OK;
    while (status == CM_OK && csv.at < csv.end) {
        const bool is_blank = *csv.at == '\n' || *csv.at == '\r';
        if (!is_blank || !end_line(&csv)) status = read_row(&csv);
    }
    return status;
}
