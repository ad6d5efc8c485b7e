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
    check_append_findings(&text, case_);
    for (const char *at = text_string(&text); at != NULL;) {
        const size_t length = strcspn(at, "\n");
        const char *line = arena_strndup(page->arena, at, length);
        if (line == NULL) return;
        page_indent(page, STATE_WIDTH + 2);
        page_list(page, " ", STATE_WIDTH + 4);
        page_words(page, STYLE_PLAIN, line);
        page_end_line(page);
        at = at[length] == '\n' ? at + length + 1 : NULL;
    }
}

/* Returns true if an earlier case from `first` on blames the same module. */
static bool is_repeated(const struct cm_verdict *verdict, size_t first, size_t case_index,
                        const char *path) {
    for (size_t i = first; i < case_index; i++)
        for (size_t k = 0; k < verdict->cases[i].n_blame; k++)
            if (text_equal(verdict->cases[i].blame[k].path, path)) return true;
    return false;
}

/* `layer3: params +2.75 M, macs +557.15 MMACs`: the increases of a module in all cases of a
 * batch. */
static void write_module(struct page *page, const struct cm_verdict *verdict, size_t first,
                         size_t end, const struct cm_check_blame *module) {
    page_indent(page, 4);
    page_name(page, STYLE_NAME, *module->path == '\0' ? "(root)" : module->path);
    if (text_equal(module->change, "renamed")) {
        page_print(page, STYLE_PLAIN, " (renamed from ");
        page_name(page, STYLE_PLAIN, module->was);
        page_print(page, STYLE_PLAIN, ")");
    } else if (!text_equal(module->change, "changed")) {
        page_print(page, STYLE_PLAIN, " (%s)", module->change);
    }
    page_print(page, STYLE_PLAIN, ":");
    page_list(page, ", ", 8);
    const char *before = " ";
    for (size_t i = first; i < end; i++) {
        const struct cm_check_case *case_ = &verdict->cases[i];
        for (size_t k = 0; k < case_->n_blame; k++) {
            if (!text_equal(case_->blame[k].path, module->path)) continue;
            struct text *item = page_item(page);
            text_printf(item, "%s%s +", before, case_->metric);
            check_append_short(item, case_->unit, case_->blame[k].by);
            page_item_end(page, STYLE_PLAIN);
            before = "";
        }
    }
    page_end_line(page);
}

/* The blamed modules of the cases of one batch, each once. */
static void write_blame(struct page *page, const struct cm_verdict *verdict, size_t first,
                        size_t end) {
    int64_t more = 0;
    bool is_begun = false;
    for (size_t i = first; i < end; i++) {
        const struct cm_check_case *case_ = &verdict->cases[i];
        if (case_->more_blame > more) more = case_->more_blame;
        for (size_t k = 0; k < case_->n_blame; k++) {
            if (is_repeated(verdict, first, i, case_->blame[k].path)) continue;
            if (!is_begun) page_line(page, STYLE_PLAIN, "  caused by");
            is_begun = true;
            write_module(page, verdict, first, end, &case_->blame[k]);
        }
    }
    if (more > 0) page_line(page, STYLE_PLAIN, "    and %lld more", (long long)more);
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
    size_t begin = 0; /* first case of the batch */
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
        if (i + 1 < verdict->n_cases && verdict->cases[i + 1].batch == case_->batch) continue;
        write_blame(&page, verdict, begin, i + 1);
        begin = i + 1;
    }
    write_foot(&page, verdict);
    return arena_end(arena, page_finish(&page));
}
