/* SPDX-License-Identifier: Apache-2.0 */
/* A table whose columns are as wide as their contents. Columns are right-aligned, except those
 * with `is_left`; without `is_left` only the last column, a name, is left-aligned.
 *
 *     struct table table;
 *     if (!table_init(&table, page, headings, n_columns, n_rows)) return;
 *     table_print(&table, "%s", page_number(page, NUMBER_TIME, total));
 *     ...
 *     table_write(&table);
 *
 * After table_fit, columns are omitted and long cells shortened until the lines fit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/page.h"

struct table {
    struct page *page;
    size_t n_columns;
    const char *const *headings;
    const bool *is_left; /* for each column; NULL: only the last */
    const size_t *ranks; /* set by table_fit; NULL: no column is omitted or shortened */
    size_t max_width;    /* set by table_fit; characters */
    bool keeps_start;    /* shortened cells keep their start and end; else only their end */
    size_t *widths;      /* characters, by table_begin; 0: omitted */
    size_t n_omitted;
    size_t n_cells;
    const char **cells; /* row by row */
};

/* Returns false if out of memory (sticky in the page's arena). Takes at most n_rows rows. */
bool table_init(struct table *table, struct page *page, const char *const *headings,
                size_t n_columns, size_t n_rows);
/* Limits the lines to max_width characters (0: no limit). `ranks` has one entry per column;
 * columns with the highest rank are omitted first. NULL: no limit. */
void table_fit(struct table *table, const size_t *ranks, int max_width);
/* Adds a cell; names from a file may be arguments, as in page_print. */
void table_print(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds the page's item (page_item) as a cell. */
void table_end_cell(struct table *table);
void table_write(struct table *table);

/* The parts of table_write, for tables with further lines below a row. table_begin writes the
 * headings; it returns false if out of memory. */
bool table_begin(struct table *table);
void table_write_row(struct table *table, size_t row);
void table_end(struct table *table);
