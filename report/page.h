/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page that is written line by line: its memory is bounded by the longest line. The arena
 * records failed allocations and the stream records failed writes; both are checked once, at
 * the end (arena_end, page_finish).
 *
 * Only lists are folded: items joined by a separator, with a line break before an item that
 * would exceed the page width; continuation lines are indented to the hang column.
 *
 *     page_print(page, STYLE_NAME, "(conv1)");
 *     page_list(page, ", ", 8);
 *     number_append(page_item(page), page->units, NUMBER_PARAMS, 256);
 *     page_item_end(page, STYLE_PLAIN);
 *     page_print(page, STYLE_PLAIN, ")");
 *     page_end_line(page);
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/number.h"
#include "report/style.h"
#include "support/text.h"

struct arena;
struct cm_text_options;

struct page {
    const struct cm_text_options *options;
    enum number_style units;
    FILE *out;
    struct arena *arena;
    struct text line;
    struct text item;
    size_t column;       /* visible characters in the line */
    size_t n_lines;      /* lines written */
    size_t label_width;  /* columns of the label of a summary line (report/text/labels.h) */
    size_t figure_width; /* columns of its figure */
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
/* Flushes. CM_OK, CM_IO. */
int page_finish(struct page *page) __attribute__((warn_unused_result));

/* Writes text of this program; never folded. */
void page_print(struct page *page, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, and ends the line. */
void page_line(struct page *page, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes a name from a file, made safe for a terminal; never folded. */
void page_name(struct page *page, enum style style, const char *name);
void page_indent(struct page *page, size_t n_columns);
void page_end_line(struct page *page);
/* Writes a line of dashes with a centred title; NULL: dashes only. */
void page_rule(struct page *page, const char *title);

void page_list(struct page *page, const char *separator, size_t hang);
/* Returns the text of the next item; page_item_end writes it. */
struct text *page_item(struct page *page);
void page_item_end(struct page *page, enum style style);
/* Write an item of one piece: text of this program, a name from a file, a number. */
void page_item_print(struct page *page, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void page_item_name(struct page *page, enum style style, const char *name);
void page_item_number(struct page *page, enum style style, enum number_unit unit,
                      int64_t value);
/* Writes the item "12.50%", followed by `after`. */
void page_item_percent(struct page *page, enum style style, int64_t part, int64_t whole,
                       const char *after);
/* Writes a sentence, made safe for a terminal, with one item per word. */
void page_words(struct page *page, enum style style, const char *sentence);
/* Writes a sentence as a line of its own, folded at the page width. */
void page_paragraph(struct page *page, const char *sentence);

#endif
