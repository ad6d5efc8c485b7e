/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep for people: what it is of, a row a batch, and below a row why it has no figures. */
#include "costmodel/costmodel.h"
#include "report/page.h"
#include "report/table/columns.h"
#include "report/table/listing.h"
#include "report/text/labels.h"
#include "support/arena.h"
#include "support/checked.h"

#include "support/banned.h"

static const char usual_columns[] =
    "model,device,precision,dims,batch,params,macs,int_macs,flops,int_ops,peak_activation_"
    "bytes,arena_bytes,"
    "required_bytes,fits,latency_ps,lower_bound_ps,samples_per_second,timed_macs_share";

/* Returns true unless the column is an integer part that is 0 at all batches. */
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

/* The table being written, and its column widths. */
struct table {
    struct page *page;
    struct listing *listing;
    size_t *widths;
    struct text cell;
};

static void fill_cell(struct table *table, size_t row, size_t column) {
    struct cell cell;
    listing_cell(table->listing, row, column, &cell);
    text_clear(&table->cell);
    if (cell.kind == CELL_TEXT)
        text_append_name(&table->cell, text_string(cell.words));
    else
        cell_append_shown(&table->cell, &cell, table->page->units, CELL_UPPER_BOUND);
}

static void write_cell(const struct table *table, size_t column, enum style style,
                       const char *text) {
    page_indent(table->page, table->widths[column] + (column > 0 ? 2 : 0) - page_width(text));
    page_print(table->page, style, "%s", text);
}

/* Writes the problem of a row below it. */
static void write_problem(const struct table *table, const struct cm_sweep_row *row) {
    struct page *page = table->page;
    if (row->problem[0] == '\0' || text_equal(row->state, "misfit")) return;
    page_indent(page, table->widths[0] + 2);
    page_list(page, " ", table->widths[0] + 4);
    struct text *item = page_item(page);
    text_append_name(item, row->state);
    text_append(item, ":");
    page_item_end(page, STYLE_WARNING);
    page_words(page, STYLE_PLAIN, row->problem);
    page_end_line(page);
}

static void write_row(struct table *table, size_t index) {
    const struct cm_sweep_row *row = &table->listing->of->sweep->rows[index];
    const size_t n = row->model != NULL || is_known(row->costs.params) ||
                             is_known(row->costs.macs) || is_known(row->required_bytes)
                         ? table->listing->n_fields
                         : 1;
    for (size_t i = 0; i < n; i++) {
        fill_cell(table, index, i);
        write_cell(table, i, STYLE_PLAIN, text_string(&table->cell));
    }
    page_end_line(table->page);
    write_problem(table, row);
}

static void write_head(struct page *page, const struct cm_sweep *sweep) {
    label_name(page, "model", sweep->model);
    label_name(page, "convention", sweep->convention);
    label_name(page, "backend", sweep->backend);
    label_name(page, "device", sweep->device);
    label_name(page, "times", sweep->times);
    label_operators(page, LABEL_DESCRIBED, STYLE_PLAIN, sweep->custom_ops, sweep->n_custom_ops);
    if (is_known(sweep->memory_limit)) {
        label_write(page, "limit");
        page_list(page, " ", page->label_width);
        page_item_number(page, STYLE_PLAIN, NUMBER_BYTES, sweep->memory_limit);
        page_end_line(page);
    }
    page_end_line(page);
}

static void write_table(struct page *page, struct listing *listing) {
    struct table table = {.page = page, .listing = listing};
    text_init(&table.cell, page->arena);
    table.widths = arena_array(page->arena, listing->n_fields, sizeof(*table.widths));
    if (table.widths == NULL) return;
    for (size_t i = 0; i < table.listing->n_fields; i++) {
        table.widths[i] = page_width(table.listing->fields[i].heading);
        for (size_t row = 0; row < table.listing->n_rows; row++) {
            fill_cell(&table, row, i);
            const size_t width = page_width(text_string(&table.cell));
            if (width > table.widths[i]) table.widths[i] = width;
        }
    }
    for (size_t i = 0; i < table.listing->n_fields; i++)
        write_cell(&table, i, STYLE_TITLE, table.listing->fields[i].heading);
    page_end_line(table.page);
    for (size_t i = 0; i < listing->n_rows; i++) write_row(&table, i);
}

int cm_sweep_write_text(const struct cm_sweep *sweep, const struct cm_text_options *options,
                        FILE *out) {
    if (sweep == NULL || options == NULL || out == NULL) return CM_USAGE;
    const struct rows_of of = {ROWS_BATCHES, NULL, sweep};
    struct cm_table_options all;
    struct listing listing;
    struct page page;
    struct arena *arena = arena_new("page", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    cm_table_options_init(&all);
    page_init(&page, options, arena, out);
    int status = listing_make(&all, &of, usual_columns, arena, NULL, &listing);
    if (status == CM_OK) {
        size_t n = 0;
        for (size_t i = 0; i < listing.n_fields; i++)
            if (has_values(&listing, i)) listing.fields[n++] = listing.fields[i];
        listing.n_fields = n;
        write_head(&page, sweep);
        write_table(&page, &listing);
        if (sweep->n_diagnostics > 0) page_end_line(&page);
        for (size_t i = 0; i < sweep->n_diagnostics; i++)
            label_diagnostic(&page, &sweep->diagnostics[i]);
        status = page_finish(&page);
    }
    return arena_end(arena, status);
}
