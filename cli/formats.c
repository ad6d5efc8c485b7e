/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes profiles, sweeps and formulas in the formats of the library (cm_format_find). Rejects
 * options that the selected format ignores.
 */
#include "cli/formats.h"

#include "cli/command.h"
#include "cli/request.h"
#include "cli/streams.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

#define DEFAULT_LINES 24 /* of a terminal of unknown size */

static struct cm_table_options table_options(const struct request *request) {
    struct cm_table_options options;
    cm_table_options_init(&options);
    if (request->rows != NOT_GIVEN) options.rows = (enum cm_rows)request->rows;
    options.columns = request->columns;
    options.sort = request->sort;
    options.n_filters = request->filters.n;
    options.filters = request->filters.values;
    options.metric = request->metric;
    if (request->depth != NOT_GIVEN) options.depth = request->depth;
    if (request->top != NOT_GIVEN) options.top = (size_t)request->top;
    options.units = (enum cm_units)request->units;
    return options;
}

static struct cm_text_options text_options(const struct request *request, FILE *out) {
    struct cm_text_options options;
    cm_text_options_init(&options);
    if (request->depth != NOT_GIVEN) options.depth = request->depth;
    if (request->top != NOT_GIVEN) options.top = options.rows = request->top;
    options.tree = request->tree;
    options.detailed = request->detailed;
    options.height = request->top == 0 ? 0 : streams_lines(out, DEFAULT_LINES) - 1;
    options.operators = request->operators;
    options.layers = request->layers;
    options.kernels = request->kernels;
    options.curve = request->memory_curve;
    options.width = streams_columns(out, request->width, options.width);
    options.table_width = streams_columns(out, request->width, 0);
    options.units = (enum cm_units)request->units;
    options.color = streams_color(out, (enum color_choice)request->color);
    options.unicode = streams_utf8();
    return options;
}

static int sweep_text(const struct report *report, const struct cm_report_options *options,
                      FILE *out) {
    return cm_sweep_write_text(report->sweep, &options->text, out);
}

static int sweep_table(const struct report *report, const struct cm_report_options *options,
                       FILE *out) {
    return cm_sweep_write_table(report->sweep, &options->table, &options->text, report->diag,
                                out);
}

static int sweep_json(const struct report *report, const struct cm_report_options *options,
                      FILE *out) {
    (void)options;
    return cm_sweep_write_json(report->sweep, out);
}

static int sweep_csv(const struct report *report, const struct cm_report_options *options,
                     FILE *out) {
    return cm_sweep_write_csv(report->sweep, &options->table, report->diag, out);
}

static int sweep_html(const struct report *report, const struct cm_report_options *options,
                      FILE *out) {
    (void)options;
    return cm_result_write_html(report->result, report->sweep, report->diag, out);
}

static int sweep_markdown(const struct report *report, const struct cm_report_options *options,
                          FILE *out) {
    return cm_sweep_write_markdown(report->sweep, &options->table, report->diag, out);
}

static int formula_text(const struct report *report, const struct cm_report_options *options,
                        FILE *out) {
    return cm_formula_write_text(report->formula, &options->text, out);
}

static int formula_json(const struct report *report, const struct cm_report_options *options,
                        FILE *out) {
    (void)options;
    return cm_formula_write_json(report->formula, out);
}

/* The formats of sweeps and formulas. */
static const struct {
    const char *name;
    format_writer *sweep;
    format_writer *formula;
} writers[] = {
    {"text", sweep_text, formula_text}, {"table", sweep_table, NULL},
    {"json", sweep_json, formula_json}, {"csv", sweep_csv, NULL},
    {"markdown", sweep_markdown, NULL}, {"html", sweep_html, NULL},
};

/* Text output for several batches or precisions and for --explain: no sections of the report.
 */
static unsigned batches_take(const struct request *request) {
    const unsigned common = TAKES_UNITS | TAKES_WIDTH;
    return request_lists_layers(request) ? common | TAKES_TOP | TAKES_LAYERS : common;
}

/* Text with rows, columns, an order or a filter is a table. */
static bool is_table(const struct request *request) {
    return request->rows != NOT_GIVEN || request->columns != NULL || request->sort != NULL ||
           request->filters.n > 0;
}

/* Sets how text output is called and what it takes. */
static void specialize_text(const struct request *request, struct format *format) {
    format->called = "the text report";
    if (request->formula) return;
    if (request->explain.n > 0) {
        format->called = "--explain";
        format->takes = TAKES_EXPLAIN | TAKES_WIDTH;
    } else if (request_is_sweep(request)) {
        format->called =
            request_lists_layers(request) ? "a table of layers" : "a table of batches";
        format->takes = batches_take(request);
    }
}

/* In a table, --layers is --rows layers. */
static void list_layers(struct request *request) {
    if (!request->layers || request->rows != NOT_GIVEN) return;
    if ((request->format->takes & TAKES_ROWS) == 0) return;
    request->layers = false;
    request->rows = CM_ROWS_LAYERS;
}

int format_find(const struct invocation *call, struct request *request) {
    const char *name = request->format_name;
    const bool is_text = text_equal(name, "text");
    const struct cm_format *found =
        cm_format_find(is_text && is_table(request) ? "table" : name);
    BUG_ON(found == NULL); /* the parser accepts these names only */
    struct format *format = arena_alloc(call->arena, sizeof(*format));
    if (format == NULL) return diag_no_memory(call->diag);
    *format = (struct format){.of = *found, .takes = TAKES(found->uses)};
    format->called = arena_printf(call->arena, "--format %s", found->name);
    for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
        if (!text_equal(writers[i].name, found->name)) continue;
        format->sweep = writers[i].sweep;
        format->formula = writers[i].formula;
    }
    if (text_equal(found->name, "text")) specialize_text(request, format);
    if (text_equal(found->name, "table")) format->called = "a table";
    request->format = format;
    list_layers(request);
    return format->called != NULL ? CM_OK : diag_no_memory(call->diag);
}

int format_write(const void *context, FILE *out) {
    const struct report *report = context;
    const struct format *format = report->request->format;
    struct cm_report_options options = {.text = text_options(report->request, out),
                                        .table = table_options(report->request)};
    if (format->of.depth != 0 && report->request->depth == NOT_GIVEN)
        options.table.depth = format->of.depth;
    if (report->sweep) return format->sweep(report, &options, out);
    if (report->formula) return format->formula(report, &options, out);
    return cm_result_write(report->result, format->of.name, &options, report->diag, out);
}

int format_check(const struct invocation *call, const struct request *request) {
    const struct format *format = request->format;
    const bool has_columns = (format->takes & (TAKES_COLUMNS | TAKES_METRIC)) != 0;
    if (request->formula && !format->formula)
        return options_fault(call, "option --formula has no effect with %s", format->called);
    const char *idle = request_given(request, TAKES_ALL & ~format->takes);
    if (idle != NULL)
        return options_fault(call, "option --%s has no effect with %s", idle, format->called);
    if (format->of.is_page) return cm_html_check(call->diag);
    if (!has_columns) return CM_OK;
    const struct cm_table_options options = table_options(request);
    return cm_table_options_check(&options, request_is_sweep(request), call->diag);
}
