/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of output formats. Rejects options that the selected format ignores.
 */
#include "cli/formats.h"

#include "cli/command.h"
#include "cli/request.h"
#include "cli/streams.h"
#include "support/text.h"

#include "support/banned.h"

#define MODULE_TREE_DEPTH 2  /* default depth of dot and mermaid */
#define DEFAULT_LINES     24 /* of a terminal of unknown size */

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

/* clang-format off */
static const struct format formats[] = {
    {"text", "the text report", TAKES_REPORT | TAKES_LAYERS | TAKES_DEPTH | TAKES_TOP | TAKES_UNITS | TAKES_CURVE | TAKES_PLAN | TAKES_EXPLAIN | TAKES_WIDTH, .sweep = sweep_text, .formula = formula_text},
    {"deepspeed", "--format deepspeed", TAKES_REPORT | TAKES_LAYERS | TAKES_DEPTH | TAKES_TOP | TAKES_UNITS | TAKES_CURVE | TAKES_PLAN | TAKES_WIDTH, .sweep = NULL},
    {"json", "--format json", TAKES_LAYERS | TAKES_CURVE | TAKES_PLAN | TAKES_EXPLAIN, .sweep = sweep_json, .formula = formula_json},
    {"csv", "--format csv", TAKES_TABLE, .sweep = sweep_csv},
    {"markdown", "--format markdown", TAKES_TABLE, .sweep = sweep_markdown},
    {"folded", "--format folded", TAKES_DEPTH | TAKES_METRIC, .sweep = NULL},
    {"dot", "--format dot", TAKES_COLUMNS | TAKES_DEPTH | TAKES_UNITS, .depth = MODULE_TREE_DEPTH},
    {"mermaid", "--format mermaid", TAKES_COLUMNS | TAKES_DEPTH | TAKES_UNITS, .depth = MODULE_TREE_DEPTH},
    {"html", "--format html", TAKES_CURVE | TAKES_PLAN | TAKES_EXPLAIN, .sweep = sweep_html, .is_page = true},
    {"trace", "--format trace", TAKES_CURVE, .draws_times = true},
};

/* Text output if rows or columns are requested. */
static const struct format table = {"table", "a table", TAKES_TABLE | TAKES_WIDTH, .sweep = sweep_table};

/* Text output for several batches or precisions and for --explain: no sections of the report. */
static const struct format batches = {"text", "a table of batches", TAKES_UNITS | TAKES_WIDTH, .sweep = sweep_text};
static const struct format batches_of_layers = {"text", "a table of layers", TAKES_UNITS | TAKES_TOP | TAKES_WIDTH | TAKES_LAYERS, .sweep = sweep_text};
static const struct format explanation = {"text", "--explain", TAKES_EXPLAIN | TAKES_WIDTH, .sweep = sweep_text};
/* clang-format on */

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

/* Returns the kind of text output. */
static const struct format *text_format(const struct request *request) {
    if (request->rows != NOT_GIVEN || request->columns != NULL || request->sort != NULL ||
        request->filters.n > 0)
        return &table;
    if (request->formula) return &formats[0];
    if (request->explain.n > 0) return &explanation;
    if (!request_is_sweep(request)) return &formats[0];
    return request_lists_layers(request) ? &batches_of_layers : &batches;
}

/* In a table, --layers is --rows layers. */
static void list_layers(struct request *request) {
    if (!request->layers || request->rows != NOT_GIVEN) return;
    if ((request->format->takes & TAKES_ROWS) == 0) return;
    request->layers = false;
    request->rows = CM_ROWS_LAYERS;
}

int format_find(const struct invocation *call, struct request *request) {
    struct text known = {.arena = call->arena};
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (text_equal(formats[i].name, request->format_name)) {
            request->format = i == 0 ? text_format(request) : &formats[i];
            list_layers(request);
            return CM_OK;
        }
        if (i > 0) text_append(&known, i + 1 == N_FORMATS ? " or " : ", ");
        text_append(&known, formats[i].name);
    }
    return options_fault(call, "option --format requires %s, got '%s'", text_string(&known),
                         request->format_name);
}

int format_write(const void *context, FILE *out) {
    const struct report *report = context;
    const struct format *format = report->request->format;
    struct cm_report_options options = {.text = text_options(report->request, out),
                                        .table = table_options(report->request)};
    if (format->depth != 0 && report->request->depth == NOT_GIVEN)
        options.table.depth = format->depth;
    if (report->sweep) return format->sweep(report, &options, out);
    if (report->formula) return format->formula(report, &options, out);
    return cm_result_write(report->result, format->name, &options, report->diag, out);
}

int format_check(const struct invocation *call, const struct request *request) {
    const struct format *format = request->format;
    const bool has_columns = (format->takes & (TAKES_COLUMNS | TAKES_METRIC)) != 0;
    if (request->formula && !format->formula)
        return options_fault(call, "option --formula has no effect with %s", format->called);
    const char *idle = request_given(request, TAKES_ALL & ~format->takes);
    if (idle != NULL)
        return options_fault(call, "option --%s has no effect with %s", idle, format->called);
    if (format->is_page) return cm_html_check(call->diag);
    if (!has_columns) return CM_OK;
    const struct cm_table_options options = table_options(request);
    return cm_table_options_check(&options, request_is_sweep(request), call->diag);
}
