/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a comparison: the text report, both profiles and the differences. */
#include "costmodel/compare.h"
#include "report/diff/diff_json.h"
#include "report/html/html.h"
#include "report/html/html_assets.h"
#include "report/json/json_document.h"
#include "report/json/json_schema.h"
#include "support/diag.h"

#include "support/banned.h"

struct context {
    const struct cm_diff *diff;
    const struct cm_diff_options *options;
};

static int write_text(const void *context_, FILE *out) {
    const struct context *context = context_;
    struct cm_diff_options options = *context->options;
    options.color = false;
    return cm_diff_write_text(context->diff, &options, out);
}

static int write_page(struct html *html, const void *context_) {
    const struct context *context = context_;
    const struct cm_diff *diff = context->diff;
    html_append_file(html, diff->old_result->model.path);
    text_append(&html->words, " and ");
    html_append_file(html, diff->new_result->model.path);
    html_begin(html, "diff", &html_assets.diff_script);
    int status = html_text_overview(html, write_text, context);
    if (status == CM_OK)
        status = html_data(html, "costmodel-old", &json_profile, diff->old_result);
    if (status == CM_OK)
        status = html_data(html, "costmodel-new", &json_profile, diff->new_result);
    if (status < 0) return status;
    html_begin_data(html, "costmodel-diff");
    status = diff_json_write(diff, context->options, json_document_embed, html->out);
    html_end_data(html);
    return status < 0 ? status : html_end(html);
}

int cm_diff_write_html(const struct cm_diff *diff, const struct cm_diff_options *options,
                       struct cm_diagnostics *diagnostics, FILE *out) {
    const struct context context = {diff, options};
    if (diff == NULL || options == NULL || out == NULL) return diag_null(diagnostics);
    return html_write(write_page, &context, diagnostics, out);
}
