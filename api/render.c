/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of a result by name, written to a stream or into memory. */
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

/* clang-format off */
static const struct {
    struct cm_format format;
    /* The writer, by the options that it uses; a table and a page have none of these. */
    int (*write)(const struct cm_result *result, FILE *out);
    int (*write_text)(const struct cm_result *result, const struct cm_text_options *options,
                      FILE *out);
    int (*write_rows)(const struct cm_result *result, const struct cm_table_options *options,
                      struct cm_diagnostics *diag, FILE *out);
} formats[] = {
    {{"text", "default: one screen", .uses = CM_USES_SECTIONS | CM_USES_LAYERS | CM_USES_DEPTH | CM_USES_TOP | CM_USES_UNITS | CM_USES_CURVE | CM_USES_PLAN | CM_USES_EXPLANATIONS | CM_USES_WIDTH}, .write_text = write_text},
    {{"table", "rows and columns: --rows", .uses = CM_USES_TABLE | CM_USES_WIDTH}, .write = NULL},
    {{"deepspeed", "listing of DeepSpeed's profiler", .uses = CM_USES_SECTIONS | CM_USES_LAYERS | CM_USES_DEPTH | CM_USES_TOP | CM_USES_UNITS | CM_USES_CURVE | CM_USES_PLAN | CM_USES_WIDTH}, .write_text = cm_result_write_deepspeed},
    {{"json", "", .uses = CM_USES_LAYERS | CM_USES_CURVE | CM_USES_PLAN | CM_USES_EXPLANATIONS}, .write = cm_result_write_json},
    {{"csv", "", .uses = CM_USES_TABLE}, .write_rows = cm_result_write_csv},
    {{"markdown", "", .uses = CM_USES_TABLE}, .write_rows = cm_result_write_markdown},
    {{"folded", "stacks for a flame graph", .uses = CM_USES_DEPTH | CM_USES_METRIC}, .write_rows = cm_result_write_folded},
    {{"dot", "module tree for Graphviz", .uses = CM_USES_COLUMNS | CM_USES_DEPTH | CM_USES_UNITS, .depth = MODULE_TREE_DEPTH}, .write_rows = cm_result_write_dot},
    {{"mermaid", "module tree for Markdown", .uses = CM_USES_COLUMNS | CM_USES_DEPTH | CM_USES_UNITS, .depth = MODULE_TREE_DEPTH}, .write_rows = cm_result_write_mermaid},
    {{"html", "page for a browser", .uses = CM_USES_CURVE | CM_USES_PLAN | CM_USES_EXPLANATIONS, .is_page = true}, .write = NULL},
    {{"trace", "timeline for chrome://tracing and Perfetto; requires times", .uses = CM_USES_CURVE, .requires_times = true}, .write = cm_result_write_trace},
};
/* clang-format on */

#define N_FORMATS (sizeof formats / sizeof *formats)

const char *cm_format_at(size_t index) {
    return index < N_FORMATS ? formats[index].format.name : NULL;
}

const struct cm_format *cm_format_find(const char *name) {
    for (size_t i = 0; name != NULL && i < N_FORMATS; i++)
        if (text_equal(formats[i].format.name, name)) return &formats[i].format;
    return NULL;
}

int cm_result_write(const struct cm_result *result, const char *format,
                    const struct cm_report_options *options, struct cm_diagnostics *diagnostics,
                    FILE *out) {
    struct cm_text_options usual_text;
    struct cm_table_options usual_table;
    if (result == NULL || format == NULL || out == NULL) return diag_null(diagnostics);
    cm_text_options_init(&usual_text);
    cm_table_options_init(&usual_table);
    const struct cm_text_options *text = options && options->text ? options->text : &usual_text;
    const struct cm_table_options *table =
        options && options->table ? options->table : &usual_table;
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (!text_equal(formats[i].format.name, format)) continue;
        if (formats[i].write) return formats[i].write(result, out);
        if (formats[i].write_text) return formats[i].write_text(result, text, out);
        if (formats[i].write_rows)
            return formats[i].write_rows(result, table, diagnostics, out);
        return formats[i].format.is_page
                   ? cm_result_write_html(result, NULL, diagnostics, out)
                   : cm_result_write_table(result, table, text, diagnostics, out);
    }
    return diag_error(diagnostics, DIAG_USAGE, "unknown report format '%s'", format);
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
