/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the modules that cause most of the costs, with shares as bars. Optional columns
 * that do not fit on the page are omitted; the bars take the remaining width, up to MAX_BAR. */
#include <string.h>

#include "costmodel/costmodel.h"
#include "report/page.h"
#include "report/table/columns.h"
#include "report/text/hotspots.h"
#include "report/text/sections.h"
#include "support/arena.h"
#include "support/text.h"

#define MIN_LABEL     24 /* characters; labels are cut to this before columns are omitted */
#define MIN_BAR       10
#define MAX_BAR       60
#define DEFAULT_WIDTH 100 /* of a page without a width limit */
#define GAP           2

enum { COLUMN_LABEL, COLUMN_TYPE, N_TEXTS, MAX_COLUMNS = 10 };

/* A column of the grid. */
struct grid_column {
    const char *heading;
    const struct column *metric; /* NULL: a text */
    bool is_share;               /* shows the share of the total */
    bool is_optional;            /* omitted if the page is narrow, the last column first */
    bool is_omitted;
    size_t width;
};

struct grid {
    struct page *page;
    const struct cm_result *result;
    const struct hotspots *found;
    size_t n_columns;
    struct grid_column columns[MAX_COLUMNS];
    size_t n_rows;      /* including the row that sums up modules without a row */
    const char **cells; /* row by row */
    size_t bar_width;
};

static void add_column(struct grid *grid, const char *heading, const char *key, bool is_share,
                       bool is_optional) {
    const struct column *metric = key == NULL ? NULL : column_named(key);
    if (metric != NULL && !column_is_there(metric, grid->result)) return;
    grid->columns[grid->n_columns++] = (struct grid_column){
        .heading = heading, .metric = metric, .is_share = is_share, .is_optional = is_optional};
}

/* Adds the columns. The last two are the metric that ranks the rows, and its share. */
static void choose_columns(struct grid *grid) {
    const char *key = grid->found->metric->key;
    const bool is_timed = grid->found->metric->timed;
    const bool has_macs = grid->result->totals.macs > 0;
    add_column(grid, grid->result->modules[0].n_children > 0 ? "module" : "operator", NULL,
               false, false);
    add_column(grid, "type", NULL, false, true);
    add_column(grid, "params", "params", false, false);
    add_column(grid, "%", "params", true, true);
    add_column(grid, "activations", "activation_bytes", false, true);
    if (!text_equal(key, "flops")) add_column(grid, "FLOPs", "flops", false, true);
    if (is_timed && has_macs) add_column(grid, "MACs", "macs", false, false);
    add_column(grid,
               is_timed                   ? "time"
               : text_equal(key, "macs")  ? "MACs"
               : text_equal(key, "flops") ? "FLOPs"
                                          : "written",
               key, false, false);
    add_column(grid, "%", key, true, false);
}

/* Fills the cells of a row: label, type "Bottleneck x 6", figures, and shares "36%", "<1%". */
static void fill_row(struct grid *grid, const struct hotspot *row, size_t index) {
    struct page *page = grid->page;
    for (size_t k = 0; k < grid->n_columns; k++) {
        struct grid_column *column = &grid->columns[k];
        const struct column *metric = column->metric;
        struct text *text = page_item(page);
        if (k == COLUMN_LABEL) {
            for (int i = 0; i < row->indent; i++) text_append(text, "  ");
            text_append_name(text, row->label);
        } else if (metric == NULL) {
            text_append_name(text, row->type);
            if (row->n > 1 && *row->type != '\0') text_printf(text, " x %zu", row->n);
            if (row->n > 1 && *row->type == '\0') text_printf(text, "%zu modules", row->n);
        } else if (column->is_share) {
            const double share = hotspots_share(metric, &row->costs, &grid->result->totals);
            if (share > 0 && share <= 0.005)
                text_append(text, "<1%");
            else
                text_printf(text, "%.0f%%", 100 * share);
        } else {
            /* MACs are written without their unit, which the heading states. */
            const enum number_unit unit =
                metric->unit == NUMBER_MACS ? NUMBER_FLOPS : metric->unit;
            text_append(text, number_bound_prefix(column_bound(metric, &row->costs),
                                                  page->options->unicode));
            number_append(text, page->units, unit, column_get(metric, &row->costs));
        }
        const char *cell = arena_strdup(page->arena, text_string(text));
        grid->cells[index * grid->n_columns + k] = cell == NULL ? "" : cell;
        if (cell != NULL && page_width(cell) > column->width) column->width = page_width(cell);
    }
}

/* Returns the width of the grid without its bars, in characters. */
static size_t width_without_bars(const struct grid *grid) {
    size_t width = 0;
    for (size_t k = 0; k < grid->n_columns; k++)
        if (!grid->columns[k].is_omitted) width += grid->columns[k].width + GAP;
    return width;
}

/* Omits optional columns and shortens the labels until the bars have room. */
static void fit(struct grid *grid) {
    const size_t page_columns =
        grid->page->options->width > 0 ? (size_t)grid->page->options->width : DEFAULT_WIDTH;
    struct grid_column *label = &grid->columns[COLUMN_LABEL];
    const size_t longest = label->width;
    if (label->width > MIN_LABEL) label->width = MIN_LABEL;
    for (size_t k = grid->n_columns; k-- > 0;)
        if (width_without_bars(grid) + MIN_BAR > page_columns)
            grid->columns[k].is_omitted |= grid->columns[k].is_optional;
    size_t used = width_without_bars(grid);
    if (longest > label->width && used + MIN_BAR < page_columns) {
        const size_t room = page_columns - used - MIN_BAR;
        const size_t more = longest - label->width;
        label->width += more < room ? more : room;
        used = width_without_bars(grid);
    }
    grid->bar_width = used >= page_columns ? 0 : page_columns - used;
    if (grid->bar_width > MAX_BAR) grid->bar_width = MAX_BAR;
}

/* Returns a bar that fills `share` of the bar width, with Unicode in eighths of a character;
 * NULL if out of memory. */
static const char *make_bar(struct grid *grid, double share) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const bool is_unicode = grid->page->options->unicode;
    const size_t parts = is_unicode ? 8 : 1;
    const double filled = (double)(grid->bar_width * parts) * (share > 1 ? 1 : share);
    size_t n = (size_t)(filled + 0.5);
    if (n == 0 && share > 0) n = is_unicode ? 1 : 0;
    struct text *bar = page_item(grid->page);
    for (size_t i = 0; i < n / parts; i++) text_append(bar, is_unicode ? "█" : "#");
    if (is_unicode) text_append(bar, eighths[n % parts]);
    return arena_strdup(grid->page->arena, text_string(bar));
}

static void write_row(struct grid *grid, const char *const *cells, enum style style,
                      enum style bar, double share) {
    static const char mark[] = "...";
    struct page *page = grid->page;
    for (size_t k = 0; k < grid->n_columns; k++) {
        const struct grid_column *column = &grid->columns[k];
        const char *cell = cells[k];
        if (column->is_omitted) continue;
        if (k == COLUMN_LABEL && page_width(cell) > column->width) {
            const size_t kept = page_bytes(cell, column->width - strlen(mark));
            cell = arena_printf(page->arena, "%.*s%s", (int)kept, cell, mark);
        }
        if (cell == NULL) cell = "";
        const size_t used = page_width(cell);
        const size_t room = column->width > used ? column->width - used : 0;
        const bool is_left = column->metric == NULL;
        if (!is_left) page_indent(page, room);
        page_print(page, column->is_share ? STYLE_SHARE : style, "%s", cell);
        if (is_left) page_indent(page, room);
        if (k + 1 < grid->n_columns) page_indent(page, GAP);
    }
    const char *filled = grid->bar_width >= MIN_BAR ? make_bar(grid, share) : "";
    if (filled != NULL && *filled != '\0') {
        page_indent(page, GAP);
        page_print(page, bar, "%s", filled);
    }
    page_end_line(page);
}

static void write_grid(struct grid *grid, const struct hotspot *rest) {
    const struct cm_costs *totals = &grid->result->totals;
    const char *const *cells = grid->cells;
    const char *headings[MAX_COLUMNS];
    for (size_t k = 0; k < grid->n_columns; k++) headings[k] = grid->columns[k].heading;
    write_row(grid, headings, STYLE_TITLE, STYLE_PLAIN, 0);
    for (const struct hotspot *row = grid->found->first; row != NULL; row = row->next) {
        write_row(grid, cells, STYLE_PLAIN, row->is_expanded ? STYLE_SHARE : STYLE_BAR,
                  hotspots_share(grid->found->metric, &row->costs, totals));
        cells += grid->n_columns;
    }
    if (rest != NULL)
        write_row(grid, cells, STYLE_SHARE, STYLE_BAR,
                  hotspots_share(grid->found->metric, &rest->costs, totals));
}

void hotspots_write(struct page *page, const struct cm_result *result, size_t max_rows) {
    struct hotspots found = {.metric = NULL};
    struct grid grid = {.page = page, .result = result, .found = &found};
    if (!hotspots_find(result, page->options->depth, max_rows, page->arena, &found)) return;
    const bool has_rest = found.n_rest > 0 || column_get(found.metric, &found.rest) > 0;
    if (found.n_rows == 0) return;
    const char *label = found.n_rest == 0 ? "other operators"
                        : found.n_rest == 1
                            ? "1 other module"
                            : arena_printf(page->arena, "%zu other modules", found.n_rest);
    const struct hotspot rest = {
        .label = label == NULL ? "" : label, .type = "", .n = 1, .costs = found.rest};
    choose_columns(&grid);
    grid.n_rows = found.n_rows + has_rest;
    grid.cells = arena_array(page->arena, grid.n_rows * grid.n_columns, sizeof(*grid.cells));
    if (grid.cells == NULL) return;
    for (size_t k = 0; k < grid.n_columns; k++)
        grid.columns[k].width = page_width(grid.columns[k].heading);
    size_t index = 0;
    for (const struct hotspot *row = found.first; row != NULL; row = row->next)
        fill_row(&grid, row, index++);
    if (has_rest) fill_row(&grid, &rest, index);
    grid.columns[COLUMN_TYPE].is_omitted = true; /* unless a row has text in it */
    for (size_t row = 0; row < grid.n_rows; row++)
        if (*grid.cells[row * grid.n_columns + COLUMN_TYPE] != '\0')
            grid.columns[COLUMN_TYPE].is_omitted = false;
    fit(&grid);
    page_end_line(page);
    write_grid(&grid, has_rest ? &rest : NULL);
}
