/* SPDX-License-Identifier: Apache-2.0 */
/* Summary lines in two columns: see labels.h. */
#include "report/text/labels.h"

#include <inttypes.h>

#include "costmodel/result.h"
#include "support/checked.h"

void label_write(struct page *page, const char *label) {
    page_print(page, STYLE_PLAIN, "%s%s", label, *label == '\0' ? "" : ":");
    page_indent(page, page->column < page->label_width ? page->label_width - page->column : 1);
}

void label_list(struct page *page, const char *label, const char *separator, size_t hang) {
    label_write(page, label);
    page_list(page, separator, page->label_width + hang);
}

void label_line(struct page *page, const char *label, const char *format, ...) {
    va_list args;
    label_write(page, label);
    va_start(args, format);
    page_vprint(page, STYLE_PLAIN, format, args);
    va_end(args);
    page_end_line(page);
}

void label_name(struct page *page, const char *label, const char *text) {
    if (*text != '\0') label_line(page, label, "%s", text);
}

void label_sentence(struct page *page, const char *label, const char *sentence) {
    if (*sentence == '\0') return;
    label_list(page, label, " ", 2);
    page_words(page, STYLE_PLAIN, sentence);
    page_end_line(page);
}

void label_rest(struct page *page, size_t n, size_t shown) {
    if (n > shown) label_line(page, "", "and %zu more: see --format json", n - shown);
}

void label_operators(struct page *page, const char *label, enum style style,
                     const struct cm_name_count *operators, size_t n) {
    if (n == 0) return;
    label_list(page, label, ", ", 0);
    for (size_t i = 0; i < n; i++)
        page_item_print(page, style, "%s x %" PRId64, operators[i].name, operators[i].count);
    page_end_line(page);
}

void label_absent_params(struct page *page, const struct cm_framework *framework) {
    const size_t most = 3;
    page_add(page, "%s folded or merged", page_count(page, framework->n_absent, "tensor"));
    for (size_t i = 0; i < framework->n_unknown && i < most; i++)
        page_add(page, "%s%s", i == 0 ? "not in the file: the size of " : "",
                 framework->unknown[i]);
    if (framework->n_unknown > most)
        page_add(page, "and %s",
                 page_count(page, (int64_t)(framework->n_unknown - most), "other"));
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
    page_item_print(page, STYLE_SHARE, "(%s)", page_exact(page, value));
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
    label_list(page, severities[diagnostic->severity].label, " ", 0);
    page_words(page, severities[diagnostic->severity].style, diagnostic->message);
    if (diagnostic->node != NULL) page_add(page, "(node \"%s\")", diagnostic->node);
    page_end_line(page);
    if (diagnostic->hint == NULL) return;
    label_list(page, "", " ", 2);
    page_words(page, STYLE_PLAIN, "hint:");
    page_words(page, STYLE_PLAIN, diagnostic->hint);
    page_end_line(page);
}
