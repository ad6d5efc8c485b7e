/* SPDX-License-Identifier: Apache-2.0 */
/* A page that is written line by line: its memory is bounded by the longest line. The arena
 * records failed allocations and the stream records failed writes; both are checked once, at
 * the end (arena_end, page_finish).
 *
 * Only lists are folded: items joined by a separator, with a line break before an item that
 * would exceed the page width; continuation lines are indented to the hang column.
 *
 *     page_print(page, STYLE_NAME, "(%s)", name);
 *     page_list(page, ", ", 8);
 *     page_item_number(page, STYLE_PLAIN, NUMBER_PARAMS, 256);
 *     page_add(page, "%s of all", page_percent(page, 256, n));
 *     page_print(page, STYLE_PLAIN, ")");
 *     page_end_line(page);
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/number.h"
#include "support/text.h"

struct cm_text_options;

/* Text styles of a terminal: names are bold, shares faint, bars coloured. */
enum style { STYLE_PLAIN, STYLE_TITLE, STYLE_NAME, STYLE_SHARE, STYLE_WARNING, STYLE_BAR };

struct page {
    const struct cm_text_options *options;
    enum number_style units;
    FILE *out;
    struct arena *arena;
    struct text line;
    struct text item;
    struct text safe;    /* the item, if it needs escapes */
    size_t column;       /* visible characters in the line */
    size_t n_lines;      /* lines written */
    size_t label_width;  /* columns of the label of a summary line (report/text/labels.h) */
    size_t figure_width; /* columns of the figure of a summary line */
    const char *separator;
    size_t hang;     /* indentation of continuation lines, columns */
    bool first_item; /* the next item is not preceded by a separator */
};

/* Returns the number of terminal columns of a text: its code points. */
size_t page_width(const char *string);
/* Returns the bytes of the first n_columns columns of a text. */
size_t page_bytes(const char *string, size_t n_columns);

void page_init(struct page *page, const struct cm_text_options *options, struct arena *arena,
               FILE *out);
/* Flushes the stream. Returns CM_OK or CM_IO. */
int page_finish(struct page *page) __attribute__((warn_unused_result));

/* Writes text; never folded. Here and below, names from a file may be arguments of the format:
 * all text is made safe for a terminal. */
void page_print(struct page *page, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, and ends the line. */
void page_line(struct page *page, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void page_vprint(struct page *page, enum style style, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
void page_indent(struct page *page, size_t n_columns);
void page_end_line(struct page *page);
/* Writes a line of dashes with a centred title; NULL: dashes only. */
void page_rule(struct page *page, const char *title);

/* Returns the maximum number of rows of a table: the number that the user requested, else the
 * rows that fit on the screen with `n_lines` more lines. 0: no limit. */
size_t page_rows_left(const struct page *page, size_t n_lines);

/* Begins a list: items are joined by `separator`, continuation lines indented by `hang`. */
void page_list(struct page *page, const char *separator, size_t hang);
/* Returns the text of the next item; page_item_end writes it. */
struct text *page_item(struct page *page);
void page_item_end(struct page *page, enum style style);
/* Writes formatted text as an item. */
void page_item_print(struct page *page, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, in plain style. */
void page_add(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_item_number(struct page *page, enum style style, enum number_unit unit,
                      int64_t value);
/* Returns the current item, made safe for a terminal; valid until the next item. */
const char *page_safe_item(struct page *page);
/* Writes a sentence with one item per word. */
void page_words(struct page *page, enum style style, const char *sentence);
/* Writes a sentence as a line of its own, folded at the page width. */
void page_paragraph(struct page *page, const char *sentence);

/* The following return a figure as text in the arena, for the arguments of a format. Unknown
 * figures are "?", unknown percentages "?%". */

/* "14.07 GMACs" */
const char *page_number(struct page *page, enum number_unit unit, int64_t value);
/* "14,068,146,176" */
const char *page_exact(struct page *page, int64_t value);
/* "14068146176" */
const char *page_digits(struct page *page, int64_t value);
/* "1 node", "2 nodes" */
const char *page_count(struct page *page, int64_t n, const char *noun);
/* "12.50%" */
const char *page_percent(struct page *page, int64_t part, int64_t whole);
/* "76.67 us", "0 s" */
const char *page_time(struct page *page, int64_t ps);
