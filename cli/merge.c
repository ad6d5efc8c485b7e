/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel merge`: prints the results of `costmodel sweep`. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/binding.h"
#include "cli/command.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/streams.h"
#include "costmodel/campaign.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/system.h"
#include "support/text.h"

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_MARKDOWN, FORMAT_JSON, FORMAT_HTML };

struct request {
    int format;
    struct cm_table_options table; /* members that the command line sets directly */
    struct option_list filters;
    int top;
    int units; /* enum cm_units */
    int color; /* enum color_choice */
    int width; /* -1: not given */
    const char *output;
};

static const struct option_choice formats[] = {
    {"text", FORMAT_TEXT, "default"},
    {"csv", FORMAT_CSV, NULL},
    {"markdown", FORMAT_MARKDOWN, NULL},
    {"json", FORMAT_JSON, NULL},
    {"html", FORMAT_HTML, "heat map of models by devices"},
    {.name = NULL},
};

#define AT(type, member)   OPTION_AT(struct request, type, member)
#define INTO(kind, member) OPTION_INTO(kind, struct request, member)

/* clang-format off */
const struct option merge_options[] = {
    {.heading = "Report", .name = "format", .letter = 'f', INTO(CHOICE, format), .value = "FORMAT",
     .choices = formats,
     .help = "format of the report:"},
    {.rows = option_output, .offset = AT(const char *, output)},
    {.name = "columns", INTO(TEXT, table.columns), .value = "A,B,...", .parts = parts_columns,
     .help = "columns of the table, or all; an unknown name lists the valid ones"},
    {.name = "sort", INTO(TEXT, table.sort), .value = "KEY[:asc|desc]", .parts = parts_sort,
     .help = "sort by this column"},
    {.name = "filter", INTO(LIST, filters), .value = "CONDITION", .parts = parts_filter,
     .help = "keep matching rows, e.g. 'device=h200' or 'batch>=8'; repeatable"},
    {.name = "top", INTO(INT, top), .value = "N", .min = 0, .max = INT_MAX,
     .help = "print the first N rows"},
    {.name = "units", INTO(CHOICE, units), .value = "UNITS", .choices = choices_units,
     .help = "units of figures:"},
    {.name = "width", INTO(INT, width), .value = "N", .min = 0, .max = INT_MAX,
     .help = "text: columns into which the table must fit, others are omitted (default:\n"
             "those of the terminal; 0: no limit)"},
    {.rows = option_color, .offset = AT(int, color)},
    {.name = NULL},
};
/* clang-format on */

struct report {
    const struct request *request;
    const struct cm_table_options *table;
    const struct cm_sweep *sweep;
    struct cm_diagnostics *diag;
};

static bool selects(const struct request *request) {
    return request->table.columns != NULL || request->table.sort != NULL ||
           request->filters.n > 0 || request->top > 0;
}

static int write_report(const void *context, FILE *out) {
    const struct report *report = context;
    const struct request *request = report->request;
    struct cm_text_options text;
    cm_text_options_init(&text);
    text.color = streams_color(out, (enum color_choice)request->color);
    text.unicode = streams_utf8();
    text.width = streams_columns(out, request->width, text.width);
    text.table_width = streams_columns(out, request->width, 0);
    text.units = (enum cm_units)request->units;
    const bool is_table = request->format == FORMAT_TEXT && selects(request);
    const struct cm_report_options options = {&text, report->table};
    return cm_sweep_write(report->sweep, is_table ? "table" : formats[request->format].name,
                          &options, report->diag, out);
}

/* Writes the report, and a warning with the first message if combinations failed. Returns the
 * exit status. */
static int merge(const struct invocation *call, const struct request *request,
                 const struct option_list *folders) {
    struct cm_sweep *sweep = NULL;
    struct cm_table_options table = request->table;
    table.n_filters = request->filters.n;
    table.filters = request->filters.values;
    table.top = (size_t)request->top;
    table.units = (enum cm_units)request->units;
    int status = cm_table_options_check(&table, true, call->diag);
    if (status < 0) return command_exit(status);
    status = cm_campaign_merge(folders->values, folders->n, call->diag, &sweep);
    if (status < 0) return status == CM_REFUSED ? EXIT_INCOMPLETE : command_exit(status);
    const struct report report = {request, &table, sweep, call->diag};
    status = streams_write(request->output, write_report, &report, call->diag);
    const struct cm_sweep_row *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < sweep->n_rows && status == CM_OK; i++) {
        if (text_equal(sweep->rows[i].state, "done")) continue;
        if (n++ == 0) first = &sweep->rows[i];
    }
    if (first != NULL) {
        diag_warn(call->diag, DIAG_BATCH,
                  "%zu of %zu combinations failed or are incomplete, the first is of '%s': %s",
                  n, sweep->n_rows, first->model ? first->model : sweep->model, first->problem);
        diag_hint(call->diag, "column 'problem' has the message of each; see 'costmodel guide "
                              "compare-candidates'");
    }
    cm_sweep_free(sweep);
    return n > 0 ? EXIT_INCOMPLETE : command_exit(status);
}

/* Refuses a repeated folder, and an output that replaces a file that sweep writes. */
static int check_paths(const struct invocation *call, const struct request *request,
                       const struct option_list *folders) {
    char *target = request->output ? system_resolve(request->output) : NULL;
    const char *output = target ? target : request->output;
    const char *name = output ? output + system_folder_length(output) : NULL;
    const bool is_result =
        output != NULL && (text_equal(name, "campaign.json") ||
                           text_ends_with(output, ".jsonl") || text_ends_with(output, ".part"));
    int status = CM_OK;
    for (size_t i = 0; i < folders->n && status == CM_OK; i++) {
        const char *inside = arena_printf(call->arena, "%s/", folders->values[i]);
        bool is_inside = false;
        if (inside == NULL) status = diag_no_memory(call->diag);
        if (status == CM_OK && is_result)
            status = outputs_share_folder(output, inside, call->arena, &is_inside);
        if (status == CM_OK && is_inside)
            status = options_fault(call, "output '%s' is also an input", request->output);
        for (size_t k = 0; k < i && status == CM_OK; k++)
            if (outputs_is_file(folders->values[i], folders->values[k]))
                status = options_fault(call, "folder '%s' is given twice", folders->values[i]);
    }
    free(target);
    return status;
}

int command_merge(const struct invocation *call) {
    struct request request = {.format = FORMAT_TEXT, .width = -1};
    struct option_list folders = {0, NULL};
    cm_table_options_init(&request.table);
    int status = options_parse(merge_options, call, &request, &folders);
    if (status == CM_OK && folders.n == 0)
        status = options_fault(call, "merge requires a folder of costmodel sweep");
    const bool is_page = request.format == FORMAT_HTML;
    const bool is_whole = is_page || request.format == FORMAT_JSON;
    if (status == CM_OK && is_whole && (selects(&request) || request.units != CM_UNITS_AUTO))
        status = options_fault(call,
                               "--format %s has all rows and columns, --columns, --sort, "
                               "--filter, --top and --units do not apply",
                               is_page ? "html" : "json");
    if (status == CM_OK && is_page) status = cm_html_check(call->diag);
    if (status == CM_OK) status = check_paths(call, &request, &folders);
    return status == CM_OK ? merge(call, &request, &folders) : command_exit(status);
}
