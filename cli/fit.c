/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel fit DEVICE TIMES.csv`: fits a modelled device to measured times. */
#include "costmodel/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/binding.h"
#include "cli/command.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/timing.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/sort.h"
#include "support/text.h"

#define MAX_BYTES ((size_t)16 << 20) /* of TIMES.csv */
#define N_COLUMNS 8

struct request {
    int runtime; /* enum cm_runtime */
    const char *basis;
    const char *models_folder;
    const char *rows_path;
    bool hold_out;
    struct option_list dims;
};

/* The last columns may be missing. */
static const char header[] = "model,node,batch,precision,layout,seconds,optimizer,dims";
#define N_REQUIRED 6

#define INTO(kind, member) OPTION_INTO(kind, struct request, member)

/* clang-format off */
const struct option fit_options[] = {
    {.heading = "Fit", .name = "runtime", INTO(CHOICE, runtime), .value = "RUNTIME",
     .choices = timing_runtimes,
     .help = "runtime of the measurements (default: torch-compile):"},
    {.name = "basis", INTO(TEXT, basis), .value = "TEXT",
     .help = "what was measured, for reports; default: the path of TIMES.csv"},
    {.name = "models", INTO(TEXT, models_folder), .value = "FOLDER", .files = "/",
     .help = "folder of the models; default: the current folder"},
    {.name = "dim", INTO(LIST, dims), .value = "NAME=N", .parts = parts_dim,
     .help = "size of a symbolic dim of all models without one in the column dims;\n"
             "repeatable"},
    {.name = "hold-out", INTO(SET, hold_out),
     .help = "fit to one half of the models and nodes; print the errors of both halves"},
    {.name = "rows", INTO(TEXT, rows_path), .value = "FILE", .files = "csv",
     .help = "write all rows, with their modelled times, to a CSV file"},
    {.name = NULL},
};
/* clang-format on */

/* Returns true if --hold-out excludes the rows of this model and node from the fit. A hash
 * selects the half, so all rows of the same model and node are in the same half. */
static bool is_held_out(const char *model, const char *node) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *model; model++) hash = (hash ^ (unsigned char)*model) * 16777619u;
    for (; *node; node++) hash = (hash ^ (unsigned char)*node) * 16777619u;
    return (hash >> 16) & 1;
}

static int line_fault(const struct invocation *call, const char *path, size_t line,
                      const char *what) {
    return diag_error(call->diag, DIAG_USAGE, "%s: line %zu: %s", path, line, what);
}

/* Sets *ret to the value of the choice named `text`; leaves it unchanged if `text` is "".
 * Returns false for any other text. */
static bool read_choice(const struct option_choice *choices, const char *text, int *ret) {
    while (choices->name != NULL && !text_equal(choices->name, text)) choices++;
    if (choices->name != NULL) *ret = choices->value;
    return choices->name != NULL || text[0] == '\0';
}

static int read_row(const struct invocation *call, const struct request *request,
                    const char *path, size_t line_number, char *line,
                    struct cm_measured_time *ret) {
    char *columns[N_COLUMNS];
    int precision = 0;
    int layout = 0;
    char *end = NULL;
    size_t commas = 0;
    for (const char *at = line; *at; at++) commas += *at == ',';
    if (commas < N_REQUIRED - 1 || commas >= N_COLUMNS)
        return line_fault(call, path, line_number, "must have 6 to 8 columns");
    /* split at commas; an absent column is "" */
    for (size_t i = 0; i < N_COLUMNS; i++) {
        columns[i] = line;
        line += strcspn(line, ",");
        if (*line != '\0') *line++ = '\0';
    }
    const char *model = columns[0];
    if (request->models_folder)
        model = arena_printf(call->arena, "%s/%s", request->models_folder, model);
    if (!model) return diag_no_memory(call->diag);
    const int64_t batch = strtoll(columns[2], &end, 10);
    if (*end != '\0' || (columns[2][0] != '\0' && batch < 1))
        return line_fault(call, path, line_number, "batch must be an integer >= 1, or empty");
    if (!read_choice(timing_precisions, columns[3], &precision))
        return line_fault(
            call, path, line_number,
            "precision must be a value of --precision of `costmodel profile`, or empty");
    if (!read_choice(timing_layouts, columns[4], &layout))
        return line_fault(
            call, path, line_number,
            "layout must be a value of --layout of `costmodel profile`, or empty");
    const double seconds = strtod(columns[5], &end);
    if (end == columns[5] || *end != '\0' || !(seconds > 0) || !isfinite(seconds))
        return line_fault(call, path, line_number, "seconds must be a number above 0");
    if (columns[6][0] != '\0' && columns[1][0] != '\0')
        return line_fault(call, path, line_number,
                          "node must be empty if optimizer is given: a training step is that "
                          "of a whole model");
    struct option_list dims = request->dims;
    if (columns[7][0] != '\0') {
        dims = (struct option_list){
            0, arena_array(call->arena, strlen(columns[7]), sizeof(*dims.values))};
        if (!dims.values) return diag_no_memory(call->diag);
        for (char *at = columns[7]; *at;) { /* split at spaces */
            dims.values[dims.n++] = at;
            at += strcspn(at, " ");
            if (*at != '\0') *at++ = '\0';
        }
    }
    const struct cm_dim_option *sizes = NULL;
    const int status = binding_read_dims(call, "dim", &dims, &sizes);
    if (status != CM_OK) return status;
    *ret = (struct cm_measured_time){.model = model,
                                     .n_dims = dims.n,
                                     .dims = sizes,
                                     .optimizer = columns[6][0] ? columns[6] : NULL,
                                     .node = columns[1][0] ? columns[1] : NULL,
                                     .batch = batch,
                                     .precision = (enum cm_precision)precision,
                                     .layout = (enum cm_layout)layout,
                                     .seconds = seconds,
                                     .held_out = request->hold_out &&
                                                 is_held_out(columns[0], columns[1])};
    return CM_OK;
}

static int read_times(const struct invocation *call, const struct request *request,
                      const char *path, struct cm_measured_time **ret, size_t *ret_n) {
    struct source *source = NULL;
    size_t size = 0;
    size_t n_lines = 0;
    char *text = arena_alloc(call->arena, MAX_BYTES + 1);
    if (!text) return diag_no_memory(call->diag);
    int status = source_open(path, call->diag, &source);
    if (status == CM_OK) status = source_read(source, text, MAX_BYTES, &size, call->diag);
    source_close(source);
    if (status < 0) return status;
    if (size == MAX_BYTES)
        return diag_error(call->diag, DIAG_LIMIT, "%s: must be smaller than 16 MiB", path);
    for (size_t i = 0; i < size; i++) n_lines += text[i] == '\n';
    struct cm_measured_time *times = arena_array(call->arena, n_lines + 1, sizeof(*times));
    if (!times) return diag_no_memory(call->diag);
    *ret_n = 0;
    for (size_t line = 1; line == 1 || *text; line++) {
        const size_t length = strcspn(text, "\n");
        char *next = text + length + (text[length] == '\n');
        text[length] = '\0';
        if (length > 0 && text[length - 1] == '\r') text[length - 1] = '\0';
        size_t n_columns = 1;
        for (const char *at = text; *at; at++) n_columns += *at == ',';
        const bool is_header = n_columns >= N_REQUIRED && text_starts_with(header, text) &&
                               strchr(",", header[strlen(text)]) != NULL;
        if (line == 1 && !is_header)
            return line_fault(
                call, path, line,
                "must be model,node,batch,precision,layout,seconds[,optimizer[,dims]]");
        if (line > 1 && text[0] != '\0')
            status = read_row(call, request, path, line, text, &times[(*ret_n)++]);
        if (status < 0) return status;
        text = next;
    }
    *ret = times;
    return *ret_n > 0 ? CM_OK : line_fault(call, path, 2, "must be a row with a measured time");
}

static int compare_errors(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static int print_errors(const struct invocation *call, const char *title,
                        const struct cm_measured_time *times, size_t n, bool held_out) {
    double *errors = arena_array(call->arena, n, sizeof(*errors));
    size_t found = 0;
    if (!errors) return diag_no_memory(call->diag);
    for (size_t i = 0; i < n; i++)
        if (times[i].held_out == held_out && times[i].expected > 0)
            errors[found++] = fabs(times[i].expected / times[i].seconds - 1);
    if (found == 0) return CM_OK;
    sort_stable(errors, found, sizeof(*errors), compare_errors);
    fprintf(stderr, "%s: %zu row%s, median error %.1f %%, 90th percentile %.1f %%\n", title,
            found, text_plural((int64_t)found), 100 * errors[found / 2],
            100 * errors[found * 9 / 10]);
    return CM_OK;
}

/* Writes all rows as CSV, with their modelled times and intervals (expected, lower_bound, low,
 * high) in seconds. */
static int write_rows(const struct invocation *call, const char *path,
                      const struct cm_measured_time *times, size_t n) {
    struct output *output = NULL;
    const int status = output_open(path, call->diag, &output);
    if (status < 0) return status;
    FILE *out = output_stream(output);
    fputs("model,node,batch,seconds,expected,lower_bound,low,high,held_out\n", out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s,%s,%lld,%.6g,%.6g,%.6g,%.6g,%.6g,%d\n", times[i].model,
                times[i].node ? times[i].node : "", (long long)times[i].batch, times[i].seconds,
                times[i].expected, times[i].lower_bound, times[i].low, times[i].high,
                times[i].held_out);
    return output_commit(output, call->diag);
}

int command_fit(const struct invocation *call) {
    struct request request = {.runtime = CM_RUNTIME_TORCH_COMPILE};
    struct option_list operands = {0, NULL};
    struct cm_measured_time *times = NULL;
    size_t n = 0;
    int status = options_parse(fit_options, call, &request, &operands);
    if (status == CM_OK && operands.n != 2)
        status = options_fault(call, "fit requires a device and a file of measured times");
    if (status == CM_OK) status = read_times(call, &request, operands.values[1], &times, &n);
    if (status == CM_OK)
        status = cm_device_fit(operands.values[0], (enum cm_runtime)request.runtime,
                               request.basis ? request.basis : operands.values[1], times, n,
                               call->diag, stdout);
    if (status == CM_OK && request.rows_path)
        status = write_rows(call, request.rows_path, times, n);
    if (status == CM_OK) status = print_errors(call, "fitted", times, n, false);
    if (status == CM_OK) status = print_errors(call, "held out", times, n, true);
    if (status != CM_OK) return command_exit(status);
    return command_finish(call, EXIT_DONE);
}
