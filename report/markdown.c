/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GitHub Flavored Markdown, 6.1 (code spans), 4.10 (tables: '\|' also in code), 4.5 (fences).
 * Names stand as code: there neither mentions nor references nor markup are looked for.
 */
#include "report/markdown.h"

#include <stdbool.h>
#include <string.h>

#include "support/text.h"

#include "support/banned.h"

/* In a span of code, | ends the cell, ` the span, and \ may protect either. */
#define NOT_IN_A_SPAN "|`\\<>&"

static bool is_plain(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c == ' ' || (unsigned char)c >= 0x80;
}

void markdown_append_name(struct text *text, const char *name) {
    struct text safe;
    text_init(&safe, text->arena);
    text_append_name(&safe, name);
    const char *at = text_string(&safe);
    if (safe.failed) text->failed = true;
    if (*at == '\0') return;
    if (strpbrk(at, NOT_IN_A_SPAN) == NULL && strspn(at, " ") == 0) {
        text_printf(text, "`%s`", at);
        return;
    }
    text_append(text, "<code>");
    for (; *at != '\0'; at++) {
        if (is_plain(*at))
            text_append_n(text, at, 1);
        else
            text_printf(text, "&#%d;", *at);
    }
    text_append(text, "</code>");
}

static size_t longest_run(const char *name, char c) {
    size_t longest = 0;
    size_t run = 0;
    for (; *name != '\0'; name++) {
        run = *name == c ? run + 1 : 0;
        if (run > longest) longest = run;
    }
    return longest;
}

static void append_run(struct text *text, char c, size_t n) {
    for (size_t i = 0; i < n; i++) text_append_n(text, &c, 1);
}

static const char *safe(const struct text *text, const char *name) {
    struct text copy;
    text_init(&copy, text->arena);
    text_append_name(&copy, name);
    return text_string(&copy);
}

void markdown_append_code(struct text *text, const char *name) {
    const char *code = safe(text, name);
    const size_t fence = longest_run(code, '`') + 1;
    const bool pad = code[0] == '`' || code[0] == '\0' || code[strlen(code) - 1] == '`';
    append_run(text, '`', fence);
    if (pad) text_append(text, " ");
    for (const char *c = code; *c != '\0'; c++) {
        if (*c == '|') text_append(text, "\\");
        text_append_n(text, c, 1);
    }
    if (pad) text_append(text, " ");
    append_run(text, '`', fence);
}

void markdown_append_words(struct text *text, const char *sentence) {
    for (const char *c = safe(text, sentence); *c != '\0'; c++) {
        if (*c == '<')
            text_append(text, "&lt;");
        else if (*c == '&')
            text_append(text, "&amp;");
        else if (*c == '@')
            text_append(text, "&#64;");
        else
            text_printf(text, "%s%c", strchr("\\`*_{}[]|~#>!", *c) != NULL ? "\\" : "", *c);
    }
}

void markdown_append_block(struct text *text, const char *language, const char *lines) {
    const char *code = safe(text, lines);
    const size_t run = longest_run(code, '`');
    const size_t fence = run < 3 ? 3 : run + 1;
    append_run(text, '`', fence);
    text_printf(text, "%s\n%s\n", language, code);
    append_run(text, '`', fence);
    text_append(text, "\n");
}
