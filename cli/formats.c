/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of output formats. Rejects options that the selected format ignores.
 */
#include "cli/formats.h"

#include <stddef.h>
#include <string.h>

#include "cli/command.h"
#include "cli/request.h"
#include "cli/streams.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

enum format_option {
    TAKES_REPORT = 1, /* sections of the text report */
    TAKES_ROWS = 2,   /* --rows, --sort, --filter */
    TAKES_COLUMNS = 4,
    TAKES_DEPTH = 8,
    TAKES_TOP = 16,
    TAKES_UNITS = 32,
    TAKES_METRIC = 64,
    TAKES_CURVE = 128, /* --memory-curve */
    TAKES_EXPLAIN = 256,
    TAKES_WIDTH = 512,
    TAKES_PLAN = 1024, /* --memory-plan */
    TAKES_TABLE = TAKES_ROWS | TAKES_COLUMNS | TAKES_DEPTH | TAKES_TOP | TAKES_UNITS,
};

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

static int write_text(const struct request *request, const struct cm_result *result,
                      struct cm_diagnostics *diag, FILE *out) {
    struct cm_text_options options = text_options(request, out);
    (void)diag;
    if (result->n_explanations > 0) return cm_result_write_explanations(result, &options, out);
    options.unicode = streams_utf8();
    return cm_result_write_text(result, &options, out);
}

static int write_sweep_text(const struct request *request, const struct cm_sweep *sweep,
                            struct cm_diagnostics *diag, FILE *out) {
    const struct cm_text_options options = text_options(request, out);
    (void)diag;
    return cm_sweep_write_text(sweep, &options, out);
}

static int write_formula_text(const struct request *request, const struct cm_formula *formula,
                              FILE *out) {
    struct cm_text_options options = text_options(request, out);
    options.unicode = streams_utf8();
    return cm_formula_write_text(formula, &options, out);
}

static int write_formula_json(const struct request *request, const struct cm_formula *formula,
                              FILE *out) {
    (void)request;
    return cm_formula_write_json(formula, out);
}

static int write_table(const struct request *request, const struct cm_result *result,
                       struct cm_diagnostics *diag, FILE *out) {
    const struct cm_table_options options = table_options(request, -1);
    const struct cm_text_options text = text_options(request, out);
    return cm_result_write_table(result, &options, &text, diag, out);
}

static int write_sweep_table(const struct request *request, const struct cm_sweep *sweep,
                             struct cm_diagnostics *diag, FILE *out) {
    const struct cm_table_options options = table_options(request, -1);
    const struct cm_text_options text = text_options(request, out);
    return cm_sweep_write_table(sweep, &options, &text, diag, out);
}

static int write_json(const struct request *request, const struct cm_result *result,
                      struct cm_diagnostics *diag, FILE *out) {
    (void)request;
    (void)diag;
    return cm_result_write_json(result, out);
}

static int write_sweep_json(const struct request *request, const struct cm_sweep *sweep,
                            struct cm_diagnostics *diag, FILE *out) {
    (void)request;
    (void)diag;
    return cm_sweep_write_json(sweep, out);
}

static int write_trace(const struct request *request, const struct cm_result *result,
                       struct cm_diagnostics *diag, FILE *out) {
    (void)request;
    (void)diag;
    return cm_result_write_trace(result, out);
}

/* clang-format off */
static const struct format formats[] = {
    {"text", "the text report", TAKES_REPORT | TAKES_DEPTH | TAKES_TOP | TAKES_UNITS | TAKES_CURVE | TAKES_PLAN | TAKES_EXPLAIN | TAKES_WIDTH,
     .write_result = write_text, .write_sweep = write_sweep_text, .write_formula = write_formula_text},
    {"json", "--format json", TAKES_CURVE | TAKES_PLAN | TAKES_EXPLAIN,
     .write_result = write_json, .write_sweep = write_sweep_json, .write_formula = write_formula_json},
    {"csv", "--format csv", TAKES_TABLE,
     .write_rows = cm_result_write_csv, .write_sweep_rows = cm_sweep_write_csv, .depth = -1},
    {"markdown", "--format markdown", TAKES_TABLE,
     .write_rows = cm_result_write_markdown, .write_sweep_rows = cm_sweep_write_markdown, .depth = -1},
    {"folded", "--format folded", TAKES_DEPTH | TAKES_METRIC,
     .write_rows = cm_result_write_folded, .depth = -1},
    {"dot", "--format dot", TAKES_COLUMNS | TAKES_DEPTH | TAKES_UNITS,
     .write_rows = cm_result_write_dot, .depth = MODULE_TREE_DEPTH},
    {"mermaid", "--format mermaid", TAKES_COLUMNS | TAKES_DEPTH | TAKES_UNITS,
     .write_rows = cm_result_write_mermaid, .depth = MODULE_TREE_DEPTH},
    {"trace", "--format trace", TAKES_CURVE, .write_result = write_trace, .draws_times = true},
};

/* Text output if rows or columns are requested. */
static const struct format table =
    {"text", "a table", TAKES_TABLE, .write_result = write_table, .write_sweep = write_sweep_table};

/* Text output for several batches and for --explain: no sections of the report. */
static const struct format batches =
    {"text", "a table of batches", TAKES_UNITS, .write_result = write_text, .write_sweep = write_sweep_text};
static const struct format explanation =
    {"text", "--explain", TAKES_EXPLAIN | TAKES_WIDTH, .write_result = write_text, .write_sweep = write_sweep_text};
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
    struct text known;
    text_init(&known, call->arena);
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

bool format_has_sweep(const struct format *format) {
    return format->write_sweep != NULL || format->write_sweep_rows != NULL;
}

int format_write_result(const struct request *request, const struct cm_result *result,
                        struct cm_diagnostics *diag, FILE *out) {
    const struct format *format = request->format;
    if (format->write_result) return format->write_result(request, result, diag, out);
    const struct cm_table_options options = table_options(request, format->depth);
    return format->write_rows(result, &options, diag, out);
}

int format_write_sweep(const struct request *request, const struct cm_sweep *sweep,
                       struct cm_diagnostics *diag, FILE *out) {
    const struct format *format = request->format;
    if (format->write_sweep) return format->write_sweep(request, sweep, diag, out);
    const struct cm_table_options options = table_options(request, format->depth);
    return format->write_sweep_rows(sweep, &options, diag, out);
}

#define MEMBER(member)                                                                         \
    offsetof(struct request, member), sizeof(((const struct request *)NULL)->member)

/* Options of request, and the bit in `takes` that a format needs for each. */
static const struct {
    const char *name;
    unsigned takes;
    size_t offset;
    size_t size;
} heeded[] = {
    {"rows", TAKES_ROWS, MEMBER(rows)},
    {"columns", TAKES_COLUMNS, MEMBER(columns)},
    {"sort", TAKES_ROWS, MEMBER(sort)},
    {"filter", TAKES_ROWS, MEMBER(filters)},
    {"metric", TAKES_METRIC, MEMBER(metric)},
    {"units", TAKES_UNITS, MEMBER(units)},
    {"depth", TAKES_DEPTH, MEMBER(depth)},
    {"top", TAKES_TOP, MEMBER(top)},
    {"no-detail", TAKES_REPORT, MEMBER(detailed)},
    {"operators", TAKES_REPORT, MEMBER(operators)},
    {"layers", TAKES_REPORT, MEMBER(layers)},
    {"kernels", TAKES_REPORT, MEMBER(kernels)},
    {"width", TAKES_WIDTH, MEMBER(width)},
    {"explain", TAKES_EXPLAIN, MEMBER(explain)},
    {"memory-curve", TAKES_CURVE, MEMBER(memory_curve)},
    {"memory-plan", TAKES_PLAN, MEMBER(memory_plan)},
};

int format_check(const struct invocation *call, const struct request *request) {
    const struct format *format = request->format;
    const bool has_columns = (format->takes & (TAKES_COLUMNS | TAKES_METRIC)) != 0;
    struct request untouched;
    request_defaults(&untouched);
    if (request->formula && format->write_formula == NULL)
        return options_fault(call, "option --formula has no effect with %s", format->called);
    for (size_t i = 0; i < sizeof(heeded) / sizeof(heeded[0]); i++) {
        const char *given = (const char *)request + heeded[i].offset;
        const char *usual = (const char *)&untouched + heeded[i].offset;
        if ((format->takes & heeded[i].takes) != 0) continue;
        if (memcmp(given, usual, heeded[i].size) != 0)
            return options_fault(call, "option --%s has no effect with %s", heeded[i].name,
                                 format->called);
    }
    if (!has_columns) return CM_OK;
    const struct cm_table_options options = table_options(request, -1);
    return cm_table_options_check(&options, request->binding.batches.n > 1, call->diag);
}
