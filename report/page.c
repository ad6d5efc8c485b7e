/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and their folding. One code point counts as one column. */
#include "report/page.h"

#include <stdarg.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/file.h"

#include "support/banned.h"

#define RULE_WIDTH   78 /* DeepSpeed's */
#define LABEL_WIDTH  20 /* "unknown operators: " and the like */
#define FIGURE_WIDTH 16

static const enum number_style style_of[] = {
    [CM_UNITS_AUTO] = NUMBERS_PLAIN,
    [CM_UNITS_EXACT] = NUMBERS_EXACT,
    [CM_UNITS_SI] = NUMBERS_SI,
    [CM_UNITS_BINARY] = NUMBERS_BINARY,
};

void page_init(struct page *page, const struct cm_text_options *options, struct arena *arena,
               FILE *out) {
    *page = (struct page){
        .options = options,
        .units = style_of[options->units],
        .out = out,
        .arena = arena,
        .label_width = LABEL_WIDTH,
        .figure_width = FIGURE_WIDTH,
    };
    text_init(&page->line, arena);
    text_init(&page->item, arena);
}

int page_finish(struct page *page) {
    return output_flush(page->out);
}

size_t page_width(const char *string) {
    size_t width = 0;
    for (; *string != '\0'; string++) width += ((unsigned char)*string & 0xC0) != 0x80;
    return width;
}

size_t page_bytes(const char *string, size_t n_columns) {
    size_t n = 0;
    for (; string[n] != '\0'; n++)
        if (((unsigned char)string[n] & 0xC0) != 0x80 && n_columns-- == 0) break;
    return n;
}

/* Appends to the line. All text passes here, so that no control character reaches a terminal.
 */
static void put(struct page *page, enum style style, const char *string) {
    const size_t length = strlen(string);
    const bool plain = text_is_plain(string, length);
    if (page->options->color) text_append(&page->line, style_on(style));
    if (plain)
        text_append_n(&page->line, string, length);
    else
        text_append_name(&page->line, string);
    if (page->options->color) text_append(&page->line, style_off(style));
    page->column += plain ? length : page_width(string);
}

__attribute__((format(printf, 3, 0))) static void vprint(struct page *page, enum style style,
                                                         const char *format, va_list args) {
    text_clear(&page->item);
    text_vprintf(&page->item, format, args);
    put(page, style, text_string(&page->item));
}

void page_print(struct page *page, enum style style, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vprint(page, style, format, args);
    va_end(args);
}

void page_line(struct page *page, enum style style, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vprint(page, style, format, args);
    va_end(args);
    page_end_line(page);
}

void page_name(struct page *page, enum style style, const char *name) {
    text_clear(&page->item);
    text_append_name(&page->item, name);
    put(page, style, text_string(&page->item));
}

static void fill(struct page *page, const char *character, size_t n) {
    for (size_t i = 0; i < n; i++) text_append(&page->line, character);
    page->column += n;
}

void page_indent(struct page *page, size_t n) {
    fill(page, " ", n);
}

void page_end_line(struct page *page) {
    text_append(&page->line, "\n");
    fwrite(text_string(&page->line), 1, page->line.length,
           page->out); /* page_finish checks ferror */
    text_clear(&page->line);
    page->column = 0;
    page->n_lines++;
}

void page_rule(struct page *page, const char *title) {
    if (title != NULL) {
        fill(page, "-", (RULE_WIDTH - page_width(title) - 2) / 2);
        page_print(page, STYLE_TITLE, " %s ", title);
    }
    fill(page, "-", RULE_WIDTH - page->column);
    page_end_line(page);
}

void page_list(struct page *page, const char *separator, size_t hang) {
    page->separator = separator;
    page->hang = hang;
    page->first_item = true;
}

struct text *page_item(struct page *page) {
    text_clear(&page->item);
    return &page->item;
}

/* Returns true if the item fits on the line; one column is reserved for a bracket or comma. */
static bool item_fits(const struct page *page) {
    size_t width = page_width(text_string(&page->item));
    if (!page->first_item) width += strlen(page->separator);
    return page->options->width <= 0 || page->column <= page->hang ||
           page->column + width + 1 <= (size_t)page->options->width;
}

void page_item_end(struct page *page, enum style style) {
    bool fits = item_fits(page);
    if (!page->first_item) {
        size_t length = strlen(page->separator);
        if (!fits && length > 0 && page->separator[length - 1] == ' ') length--;
        text_append_n(&page->line, page->separator, length);
        page->column += length;
    }
    if (!fits) {
        page_end_line(page);
        page_indent(page, page->hang);
    }
    put(page, style, text_string(&page->item));
    page->first_item = false;
}

void page_item_print(struct page *page, enum style style, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vprintf(page_item(page), format, args);
    va_end(args);
    page_item_end(page, style);
}

void page_item_name(struct page *page, enum style style, const char *name) {
    text_append_name(page_item(page), name);
    page_item_end(page, style);
}

void page_item_number(struct page *page, enum style style, enum number_unit unit,
                      int64_t value) {
    number_append(page_item(page), page->units, unit, value);
    page_item_end(page, style);
}

void page_item_percent(struct page *page, enum style style, int64_t part, int64_t whole,
                       const char *after) {
    number_append_percent(page_item(page), part, whole);
    text_append(&page->item, after);
    page_item_end(page, style);
}

void page_paragraph(struct page *page, const char *sentence) {
    page_list(page, " ", 0);
    page_words(page, STYLE_PLAIN, sentence);
    page_end_line(page);
}

void page_words(struct page *page, enum style style, const char *sentence) {
    while (*sentence != '\0') {
        size_t length = strcspn(sentence, " ");
        char *word = arena_array(page->arena, length + 1, 1);
        if (word == NULL) return;
        memcpy(word, sentence, length);
        page_item_name(page, style, word);
        sentence += length;
        sentence += strspn(sentence, " ");
    }
}
