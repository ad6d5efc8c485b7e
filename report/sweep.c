/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep as a table: a row of `columns` is a column of it, in every format that has columns.
 */
#include <inttypes.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "report/labels.h"
#include "report/page.h"
#include "report/times.h"
#include "support/arena.h"
#include "support/checked.h"

#include "support/banned.h"

struct sweep_column {
    const char *heading;
    bool timed;   /* only where there are times */
    bool limited; /* only where there is a limit of memory */
    void (*append)(const struct cm_sweep *sweep, const struct cm_sweep_row *row,
                   struct text *out);
};

static void append_figure(struct text *out, enum number_unit unit, int64_t value) {
    if (is_known(value))
        number_append(out, unit, value);
    else
        text_append(out, "?");
}

static void append_batch(const struct cm_sweep *sweep, const struct cm_sweep_row *row,
                         struct text *out) {
    (void)sweep;
    text_printf(out, "%" PRId64, row->batch);
}

static void append_params(const struct cm_sweep *sweep, const struct cm_sweep_row *row,
                          struct text *out) {
    (void)sweep;
    append_figure(out, NUMBER_PARAMS, row->params);
}

static void append_macs(const struct cm_sweep *sweep, const struct cm_sweep_row *row,
                        struct text *out) {
    (void)sweep;
    append_figure(out, NUMBER_MACS, row->macs);
}

static void append_flops(const struct cm_sweep *sweep, const struct cm_sweep_row *row,
                         struct text *out) {
    (void)sweep;
    append_figure(out, NUMBER_FLOPS, row->flops);
}

static void append_peak(const struct cm_sweep *sweep, const struct cm_sweep_row *row,
                        struct text *out) {
    (void)sweep;
    append_figure(out, NUMBER_BYTES, row->peak_activation_bytes);
}

static void append_arena(const struct cm_sweep *sweep, const struct cm_sweep_row *row,
                         struct text *out) {
    (void)sweep;
    append_figure(out, NUMBER_BYTES, row->arena_bytes);
}

static void append_required(const struct cm_sweep *sweep, const struct cm_sweep_row *row,
                            struct text *out) {
    (void)sweep;
    append_figure(out, NUMBER_BYTES, row->required_bytes);
}

static void append_fits(const struct cm_sweep *sweep, const struct cm_sweep_row *row,
                        struct text *out) {
    if (!is_known(row->required_bytes)) {
        text_append(out, "?");
        return;
    }
    text_append(out, row->required_bytes <= sweep->memory_limit ? "yes" : "no");
}

static void append_latency(const struct cm_sweep *sweep, const struct cm_sweep_row *row,
                           struct text *out) {
    (void)sweep;
    append_figure(out, NUMBER_TIME, row->latency_ps);
}

static void append_speed(const struct cm_sweep *sweep, const struct cm_sweep_row *row,
                         struct text *out) {
    (void)sweep;
    if (is_known(row->latency_ps) && row->latency_ps > 0)
        text_printf(out, "%.2f", (double)row->batch / ((double)row->latency_ps * 1e-12));
    else
        text_append(out, "?");
}

static void append_share(const struct cm_sweep *sweep, const struct cm_sweep_row *row,
                         struct text *out) {
    (void)sweep;
    if (is_known(row->timed_macs))
        number_append_percent(out, row->timed_macs, row->macs);
    else
        text_append(out, "?");
}

/* clang-format off */
static const struct sweep_column columns_of_sweep[] = {
    {"batch",           false, false, append_batch},
    {"params",          false, false, append_params},
    {"MACs",            false, false, append_macs},
    {"flops",           false, false, append_flops},
    {"peak activation", false, false, append_peak},
    {"arena",           false, false, append_arena},
    {"required",        false, false, append_required},
    {"fits",            false, true,  append_fits},
    {"fwd latency",     true,  false, append_latency},
    {"samples/second",  true,  false, append_speed},
    {"MACs timed",      true,  false, append_share},
};
/* clang-format on */

#define N_COLUMNS (sizeof(columns_of_sweep) / sizeof(columns_of_sweep[0]))

/* What is written, and how wide each column is. */
struct table {
    const struct cm_sweep *sweep;
    size_t widths[N_COLUMNS];
};

static bool is_there(const struct cm_sweep *sweep, const struct sweep_column *column) {
    if (column->timed && sweep->times[0] == '\0') return false;
    return !column->limited || is_known(sweep->memory_limit);
}

static bool has_figures(const struct cm_sweep_row *row) {
    return is_known(row->params) || is_known(row->macs) || is_known(row->required_bytes);
}

static void measure_row(struct page *page, struct table *table,
                        const struct cm_sweep_row *row) {
    for (size_t i = 0; i < N_COLUMNS; i++) {
        struct text cell;
        text_init(&cell, page->arena);
        columns_of_sweep[i].append(table->sweep, row, &cell);
        (void)page_string(page, &cell);
        if (cell.length > table->widths[i]) table->widths[i] = cell.length;
    }
}

static void write_cell(struct page *page, const struct table *table, size_t column,
                       enum style style, const char *text, size_t length) {
    page_indent(page, table->widths[column] + (column > 0 ? 2 : 0) - length);
    page_print(page, style, "%s", text);
}

static void write_headings(struct page *page, const struct table *table) {
    for (size_t i = 0; i < N_COLUMNS; i++)
        if (is_there(table->sweep, &columns_of_sweep[i]))
            write_cell(page, table, i, STYLE_TITLE, columns_of_sweep[i].heading,
                       strlen(columns_of_sweep[i].heading));
    page_end_line(page);
}

/* Below the row. That it does not fit stands in it already. */
static void write_problem(struct page *page, const struct table *table,
                          const struct cm_sweep_row *row) {
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

static void write_row(struct page *page, const struct table *table,
                      const struct cm_sweep_row *row) {
    const size_t n = has_figures(row) ? N_COLUMNS : 1;
    for (size_t i = 0; i < n; i++) {
        struct text cell;
        if (!is_there(table->sweep, &columns_of_sweep[i])) continue;
        text_init(&cell, page->arena);
        columns_of_sweep[i].append(table->sweep, row, &cell);
        write_cell(page, table, i, STYLE_PLAIN, page_string(page, &cell), cell.length);
    }
    page_end_line(page);
    write_problem(page, table, row);
}

static void write_line(struct page *page, const char *label, const char *text) {
    if (text[0] == '\0') return;
    label_write(page, label);
    page_name(page, STYLE_PLAIN, text);
    page_end_line(page);
}

static void write_head(struct page *page, const struct cm_sweep *sweep) {
    write_line(page, "model", sweep->model);
    write_line(page, "convention", sweep->convention);
    write_line(page, "backend", sweep->backend);
    write_line(page, "device", sweep->device);
    write_line(page, "times", sweep->times);
    if (is_known(sweep->memory_limit)) {
        label_write(page, "limit");
        page_list(page, " ", LABEL_WIDTH);
        number_append(page_item(page), NUMBER_BYTES, sweep->memory_limit);
        page_item_end(page, STYLE_PLAIN);
        page_end_line(page);
    }
    page_end_line(page);
}

int cm_sweep_write_text(const struct cm_sweep *sweep, const struct cm_text_options *options,
                        FILE *out) {
    struct page page;
    struct table table = {.sweep = sweep};
    struct arena *arena = arena_new("page", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    page_init(&page, options, arena, out);
    for (size_t i = 0; i < N_COLUMNS; i++)
        table.widths[i] = strlen(columns_of_sweep[i].heading);
    for (size_t i = 0; i < sweep->n_rows; i++) measure_row(&page, &table, &sweep->rows[i]);
    write_head(&page, sweep);
    write_headings(&page, &table);
    for (size_t i = 0; i < sweep->n_rows; i++) write_row(&page, &table, &sweep->rows[i]);
    const int status = page_finish(&page);
    arena_free(arena);
    return status;
}
