/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a profile, and of several batches of a model. */
#include "costmodel/costmodel.h"

#include <inttypes.h>

#include "report/html/html.h"
#include "report/json/json_page.h"
#include "report/json/json_schema.h"
#include "report/table/columns.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

/* "resnet50.onnx, batch 32, NVIDIA H200 SXM" */
static void append_title(struct html *html, const struct cm_result *result) {
    html_append_file(html, result->model.path);
    if (is_known(result->options.batch))
        text_printf(&html->words, ", batch %" PRId64, result->options.batch);
    if (!cm_result_timed(result) || result->measure->device[0] == '\0') return;
    text_append(&html->words, ", ");
    text_append_name(&html->words, result->measure->device);
}

static int write_text(const void *context, FILE *out) {
    struct cm_text_options options;
    cm_text_options_init(&options);
    options.detailed = false;
    options.depth = 0; /* deeper modules are in the table of modules */
    return cm_result_write_text(context, &options, out);
}

static int write_overview(struct html *html, const struct cm_result *result) {
    const struct cm_memory *memory = &result->memory;
    const enum number_bound of_arena = memory->upper_bound ? NUMBER_AT_MOST : NUMBER_NO_BOUND;
    html_begin_section(html, "overview", "Overview");
    html_begin_facts(html);
    for (size_t i = 0; i < n_columns; i++)
        if (column_is_there(&columns[i], result) &&
            column_is_printed(&columns[i], &result->totals))
            html_fact(html, columns[i].heading, columns[i].unit,
                      column_get(&columns[i], &result->totals),
                      column_bound(&columns[i], &result->totals));
    html_fact(html, "peak activations", NUMBER_BYTES, memory->peak_activation_bytes,
              memory->peak_upper_bound ? NUMBER_AT_MOST : NUMBER_NO_BOUND);
    html_fact(html, "arena", NUMBER_BYTES, memory->arena_bytes, of_arena);
    html_fact(html, "required memory", NUMBER_BYTES, memory->required_bytes, of_arena);
    if (result->measure != NULL)
        html_fact(html, "device memory", NUMBER_BYTES, result->measure->memory_bytes,
                  NUMBER_NO_BOUND);
    html_end_facts(html);
    const int status = html_text_report(html, write_text, result);
    html_end_section(html);
    return status;
}

static size_t modules_down_to(const struct cm_result *result, int depth) {
    size_t n = 0;
    for (size_t i = 0; i < result->n_modules; i++) n += result->modules[i].depth <= depth;
    return n;
}

/* Returns the depth down to which at most HTML_MAX_ROWS modules are listed; at least 1. */
static int depth_of_rows(const struct cm_result *result) {
    int depth = 1;
    while (modules_down_to(result, depth) < result->n_modules &&
           modules_down_to(result, depth + 1) <= HTML_MAX_ROWS)
        depth++;
    return depth;
}

static int write_report(struct html *html, const struct cm_result *result,
                        const struct cm_sweep *sweep) {
    const struct rows_of modules = {ROWS_MODULES, result, NULL};
    const struct rows_of operators = {ROWS_OPERATORS, result, NULL};
    const struct rows_of batches = {ROWS_BATCHES, NULL, sweep};
    int status = write_overview(html, result);
    if (status == CM_OK && sweep != NULL)
        status = html_table_section(html, &batches, "batches", "Batches", -1);
    if (status == CM_OK)
        status =
            html_table_section(html, &modules, "modules", "Modules", depth_of_rows(result));
    if (status == CM_OK)
        status = html_table_section(html, &operators, "operators", "Operators", -1);
    return status;
}

struct context {
    const struct cm_result *result;
    const struct cm_sweep *sweep;
};

static int write_page(struct html *html, const void *context_) {
    const struct context *context = context_;
    append_title(html, context->result);
    html_begin(html, "profile", NULL);
    int status = write_report(html, context->result, context->sweep);
    if (status < 0) return status;
    html_end_report(html);
    status = html_data(html, JSON_PAGE_PROFILE, &json_profile, context->result);
    if (status == CM_OK && context->sweep != NULL)
        status = html_data(html, HTML_DATA_SWEEP, &json_sweep, context->sweep);
    return status < 0 ? status : html_end(html);
}

int cm_result_write_html(const struct cm_result *result, const struct cm_sweep *sweep,
                         struct cm_diagnostics *diagnostics, FILE *out) {
    const struct context context = {result, sweep};
    if (result == NULL || out == NULL) return diag_null(diagnostics);
    return html_write(write_page, &context, diagnostics, out);
}
