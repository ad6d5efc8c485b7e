/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict as a pull-request comment: a table of all limits, and a table of modules per
 * regression. GitHub accepts 65,536 characters: rows beyond MAX_BYTES are only counted, and
 * tables that would begin beyond it are omitted. */
#include "costmodel/check.h"

#include <string.h>

#include "report/check/check_report.h"
#include "report/table/markdown.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/file.h"
#include "support/text.h"

#define MAX_BYTES  50000 /* of rows, without the surrounding text */
#define TABLE_HEAD 120   /* of a table of limits */

struct comment {
    const struct cm_verdict *verdict; /* of one model */
    bool is_part;                     /* of several models */
    struct arena *arena;
    FILE *out;
    size_t written;  /* bytes of rows */
    size_t left_out; /* rows of the current table that did not fit */
};

/* Appends a sentence, which may contain names from a file, and escapes Markdown and HTML. */
static void append_words(struct text *text, const char *sentence) {
    for (const char *c = text_name(text->arena, sentence); *c != '\0'; c++) {
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

/* Writes a row, or counts it and returns false if the comment is full. */
static bool put_row(struct comment *comment, const struct text *row) {
    if (comment->written + row->length > MAX_BYTES) {
        comment->left_out++;
        return false;
    }
    comment->written += row->length;
    fputs(text_string(row), comment->out);
    return true;
}

static void append_bounded(struct text *row, const char *unit, int64_t value,
                           bool upper_bound) {
    text_append(row, " | ");
    if (upper_bound) text_append(row, number_bound_prefix(NUMBER_AT_MOST, true));
    if (is_known(value)) check_append_short(row, unit, value);
}

static void write_row(struct comment *comment, const struct cm_check_case *case_,
                      const struct cm_check_finding *finding) {
    const char *bold = text_equal(finding->state, "pass") ? "" : "**";
    struct text row = {.arena = comment->arena};
    text_printf(&row, "| %s%s%s | ", bold, finding->state, bold);
    const char *code = text_name(row.arena, case_->limit);
    if (strpbrk(code, "|`\\") == NULL && code[0] != ' ' && code[0] != '\0')
        text_printf(&row, "`%s`", code);
    else
        markdown_append_name(&row, case_->limit, comment->arena);
    text_append(&row, " | ");
    markdown_append_name(&row, finding->path, comment->arena);
    text_append(&row, " | ");
    if (is_known(case_->batch)) text_printf(&row, "%lld", (long long)case_->batch);
    append_bounded(&row, case_->unit, finding->value, finding->upper_bound);
    append_bounded(&row, case_->unit, finding->old, finding->old_upper_bound);
    text_append(&row, " | ");
    check_append_change(&row, finding->value, finding->old);
    append_bounded(&row, case_->unit, finding->allowed, false);
    text_append(&row, " | ");
    append_words(&row, finding->because);
    text_append(&row, " |\n");
    put_row(comment, &row);
}

static void write_table(struct comment *comment) {
    const struct cm_verdict *verdict = comment->verdict;
    comment->left_out = 0;
    fputs("\n| | limit | module | batch | new | old | change | allowed | |\n"
          "|---|---|---|--:|--:|--:|--:|--:|---|\n",
          comment->out);
    for (size_t i = 0; i < verdict->n_cases; i++) {
        const struct cm_check_case *case_ = &verdict->cases[i];
        const struct cm_check_finding none = {.path = "",
                                              .state = case_->state,
                                              .value = CM_UNKNOWN,
                                              .old = CM_UNKNOWN,
                                              .allowed = CM_UNKNOWN,
                                              .because = ""};
        if (case_->n_findings == 0) write_row(comment, case_, &none);
        for (size_t k = 0; k < case_->n_findings; k++)
            write_row(comment, case_, &case_->findings[k]);
        comment->left_out += (size_t)case_->more_findings;
    }
    if (comment->left_out > 0) fprintf(comment->out, "\n%zu more rows.\n", comment->left_out);
}

static void write_blame(struct comment *comment, const struct cm_check_case *case_) {
    if (case_->n_blame == 0) return;
    struct text head = {.arena = comment->arena};
    text_append(&head, "\nWhere ");
    markdown_append_name(&head, case_->metric, comment->arena);
    if (is_known(case_->batch)) text_printf(&head, " at batch %lld", (long long)case_->batch);
    text_append(&head, " comes from:\n\n| module | new | old | change | |\n"
                       "|---|--:|--:|--:|---|\n");
    if (!put_row(comment, &head)) return;
    comment->left_out = (size_t)case_->more_blame;
    for (size_t i = 0; i < case_->n_blame; i++) {
        const struct cm_check_blame *blame = &case_->blame[i];
        struct text row = {.arena = comment->arena};
        text_append(&row, "| ");
        markdown_append_name(&row, blame->path[0] == '\0' ? "(root)" : blame->path,
                             comment->arena);
        append_bounded(&row, case_->unit, blame->value, blame->upper_bound);
        append_bounded(&row, case_->unit, blame->old, blame->old_upper_bound);
        text_append(&row, " | ");
        check_append_change(&row, blame->value, blame->old);
        text_printf(&row, " | %s", blame->change);
        if (text_equal(blame->change, "renamed")) {
            text_append(&row, " from ");
            markdown_append_name(&row, blame->was, comment->arena);
        }
        text_append(&row, " |\n");
        put_row(comment, &row);
    }
    if (comment->left_out > 0)
        fprintf(comment->out, "\nand %zu more modules\n", comment->left_out);
}

static void write_head(struct comment *comment) {
    const struct cm_verdict *verdict = comment->verdict;
    struct text head = {.arena = comment->arena};
    if (comment->is_part) {
        text_append(&head, "\n#### ");
        markdown_append_name(&head, verdict->model, comment->arena);
        text_printf(&head, ": %s\n\n", verdict->state);
    } else {
        text_printf(&head, "### costmodel check: %s\n\n", verdict->state);
    }
    markdown_append_name(&head, verdict->model, comment->arena);
    text_append(&head, " against ");
    if (verdict->baseline[0] == '\0') {
        text_append(&head, "no baseline");
    } else {
        text_append(&head, "the baseline of ");
        markdown_append_name(&head, verdict->baseline, comment->arena);
    }
    text_printf(&head, ", convention %s", verdict->convention);
    if (verdict->precision[0] != '\0') text_printf(&head, ", precision %s", verdict->precision);
    if (verdict->times[0] != '\0') {
        text_append(&head, ", times ");
        append_words(&head, verdict->times);
    }
    text_printf(&head, ": %s.\n", check_counts(comment->arena, verdict));
    if (comment->is_part) comment->written += head.length + TABLE_HEAD;
    fputs(text_string(&head), comment->out);
}

static void write_foot(struct comment *comment) {
    const struct cm_verdict *verdict = comment->verdict;
    if ((verdict->regressions == 0 && !verdict->is_outdated) || verdict->accept[0] == '\0')
        return;
    struct text fence = {.arena = comment->arena}; /* longer than any run of ` in the code */
    const char *code = text_name(fence.arena, verdict->accept);
    size_t length = 3;
    size_t run = 0;
    for (const char *c = code; *c != '\0'; c++) {
        run = *c == '`' ? run + 1 : 0;
        if (run >= length) length = run + 1;
    }
    while (length-- > 0) text_append(&fence, "`");
    fprintf(comment->out, "\n%s:\n\n%ssh\n%s\n%s\n",
            verdict->is_outdated ? "To renew the baseline" : "To accept what changed",
            text_string(&fence), code, text_string(&fence));
}

static void write_model(struct comment *comment, const struct cm_verdict *verdict) {
    comment->verdict = verdict;
    write_head(comment);
    write_table(comment);
    for (size_t i = 0; i < verdict->n_cases; i++) write_blame(comment, &verdict->cases[i]);
    write_foot(comment);
}

/* Writes the models that pass, or the others, as far as they fit. */
static void write_models(struct comment *comment, const struct cm_verdict *verdict,
                         bool passing) {
    size_t n_omitted = 0;
    for (size_t i = 0; i < verdict->n_models; i++) {
        if (text_equal(verdict->models[i].state, "pass") != passing) continue;
        if (comment->written > MAX_BYTES)
            n_omitted++;
        else
            write_model(comment, &verdict->models[i]);
    }
    if (n_omitted > 0)
        fprintf(comment->out, "\n%zu more model%s.\n", n_omitted,
                text_plural((int64_t)n_omitted));
}

/* Writes the models that do not pass, then the others, which are folded. */
static void write_joined(struct comment *comment, const struct cm_verdict *verdict) {
    size_t n_pass = 0;
    for (size_t i = 0; i < verdict->n_models; i++)
        n_pass += text_equal(verdict->models[i].state, "pass");
    fprintf(comment->out, "### costmodel check: %s\n\n%zu model%s: %s.\n", verdict->state,
            verdict->n_models, text_plural((int64_t)verdict->n_models),
            check_counts(comment->arena, verdict));
    comment->is_part = true;
    write_models(comment, verdict, false);
    if (n_pass == 0) return;
    fprintf(comment->out, "\n<details><summary>%zu model%s</summary>\n", n_pass,
            n_pass == 1 ? " passes" : "s pass");
    write_models(comment, verdict, true);
    fputs("\n</details>\n", comment->out);
}

int cm_verdict_write_markdown(const struct cm_verdict *verdict, FILE *out) {
    if (verdict == NULL || out == NULL) return CM_USAGE;
    struct comment comment = {.out = out};
    comment.arena = arena_new("comment", 0);
    if (comment.arena == NULL) return CM_NO_MEMORY;
    if (verdict->n_models > 0)
        write_joined(&comment, verdict);
    else
        write_model(&comment, verdict);
    return arena_end(comment.arena, output_flush(out));
}
