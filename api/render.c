/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of results and sweeps by name, written to a stream or into memory. */
#include "costmodel/costmodel.h"

#include <stdlib.h>

#include "support/diag.h"
#include "support/text.h"

#define MODULE_TREE_DEPTH 2

static int write_text(const struct cm_result *result, const struct cm_text_options *options,
                      FILE *out) {
    return result->n_explanations > 0 ? cm_result_write_explanations(result, options, out)
                                      : cm_result_write_text(result, options, out);
}

/* A format and its writers of results and sweeps, by the options that they use. A table uses
 * both, and a page none; write_one calls these. */
static const struct format {
    struct cm_format public;
    struct {
        int (*result)(const struct cm_result *result, FILE *out);
        int (*sweep)(const struct cm_sweep *sweep, FILE *out);
    } plain;
    struct {
        int (*result)(const struct cm_result *result, const struct cm_text_options *options,
                      FILE *out);
        int (*sweep)(const struct cm_sweep *sweep, const struct cm_text_options *options,
                     FILE *out);
    } text;
    struct {
        int (*result)(const struct cm_result *result, const struct cm_table_options *options,
                      struct cm_diagnostics *diag, FILE *out);
        int (*sweep)(const struct cm_sweep *sweep, const struct cm_table_options *options,
                     struct cm_diagnostics *diag, FILE *out);
    } rows;
} formats[] = {
    /* clang-format off */
    {{"text", "default: one screen", .of_sweeps = true, .uses = CM_USES_SECTIONS | CM_USES_LAYERS | CM_USES_DEPTH | CM_USES_TOP | CM_USES_UNITS | CM_USES_CURVE | CM_USES_PLAN | CM_USES_EXPLANATIONS | CM_USES_WIDTH}, .text = {write_text, cm_sweep_write_text}},
    {{"table", "rows and columns: --rows", .of_sweeps = true, .uses = CM_USES_TABLE | CM_USES_WIDTH}, .plain = {NULL, NULL}},
    {{"deepspeed", "listing of DeepSpeed's profiler", .uses = CM_USES_SECTIONS | CM_USES_LAYERS | CM_USES_DEPTH | CM_USES_TOP | CM_USES_UNITS | CM_USES_CURVE | CM_USES_PLAN | CM_USES_WIDTH}, .text = {cm_result_write_deepspeed, NULL}},
    {{"json", "", .of_sweeps = true, .uses = CM_USES_LAYERS | CM_USES_CURVE | CM_USES_PLAN | CM_USES_EXPLANATIONS}, .plain = {cm_result_write_json, cm_sweep_write_json}},
    {{"csv", "", .of_sweeps = true, .uses = CM_USES_TABLE}, .rows = {cm_result_write_csv, cm_sweep_write_csv}},
    {{"markdown", "", .of_sweeps = true, .uses = CM_USES_TABLE}, .rows = {cm_result_write_markdown, cm_sweep_write_markdown}},
    {{"folded", "stacks for a flame graph", .uses = CM_USES_DEPTH | CM_USES_METRIC}, .rows = {cm_result_write_folded, NULL}},
    {{"dot", "module tree for Graphviz", .uses = CM_USES_COLUMNS | CM_USES_DEPTH | CM_USES_UNITS, .depth = MODULE_TREE_DEPTH}, .rows = {cm_result_write_dot, NULL}},
    {{"mermaid", "module tree for Markdown", .uses = CM_USES_COLUMNS | CM_USES_DEPTH | CM_USES_UNITS, .depth = MODULE_TREE_DEPTH}, .rows = {cm_result_write_mermaid, NULL}},
    {{"html", "page for a browser", .of_sweeps = true, .uses = CM_USES_CURVE | CM_USES_PLAN | CM_USES_EXPLANATIONS, .is_page = true}, .plain = {NULL, NULL}},
    {{"trace", "timeline for chrome://tracing and Perfetto; requires times", .uses = CM_USES_CURVE, .requires_times = true}, .plain = {cm_result_write_trace, NULL}},
    /* clang-format on */
};

#define N_FORMATS (sizeof formats / sizeof *formats)

const char *cm_format_at(size_t index) {
    return index < N_FORMATS ? formats[index].public.name : NULL;
}

static const struct format *find(const char *name) {
    for (size_t i = 0; name != NULL && i < N_FORMATS; i++)
        if (text_equal(formats[i].public.name, name)) return &formats[i];
    return NULL;
}

const struct cm_format *cm_format_find(const char *name) {
    const struct format *format = find(name);
    return format ? &format->public : NULL;
}

/* Writes the result, or the sweep if `result` is NULL. */
static int write_one(const struct cm_result *result, const struct cm_sweep *sweep,
                     const struct format *format, const struct cm_text_options *text,
                     const struct cm_table_options *table, struct cm_diagnostics *diag,
                     FILE *out) {
    if (format->plain.result)
        return result ? format->plain.result(result, out) : format->plain.sweep(sweep, out);
    if (format->text.result)
        return result ? format->text.result(result, text, out)
                      : format->text.sweep(sweep, text, out);
    if (format->rows.result)
        return result ? format->rows.result(result, table, diag, out)
                      : format->rows.sweep(sweep, table, diag, out);
    if (format->public.is_page)
        return result ? cm_result_write_html(result, NULL, diag, out)
                      : cm_sweep_write_html(sweep, diag, out);
    return result ? cm_result_write_table(result, table, text, diag, out)
                  : cm_sweep_write_table(sweep, table, text, diag, out);
}

static int write_report(const struct cm_result *result, const struct cm_sweep *sweep,
                        const char *name, const struct cm_report_options *options,
                        struct cm_diagnostics *diag, FILE *out) {
    struct cm_text_options text;
    struct cm_table_options table;
    if ((result == NULL && sweep == NULL) || name == NULL || out == NULL)
        return diag_null(diag);
    const struct format *format = find(name);
    if (format == NULL) return diag_error(diag, DIAG_USAGE, "unknown report format '%s'", name);
    if (result == NULL && !format->public.of_sweeps)
        return diag_error(diag, DIAG_USAGE, "format '%s' requires one batch", name);
    cm_text_options_init(&text);
    cm_table_options_init(&table);
    return write_one(result, sweep, format, options && options->text ? options->text : &text,
                     options && options->table ? options->table : &table, diag, out);
}

int cm_result_write(const struct cm_result *result, const char *format,
                    const struct cm_report_options *options, struct cm_diagnostics *diagnostics,
                    FILE *out) {
    return write_report(result, NULL, format, options, diagnostics, out);
}

int cm_sweep_write(const struct cm_sweep *sweep, const char *format,
                   const struct cm_report_options *options, struct cm_diagnostics *diagnostics,
                   FILE *out) {
    return write_report(NULL, sweep, format, options, diagnostics, out);
}

int cm_result_render(const struct cm_result *result, const char *format,
                     const struct cm_report_options *options,
                     struct cm_diagnostics *diagnostics, char **ret_text, size_t *ret_size) {
    char *text = NULL;
    size_t size = 0;
    if (result == NULL || format == NULL || ret_text == NULL || ret_size == NULL)
        return diag_null(diagnostics);
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) return diag_no_memory(diagnostics);
    int status = cm_result_write(result, format, options, diagnostics, out);
    /* A stream in memory fails only if an allocation failed. */
    if ((fclose(out) != 0 && status == CM_OK) || status == CM_IO)
        status = diag_no_memory(diagnostics);
    if (status != CM_OK) {
        free(text);
        return diag_finish(diagnostics, status);
    }
    *ret_text = text;
    *ret_size = size;
    return diag_finish(diagnostics, CM_OK);
}

void cm_report_free(char *text) {
    free(text);
}
