/* SPDX-License-Identifier: Apache-2.0 */
/* A table for a terminal: texts left-aligned, figures right-aligned. */
#include "report/page.h"
#include "report/report.h"
#include "report/table/listing.h"
#include "report/table/table.h"
#include "support/arena.h"

/* Writes "?" for an unknown figure, "-" for one that the row does not have. `ranks`: see
 * table_fit. */
static void put_rows(struct page *page, struct listing *listing, const size_t *ranks,
                     enum number_style style) {
    struct table table;
    const char **headings = arena_array(page->arena, listing->n_fields, sizeof(*headings));
    bool *is_left = arena_array(page->arena, listing->n_fields, sizeof(*is_left));
    if (headings == NULL || is_left == NULL) return;
    for (size_t i = 0; i < listing->n_fields; i++) {
        headings[i] = listing->fields[i].heading;
        is_left[i] = listing->fields[i].is_text;
    }
    if (!table_init(&table, page, headings, listing->n_fields, listing->n_rows)) return;
    table.is_left = is_left;
    table_fit(&table, ranks, page->options->table_width);
    for (size_t row = 0; row < listing->n_rows; row++)
        for (size_t i = 0; i < listing->n_fields; i++) {
            struct cell cell;
            struct text *out = page_item(page);
            listing_cell(listing, row, i, &cell);
            if (cell.kind == CELL_NONE)
                text_append(out, "-");
            else if (cell.kind == CELL_TEXT)
                text_append(out, field_words(&listing->fields[i], &cell));
            else
                cell_append_shown(out, &cell, style, false);
            table_end_cell(&table);
        }
    table_write(&table);
    if (listing->n_left_out == 0) return;
    page_line(page, STYLE_PLAIN, "and %zu more", listing->n_left_out);
}

int report_write_table(const struct report *report) {
    const struct cm_table_options *options = report->table;
    const bool is_chosen = options->columns && !text_equal(options->columns, "all");
    struct listing listing;
    struct page page;
    const int status =
        listing_open(options, listing_rows(report), NULL, report->diag, &listing);
    if (status != CM_OK) return status;
    page_init(&page, report->text, listing.arena, report->out);
    put_rows(&page, &listing, is_chosen ? NULL : listing_ranks(&listing),
             number_style_of(options->units, NUMBERS_SI));
    return listing_close(&listing, page_finish(&page));
}
