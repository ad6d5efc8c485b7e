/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles, sweeps and formulas in the formats of the library (cm_format_find). Rejects
 * options that the selected format ignores. */
#include "cli/request.h"

#include "cli/command.h"
#include "cli/streams.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#define DEFAULT_LINES 24 /* of a terminal of unknown size */

static struct cm_table_options table_options(const struct request *request) {
    struct cm_table_options options = request->table;
    if (request->rows != NOT_GIVEN) options.rows = (enum cm_rows)request->rows;
    options.n_filters = request->filters.n;
    options.filters = request->filters.values;
    if (request->depth != NOT_GIVEN) options.depth = request->depth;
    if (request->top != NOT_GIVEN) options.top = (size_t)request->top;
    options.units = (enum cm_units)request->units;
    return options;
}

static struct cm_text_options text_options(const struct request *request, FILE *out) {
    struct cm_text_options options = request->text;
    if (request->depth != NOT_GIVEN) options.depth = request->depth;
    if (request->top != NOT_GIVEN) options.top = options.rows = request->top;
    options.height = request->top == 0 ? 0 : streams_lines(out, DEFAULT_LINES) - 1;
    options.curve = request->binding.options.memory_curve;
    options.width = streams_columns(out, request->width, options.width);
    options.table_width = streams_columns(out, request->width, 0);
    options.units = (enum cm_units)request->units;
    options.color = streams_color(out, (enum color_choice)request->color);
    options.unicode = streams_utf8();
    return options;
}

/* Sets `called` and `takes` of the text format. Sweeps and --explain have no sections. */
static void specialize_text(const struct request *request, struct format *format) {
    const bool lists_layers = request_lists_layers(request);
    format->called = "the text report";
    if (request->formula) return;
    if (request->explain.n > 0) {
        format->called = "--explain";
        format->takes = TAKES_EXPLAIN | TAKES_WIDTH;
    } else if (request_is_sweep(request)) {
        format->called = lists_layers ? "a table of layers" : "a table of batches";
        format->takes = TAKES_UNITS | TAKES_WIDTH;
        if (lists_layers) format->takes |= TAKES_TOP | TAKES_LAYERS;
    }
}

int format_find(const struct invocation *call, struct request *request) {
    const char *name = request->format_name;
    /* Text with rows, columns, an order or a filter is a table. */
    const bool is_table = text_equal(name, "text") &&
                          (request->rows != NOT_GIVEN || request->table.columns != NULL ||
                           request->table.sort != NULL || request->filters.n > 0);
    const struct cm_format *found = cm_format_find(is_table ? "table" : name);
    BUG_ON(found == NULL); /* the parser accepts only names of formats */
    struct format *format = &request->format;
    *format = (struct format){.of = *found, .takes = TAKES(found->uses)};
    format->called = arena_printf(call->arena, "--format %s", found->name);
    format->of_formulas = text_equal(found->name, "text") || text_equal(found->name, "json");
    if (text_equal(found->name, "text")) specialize_text(request, format);
    if (text_equal(found->name, "table")) format->called = "a table";
    if (request->text.layers && request->rows == NOT_GIVEN &&
        (format->takes & TAKES_ROWS) != 0) {
        request->text.layers = false; /* in a table, --layers is --rows layers */
        request->rows = CM_ROWS_LAYERS;
    }
    return format->called != NULL ? CM_OK : diag_no_memory(call->diag);
}

int format_write(const void *context, FILE *out) {
    const struct report *report = context;
    const struct format *format = &report->request->format;
    struct cm_text_options text = text_options(report->request, out);
    text.llm = report->llm;
    struct cm_table_options table = table_options(report->request);
    const struct cm_report_options options = {&text, &table};
    if (format->of.depth != 0 && report->request->depth == NOT_GIVEN)
        table.depth = format->of.depth;
    if (report->sweep)
        return cm_sweep_write(report->sweep, format->of.name, &options, report->diag, out);
    if (report->formula && text_equal(format->of.name, "json"))
        return cm_formula_write_json(report->formula, out);
    if (report->formula) return cm_formula_write_text(report->formula, &text, out);
    return cm_result_write(report->result, format->of.name, &options, report->diag, out);
}

int format_check(const struct invocation *call, const struct request *request) {
    const struct format *format = &request->format;
    const bool has_columns = (format->takes & (TAKES_COLUMNS | TAKES_METRIC)) != 0;
    if (request->formula && !format->of_formulas)
        return options_fault(call, "option --formula has no effect with %s", format->called);
    const char *idle = request_given(request, TAKES_ALL & ~format->takes);
    if (idle != NULL)
        return options_fault(call, "option --%s has no effect with %s", idle, format->called);
    if (format->of.is_page) return cm_html_check(call->diag);
    if (!has_columns) return CM_OK;
    const struct cm_table_options options = table_options(request);
    return cm_table_options_check(&options, request_is_sweep(request), call->diag);
}
