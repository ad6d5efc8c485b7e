/* SPDX-License-Identifier: Apache-2.0 */
/* A table of GitHub Flavored Markdown, with a line above it that names the model. Names are
 * written as code, in which GitHub does not expand mentions, references or markup. */
#include "report/table/markdown.h"

#include <inttypes.h>
#include <string.h>

#include "report/report.h"
#include "report/table/columns.h"
#include "report/table/listing.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/file.h"

/* In a code span, | ends the cell, ` ends the span, \ may escape either, and < > & may begin
 * HTML. */
#define NOT_IN_A_SPAN "|`\\<>&"

void markdown_append_name(struct text *text, const char *name, struct arena *arena) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789 ";
    const char *at = text_label(arena, name); /* cut: one name must not fill the comment */
    if (*at == '\0') return;
    if (strpbrk(at, NOT_IN_A_SPAN) == NULL && strspn(at, " ") == 0) {
        text_printf(text, "`%s`", at);
        return;
    }
    text_append(text, "<code>");
    for (; *at != '\0'; at++) {
        if ((unsigned char)*at >= 0x80 || strchr(plain, *at) != NULL)
            text_append_n(text, at, 1);
        else
            text_printf(text, "&#%d;", *at);
    }
    text_append(text, "</code>");
}

#define MAX_OPERATORS ((size_t)12) /* listed; the others are only counted */

void markdown_append_operators(struct text *text, const struct cm_name_count *operators,
                               size_t n, struct arena *arena) {
    for (size_t i = 0; i < n && i < MAX_OPERATORS; i++) {
        text_append(text, i == 0 ? "" : ", ");
        markdown_append_name(text, operators[i].name, arena);
        text_printf(text, " x %" PRId64, operators[i].count);
    }
    if (n > MAX_OPERATORS) text_printf(text, " and %zu more", n - MAX_OPERATORS);
}

static void append_row(struct text *line, struct listing *listing, size_t row,
                       enum number_style style) {
    for (size_t i = 0; i < listing->n_fields; i++) {
        const struct field *field = &listing->fields[i];
        struct cell cell;
        listing_cell(listing, row, i, &cell);
        text_append(line, i == 0 ? "| " : " | ");
        if (cell.kind == CELL_NONE)
            text_append(line, "-");
        else if (cell.kind != CELL_TEXT)
            cell_append_shown(line, &cell, style, true);
        else if (*text_string(cell.words) == '\0' && field->empty)
            text_append(line, field->empty);
        else
            markdown_append_name(line, text_string(cell.words), listing->arena);
    }
    text_append(line, " |\n");
}

/* Writes `text`, as many rows as fit into MARKDOWN_MAX_BYTES, and the number of the others. */
static void put_rows(struct text *text, struct listing *listing, enum number_style style,
                     FILE *out) {
    const size_t room = MARKDOWN_MAX_BYTES - 100; /* for the last line */
    struct text line;
    size_t row = 0;
    size_t n_bytes = text->length;
    fputs(text_string(text), out);
    for (; row < listing->n_rows; row++) {
        const struct arena_mark mark = arena_save(listing->arena);
        text_init(&line, listing->arena);
        append_row(&line, listing, row, style);
        n_bytes += line.length;
        if (n_bytes <= room) fputs(text_string(&line), out);
        arena_restore(listing->arena, mark);
        text_init(&listing->words, listing->arena); /* its memory may be newer than the mark */
        if (n_bytes > room) break;
    }
    const size_t n_left = listing->n_rows - row + listing->n_left_out;
    if (n_left > 0) fprintf(out, "\nand %zu more\n", n_left);
}

static void put_described(struct text *text, const struct cm_name_count *operators, size_t n,
                          struct arena *arena) {
    if (n == 0) return;
    text_append(text, "\n\n" MARKDOWN_DESCRIBED ": ");
    markdown_append_operators(text, operators, n, arena);
    text_append(text, ".");
}

/* Appends the model, its totals, and how many nodes have an unknown operator and how many
 * outputs a shape without an upper bound: no figure includes their costs. */
static void put_result(struct text *text, const struct cm_result *result,
                       enum number_style style, struct arena *arena) {
    const struct cm_coverage *coverage = &result->coverage;
    markdown_append_name(text, result->model.path, arena);
    if (is_known(result->options.batch))
        text_printf(text, ", batch %" PRId64, result->options.batch);
    text_append(text, ", convention ");
    markdown_append_name(text, result->options.convention, arena);
    text_append(text, ":");
    for (size_t i = 0; i < n_columns; i++) {
        const struct column *column = &columns[i];
        if (column->ranking == NULL || !column_is_there(column, result)) continue;
        text_printf(text, " %s **%s", column->ranking,
                    number_bound_prefix(column_bound(column, &result->totals), true));
        number_append(text, style, column->unit, column_get(column, &result->totals));
        text_append(text, "**,");
    }
    text_append(text, " peak activation **");
    if (result->memory.peak_upper_bound)
        text_append(text, number_bound_prefix(NUMBER_AT_MOST, true));
    number_append(text, style, NUMBER_BYTES, result->memory.peak_activation_bytes);
    text_append(text, "**");
    const int64_t n_shapes = cm_coverage_unbounded(coverage);
    int64_t n_nodes = 0;
    for (size_t i = 0; i < coverage->n_unknown_ops; i++)
        checked_add_known_to(&n_nodes, coverage->unknown_ops[i].count);
    const int64_t n_repeated =
        coverage->incomplete != NULL ? coverage->incomplete->unknown_trip_counts : 0;
    if (n_nodes > 0 || n_shapes > 0 || n_repeated > 0)
        text_printf(text,
                    "\n\nLeft out of these figures: nodes of unknown operators (%" PRId64
                    "), outputs of unknown shape (%" PRId64
                    "), all but one iteration of nodes with an unknown trip count (%" PRId64
                    ").",
                    n_nodes, n_shapes, n_repeated);
    put_described(text, coverage->custom_ops, coverage->n_custom_ops, arena);
}

static void put_sweep(struct text *text, const struct cm_sweep *sweep, struct arena *arena) {
    if (sweep->model[0] == '\0')
        text_printf(text, "%zu combinations", sweep->n_rows);
    else
        markdown_append_name(text, sweep->model, arena);
    text_append(text, ", convention ");
    markdown_append_name(text, sweep->convention, arena);
    if (sweep->times[0] != '\0') {
        text_append(text, ", times ");
        markdown_append_name(text, sweep->times, arena);
        text_append(text, " of ");
        markdown_append_name(text, sweep->device, arena);
    }
    put_described(text, sweep->custom_ops, sweep->n_custom_ops, arena);
}

int report_write_markdown(const struct report *report) {
    struct listing listing;
    const enum number_style style = number_style_of(report->table->units, NUMBERS_SI);
    const int status =
        listing_open(report->table, listing_rows(report), NULL, report->diag, &listing);
    if (status != CM_OK) return status;
    struct text text = {.arena = listing.arena};
    if (report->sweep) put_sweep(&text, report->sweep, listing.arena);
    if (report->result) put_result(&text, report->result, style, listing.arena);
    text_append(&text, "\n\n");
    for (size_t i = 0; i < listing.n_fields; i++)
        text_printf(&text, "%s%s", i == 0 ? "| " : " | ", listing.fields[i].heading);
    text_append(&text, " |\n");
    for (size_t i = 0; i < listing.n_fields; i++)
        text_append(&text, listing.fields[i].is_text ? "|---" : "|---:");
    text_append(&text, "|\n");
    put_rows(&text, &listing, style, report->out);
    return listing_close(&listing, output_flush(report->out));
}
