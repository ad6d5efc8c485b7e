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

#define MODULE_TREE_DEPTH 2 /* default depth of dot and mermaid */

static struct cm_table_options table_options(const struct request *request, int usual_depth) {
    struct cm_table_options options;
    cm_table_options_init(&options);
    if (request->rows != NOT_GIVEN) options.rows = (enum cm_rows)request->rows;
    options.columns = request->columns;
    options.sort = request->sort;
    options.n_filters = request->filters.n;
    options.filters = request->filters.values;
    options.metric = request->metric;
    options.depth = request->depth == NOT_GIVEN ? usual_depth : request->depth;
    if (request->top != NOT_GIVEN) options.top = (size_t)request->top;
    options.units = (enum cm_units)request->units;
    return options;
}

static struct cm_text_options text_options(const struct request *request, FILE *out) {
    struct cm_text_options options;
    cm_text_options_init(&options);
    if (request->depth != NOT_GIVEN) options.depth = request->depth;
    if (request->top != NOT_GIVEN) options.top = request->top;
    options.detailed = request->detailed;
    options.operators = request->operators;
    options.layers = request->layers;
    options.kernels = request->kernels;
    options.width = request->width;
    options.units = (enum cm_units)request->units;
    options.color = streams_color(out, (enum color_choice)request->color);
    return options;
}

static int write_text(const struct report *report, FILE *out) {
    struct cm_text_options options = text_options(report->request, out);
    if (report->sweep) return cm_sweep_write_text(report->sweep, &options, out);
    if (report->result && report->result->n_explanations > 0)
        return cm_result_write_explanations(report->result, &options, out);
    options.unicode = streams_utf8();
    return report->formula ? cm_formula_write_text(report->formula, &options, out)
                           : cm_result_write_text(report->result, &options, out);
}

static int write_table(const struct report *report, FILE *out) {
    const struct cm_table_options options = table_options(report->request, -1);
    const struct cm_text_options text = text_options(report->request, out);
    return report->sweep
               ? cm_sweep_write_table(report->sweep, &options, &text, report->diag, out)
               : cm_result_write_table(report->result, &options, &text, report->diag, out);
}

static int write_json(const struct report *report, FILE *out) {
    if (report->sweep) return cm_sweep_write_json(report->sweep, out);
    return report->formula ? cm_formula_write_json(report->formula, out)
                           : cm_result_write_json(report->result, out);
}

static int write_csv(const struct report *report, FILE *out) {
    const struct cm_table_options options = table_options(report->request, -1);
    return report->sweep ? cm_sweep_write_csv(report->sweep, &options, report->diag, out)
                         : cm_result_write_csv(report->result, &options, report->diag, out);
}

static int write_markdown(const struct report *report, FILE *out) {
    const struct cm_table_options options = table_options(report->request, -1);
    return report->sweep
               ? cm_sweep_write_markdown(report->sweep, &options, report->diag, out)
               : cm_result_write_markdown(report->result, &options, report->diag, out);
}

static int write_folded(const struct report *report, FILE *out) {
    const struct cm_table_options options = table_options(report->request, -1);
    return cm_result_write_folded(report->result, &options, report->diag, out);
}

static int write_dot(const struct report *report, FILE *out) {
    const struct cm_table_options options = table_options(report->request, MODULE_TREE_DEPTH);
    return cm_result_write_dot(report->result, &options, report->diag, out);
}

static int write_mermaid(const struct report *report, FILE *out) {
    const struct cm_table_options options = table_options(report->request, MODULE_TREE_DEPTH);
    return cm_result_write_mermaid(report->result, &options, report->diag, out);
}

static int write_trace(const struct report *report, FILE *out) {
    return cm_result_write_trace(report->result, out);
}

/* clang-format off */
static const struct format formats[] = {
    {"text", "the text report", TAKES_REPORT | TAKES_DEPTH | TAKES_TOP | TAKES_UNITS | TAKES_CURVE | TAKES_PLAN | TAKES_EXPLAIN | TAKES_WIDTH, .write = write_text, .sweep = true, .formula = true},
    {"json", "--format json", TAKES_CURVE | TAKES_PLAN | TAKES_EXPLAIN, .write = write_json, .sweep = true, .formula = true},
    {"csv", "--format csv", TAKES_TABLE, .write = write_csv, .sweep = true},
    {"markdown", "--format markdown", TAKES_TABLE, .write = write_markdown, .sweep = true},
    {"folded", "--format folded", TAKES_DEPTH | TAKES_METRIC, .write = write_folded},
    {"dot", "--format dot", TAKES_COLUMNS | TAKES_DEPTH | TAKES_UNITS, .write = write_dot},
    {"mermaid", "--format mermaid", TAKES_COLUMNS | TAKES_DEPTH | TAKES_UNITS, .write = write_mermaid},
    {"trace", "--format trace", TAKES_CURVE, .write = write_trace, .draws_times = true},
};

/* Text output if rows or columns are requested. */
static const struct format table = {"text", "a table", TAKES_TABLE, .write = write_table, .sweep = true};

/* Text output for several batches and for --explain: no sections of the report. */
static const struct format batches = {"text", "a table of batches", TAKES_UNITS, .write = write_text, .sweep = true};
static const struct format explanation = {"text", "--explain", TAKES_EXPLAIN | TAKES_WIDTH, .write = write_text, .sweep = true};
/* clang-format on */

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

/* Returns the kind of text output. */
static const struct format *text_format(const struct request *request) {
    if (request->rows != NOT_GIVEN || request->columns != NULL || request->sort != NULL ||
        request->filters.n > 0)
        return &table;
    if (request->formula) return &formats[0];
    if (request->explain.n > 0) return &explanation;
    return request->binding.batches.n > 1 ? &batches : &formats[0];
}

int format_find(const struct invocation *call, struct request *request) {
    struct text known = {.arena = call->arena};
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (text_equal(formats[i].name, request->format_name)) {
            request->format = i == 0 ? text_format(request) : &formats[i];
            return CM_OK;
        }
        if (i > 0) text_append(&known, i + 1 == N_FORMATS ? " or " : ", ");
        text_append(&known, formats[i].name);
    }
    return options_fault(call, "option --format requires %s, got '%s'", text_string(&known),
                         request->format_name);
}

int format_write(const void *report, FILE *out) {
    return ((const struct report *)report)->request->format->write(report, out);
}

int format_check(const struct invocation *call, const struct request *request) {
    const struct format *format = request->format;
    const bool has_columns = (format->takes & (TAKES_COLUMNS | TAKES_METRIC)) != 0;
    if (request->formula && !format->formula)
        return options_fault(call, "option --formula has no effect with %s", format->called);
    const char *idle = request_given(request, TAKES_ALL & ~format->takes);
    if (idle != NULL)
        return options_fault(call, "option --%s has no effect with %s", idle, format->called);
    if (!has_columns) return CM_OK;
    const struct cm_table_options options = table_options(request, -1);
    return cm_table_options_check(&options, request->binding.batches.n > 1, call->diag);
}
