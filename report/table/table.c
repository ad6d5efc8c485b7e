/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the widths of the columns, shortens cells and writes the rows of a table. */
#include "report/table/table.h"

#include <string.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/text.h"

#define GAP         2
#define MIN_LONGEST 24 /* characters; no cell is shortened to fewer */

bool table_init(struct table *table, struct page *page, const char *const *headings,
                size_t n_columns, size_t n_rows) {
    *table = (struct table){.page = page, .n_columns = n_columns, .headings = headings};
    table->cells = arena_array(page->arena, n_rows * n_columns, sizeof(*table->cells));
    return table->cells != NULL;
}

void table_fit(struct table *table, const size_t *ranks, int max_width) {
    table->ranks = max_width > 0 ? ranks : NULL;
    table->max_width = max_width > 0 ? (size_t)max_width : 0;
}

/* Truncates long names as in messages: a name may have megabytes, and the longest cell sets the
 * width of every line. */
void table_end_cell(struct table *table) {
    struct arena *arena = table->page->arena;
    const char *whole = page_safe_item(table->page);
    const size_t length = text_cut_length(whole, TEXT_LONGEST_LABEL);
    const char *cell = whole[length] == '\0'
                           ? arena_strdup(arena, whole)
                           : arena_printf(arena, "%.*s...", (int)length, whole);
    table->cells[table->n_cells++] = cell ? cell : "";
}

void table_print(struct table *table, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vprintf(page_item(table->page), format, args);
    va_end(args);
    table_end_cell(table);
}

static size_t width_of(const struct table *table, size_t column) {
    size_t width = page_width(table->headings[column]);
    for (size_t i = column; i < table->n_cells; i += table->n_columns) {
        const size_t length = page_width(table->cells[i]);
        if (length > width) width = length;
    }
    return width;
}

/* Returns the width of a line, in characters; sets *ret_last to the column to omit next. */
static size_t measure(const struct table *table, size_t *ret_last) {
    size_t total = 0;
    size_t last = table->n_columns;
    for (size_t i = 0; i < table->n_columns; i++) {
        if (table->widths[i] == 0) continue;
        total += table->widths[i] + (total > 0 ? GAP : 0);
        if (last == table->n_columns || table->ranks[i] >= table->ranks[last]) last = i;
    }
    *ret_last = last;
    return total;
}

/* Shortens long cells and omits columns until the table fits, then widens the shortened columns
 * by the remaining room. */
static void fit(struct table *table) {
    const size_t room = table->max_width;
    const size_t longest = room * 2 / 5 > MIN_LONGEST ? room * 2 / 5 : MIN_LONGEST;
    size_t last = 0;
    size_t used = measure(table, &last);
    if (used <= room) return;
    for (size_t i = 0; i < table->n_columns; i++)
        if (table->widths[i] > longest) table->widths[i] = longest;
    while ((used = measure(table, &last)) > room && table->n_omitted + 1 < table->n_columns) {
        table->widths[last] = 0;
        table->n_omitted++;
    }
    for (size_t i = 0; i < table->n_columns && used < room; i++) {
        if (table->widths[i] != longest) continue;
        const size_t more = width_of(table, i) - longest;
        const size_t added = more < room - used ? more : room - used;
        table->widths[i] += added;
        used += added;
    }
}

/* Shortens a text to `width` characters. Keeps its end, in which names of modules differ
 * ("...layer3.0.conv1"). With keeps_start it also keeps the start, because primitives begin
 * with their kind ("conv f32 32x3...kernel 7x7 stride 2"). */
static const char *shorten(const struct table *table, const char *text, size_t width) {
    static const char mark[] = "...";
    const size_t length = page_width(text);
    if (length <= width) return text;
    const size_t kept = width - strlen(mark);
    const size_t n_first = table->keeps_start ? kept / 2 : 0;
    const char *end = text + page_bytes(text, length - (kept - n_first));
    text = arena_printf(table->page->arena, "%.*s%s%s", (int)page_bytes(text, n_first), text,
                        mark, end);
    return text ? text : "";
}

static void write_row(struct table *table, enum style style, const char *const *cells) {
    size_t n = table->n_columns; /* cells, without empty cells at the end */
    bool is_first = true;
    size_t room = 0; /* blanks after a left-aligned cell */
    while (n > 0 && *cells[n - 1] == '\0') n--;
    for (size_t i = 0; i < n; i++) {
        const size_t width = table->widths[i];
        const bool is_left = table->is_left ? table->is_left[i] : i + 1 == table->n_columns;
        if (width == 0) continue;
        const char *cell = shorten(table, cells[i], width);
        page_indent(table->page, room + (is_first ? 0 : GAP));
        room = width - page_width(cell);
        if (!is_left) page_indent(table->page, room);
        page_print(table->page, style, "%s", cell);
        if (!is_left) room = 0;
        is_first = false;
    }
    page_end_line(table->page);
}

bool table_begin(struct table *table) {
    table->widths = arena_array(table->page->arena, table->n_columns, sizeof(*table->widths));
    if (table->widths == NULL) return false;
    for (size_t i = 0; i < table->n_columns; i++) table->widths[i] = width_of(table, i);
    if (table->ranks != NULL) fit(table);
    write_row(table, STYLE_TITLE, table->headings);
    return true;
}

void table_write_row(struct table *table, size_t row) {
    write_row(table, STYLE_PLAIN, &table->cells[row * table->n_columns]);
}

void table_end(struct table *table) {
    const size_t n = table->n_omitted;
    if (n == 0) return;
    page_line(table->page, STYLE_SHARE, "%zu column%s omitted, all with --width 0", n,
              n == 1 ? "" : "s");
}

void table_write(struct table *table) {
    if (!table_begin(table)) return;
    for (size_t row = 0; (row + 1) * table->n_columns <= table->n_cells; row++)
        table_write_row(table, row);
    table_end(table);
}
