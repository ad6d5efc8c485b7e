/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table/table.h"

#include "support/arena.h"
#include "support/text.h"

#include "support/banned.h"

#define GAP 2

bool table_init(struct table *table, struct page *page, const char *const *headings,
                size_t n_columns, size_t n_rows) {
    *table = (struct table){.page = page, .n_columns = n_columns, .headings = headings};
    table->cells = arena_array(page->arena, n_rows * n_columns, sizeof(*table->cells));
    return table->cells != NULL;
}

struct text *table_cell(struct table *table) {
    return page_item(table->page);
}

/* Truncates long names as in messages: a name may have megabytes, and the longest cell sets the
 * width of every line. */
void table_end_cell(struct table *table) {
    struct arena *arena = table->page->arena;
    const char *whole = text_string(&table->page->item);
    const size_t length = text_cut(whole, TEXT_LONGEST_LABEL);
    const char *cell = whole[length] == '\0'
                           ? arena_strdup(arena, whole)
                           : arena_printf(arena, "%.*s...", (int)length, whole);
    table->cells[table->n_cells++] = cell ? cell : "";
}

static size_t width_of(const struct table *table, size_t column) {
    size_t width = page_width(table->headings[column]);
    for (size_t i = column; i < table->n_cells; i += table->n_columns) {
        const size_t length = page_width(table->cells[i]);
        if (length > width) width = length;
    }
    return width;
}

/* The last column is padded only if it is right-aligned. */
static void write_row(struct table *table, enum style style, const char *const *cells,
                      const size_t *widths) {
    const size_t last = table->n_columns - 1;
    for (size_t i = 0; i <= last; i++) {
        const size_t room = widths[i] - page_width(cells[i]);
        const bool is_left = table->is_left ? table->is_left[i] : i == last;
        if (!is_left) page_indent(table->page, room);
        page_print(table->page, style, "%s", cells[i]);
        if (i == last) break;
        page_indent(table->page, is_left ? room + GAP : GAP);
    }
    page_end_line(table->page);
}

void table_write(struct table *table) {
    size_t *widths = arena_array(table->page->arena, table->n_columns, sizeof(*widths));
    if (widths == NULL) return;
    for (size_t i = 0; i < table->n_columns; i++) widths[i] = width_of(table, i);
    write_row(table, STYLE_TITLE, table->headings, widths);
    for (size_t i = 0; i + table->n_columns <= table->n_cells; i += table->n_columns)
        write_row(table, STYLE_PLAIN, &table->cells[i], widths);
}
