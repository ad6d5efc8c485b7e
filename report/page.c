/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a page and folds its lines. One code point counts as one column. Most styles are bold
 * or faint text, which is readable on any background, instead of colours. */
#include "report/page.h"

#include <inttypes.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "report/times.h"
#include "support/file.h"

#define RULE_WIDTH   78 /* columns, as in DeepSpeed's report */
#define LABEL_WIDTH  20 /* columns; fits "unknown operators: " */
#define FIGURE_WIDTH 16
#define MIN_ROWS     4 /* of a table, even if they do not fit on the screen */

/* ECMA-48 SGR sequences. */
static const char *const sequences[] = {
    [STYLE_PLAIN] = "",        [STYLE_TITLE] = "\033[1m",    [STYLE_NAME] = "\033[1m",
    [STYLE_SHARE] = "\033[2m", [STYLE_WARNING] = "\033[33m", [STYLE_BAR] = "\033[36m",
};

void page_init(struct page *page, const struct cm_text_options *options, struct arena *arena,
               FILE *out) {
    *page = (struct page){
        .options = options,
        .units = number_style_of(options->units, NUMBERS_PLAIN),
        .out = out,
        .arena = arena,
        .label_width = LABEL_WIDTH,
        .figure_width = FIGURE_WIDTH,
    };
    text_init(&page->line, arena);
    text_init(&page->item, arena);
    text_init(&page->safe, arena);
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

const char *page_safe_item(struct page *page) {
    const char *item = text_string(&page->item);
    if (text_is_plain(item, page->item.length)) return item;
    text_clear(&page->safe);
    text_append_name(&page->safe, item);
    return text_string(&page->safe);
}

/* Appends the item, made safe, to the line: no control character reaches a terminal. */
static void put_item(struct page *page, enum style style) {
    const char *item = page_safe_item(page);
    const bool color = page->options->color && style != STYLE_PLAIN;
    if (color) text_append(&page->line, sequences[style]);
    text_append(&page->line, item);
    if (color) text_append(&page->line, "\033[0m");
    page->column += page_width(item);
}

void page_vprint(struct page *page, enum style style, const char *format, va_list args) {
    text_vprintf(page_item(page), format, args);
    put_item(page, style);
}

void page_print(struct page *page, enum style style, const char *format, ...) {
    va_list args;
    va_start(args, format);
    page_vprint(page, style, format, args);
    va_end(args);
}

void page_line(struct page *page, enum style style, const char *format, ...) {
    va_list args;
    va_start(args, format);
    page_vprint(page, style, format, args);
    va_end(args);
    page_end_line(page);
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

size_t page_rows_left(const struct page *page, size_t n_lines) {
    if (page->options->rows > 0) return (size_t)page->options->rows;
    if (page->options->height <= 0) return 0;
    const size_t used = page->n_lines + n_lines;
    const size_t height = (size_t)page->options->height;
    return height < used + MIN_ROWS ? MIN_ROWS : height - used;
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

void page_item_end(struct page *page, enum style style) {
    size_t width = page_width(page_safe_item(page)) + 1; /* a bracket or comma may follow */
    if (!page->first_item) width += strlen(page->separator);
    const bool fits = page->options->width <= 0 || page->column <= page->hang ||
                      page->column + width <= (size_t)page->options->width;
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
    put_item(page, style);
    page->first_item = false;
}

void page_item_print(struct page *page, enum style style, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vprintf(page_item(page), format, args);
    va_end(args);
    page_item_end(page, style);
}

void page_add(struct page *page, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vprintf(page_item(page), format, args);
    va_end(args);
    page_item_end(page, STYLE_PLAIN);
}

void page_item_number(struct page *page, enum style style, enum number_unit unit,
                      int64_t value) {
    number_append(page_item(page), page->units, unit, value);
    page_item_end(page, style);
}

void page_paragraph(struct page *page, const char *sentence) {
    page_list(page, " ", 0);
    page_words(page, STYLE_PLAIN, sentence);
    page_end_line(page);
}

void page_words(struct page *page, enum style style, const char *sentence) {
    while (*sentence != '\0') {
        const size_t length = strcspn(sentence, " ");
        text_append_n(page_item(page), sentence, length);
        page_item_end(page, style);
        sentence += length;
        sentence += strspn(sentence, " ");
    }
}

const char *page_number(struct page *page, enum number_unit unit, int64_t value) {
    struct text text = {.arena = page->arena};
    number_append(&text, page->units, unit, value);
    return text_string(&text);
}

const char *page_exact(struct page *page, int64_t value) {
    struct text text = {.arena = page->arena};
    number_append_exact(&text, value);
    return text_string(&text);
}

const char *page_digits(struct page *page, int64_t value) {
    struct text text = {.arena = page->arena};
    number_append(&text, NUMBERS_EXACT, NUMBER_PARAMS, value);
    return text_string(&text);
}

const char *page_count(struct page *page, int64_t n, const char *noun) {
    struct text text = {.arena = page->arena};
    text_printf(&text, "%" PRId64 " %s%s", n, noun, text_plural(n));
    return text_string(&text);
}

const char *page_percent(struct page *page, int64_t part, int64_t whole) {
    struct text text = {.arena = page->arena};
    number_append_percent(&text, part, whole);
    return text_string(&text);
}

const char *page_time(struct page *page, int64_t ps) {
    struct text text = {.arena = page->arena};
    times_append(&text, page->units, ps);
    return text_string(&text);
}
