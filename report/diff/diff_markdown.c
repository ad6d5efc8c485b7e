/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as a comment on a pull request: the totals that changed, and the modules that
 * account for the change. GitHub rejects comments that are too long, so rows that do not fit
 * are only counted. */
#include "costmodel/compare.h"

#include <inttypes.h>

#include "compare/diff.h"
#include "compare/view.h"
#include "report/table/markdown.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/file.h"
#include "support/text.h"

#define ROOM_OF_ENDS   600 /* bytes for "and n more" and the ends of collapsed lists */
#define FOLDED_FROM    5   /* rows; a list of more modules at no cost is collapsed */
#define MAX_CONDITIONS ((size_t)12)

struct writer {
    const struct cm_diff *diff;
    const struct cm_diff_options *options;
    struct view view;
    struct arena *arena;
    FILE *out;
    struct text text; /* not written yet */
    size_t n_bytes;   /* written to `out` */
};

static void put_name(struct writer *writer, const char *name) {
    markdown_append_name(&writer->text, name, writer->arena);
}

/* Writes the buffered text if the comment then has at most `room` bytes; clears it in any case.
 * Returns true if it was written. */
static bool flush(struct writer *writer, size_t room) {
    const bool fits = writer->n_bytes + writer->text.length <= room;
    if (fits) {
        fputs(text_string(&writer->text), writer->out);
        writer->n_bytes += writer->text.length;
    }
    text_init(&writer->text, writer->arena);
    return fits;
}

static struct view_look look_of(const struct writer *writer, enum cm_unit unit) {
    return (struct view_look){writer->options->units, unit, true};
}

/* Appends "| 4.09 GMACs | 5.2 GMACs | +1.11 GMACs | +27.1% " */
static void put_change(struct writer *writer, struct view_look look,
                       const struct cm_change *change) {
    text_append(&writer->text, "| ");
    view_append_old(&writer->text, look, change);
    text_append(&writer->text, " | ");
    view_append_new(&writer->text, look, change);
    text_append(&writer->text, " | ");
    view_append_difference(&writer->text, look, change->difference);
    text_append(&writer->text, " | ");
    view_append_percent(&writer->text, change);
    text_append(&writer->text, " ");
}

static void put_described(struct writer *writer, const char *head,
                          const struct cm_coverage *coverage) {
    if (coverage->n_custom_ops == 0) return;
    text_append(&writer->text, head);
    markdown_append_operators(&writer->text, coverage->custom_ops, coverage->n_custom_ops,
                              writer->arena);
    text_append(&writer->text, "\n");
}

static void write_head(struct writer *writer) {
    const struct cm_diff *diff = writer->diff;
    const struct cm_result *is = diff->new_result;
    text_append(&writer->text, "**costmodel** ");
    put_name(writer, diff->old_result->model.path);
    text_append(&writer->text, " → ");
    put_name(writer, is->model.path);
    if (is_known(is->options.batch))
        text_printf(&writer->text, ", batch %" PRId64, is->options.batch);
    text_append(&writer->text, ", convention ");
    put_name(writer, is->options.convention);
    text_append(&writer->text, "\n");
    const size_t n = diff->n_conditions;
    for (size_t i = 0; i < n && i < MAX_CONDITIONS; i++) {
        text_append(&writer->text, i == 0 ? "\nDiffers: " : ", ");
        put_name(writer, diff->conditions[i].key);
        text_append(&writer->text, " ");
        put_name(writer, diff->conditions[i].old_value);
        text_append(&writer->text, " → ");
        put_name(writer, diff->conditions[i].new_value);
    }
    if (n > MAX_CONDITIONS) text_printf(&writer->text, " and %zu more", n - MAX_CONDITIONS);
    if (n > 0) text_append(&writer->text, "\n");
    const bool alike = view_is_described_alike(diff);
    if (!alike)
        put_described(writer, "\n" MARKDOWN_DESCRIBED ", old: ", &diff->old_result->coverage);
    put_described(writer,
                  alike ? "\n" MARKDOWN_DESCRIBED ": " : "\n" MARKDOWN_DESCRIBED ", new: ",
                  &diff->new_result->coverage);
    text_append(&writer->text,
                cm_diff_differs(diff) ? "\n" : "\nNo operator, module or cost differs.\n");
    (void)flush(writer, MARKDOWN_MAX_BYTES);
}

/* Writes the table of the totals that changed. */
static void write_totals(struct writer *writer) {
    const struct cm_diff *diff = writer->diff;
    const char *head = "| total | old | new | change | % |\n|---|---:|---:|---:|---:|\n";
    for (size_t i = 0; i < diff->n_metrics; i++) {
        const struct cm_change total = cm_diff_total(diff, diff->metrics[i]);
        struct cm_metric metric;
        (void)cm_metric_at(diff->metrics[i], &metric);
        if (diff_is_unchanged(&total)) continue;
        text_printf(&writer->text, "%s| %s ", head, metric.heading);
        put_change(writer, look_of(writer, metric.unit), &total);
        text_append(&writer->text, "|\n");
        head = "";
    }
    if (head[0] != '\0' && cm_diff_differs(diff))
        text_append(&writer->text, "No total changed.\n");
    (void)flush(writer, MARKDOWN_MAX_BYTES);
}

static void put_label(struct writer *writer, size_t row) {
    struct text raw = {.arena = writer->arena};
    view_append_label(&raw, writer->diff, row, "→");
    put_name(writer, text_string(&raw));
}

static void put_module(struct writer *writer, size_t index) {
    const struct view *view = &writer->view;
    const struct view_module *module = &view->modules[index];
    const struct cm_change change =
        view_blame_change(writer->diff, &module->blame, view->metric);
    text_append(&writer->text, "| ");
    put_label(writer, module->blame.module);
    text_append(&writer->text, module->blame.is_rest ? ", itself " : " ");
    put_change(writer, look_of(writer, view->by.unit), &change);
    text_append(&writer->text, "| ");
    view_append_difference(&writer->text, look_of(writer, view->second_by.unit),
                           module->second);
    text_append(&writer->text, " |\n");
}

static void put_plain(struct writer *writer, size_t index) {
    const struct view_plain *row = &writer->view.plain[index];
    text_append(&writer->text, "- ");
    put_label(writer, writer->view.plain_rows[row->first]);
    if (row->n > 1)
        text_printf(&writer->text, ", and so on for %zu more behind it", row->n - 1);
    text_append(&writer->text, "\n");
}

static void put_operator(struct writer *writer, size_t index) {
    const struct view *view = &writer->view;
    const struct view_operator *row = &view->operators[index];
    text_append(&writer->text, "| ");
    put_name(writer, writer->diff->operators[row->row].op);
    text_append(&writer->text, " ");
    put_change(writer, look_of(writer, view->operator_by.unit), &row->change);
    text_append(&writer->text, "| ");
    view_append_difference(&writer->text, look_of(writer, CM_UNIT_ELEMENTS),
                           row->nodes.difference);
    text_append(&writer->text, " |\n");
}

/* A list with a title; `head` precedes its rows. */
struct section {
    const char *title;
    const char *by; /* heading of the metric that orders the rows; NULL: none */
    const char *head;
    const char *last_heading; /* heading of the last column; NULL: none */
    size_t n;
    bool folded;
    void (*put)(struct writer *writer, size_t index);
};

/* Writes the title, the rows that fit into the comment, and the number of the others. */
static void write_section(struct writer *writer, const struct section *section) {
    const size_t room = MARKDOWN_MAX_BYTES - ROOM_OF_ENDS;
    const size_t max_rows = view_shown(writer->options, section->n);
    size_t shown = 0;
    bool fits = true;
    if (section->n == 0) return;
    text_append(&writer->text, section->folded ? "\n<details><summary>" : "\n**");
    text_append(&writer->text, section->title);
    if (section->by) text_printf(&writer->text, " by change of %s", section->by);
    text_append(&writer->text, section->folded ? "</summary>\n\n" : "**\n\n");
    text_append(&writer->text, section->head);
    if (section->last_heading)
        text_printf(&writer->text, " %s |\n|---|---:|---:|---:|---:|---:|\n",
                    section->last_heading);
    (void)flush(writer, MARKDOWN_MAX_BYTES);
    while (fits && shown < max_rows) {
        const struct arena_mark mark = arena_save(writer->arena);
        section->put(writer, shown);
        fits = flush(writer, room);
        arena_restore(writer->arena, mark);
        text_init(&writer->text, writer->arena);
        shown += fits;
    }
    if (shown < section->n) text_printf(&writer->text, "\nand %zu more\n", section->n - shown);
    if (section->folded) text_append(&writer->text, "\n</details>\n");
    (void)flush(writer, MARKDOWN_MAX_BYTES);
}

int cm_diff_write_markdown(const struct cm_diff *diff, const struct cm_diff_options *options,
                           FILE *out) {
    options = ARGUMENTS_TAKE(cm_diff_options, options, diff && out, NULL);
    if (options == NULL) return CM_USAGE;
    struct writer writer = {
        .diff = diff, .options = options, .arena = arena_new("diff markdown", 0), .out = out};
    if (!writer.arena) return CM_NO_MEMORY;
    text_init(&writer.text, writer.arena);
    int status = view_make(diff, options, writer.arena, &writer.view);
    if (status == CM_OK) {
        write_head(&writer);
        write_totals(&writer);
        const struct view *view = &writer.view;
        const struct section sections[] = {
            {"Modules", view->by.heading, "| module | old | new | change | % |",
             view->second_by.heading, view->n_modules, false, put_module},
            {"At no cost", NULL, "", NULL, view->n_plain, view->n_plain > FOLDED_FROM,
             put_plain},
            {"Operators", view->operator_by.heading, "| operator | old | new | change | % |",
             "nodes", view->n_operators, true, put_operator},
        };
        for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
            write_section(&writer, &sections[i]);
        status = output_flush(out);
    }
    return arena_end(writer.arena, status);
}
