/* SPDX-License-Identifier: Apache-2.0 */
/* The page of merged sweeps: a table of the first combinations, and all of them as data. */
#include "costmodel/costmodel.h"

#include "report/html/html.h"
#include "report/html/html_assets.h"
#include "report/json/json_schema.h"
#include "support/diag.h"

#include "support/banned.h"

static int write_page(struct html *html, const void *context) {
    const struct cm_sweep *sweep = context;
    const struct rows_of rows = {ROWS_BATCHES, NULL, sweep};
    text_append(&html->words, "sweep");
    html_begin(html, "sweep", &html_assets.sweep_script);
    int status = html_table_section(html, &rows, "combinations", "Combinations", -1);
    html_end_report(html);
    if (status == CM_OK) status = html_data(html, HTML_DATA_SWEEP, &json_sweep, sweep);
    return status < 0 ? status : html_end(html);
}

int cm_sweep_write_html(const struct cm_sweep *sweep, struct cm_diagnostics *diagnostics,
                        FILE *out) {
    if (sweep == NULL || out == NULL) return diag_null(diagnostics);
    return html_write(write_page, sweep, diagnostics, out);
}
