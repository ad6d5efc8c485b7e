/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict as text: each limit with its findings, and the modules that cause regressions. */
#include "costmodel/check.h"

#include <string.h>

#include "report/check/check_report.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/text.h"

#define STATE_WIDTH 14

/* Returns true if an earlier case from `first` on blames the same module. */
static bool is_repeated(const struct cm_verdict *verdict, size_t first, size_t case_index,
                        const char *path) {
    for (size_t i = first; i < case_index; i++)
        for (size_t k = 0; k < verdict->cases[i].n_blame; k++)
            if (text_equal(verdict->cases[i].blame[k].path, path)) return true;
    return false;
}

/* Writes the increases of a module in the cases [first, end), those of one batch:
 * `layer3: params +2.75 M, macs +557.15 MMACs`. */
static void write_module(struct page *page, const struct cm_verdict *verdict, size_t first,
                         size_t end, const struct cm_check_blame *module) {
    page_indent(page, 4);
    page_print(page, STYLE_NAME, "%s", *module->path == '\0' ? "(root)" : module->path);
    if (text_equal(module->change, "renamed"))
        page_print(page, STYLE_PLAIN, " (renamed from %s)", module->was);
    else if (!text_equal(module->change, "changed"))
        page_print(page, STYLE_PLAIN, " (%s)", module->change);
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

/* Writes each module that the cases [first, end) blame, once. */
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

static void write_case(struct page *page, const struct cm_verdict *verdict,
                       const struct cm_check_case *case_) {
    page_print(page, check_look(verdict, case_->state)->style, "  %-*s", STATE_WIDTH,
               case_->state);
    page_print(page, STYLE_PLAIN, "%s", case_->limit);
    if (case_->compared != 1)
        page_print(page, STYLE_PLAIN, "  (%lld modules)", (long long)case_->compared);
    page_end_line(page);
    const char *lines = check_findings(page->arena, case_);
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        const char *line = arena_strndup(page->arena, lines, length);
        if (line == NULL) return;
        page_indent(page, STATE_WIDTH + 2);
        page_list(page, " ", STATE_WIDTH + 4);
        page_words(page, STYLE_PLAIN, line);
        page_end_line(page);
        lines += length + (lines[length] == '\n');
    }
}

static void write_model(struct page *page, const struct cm_verdict *verdict) {
    page_print(page, STYLE_PLAIN, "%s against %s%s, convention %s%s%s%s%s: ", verdict->model,
               verdict->baseline[0] == '\0' ? "no baseline" : "the baseline of ",
               verdict->baseline, verdict->convention,
               verdict->precision[0] == '\0' ? "" : ", precision ", verdict->precision,
               verdict->times[0] == '\0' ? "" : ", times ", verdict->times);
    page_line(page, check_look(verdict, verdict->state)->style, "%s", verdict->state);
    size_t begin = 0; /* first case of the batch */
    for (size_t i = 0; i < verdict->n_cases; i++) {
        const struct cm_check_case *case_ = &verdict->cases[i];
        const bool is_first = i == 0 || case_->batch != verdict->cases[i - 1].batch;
        if (is_first && is_known(case_->batch))
            page_line(page, STYLE_TITLE, "batch %lld", (long long)case_->batch);
        write_case(page, verdict, case_);
        if (i + 1 < verdict->n_cases && verdict->cases[i + 1].batch == case_->batch) continue;
        write_blame(page, verdict, begin, i + 1);
        begin = i + 1;
    }
    page_line(page, STYLE_PLAIN, "%s", check_counts(page->arena, verdict));
    if ((verdict->regressions > 0 || verdict->is_outdated) && verdict->accept[0] != '\0') {
        page_line(page, STYLE_PLAIN,
                  verdict->is_outdated ? "to renew the baseline:" : "to accept what changed:");
        page_indent(page, 2);
        page_line(page, STYLE_NAME, "%s", verdict->accept);
    }
}

int cm_verdict_write_text(const struct cm_verdict *verdict,
                          const struct cm_text_options *options, FILE *out) {
    options = ARGUMENTS_TAKE(cm_text_options, options, verdict && out, NULL);
    if (options == NULL) return CM_USAGE;
    struct page page;
    struct arena *arena = arena_new("page", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    page_init(&page, options, arena, out);
    for (size_t i = 0; i < check_n_models(verdict); i++) {
        write_model(&page, check_model(verdict, i));
        if (verdict->n_models > 0) page_line(&page, STYLE_PLAIN, "%s", "");
    }
    if (verdict->n_models > 0) {
        page_print(&page, STYLE_PLAIN, "%zu model%s, %s: ", verdict->n_models,
                   text_plural((int64_t)verdict->n_models), check_counts(arena, verdict));
        page_line(&page, check_look(verdict, verdict->state)->style, "%s", verdict->state);
    }
    return arena_end(arena, page_finish(&page));
}
