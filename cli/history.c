/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel history FILE`: draws the history that `costmodel check --history FILE` keeps. */
#include "cli/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/binding.h"
#include "cli/command.h"
#include "cli/names.h"
#include "cli/outputs.h"
#include "cli/streams.h"
#include "costmodel/compare.h"
#include "report/number.h"
#include "report/table/csv.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/glob.h"
#include "support/json/json_value.h"
#include "support/json/json_writer.h"
#include "support/system.h"
#include "support/text.h"

#define HISTORY_SCHEMA "costmodel/history/1"
#define MAX_TREND      40 /* runs in the picture of a trend */

/* The keys of a line that name a series: runs with other values are not comparable. */
static const char *const names[] = {"model", "batch", "convention", "precision", "times"};

#define N_NAMES (sizeof names / sizeof *names)

int history_add_lines(const struct invocation *call, const struct cm_verdict *verdict,
                      const struct cm_result *const *results, size_t n, struct text *ret) {
    const char *epoch = getenv("SOURCE_DATE_EPOCH"); /* for reproducible runs */
    char date[UTC_SIZE];
    int64_t seconds = 0;
    if (epoch == NULL || !text_to_int64(epoch, strlen(epoch), &seconds))
        seconds = (int64_t)time(NULL);
    if (!text_utc(seconds, date)) (void)snprintf(date, sizeof date, "0000-00-00T00:00:00Z");
    for (size_t i = 0; i < n; i++) {
        struct cm_metric metric;
        struct cm_figure figure;
        struct memory_stream line;
        if (!memory_stream_open(&line)) return diag_no_memory(call->diag);
        struct json_writer json = {.out = line.out};
        json_begin(&json, '{');
        json_key_string(&json, "schema", HISTORY_SCHEMA);
        json_key_string(&json, "date", date);
        json_key_string(&json, "commit", verdict->commit);
        json_key_string(&json, "model", verdict->model);
        json_key_integer(&json, "batch", results[i]->options.batch);
        json_key_string(&json, "convention", verdict->convention);
        json_key_string(&json, "precision", verdict->precision);
        json_key_string(&json, "times", verdict->times);
        json_key_string(&json, "state", verdict->state);
        json_open(&json, "metrics", '{');
        for (size_t k = 0; cm_metric_at(k, &metric); k++)
            if (cm_metric_of_total(k, results[i], &figure) && is_known(figure.value))
                json_key_integer(&json, metric.key, figure.value);
        json_end(&json, '}');
        json_end(&json, '}');
        fputs("\n", line.out);
        const bool is_written = memory_stream_close(&line);
        if (is_written) text_append_n(ret, line.text, line.size);
        free(line.text);
        if (!is_written || ret->failed) return diag_no_memory(call->diag);
    }
    return CM_OK;
}

int history_append(const struct invocation *call, const char *path, const struct text *lines) {
    FILE *out = fopen(path, "ab");
    if (out == NULL) return diag_system(call->diag, "open", path, errno);
    (void)fwrite(text_string(lines), 1, lines->length, out);
    const bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed) return CM_OK;
    return diag_system(call->diag, "write", path, errno);
}

/* A run of a series. */
struct point {
    const struct json_value *line;
    const struct point *before; /* previous run; NULL: none */
};

/* The runs of a model at one batch, with the same options. */
struct series {
    const struct json_value *line; /* of its first run */
    const struct point *last;
    size_t n;
    const struct point **points; /* oldest first, set by list_points */
};

struct request {
    const char *path;
    const char *models;  /* pattern; NULL: all */
    const char *metrics; /* keys, separated by commas; NULL: all */
    int last;            /* runs; 0: all */
    int format;
    const char *output;
    struct arena *arena;
    size_t n_series;
    struct series *series;
    size_t n_metrics;
    const char *const *keys;
};

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

static const struct option_choice formats[] = {{"text", FORMAT_TEXT, "default"},
                                               {"json", FORMAT_JSON, NULL},
                                               {"csv", FORMAT_CSV, NULL},
                                               {.name = NULL}};

#define AT(type, member)   OPTION_AT(struct request, type, member)
#define INTO(kind, member) OPTION_INTO(kind, struct request, member)

/* clang-format off */
const struct option history_options[] = {
    {.heading = "Selection", .name = "model", INTO(TEXT, models), .value = "PATTERN",
     .help = "models whose path matches, e.g. '*/resnet*'"},
    {.name = "metric", INTO(TEXT, metrics), .value = "KEY[,KEY...]",
     .names = names_of_metrics, .list = true,
     .help = "metrics, as in limits of `costmodel check` (default: those that changed)"},
    {.name = "last", INTO(INT, last), .value = "N", .min = 1, .max = 1000000,
     .help = "only the last N runs of each model and batch"},
    {.heading = "Report", .name = "format", .letter = 'f', INTO(CHOICE, format),
     .value = "FORMAT", .choices = formats, .help = "format of the trend:"},
    {.rows = option_output, .offset = AT(const char *, output)},
    {.name = NULL},
};
/* clang-format on */

/* Returns the text of a key of a line: a string, or the digits of a number; "" if it is none.
 */
static const char *text_of(const struct json_value *line, const char *key) {
    const struct json_value *value = json_get(line, key);
    const char *text = json_string(value);
    if (text == NULL) text = json_digits(value);
    return text == NULL ? "" : text;
}

static int64_t metric_of(const struct json_value *line, const char *key) {
    int64_t value = CM_UNKNOWN;
    return json_to_int64(json_get(json_get(line, "metrics"), key), &value) ? value : CM_UNKNOWN;
}

static bool is_same_series(const struct json_value *line, const struct json_value *other) {
    for (size_t i = 0; i < N_NAMES; i++)
        if (!text_equal(text_of(line, names[i]), text_of(other, names[i]))) return false;
    return true;
}

/* Adds a run to its series. A later run of the same commit replaces the earlier one. */
static int add_line(struct request *request, const struct json_value *line) {
    size_t i = 0;
    if (request->models != NULL && !glob_matches(request->models, text_of(line, "model")))
        return CM_OK;
    while (i < request->n_series && !is_same_series(request->series[i].line, line)) i++;
    struct series *series = &request->series[i];
    if (i == request->n_series)
        request->series[request->n_series++] = (struct series){.line = line};
    struct point *point = arena_alloc(request->arena, sizeof(*point));
    if (point == NULL) return CM_NO_MEMORY;
    const char *commit = text_of(line, "commit");
    const bool is_again = series->last != NULL && commit[0] != '\0' &&
                          text_equal(text_of(series->last->line, "commit"), commit);
    *point = (struct point){line, is_again ? series->last->before : series->last};
    series->last = point;
    series->n += is_again ? 0 : 1;
    return CM_OK;
}

/* Puts the last runs of a series into an array, oldest first. */
static int list_points(const struct request *request, struct series *series) {
    if (request->last > 0 && series->n > (size_t)request->last)
        series->n = (size_t)request->last;
    series->points = arena_array(request->arena, series->n, sizeof(*series->points));
    if (series->points == NULL) return CM_NO_MEMORY;
    const struct point *point = series->last;
    for (size_t i = series->n; i-- > 0; point = point->before) series->points[i] = point;
    return CM_OK;
}

/* Parses the lines; the trees are in `ret`, which has room for all lines. */
static int read_lines(const struct invocation *call, struct request *request, const char *text,
                      size_t n_lines, struct json_value **ret) {
    request->series = arena_array(call->arena, n_lines, sizeof(*request->series));
    if (request->series == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < n_lines; i++) {
        const size_t length = strcspn(text, "\n");
        const char *place = arena_printf(call->arena, "%s, line %zu", request->path, i + 1);
        struct diag_frame frame = {.label = "in", .what = place};
        if (place == NULL) return diag_no_memory(call->diag);
        diag_push(call->diag, &frame);
        int status = json_parse(text, length, call->diag, &ret[i]);
        if (status == CM_OK && !text_equal(text_of(ret[i], "schema"), HISTORY_SCHEMA))
            status = diag_error(call->diag, DIAG_FORMAT, "schema must be " HISTORY_SCHEMA);
        diag_pop(call->diag, &frame);
        if (status == CM_OK && add_line(request, ret[i]) < 0)
            status = diag_no_memory(call->diag);
        if (status < 0) return status;
        text += length + 1;
    }
    for (size_t i = 0; i < request->n_series; i++)
        if (list_points(request, &request->series[i]) < 0) return diag_no_memory(call->diag);
    return CM_OK;
}

/* Returns true if the report has the metric of the series: it is requested, or was known and
 * changed. */
static bool is_shown(const struct request *request, const struct series *series,
                     const char *key, bool *ret_known) {
    bool is_changed = false;
    *ret_known = false;
    for (size_t i = 0; i < series->n; i++) {
        const int64_t value = metric_of(series->points[i]->line, key);
        *ret_known |= is_known(value);
        is_changed |= value != metric_of(series->points[0]->line, key);
    }
    for (size_t i = 0; i < request->n_metrics; i++)
        if (text_equal(request->keys[i], key)) return *ret_known;
    return request->n_metrics == 0 && is_changed;
}

/* Draws the last values between their least and greatest: "▁▁▄█"; a blank if unknown. */
static const char *draw_trend(const struct request *request, const struct series *series,
                              const char *key) {
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    const char *const *levels = streams_utf8() ? blocks : plain;
    const size_t first = series->n > MAX_TREND ? series->n - MAX_TREND : 0;
    struct text text = {.arena = request->arena};
    int64_t least = INT64_MAX;
    int64_t most = INT64_MIN;
    for (size_t i = first; i < series->n; i++) {
        const int64_t value = metric_of(series->points[i]->line, key);
        if (!is_known(value)) continue;
        if (value < least) least = value;
        if (value > most) most = value;
    }
    for (size_t i = first; i < series->n; i++) {
        const int64_t value = metric_of(series->points[i]->line, key);
        const double range = (double)most - (double)least;
        const double share =
            range > 0 && is_known(value) ? ((double)value - (double)least) / range : 0;
        text_append(&text, is_known(value) ? levels[(size_t)(share * 7 + 0.5)] : " ");
    }
    return text_string(&text);
}

static const char *short_value(const struct request *request, enum cm_unit unit,
                               int64_t value) {
    static const enum number_unit units[] = {[CM_UNIT_ELEMENTS] = NUMBER_PARAMS,
                                             [CM_UNIT_MACS] = NUMBER_MACS,
                                             [CM_UNIT_FLOPS] = NUMBER_FLOPS,
                                             [CM_UNIT_BYTES] = NUMBER_BYTES,
                                             [CM_UNIT_PS] = NUMBER_TIME};
    struct text text = {.arena = request->arena};
    number_append(&text, NUMBERS_PLAIN, units[unit], value);
    return text_string(&text);
}

static const char *change(const struct request *request, int64_t old, int64_t now) {
    struct text text = {.arena = request->arena};
    const int64_t by = is_known(old) && is_known(now) ? checked_sub(now, old) : CM_UNKNOWN;
    if (!is_known(by) || old == 0) return is_known(by) && by != 0 ? "new" : "";
    text_append(&text, by < 0 ? "-" : "+");
    number_append_percent(&text, by < 0 ? -by : by, old);
    return text_string(&text);
}

static void write_text(const struct request *request, const struct series *series, FILE *out) {
    const struct json_value *first = series->points[0]->line;
    const struct json_value *last = series->points[series->n - 1]->line;
    struct text same = {.arena = request->arena};
    struct cm_metric metric;
    size_t n_shown = 0;
    for (size_t i = 0; i < N_NAMES; i++) {
        const char *text = text_name(request->arena, text_of(series->line, names[i]));
        if (text[0] != '\0')
            fprintf(out, "%s%s%s", i == 0 ? "" : ", ", i == 1 ? "batch " : "", text);
    }
    fprintf(out, ": %zu run%s, %.10s to %.10s\n", series->n, text_plural((int64_t)series->n),
            text_name(request->arena, text_of(first, "date")),
            text_name(request->arena, text_of(last, "date")));
    for (size_t i = 0; cm_metric_at(i, &metric); i++) {
        bool is_there = false;
        const int64_t old = metric_of(first, metric.key);
        const int64_t now = metric_of(last, metric.key);
        if (!is_shown(request, series, metric.key, &is_there)) {
            if (is_there && request->n_metrics == 0)
                text_printf(&same, "%s%s", same.length > 0 ? ", " : "", metric.key);
            continue;
        }
        if (n_shown++ == 0)
            fprintf(out, "  %-24s %12s %12s %9s  %s\n", "metric", "first", "last", "change",
                    "trend");
        fprintf(out, "  %-24s %12s %12s %9s  %s\n", metric.key,
                short_value(request, metric.unit, old), short_value(request, metric.unit, now),
                change(request, old, now), draw_trend(request, series, metric.key));
    }
    if (same.length > 0) fprintf(out, "  unchanged: %s\n", text_string(&same));
}

/* Writes a record for each run and metric. */
static void write_csv(const struct request *request, const struct series *series, FILE *out) {
    struct text safe = {.arena = request->arena};
    struct cm_metric metric;
    for (size_t i = 0; i < series->n; i++) {
        const struct json_value *line = series->points[i]->line;
        for (size_t k = 0; cm_metric_at(k, &metric); k++) {
            bool is_there = false;
            const int64_t value = metric_of(line, metric.key);
            if (!is_known(value) ||
                (!is_shown(request, series, metric.key, &is_there) && request->n_metrics > 0))
                continue;
            csv_put_text(text_of(line, "date"), &safe, out);
            fputc(',', out);
            csv_put_text(text_of(line, "commit"), &safe, out);
            for (size_t name = 0; name < N_NAMES; name++) {
                fputc(',', out);
                csv_put_text(text_of(line, names[name]), &safe, out);
            }
            fprintf(out, ",%s,%s,%lld\r\n", text_of(line, "state"), metric.key,
                    (long long)value);
        }
    }
}

static void write_json(const struct request *request, const struct series *series,
                       struct json_writer *json) {
    static const char *const keys[] = {"date", "commit", "state"};
    struct cm_metric metric;
    json_begin(json, '{');
    for (size_t i = 0; i < N_NAMES; i++)
        json_key_string(json, names[i], text_of(series->line, names[i]));
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        json_open(json, keys[k], '[');
        for (size_t i = 0; i < series->n; i++)
            json_write_string(json, text_of(series->points[i]->line, keys[k]));
        json_end(json, ']');
    }
    json_open(json, "metrics", '{');
    for (size_t k = 0; cm_metric_at(k, &metric); k++) {
        bool is_there = false;
        if ((!is_shown(request, series, metric.key, &is_there) && request->n_metrics > 0) ||
            !is_there)
            continue;
        json_open(json, metric.key, '[');
        for (size_t i = 0; i < series->n; i++)
            json_write_integer(json, metric_of(series->points[i]->line, metric.key));
        json_end(json, ']');
    }
    json_end(json, '}');
    json_end(json, '}');
}

static int write_history(const void *context, FILE *out) {
    const struct request *request = context;
    struct json_writer json = {.out = out};
    if (request->format == FORMAT_JSON) {
        json_begin(&json, '{');
        json_key_string(&json, "schema", "costmodel/trend/1");
        json_open(&json, "series", '[');
    }
    if (request->format == FORMAT_CSV)
        fprintf(out, "%s\r\n",
                "date,commit,model,batch,convention,precision,times,state,metric,value");
    for (size_t i = 0; i < request->n_series; i++) {
        const struct series *series = &request->series[i];
        if (request->format == FORMAT_JSON) {
            write_json(request, series, &json);
        } else if (request->format == FORMAT_CSV) {
            write_csv(request, series, out);
        } else {
            if (i > 0) fputs("\n", out);
            write_text(request, series, out);
        }
    }
    if (request->format == FORMAT_JSON) {
        json_end(&json, ']');
        json_end(&json, '}');
        fputs("\n", out);
    }
    return CM_OK;
}

static int check_metrics(const struct invocation *call, struct request *request) {
    int status =
        options_split(call, "metric", request->metrics, &request->n_metrics, &request->keys);
    for (size_t i = 0; i < request->n_metrics && status == CM_OK; i++)
        if (cm_metric_find(request->keys[i]) == CM_NO_INDEX)
            status = options_fault(call, "unknown metric '%s'", request->keys[i]);
    return status;
}

int command_history(const struct invocation *call) {
    struct request request = {.arena = call->arena};
    struct option_list operands = {0, NULL};
    char *text = NULL;
    size_t size = 0;
    size_t n_lines = 0;
    int status = options_parse(history_options, call, &request, &operands);
    if (status == CM_OK && operands.n != 1)
        status = options_fault(call, "history requires one file, got %zu", operands.n);
    if (status == CM_OK) status = check_metrics(call, &request);
    if (status < 0) return command_exit(status);
    request.path = operands.values[0];
    if (outputs_is_file(request.path, request.output))
        return command_exit(
            options_fault(call, "output '%s' is also an input", request.output));
    status =
        source_read_file(request.path, FILE_MAX_JSON, call->arena, call->diag, &text, &size);
    if (status < 0) return command_exit(status);
    for (size_t i = 0; i < size; i++) n_lines += text[i] == '\n';
    struct json_value **lines = arena_array(call->arena, n_lines, sizeof(*lines));
    status = lines == NULL ? diag_no_memory(call->diag)
                           : read_lines(call, &request, text, n_lines, lines);
    if (status == CM_OK)
        status = streams_write(request.output, write_history, &request, call->diag);
    for (size_t i = 0; lines != NULL && i < n_lines; i++) json_free(lines[i]);
    return command_exit(status);
}
