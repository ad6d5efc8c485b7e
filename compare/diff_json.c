/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison for programs: plain numbers, `old` and `new`; what is not there is left out,
 * what is not known is null. Each module and each operator is one line.
 */
#include "costmodel/compare.h"

#include <inttypes.h>
#include <string.h>

#include "compare/changes.h"
#include "compare/view.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

struct writer {
    const struct cm_diff *diff;
    struct view view;
    struct arena *arena;
    FILE *out;
    bool failed;
};

/* JSON is UTF-8: what is not stands as text reports print it. */
static void write_string(struct writer *writer, const char *string) {
    struct text safe;
    text_init(&safe, writer->arena);
    if (!text_is_utf8(string, strlen(string))) {
        text_append_name(&safe, string);
        string = text_string(&safe);
        if (safe.failed) writer->failed = true;
    }
    putc('"', writer->out);
    for (; *string != '\0'; string++) {
        const unsigned char c = (unsigned char)*string;
        if (c < 0x20 || c == 0x7F)
            fprintf(writer->out, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            fprintf(writer->out, "\\%c", c);
        else
            putc(c, writer->out);
    }
    putc('"', writer->out);
}

static void write_number(struct writer *writer, int64_t value) {
    if (is_known(value))
        fprintf(writer->out, "%" PRId64, value);
    else
        fputs("null", writer->out);
}

static void write_text_key(struct writer *writer, const char *before, const char *key,
                           const char *value) {
    fprintf(writer->out, "%s\"%s\":", before, key);
    write_string(writer, value);
}

static void write_number_key(struct writer *writer, const char *before, const char *key,
                             int64_t value) {
    fprintf(writer->out, "%s\"%s\":", before, key);
    write_number(writer, value);
}

static void write_change(struct writer *writer, const char *before, const char *key,
                         const struct cm_change *change) {
    fprintf(writer->out, "%s\"%s\":{", before, key);
    const char *between = "";
    if (change->in_old) {
        write_number_key(writer, between, "old", change->old_value);
        between = ",";
    }
    if (change->in_new) {
        write_number_key(writer, between, "new", change->new_value);
        between = ",";
    }
    write_number_key(writer, between, "change", change->difference);
    fputs("}", writer->out);
}

static void write_side(struct writer *writer, const char *key, const struct cm_result *result) {
    fprintf(writer->out, ",\n  \"%s\":{", key);
    write_text_key(writer, "", "path", result->model.path);
    write_number_key(writer, ",", "batch", result->options.batch);
    write_text_key(writer, ",", "convention", result->options.convention);
    write_text_key(writer, ",", "mode", result->options.mode);
    write_number_key(writer, ",", "modules", (int64_t)result->n_modules);
    write_number_key(writer, ",", "nodes", (int64_t)result->n_nodes);
    fputs("}", writer->out);
}

static const char *const effects[] = {
    [CM_CONDITION_NOTE] = "none",
    [CM_CONDITION_INCOMPLETE] = "incomplete",
    [CM_CONDITION_TIMES] = "times",
    [CM_CONDITION_BREAKS] = "incomparable",
};

static void write_conditions(struct writer *writer) {
    const struct cm_diff *diff = writer->diff;
    fprintf(writer->out, ",\n  \"comparable\":%s,\n  \"conditions\":[",
            cm_diff_comparable(diff) ? "true" : "false");
    for (size_t i = 0; i < diff->n_conditions; i++) {
        const struct cm_condition *condition = &diff->conditions[i];
        write_text_key(writer, i == 0 ? "\n    {" : ",\n    {", "key", condition->key);
        write_text_key(writer, ",", "old", condition->old_value);
        write_text_key(writer, ",", "new", condition->new_value);
        write_text_key(writer, ",", "breaks", effects[condition->weight]);
        fputs("}", writer->out);
    }
    fputs(diff->n_conditions == 0 ? "]" : "\n  ]", writer->out);
}

static void write_totals(struct writer *writer) {
    const struct cm_diff *diff = writer->diff;
    fputs(",\n  \"totals\":{", writer->out);
    for (size_t i = 0; i < diff->n_metrics; i++) {
        const struct cm_change total = cm_diff_total(diff, diff->metrics[i]);
        struct cm_metric metric;
        (void)cm_metric_at(diff->metrics[i], &metric);
        write_change(writer, i == 0 ? "\n    " : ",\n    ", metric.key, &total);
    }
    fputs("\n  }", writer->out);
}

typedef struct cm_change change_getter(const struct cm_diff *diff, size_t row, size_t metric);

/* The metrics in which the row differs. */
static void write_metrics(struct writer *writer, size_t row, change_getter *get) {
    const struct cm_diff *diff = writer->diff;
    const char *between = "";
    fputs(",\"metrics\":{", writer->out);
    for (size_t i = 0; i < diff->n_metrics; i++) {
        const struct cm_change change = get(diff, row, diff->metrics[i]);
        struct cm_metric metric;
        if (change_is_none(&change)) continue;
        (void)cm_metric_at(diff->metrics[i], &metric);
        write_change(writer, between, metric.key, &change);
        between = ",";
    }
    fputs("}", writer->out);
}

static const char *const statuses[] = {
    [CM_DIFF_SAME] = "same",   [CM_DIFF_CHANGED] = "changed", [CM_DIFF_RENAMED] = "renamed",
    [CM_DIFF_ADDED] = "added", [CM_DIFF_REMOVED] = "removed",
};

/* `old_…` where the old side has another one. */
static void write_names(struct writer *writer, size_t row) {
    const struct cm_diff_module *module = &writer->diff->modules[row];
    const struct cm_module *is = view_module_of(writer->diff, row);
    const bool is_pair = module->old_module != CM_NO_INDEX && module->new_module != CM_NO_INDEX;
    const struct cm_module *was = is_pair ? view_old_module_of(writer->diff, row) : is;
    write_text_key(writer, ",", "path", is->path);
    if (!text_equal(was->path, is->path)) write_text_key(writer, ",", "old_path", was->path);
    if (is->type_known) write_text_key(writer, ",", "class", is->type);
    if (was->type_known && !(is->type_known && text_equal(was->type, is->type)))
        write_text_key(writer, ",", "old_class", was->type);
    if (!text_equal(was->arguments, is->arguments)) {
        write_text_key(writer, ",", "arguments", is->arguments);
        write_text_key(writer, ",", "old_arguments", was->arguments);
    }
    if (!is_pair)
        write_number_key(writer, ",", "modules", (int64_t)view_inside(writer->diff, row));
}

static void write_module(struct writer *writer, size_t row, const char *before,
                         const struct view_module *cost) {
    const struct arena_mark mark = arena_save(writer->arena);
    write_text_key(writer, before, "status", statuses[writer->diff->modules[row].status]);
    write_names(writer, row);
    if (cost) write_number_key(writer, ",", "accounts_for", cost->blame.difference);
    write_metrics(writer, row, cm_diff_of_module);
    fputs("}", writer->out);
    arena_restore(writer->arena, mark);
}

/* Those that account for something, then those that are only called otherwise. */
static void write_modules(struct writer *writer) {
    const struct view *view = &writer->view;
    const char *before = "\n    {";
    write_text_key(writer, ",\n  ", "sorted_by", view->by.key);
    fputs(",\n  \"modules\":[", writer->out);
    for (size_t i = 0; i < view->n_modules; i++, before = ",\n    {")
        write_module(writer, view->modules[i].blame.module, before, &view->modules[i]);
    for (size_t i = 0; i < view->n_plain; i++)
        for (size_t k = 0; k < view->plain[i].n; k++, before = ",\n    {")
            write_module(writer, view->plain_rows[view->plain[i].first + k], before, NULL);
    fputs(before[0] == ',' ? "\n  ]" : "]", writer->out);
}

static void write_operators(struct writer *writer) {
    const struct view *view = &writer->view;
    fputs(",\n  \"operators\":[", writer->out);
    for (size_t i = 0; i < view->n_operators; i++) {
        const size_t row = view->operators[i].row;
        write_text_key(writer, i == 0 ? "\n    {" : ",\n    {", "op",
                       writer->diff->operators[row].op);
        write_metrics(writer, row, cm_diff_of_operator);
        fputs("}", writer->out);
    }
    fputs(view->n_operators == 0 ? "]" : "\n  ]", writer->out);
}

static void write_document(struct writer *writer) {
    fprintf(writer->out,
            "{\n  \"schema\":\"costmodel/diff/1\",\n"
            "  \"tool\":{\"name\":\"costmodel\",\"version\":\"%s\"}",
            CM_VERSION_STRING);
    write_side(writer, "old", writer->diff->old_result);
    write_side(writer, "new", writer->diff->new_result);
    write_conditions(writer);
    write_totals(writer);
    write_modules(writer);
    write_operators(writer);
    fputs("\n}\n", writer->out);
}

int cm_diff_write_json(const struct cm_diff *diff, const struct cm_diff_options *options,
                       FILE *out) {
    struct writer writer = {.diff = diff, .arena = arena_new("diff json", 0), .out = out};
    if (!writer.arena) return CM_NO_MEMORY;
    const int status = view_make(diff, options, writer.arena, &writer.view);
    if (status == CM_OK) write_document(&writer);
    arena_free(writer.arena);
    if (status != CM_OK || writer.failed) return CM_NO_MEMORY;
    return fflush(out) != 0 || ferror(out) ? CM_IO : CM_OK;
}
