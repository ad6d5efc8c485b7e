/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict as text: one line per passed limit, details for all others. */
#include "costmodel/check.h"

#include <string.h>

#include "report/check/check_report.h"
#include "report/page.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

#define STATE_WIDTH 14

static void print_text(struct page *page, enum style style, const struct text *text) {
    page_print(page, style, "%s", text_string(text));
}

static void write_head(struct page *page, const struct cm_verdict *verdict) {
    struct text text = {.arena = page->arena};
    text_append_name(&text, verdict->model);
    text_append(&text, " against ");
    check_append_against(&text, verdict);
    text_printf(&text, ", convention %s", verdict->convention);
    if (verdict->times[0] != '\0') {
        text_append(&text, ", times ");
        text_append_name(&text, verdict->times);
    }
    text_append(&text, ": ");
    print_text(page, STYLE_PLAIN, &text);
    page_line(page, check_look(verdict, verdict->state)->style, "%s", verdict->state);
}

static void write_lines(struct page *page, const struct cm_check_case *case_) {
    struct text text = {.arena = page->arena};
    if (case_->n_findings == 0) return;
    check_append_lines(&text, case_);
    for (const char *at = text_string(&text); at != NULL;) {
        const size_t length = strcspn(at, "\n");
        page_indent(page, STATE_WIDTH + 2);
        page_line(page, STYLE_PLAIN, "%.*s", (int)length, at);
        at = at[length] == '\n' ? at + length + 1 : NULL;
    }
}

static void write_foot(struct page *page, const struct cm_verdict *verdict) {
    struct text text = {.arena = page->arena};
    check_append_counts(&text, verdict);
    print_text(page, STYLE_PLAIN, &text);
    page_end_line(page);
    if (verdict->regressions == 0 || verdict->accept[0] == '\0') return;
    page_line(page, STYLE_PLAIN, "to accept what changed:");
    page_indent(page, 2);
    page_name(page, STYLE_NAME, verdict->accept);
    page_end_line(page);
}

int cm_verdict_write_text(const struct cm_verdict *verdict,
                          const struct cm_text_options *options, FILE *out) {
    if (verdict == NULL || options == NULL || out == NULL) return CM_USAGE;
    struct page page;
    struct arena *arena = arena_new("page", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    page_init(&page, options, arena, out);
    write_head(&page, verdict);
    for (size_t i = 0; i < verdict->n_cases; i++) {
        const struct cm_check_case *case_ = &verdict->cases[i];
        const bool first = i == 0 || case_->batch != verdict->cases[i - 1].batch;
        const bool has_batch = is_known(case_->batch);
        if (first && has_batch) {
            page_line(&page, STYLE_TITLE, "batch %lld", (long long)case_->batch);
        }
        const struct check_look *look = check_look(verdict, case_->state);
        struct text title = {.arena = page.arena};
        text_append_name(&title, case_->limit);
        page_print(&page, look->style, "  %-*s", STATE_WIDTH, case_->state);
        print_text(&page, STYLE_PLAIN, &title);
        if (case_->compared != 1)
            page_print(&page, STYLE_PLAIN, "  (%lld modules)", (long long)case_->compared);
        page_end_line(&page);
        write_lines(&page, case_);
    }
    write_foot(&page, verdict);
    return arena_end(arena, page_finish(&page));
}
