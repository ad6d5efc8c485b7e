/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page that is written a line at a time: memory is bounded by the longest line, whatever the
 * model. What memory was short for the arena remembers (arena_end), what did not get out the
 * stream; both are looked at once, at the end.
 *
 * A list is what gets folded: items joined by a separator, broken where the next one would pass
 * the width, the following lines hung at a column.
 *
 *     page_print(page, STYLE_NAME, "(conv1)");
 *     page_list(page, ", ", 8);
 *     number_append(page_item(page), NUMBER_PARAMS, 256);
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
    enum number_units units; /* of figures */
    FILE *out;
    struct arena *arena;
    struct text line;
    struct text item;
    size_t column; /* visible characters in the line */
    const char *separator;
    size_t hang;
    bool first_item; /* no separator before the next one */
};

/* How many columns of a terminal a text takes. */
size_t page_width(const char *string);

void page_init(struct page *page, const struct cm_text_options *options, struct arena *arena,
               FILE *out);
/* Flushes. CM_OK, CM_IO. */
int page_finish(struct page *page) __attribute__((warn_unused_result));

/* Our own words, never folded. */
void page_print(struct page *page, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A name from a file, made safe for a terminal; never folded. */
void page_name(struct page *page, enum style style, const char *name);
void page_indent(struct page *page, size_t n_columns);
void page_end_line(struct page *page);
/* A line of dashes with a title in its middle; NULL: dashes only. */
void page_rule(struct page *page, const char *title);

void page_list(struct page *page, const char *separator, size_t hang);
/* The text to append one item to, until page_item_end puts it on the page. */
struct text *page_item(struct page *page);
void page_item_end(struct page *page, enum style style);
/* A sentence from a file, made safe, as items: one for each of its words. */
void page_words(struct page *page, enum style style, const char *sentence);

#endif
