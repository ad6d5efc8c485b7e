/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a regression gate: the text report, the verdict and the profile. */
#include "costmodel/check.h"
#include "report/html/html.h"
#include "report/html/html_assets.h"
#include "report/json/json_page.h"
#include "report/json/json_schema.h"
#include "support/diag.h"

#include "support/banned.h"

struct context {
    const struct cm_verdict *verdict;
    const struct cm_result *result; /* NULL: none */
};

static int write_text(const void *context, FILE *out) {
    struct cm_text_options options;
    cm_text_options_init(&options);
    return cm_verdict_write_text(((const struct context *)context)->verdict, &options, out);
}

static int write_page(struct html *html, const void *context_) {
    const struct context *context = context_;
    text_append(&html->words, "check of ");
    html_append_file(html, context->verdict->model);
    html_begin(html, "check", &html_assets.diff_script);
    int status = html_text_overview(html, write_text, context);
    if (status == CM_OK && context->result != NULL)
        status = html_data(html, JSON_PAGE_PROFILE, &json_profile, context->result);
    if (status == CM_OK)
        status = html_data(html, "costmodel-check", &json_verdict, context->verdict);
    return status < 0 ? status : html_end(html);
}

int cm_verdict_write_html(const struct cm_verdict *verdict, const struct cm_result *result,
                          struct cm_diagnostics *diagnostics, FILE *out) {
    const struct context context = {verdict, result};
    if (verdict == NULL || out == NULL) return diag_null(diagnostics);
    return html_write(write_page, &context, diagnostics, out);
}
