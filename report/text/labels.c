/* SPDX-License-Identifier: Apache-2.0 */
/* Summary lines in two columns: see labels.h. */
#include "report/text/labels.h"

#include <inttypes.h>

#include "costmodel/result.h"
#include "report/page.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

void label_write(struct page *page, const char *label) {
    page_print(page, STYLE_PLAIN, "%s%s", label, *label == '\0' ? "" : ":");
    page_indent(page, page->column < page->label_width ? page->label_width - page->column : 1);
}

void label_name(struct page *page, const char *label, const char *text) {
    if (*text == '\0') return;
    label_write(page, label);
    page_name(page, STYLE_PLAIN, text);
    page_end_line(page);
}

void label_sentence(struct page *page, const char *label, const char *sentence) {
    if (*sentence == '\0') return;
    label_write(page, label);
    page_list(page, " ", page->label_width + 2);
    page_words(page, STYLE_PLAIN, sentence);
    page_end_line(page);
}

void label_rest(struct page *page, size_t n, size_t shown) {
    if (n <= shown) return;
    label_write(page, "");
    page_line(page, STYLE_PLAIN, "and %zu more: see --format json", n - shown);
}

void label_operators(struct page *page, const char *label, enum style style,
                     const struct cm_name_count *operators, size_t n) {
    if (n == 0) return;
    label_write(page, label);
    page_list(page, ", ", page->label_width);
    for (size_t i = 0; i < n; i++) {
        struct text *item = page_item(page);
        text_append_name(item, operators[i].name);
        text_printf(item, " x %" PRId64, operators[i].count);
        page_item_end(page, style);
    }
    page_end_line(page);
}

void label_pad(struct page *page) {
    size_t end = page->label_width + page->figure_width;
    page_indent(page, page->column < end ? end - page->column : 1);
}

void label_figure(struct page *page, const char *label, enum number_unit unit, int64_t value) {
    label_write(page, label);
    page_list(page, "", 0);
    page_item_number(page, STYLE_TITLE, unit, value);
    if (!is_known(value)) return;
    label_pad(page);
    struct text *item = page_item(page);
    text_append(item, "(");
    number_append_exact(item, value);
    text_append(item, ")");
    page_item_end(page, STYLE_SHARE);
}

static const struct {
    const char *label;
    enum style style;
} severities[] = {
    [CM_NOTE] = {"note", STYLE_PLAIN},
    [CM_WARNING] = {"warning", STYLE_WARNING},
    [CM_ERROR] = {"error", STYLE_WARNING},
};

void label_diagnostic(struct page *page, const struct cm_diagnostic *diagnostic) {
    label_write(page, severities[diagnostic->severity].label);
    page_list(page, " ", page->label_width);
    page_words(page, severities[diagnostic->severity].style, diagnostic->message);
    if (diagnostic->node != NULL) {
        struct text *item = page_item(page);
        text_append(item, "(node \"");
        text_append_name(item, diagnostic->node);
        text_append(item, "\")");
        page_item_end(page, STYLE_PLAIN);
    }
    page_end_line(page);
    if (diagnostic->hint == NULL) return;
    label_write(page, "");
    page_list(page, " ", page->label_width + 2);
    page_words(page, STYLE_PLAIN, "hint:");
    page_words(page, STYLE_PLAIN, diagnostic->hint);
    page_end_line(page);
}
