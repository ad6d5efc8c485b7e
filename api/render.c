/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of results and sweeps by name, written to a stream or into memory. */
#include <stdlib.h>

#include "report/report.h"
#include "support/arguments.h"
#include "support/diag.h"
#include "support/system.h"
#include "support/text.h"

#define MODULE_TREE_DEPTH 2

static int write_text(const struct report *report) {
    if (report->result == NULL) return report_write_sweep(report);
    return report->result->n_explanations > 0 ? report_write_explanations(report)
                                              : report_write_text(report);
}

static const struct format {
    struct cm_format public;
    report_writer *write;
} formats[] = {
    /* clang-format off */
    {{"text", "default: one screen", .of_sweeps = true, .uses = CM_USES_SECTIONS | CM_USES_LAYERS | CM_USES_DEPTH | CM_USES_TOP | CM_USES_UNITS | CM_USES_CURVE | CM_USES_PLAN | CM_USES_EXPLANATIONS | CM_USES_WIDTH}, write_text},
    {{"table", "rows and columns: --rows", .of_sweeps = true, .uses = CM_USES_TABLE | CM_USES_WIDTH}, report_write_table},
    {{"deepspeed", "listing of DeepSpeed's profiler", .uses = CM_USES_SECTIONS | CM_USES_LAYERS | CM_USES_DEPTH | CM_USES_TOP | CM_USES_UNITS | CM_USES_CURVE | CM_USES_PLAN | CM_USES_WIDTH | CM_USES_LLM}, report_write_deepspeed},
    {{"json", "", .of_sweeps = true, .uses = CM_USES_LAYERS | CM_USES_CURVE | CM_USES_PLAN | CM_USES_EXPLANATIONS}, report_write_json},
    {{"csv", "", .of_sweeps = true, .uses = CM_USES_TABLE}, report_write_csv},
    {{"markdown", "", .of_sweeps = true, .uses = CM_USES_TABLE}, report_write_markdown},
    {{"folded", "stacks for a flame graph", .uses = CM_USES_DEPTH | CM_USES_METRIC}, report_write_folded},
    {{"dot", "module tree for Graphviz", .uses = CM_USES_COLUMNS | CM_USES_DEPTH | CM_USES_UNITS, .depth = MODULE_TREE_DEPTH}, report_write_dot},
    {{"mermaid", "module tree for Markdown", .uses = CM_USES_COLUMNS | CM_USES_DEPTH | CM_USES_UNITS, .depth = MODULE_TREE_DEPTH}, report_write_mermaid},
    {{"html", "page for a browser", .of_sweeps = true, .uses = CM_USES_CURVE | CM_USES_PLAN | CM_USES_EXPLANATIONS, .is_page = true}, report_write_html},
    {{"trace", "timeline for chrome://tracing and Perfetto; requires times", .uses = CM_USES_CURVE, .requires_times = true}, report_write_trace},
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

/* Writes report->result, or the sweep if that is NULL. */
static int write_report(struct report report, const char *name,
                        const struct cm_report_options *options) {
    struct cm_text_options text;
    struct cm_table_options table;
    if ((report.result == NULL && report.sweep == NULL) || name == NULL || report.out == NULL)
        return diag_null(report.diag);
    const struct format *format = find(name);
    if (format == NULL)
        return diag_error(report.diag, DIAG_USAGE, "unknown report format '%s'", name);
    if (report.result == NULL && !format->public.of_sweeps)
        return diag_error(report.diag, DIAG_USAGE, "format '%s' requires one batch", name);
    cm_text_options_init(&text);
    cm_table_options_init(&table);
    report.text = ARGUMENTS_TAKE(
        cm_text_options, options && options->text ? options->text : &text, true, report.diag);
    report.table =
        ARGUMENTS_TAKE(cm_table_options, options && options->table ? options->table : &table,
                       true, report.diag);
    return report.text && report.table ? format->write(&report) : CM_USAGE;
}

int cm_result_write(const struct cm_result *result, const char *format,
                    const struct cm_report_options *options, struct cm_diagnostics *diagnostics,
                    FILE *out) {
    const struct report report = {.result = result, .diag = diagnostics, .out = out};
    return write_report(report, format, options);
}

int cm_sweep_write(const struct cm_sweep *sweep, const char *format,
                   const struct cm_report_options *options, struct cm_diagnostics *diagnostics,
                   FILE *out) {
    const struct report report = {.sweep = sweep, .diag = diagnostics, .out = out};
    return write_report(report, format, options);
}

int cm_result_render(const struct cm_result *result, const char *format,
                     const struct cm_report_options *options,
                     struct cm_diagnostics *diagnostics, char **ret_text, size_t *ret_size) {
    struct memory_stream stream;
    if (result == NULL || format == NULL || ret_text == NULL || ret_size == NULL)
        return diag_null(diagnostics);
    if (!memory_stream_open(&stream)) return diag_no_memory(diagnostics);
    int status = cm_result_write(result, format, options, diagnostics, stream.out);
    /* A stream in memory fails only if an allocation failed. */
    if ((!memory_stream_close(&stream) && status == CM_OK) || status == CM_IO)
        status = diag_no_memory(diagnostics);
    if (status != CM_OK) {
        free(stream.text);
        return diag_finish(diagnostics, status);
    }
    *ret_text = stream.text;
    *ret_size = stream.size;
    return diag_finish(diagnostics, CM_OK);
}

void cm_report_free(char *text) {
    free(text);
}
