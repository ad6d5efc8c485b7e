/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison for a terminal. Each row has its figures first and its name last. */
#include "costmodel/compare.h"

#include <inttypes.h>

#include "compare/view.h"
#include "report/table/table.h"
#include "report/text/labels.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"

struct writer {
    struct page page;
    const struct cm_diff *diff;
    const struct cm_diff_options *options;
    struct view view;
};

static const char *const effects[] = {
    [CM_CONDITION_NOTE] = "",
    [CM_CONDITION_INCOMPLETE] = ": sums leave them out",
    [CM_CONDITION_TIMES] = ": times are not compared",
    [CM_CONDITION_BREAKS] = ": not to be compared",
};

static void write_described(struct page *page, const char *label,
                            const struct cm_coverage *coverage) {
    label_operators(page, label, STYLE_PLAIN, coverage->custom_ops, coverage->n_custom_ops);
}

static void write_head(struct page *page, const struct cm_diff *diff) {
    const struct cm_result *is = diff->new_result;
    label_line(page, "old", "%s", diff->old_result->model.path);
    label_line(page, "new", "%s", is->model.path);
    if (is_known(is->options.batch)) label_line(page, "batch", "%" PRId64, is->options.batch);
    label_line(page, "convention", "%s", is->options.convention);
    if (cm_result_converted(is)) label_line(page, "precision", "%s", is->options.precision);
    const bool alike = view_is_described_alike(diff);
    if (!alike) write_described(page, "old " LABEL_DESCRIBED, &diff->old_result->coverage);
    write_described(page, alike ? LABEL_DESCRIBED : "new " LABEL_DESCRIBED,
                    &diff->new_result->coverage);
    for (size_t i = 0; i < diff->n_conditions; i++) {
        const struct cm_condition *condition = &diff->conditions[i];
        label_write(page, i == 0 ? "differs" : "");
        page_print(page, STYLE_PLAIN, "%s %s -> %s", condition->key, condition->old_value,
                   condition->new_value);
        page_line(page, STYLE_WARNING, "%s", effects[condition->weight]);
    }
    page_end_line(page);
}

static struct view_look look_of(const struct writer *writer, enum cm_unit unit) {
    return (struct view_look){writer->options->units, unit, false};
}

/* Fills the cells old, new, change and %. */
static void fill_change(struct table *table, struct view_look look,
                        const struct cm_change *change) {
    view_append_old(page_item(table->page), look, change);
    table_end_cell(table);
    view_append_new(page_item(table->page), look, change);
    table_end_cell(table);
    view_append_difference(page_item(table->page), look, change->difference);
    table_end_cell(table);
    view_append_percent(page_item(table->page), change);
    table_end_cell(table);
}

static void write_totals(struct writer *writer) {
    static const char *const headings[] = {"old", "new", "change", "%", "total"};
    static const size_t ranks[] = {4, 3, 1, 2, 0};
    const struct cm_diff *diff = writer->diff;
    struct table table;
    if (!table_init(&table, &writer->page, headings, 5, diff->n_metrics)) return;
    table_fit(&table, ranks, writer->options->width);
    for (size_t i = 0; i < diff->n_metrics; i++) {
        const struct cm_change total = cm_diff_total(diff, diff->metrics[i]);
        struct cm_metric metric;
        (void)cm_metric_at(diff->metrics[i], &metric);
        fill_change(&table, look_of(writer, metric.unit), &total);
        table_print(&table, "%s", metric.heading);
    }
    table_write(&table);
}

/* Writes "and 12 more" below a table. */
static void write_rest(struct writer *writer, size_t n, size_t shown) {
    if (shown == n) return;
    page_line(&writer->page, STYLE_PLAIN, "and %zu more: see --top", n - shown);
}

static void write_modules(struct writer *writer) {
    const struct view *view = &writer->view;
    const char *headings[] = {"old", "new", "change", "%", view->second_by.heading, "module"};
    static const size_t ranks[] = {5, 3, 1, 2, 4, 0};
    const size_t n = view_shown(writer->options, view->n_modules);
    struct table table;
    if (n == 0) return;
    page_end_line(&writer->page);
    page_print(&writer->page, STYLE_TITLE, "Modules by change of %s", view->by.heading);
    if (view->by.is_sum) page_print(&writer->page, STYLE_PLAIN, ", no change counted twice");
    page_end_line(&writer->page);
    if (!table_init(&table, &writer->page, headings, 6, n)) return;
    table.keeps_start = true;
    table_fit(&table, ranks, writer->options->width);
    for (size_t i = 0; i < n; i++) {
        const struct view_module *module = &view->modules[i];
        const struct cm_change change =
            view_blame_change(writer->diff, &module->blame, view->metric);
        fill_change(&table, look_of(writer, view->by.unit), &change);
        view_append_difference(page_item(table.page), look_of(writer, view->second_by.unit),
                               module->second);
        table_end_cell(&table);
        view_append_label(page_item(table.page), writer->diff, module->blame.module, "->");
        if (module->blame.is_rest) text_append(&writer->page.item, ", itself");
        table_end_cell(&table);
    }
    table_write(&table);
    write_rest(writer, view->n_modules, n);
}

static void write_plain(struct writer *writer) {
    const struct view *view = &writer->view;
    const size_t n = view_shown(writer->options, view->n_plain);
    if (n == 0) return;
    page_end_line(&writer->page);
    page_line(&writer->page, STYLE_TITLE, "At no cost");
    for (size_t i = 0; i < n; i++) {
        const struct view_plain *row = &view->plain[i];
        struct text line = {.arena = writer->page.arena};
        view_append_label(&line, writer->diff, view->plain_rows[row->first], "->");
        if (row->n > 1) text_printf(&line, ", and so on for %zu more behind it", row->n - 1);
        page_indent(&writer->page, 2);
        page_list(&writer->page, " ", 4);
        page_words(&writer->page, STYLE_PLAIN, text_string(&line));
        page_end_line(&writer->page);
    }
    write_rest(writer, view->n_plain, n);
}

static void write_operators(struct writer *writer) {
    static const char *const headings[] = {"old", "new", "change", "%", "nodes", "operator"};
    static const size_t ranks[] = {5, 3, 1, 2, 4, 0};
    const struct view *view = &writer->view;
    const size_t n = view_shown(writer->options, view->n_operators);
    struct table table;
    if (n == 0) return;
    page_end_line(&writer->page);
    page_line(&writer->page, STYLE_TITLE, "Operators by change of %s",
              view->operator_by.heading);
    if (!table_init(&table, &writer->page, headings, 6, n)) return;
    table_fit(&table, ranks, writer->options->width);
    for (size_t i = 0; i < n; i++) {
        const struct view_operator *row = &view->operators[i];
        fill_change(&table, look_of(writer, view->operator_by.unit), &row->change);
        view_append_difference(page_item(table.page), look_of(writer, CM_UNIT_ELEMENTS),
                               row->nodes.difference);
        table_end_cell(&table);
        table_print(&table, "%s", writer->diff->operators[row->row].op);
    }
    table_write(&table);
    write_rest(writer, view->n_operators, n);
}

int cm_diff_write_text(const struct cm_diff *diff, const struct cm_diff_options *options,
                       FILE *out) {
    options = ARGUMENTS_TAKE(cm_diff_options, options, diff && out, NULL);
    if (options == NULL) return CM_USAGE;
    struct arena *arena = arena_new("diff report", 0);
    struct writer writer = {.diff = diff, .options = options};
    struct cm_text_options style;
    if (!arena) return CM_NO_MEMORY;
    cm_text_options_init(&style);
    style.color = options->color;
    style.width = options->width;
    page_init(&writer.page, &style, arena, out);
    int status = view_make(diff, options, arena, &writer.view);
    if (status == CM_OK) {
        write_head(&writer.page, diff);
        write_totals(&writer);
        write_modules(&writer);
        write_plain(&writer);
        write_operators(&writer);
        if (!cm_diff_differs(diff)) {
            page_end_line(&writer.page);
            page_line(&writer.page, STYLE_PLAIN, "No operator, module or cost differs.");
        }
        status = page_finish(&writer.page);
    }
    return arena_end(arena, status);
}
