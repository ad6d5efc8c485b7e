/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep as text: the model and its options, a table with a row per batch, and the layers. The
 * problem of a row is written below it. */
#include <inttypes.h>

#include "report/report.h"
#include "report/table/columns.h"
#include "report/table/listing.h"
#include "report/table/table.h"
#include "report/text/labels.h"
#include "report/text/sections.h"
#include "support/arena.h"
#include "support/checked.h"

static const char usual_columns[] =
    "model,device,precision,dims,batch,@all-counts,peak_activation_bytes,arena_bytes,"
    "required_bytes,fits,@times,latency_low_ps,latency_high_ps,samples_per_second,timed_macs_"
    "share,planned_macs_share,"
    "workspace_bytes";
/* Without counts, which are the same at every precision. */
static const char columns_by_precision[] =
    "precision,peak_activation_bytes,required_bytes,fits,@times,latency_low_ps,latency_high_ps,"
    "samples_per_second,speedup,"
    "timed_macs_share,planned_macs_share,workspace_bytes";

/* Returns false for a column of integer MACs or operations that is 0 at all batches. */
static bool has_values(struct listing *listing, size_t column) {
    const struct column *metric = listing->fields[column].column;
    struct cell cell;
    if (metric == NULL || !metric->part) return true;
    for (size_t row = 0; row < listing->n_rows; row++) {
        listing_cell(listing, row, column, &cell);
        if (is_known(cell.value) && cell.value != 0) return true;
    }
    return false;
}

/* Adds the cells of a row; only the first if it has no figures. */
static void put_row(struct table *table, struct listing *listing, size_t row) {
    const struct cm_sweep_row *batch = &listing->of.sweep->rows[row];
    const bool has_figures = batch->model != NULL || is_known(batch->costs.params) ||
                             is_known(batch->costs.macs) || is_known(batch->required_bytes);
    for (size_t i = 0; i < listing->n_fields; i++) {
        struct cell cell;
        struct text *out = page_item(table->page);
        listing_cell(listing, row, i, &cell);
        if (cell.kind == CELL_TEXT && (i == 0 || has_figures))
            text_append(out, text_string(cell.words));
        else if (i == 0 || has_figures)
            cell_append_shown(out, &cell, table->page->units, false);
        table_end_cell(table);
    }
}

/* Writes the problem of a row; not of a "misfit", because the column `fits` shows it. */
static void write_problem(const struct table *table, const struct cm_sweep_row *row) {
    struct page *page = table->page;
    if (row->problem[0] == '\0' || text_equal(row->state, "misfit")) return;
    page_indent(page, table->widths[0] + 2);
    page_list(page, " ", table->widths[0] + 4);
    page_item_print(page, STYLE_WARNING, "%s:", row->state);
    page_words(page, STYLE_PLAIN, row->problem);
    page_end_line(page);
}

static void write_head(struct page *page, const struct cm_sweep *sweep) {
    label_name(page, "model", sweep->model);
    label_name(page, "convention", sweep->convention);
    if (sweep_is_by_precision(sweep) && is_known(sweep->rows[0].batch))
        label_line(page, "batch", "%" PRId64, sweep->rows[0].batch);
    label_name(page, "backend", sweep->backend);
    label_name(page, "device", sweep->device);
    label_name(page, "times", sweep->times);
    label_operators(page, LABEL_DESCRIBED, STYLE_PLAIN, sweep->custom_ops, sweep->n_custom_ops);
    if (is_known(sweep->memory_limit))
        label_line(page, "limit", "%s", page_number(page, NUMBER_BYTES, sweep->memory_limit));
    page_end_line(page);
}

static void write_table(struct page *page, struct listing *listing) {
    struct table table;
    const char **headings = arena_array(page->arena, listing->n_fields, sizeof(*headings));
    bool *is_left = arena_array(page->arena, listing->n_fields, sizeof(*is_left));
    if (headings == NULL || is_left == NULL) return;
    for (size_t i = 0; i < listing->n_fields; i++) headings[i] = listing->fields[i].heading;
    if (!table_init(&table, page, headings, listing->n_fields, listing->n_rows)) return;
    table.is_left = is_left;
    table_fit(&table, listing_ranks(listing), page->options->table_width);
    for (size_t row = 0; row < listing->n_rows; row++) put_row(&table, listing, row);
    if (!table_begin(&table)) return;
    for (size_t row = 0; row < listing->n_rows; row++) {
        table_write_row(&table, row);
        write_problem(&table, &listing->of.sweep->rows[row]);
    }
    table_end(&table);
}

int report_write_sweep(const struct report *report) {
    const struct cm_sweep *sweep = report->sweep;
    const struct rows_of of = {ROWS_BATCHES, NULL, sweep};
    const char *keys = sweep_is_by_precision(sweep) ? columns_by_precision : usual_columns;
    struct cm_table_options all;
    struct listing listing;
    struct page page;
    size_t n = 0;
    cm_table_options_init(&all);
    const int status = listing_open(&all, of, keys, NULL, &listing);
    if (status != CM_OK) return status;
    page_init(&page, report->text, listing.arena, report->out);
    for (size_t i = 0; i < listing.n_fields; i++)
        if (has_values(&listing, i)) listing.fields[n++] = listing.fields[i];
    listing.n_fields = n;
    write_head(&page, sweep);
    write_table(&page, &listing);
    sweep_layers_write(&page, sweep);
    if (sweep->n_diagnostics > 0) page_end_line(&page);
    for (size_t i = 0; i < sweep->n_diagnostics; i++)
        label_diagnostic(&page, &sweep->diagnostics[i]);
    return listing_close(&listing, page_finish(&page));
}
