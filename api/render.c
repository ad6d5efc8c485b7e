/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of a result by name, written to a stream or into memory. */
#include "costmodel/costmodel.h"

#include <stdlib.h>

#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

static int write_text(const struct cm_result *result, const struct cm_report_options *options,
                      struct cm_diagnostics *diag, FILE *out) {
    (void)diag;
    return result->n_explanations > 0
               ? cm_result_write_explanations(result, &options->text, out)
               : cm_result_write_text(result, &options->text, out);
}

static int write_deepspeed(const struct cm_result *result,
                           const struct cm_report_options *options, struct cm_diagnostics *diag,
                           FILE *out) {
    (void)diag;
    return cm_result_write_deepspeed(result, &options->text, out);
}

static int write_table(const struct cm_result *result, const struct cm_report_options *options,
                       struct cm_diagnostics *diag, FILE *out) {
    return cm_result_write_table(result, &options->table, &options->text, diag, out);
}

static int write_json(const struct cm_result *result, const struct cm_report_options *options,
                      struct cm_diagnostics *diag, FILE *out) {
    (void)options;
    (void)diag;
    return cm_result_write_json(result, out);
}

static int write_csv(const struct cm_result *result, const struct cm_report_options *options,
                     struct cm_diagnostics *diag, FILE *out) {
    return cm_result_write_csv(result, &options->table, diag, out);
}

static int write_markdown(const struct cm_result *result,
                          const struct cm_report_options *options, struct cm_diagnostics *diag,
                          FILE *out) {
    return cm_result_write_markdown(result, &options->table, diag, out);
}

static int write_folded(const struct cm_result *result, const struct cm_report_options *options,
                        struct cm_diagnostics *diag, FILE *out) {
    return cm_result_write_folded(result, &options->table, diag, out);
}

static int write_dot(const struct cm_result *result, const struct cm_report_options *options,
                     struct cm_diagnostics *diag, FILE *out) {
    return cm_result_write_dot(result, &options->table, diag, out);
}

static int write_mermaid(const struct cm_result *result,
                         const struct cm_report_options *options, struct cm_diagnostics *diag,
                         FILE *out) {
    return cm_result_write_mermaid(result, &options->table, diag, out);
}

static int write_html(const struct cm_result *result, const struct cm_report_options *options,
                      struct cm_diagnostics *diag, FILE *out) {
    (void)options;
    return cm_result_write_html(result, NULL, diag, out);
}

static int write_trace(const struct cm_result *result, const struct cm_report_options *options,
                       struct cm_diagnostics *diag, FILE *out) {
    (void)options;
    (void)diag;
    return cm_result_write_trace(result, out);
}

static const struct {
    const char *name;
    int (*write)(const struct cm_result *result, const struct cm_report_options *options,
                 struct cm_diagnostics *diag, FILE *out);
} formats[] = {
    {"text", write_text}, {"table", write_table},         {"json", write_json},
    {"csv", write_csv},   {"markdown", write_markdown},   {"folded", write_folded},
    {"dot", write_dot},   {"mermaid", write_mermaid},     {"trace", write_trace},
    {"html", write_html}, {"deepspeed", write_deepspeed},
};

#define N_FORMATS (sizeof formats / sizeof *formats)

void cm_report_options_init(struct cm_report_options *options) {
    if (options == NULL) return;
    cm_text_options_init(&options->text);
    cm_table_options_init(&options->table);
}

const char *cm_format_at(size_t index) {
    return index < N_FORMATS ? formats[index].name : NULL;
}

int cm_result_write(const struct cm_result *result, const char *format,
                    const struct cm_report_options *options, struct cm_diagnostics *diagnostics,
                    FILE *out) {
    struct cm_report_options defaults;
    if (result == NULL || format == NULL || out == NULL) return diag_null(diagnostics);
    cm_report_options_init(&defaults);
    for (size_t i = 0; i < N_FORMATS; i++)
        if (text_equal(formats[i].name, format))
            return formats[i].write(result, options ? options : &defaults, diagnostics, out);
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
