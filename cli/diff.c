/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel diff OLD NEW`: compares two models or profiles. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/binding.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/streams.h"
#include "cli/timing.h"
#include "costmodel/compare.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/suggest.h"
#include "support/text.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_MARKDOWN, FORMAT_HTML };

struct request {
    struct binding binding;
    struct timing timing;
    struct cm_diff_options report;
    const char *sort;
    int format; /* enum format */
    int units;  /* enum cm_units */
    const char *output;
    bool exit_code;
    int color; /* enum color_choice */
    int width; /* -1: not given */
};

static const struct option_choice formats[] = {
    {"text", FORMAT_TEXT, "default"},
    {"json", FORMAT_JSON, NULL},
    {"markdown", FORMAT_MARKDOWN, "pull request comment"},
    {"html", FORMAT_HTML, "page for a browser"},
    {.name = NULL},
};

#define AT(type, member)   OPTION_AT(struct request, type, member)
#define INTO(kind, member) OPTION_INTO(kind, struct request, member)

/* clang-format off */
const struct option diff_options[] = {
    {.rows = binding_batch, .offset = AT(struct binding, binding)},
    {.rows = binding_model, .offset = AT(struct binding, binding)},
    {.rows = binding_counting, .offset = AT(struct binding, binding)},
    {.rows = binding_rest, .offset = AT(struct binding, binding)},
    {.rows = timing_options, .offset = AT(struct timing, timing)},
    {.heading = "Report", .name = "format", .letter = 'f', INTO(CHOICE, format),
     .value = "FORMAT", .choices = formats,
     .help = "format of the report:"},
    {.rows = option_output, .offset = AT(const char *, output)},
    {.name = "sort", INTO(TEXT, sort), .value = "METRIC", .names = names_of_unit_metrics,
     .help = "sort modules and operators by the change of this metric (JSON key):\n"
             "macs, params, flops, activation_bytes, latency_ps, ... (default:\n"
             "macs, or the first metric that changed)"},
    {.name = "depth", INTO(INT, report.depth), .value = "N", .min = -1, .max = INT_MAX,
     .help = "merge modules deeper than N into their ancestor at depth N (default\n"
             "-1: do not merge)"},
    {.name = "top", INTO(INT, report.top), .value = "N", .min = 0, .max = INT_MAX,
     .help = "list N modules and N operators (default 10; 0 and json: all)"},
    {.name = "units", INTO(CHOICE, units), .value = "UNITS", .choices = choices_units,
     .help = "units of figures:"},
    {.name = "exit-code", INTO(SET, exit_code),
     .help = "exit with status 1 if the two differ (times are ignored)"},
    {.name = "width", INTO(INT, width), .value = "N", .min = 0, .max = INT_MAX,
     .help = "text: columns into which tables must fit, others are omitted (default:\n"
             "those of the terminal, else 100; 0: no limit)"},
    {.rows = option_color, .offset = AT(int, color)},
    {.name = NULL},
};
/* clang-format on */

struct side {
    const char *path;
    struct cm_model *model; /* NULL for a profile */
    struct cm_dims *dims;   /* symbolic dims of the model; NULL for a profile */
    bool is_profile;        /* `result` was read from a file */
    struct cm_result *result;
};

struct job {
    const struct invocation *call;
    struct request request;
    struct cm_options options;
    struct side sides[2]; /* old, new */
    struct progress progress;
    struct cm_diff *diff;
};

static const char *shown_path(const char *path) {
    return text_equal(path, "-") ? "standard input" : path;
}

static bool has_dim(const struct side *side, const char *name) {
    const struct cm_result *result = side->result;
    for (size_t i = 0; side->dims != NULL && i < side->dims->n; i++)
        if (text_equal(side->dims->dims[i].name, name)) return true;
    for (size_t i = 0; side->is_profile && i < result->options.n_dims; i++)
        if (text_equal(result->options.dims[i].name, name)) return true;
    return false;
}

static int load(struct job *job, size_t index, struct cm_diagnostics *diag) {
    struct side *side = &job->sides[index];
    struct cm_options plain = job->options;
    plain.n_dims = 0; /* only the names are needed */
    int status = cm_load_file(side->path, diag, &side->model, &side->result);
    side->is_profile = status == CM_OK && side->model == NULL;
    if (status != CM_OK || side->is_profile) return status;
    status = outputs_keep_weights(side->model, job->request.output, diag);
    return status == CM_OK ? cm_model_dims(side->model, &plain, diag, &side->dims) : status;
}

/* Profiles one side. Two versions of a model may name their dims differently, so each side gets
 * only the --dim options for its own dims; both refuse a name that neither side has. */
static int profile(struct job *job, size_t index, struct cm_diagnostics *diag) {
    struct side *side = &job->sides[index];
    struct cm_options options = job->options;
    if (side->is_profile) return CM_OK;
    struct cm_dim_option *dims =
        arena_array(job->call->arena, job->options.n_dims, sizeof(*dims));
    if (dims == NULL) return diag_no_memory(job->call->diag);
    options.n_dims = 0;
    options.dims = dims;
    for (size_t i = 0; i < job->options.n_dims; i++) {
        const char *name = job->options.dims[i].name;
        if (has_dim(side, name) || !has_dim(&job->sides[1 - index], name))
            dims[options.n_dims++] = job->options.dims[i];
    }
    progress_begin(&job->progress, &job->request.timing, job->request.output, &options);
    int status = cm_model_profile(side->model, &options, diag, &side->result);
    progress_end(&job->progress);
    return progress_require_end(&job->progress, status, diag);
}

/* Runs load or profile for both sides and prints the messages with the path of each file. */
static int run_step(struct job *job,
                    int (*step)(struct job *job, size_t index, struct cm_diagnostics *diag)) {
    int status = CM_OK;
    for (size_t i = 0; i < 2 && status == CM_OK; i++) {
        struct cm_diagnostics *diag = cm_diagnostics_new();
        if (diag == NULL) return diag_no_memory(job->call->diag);
        status = step(job, i, diag);
        messages_print(diag, job->sides[i].path, (enum color_choice)job->request.color,
                       job->call->diag);
        cm_diagnostics_free(diag);
    }
    return status;
}

/* Adds an error for each condition that makes the sides incomparable. */
static int refuse(const struct job *job) {
    const struct cm_diff *diff = job->diff;
    for (size_t i = 0; i < diff->n_conditions; i++) {
        const struct cm_condition *condition = &diff->conditions[i];
        if (condition->weight != CM_CONDITION_BREAKS) continue;
        (void)diag_error(job->call->diag, DIAG_COMPARE,
                         "not comparable: %s is %s in '%s' and %s in '%s'", condition->key,
                         condition->old_value, shown_path(job->sides[0].path),
                         condition->new_value, shown_path(job->sides[1].path));
        if (text_equal(condition->key, "batch"))
            diag_hint(job->call->diag,
                      "give --batch N, or use profiles made at the same batch");
        else if (text_starts_with(condition->key, "dims."))
            diag_hint(job->call->diag,
                      "give --dim %s=N, or use profiles made with the same sizes",
                      condition->key + strlen("dims."));
        else if (text_equal(condition->key, "counting"))
            diag_hint(job->call->diag, "profile both with this version of the program");
        else
            diag_hint(job->call->diag, "profile both with the same options; see 'costmodel "
                                       "guide what-made-it-slower'");
    }
    return EXIT_INCOMPARABLE;
}

/* Returns true if both sides have the metric and it is comparable. */
static bool has_metric(const struct cm_diff *diff, size_t metric) {
    const struct cm_change total = cm_diff_total(diff, metric);
    for (size_t i = 0; i < diff->n_metrics; i++)
        if (diff->metrics[i] == metric) return total.in_old && total.in_new;
    return false;
}

static int write_diff(const void *context, FILE *out) {
    const struct job *job = context;
    struct cm_diff_options report_options = job->request.report;
    report_options.color = streams_color(out, (enum color_choice)job->request.color);
    report_options.width = streams_columns(out, job->request.width, report_options.width);
    if (job->request.format == FORMAT_JSON)
        return cm_diff_write_json(job->diff, &report_options, out);
    if (job->request.format == FORMAT_HTML)
        return cm_diff_write_html(job->diff, &report_options, job->call->diag, out);
    if (job->request.format == FORMAT_MARKDOWN)
        return cm_diff_write_markdown(job->diff, &report_options, out);
    return cm_diff_write_text(job->diff, &report_options, out);
}

/* Returns true if times were requested, but the backend is unusable. */
static bool lacks_times(const struct side *side) {
    return !side->is_profile && cm_result_lacks_times(side->result);
}

static int run(struct job *job) {
    int status = run_step(job, load);
    const char *idle = binding_given(&job->request.binding);
    if (idle == NULL) idle = timing_given(&job->request.timing);
    if (status == CM_OK && idle != NULL && job->sides[0].is_profile && job->sides[1].is_profile)
        status = options_fault(
            job->call, "option --%s requires a model, but both inputs are profiles", idle);
    if (status == CM_OK) status = run_step(job, profile);
    if (status == CM_OK)
        status = cm_diff_make(job->sides[0].result, job->sides[1].result, job->call->diag,
                              &job->diff);
    if (job->progress.is_interrupted) return EXIT_INTERRUPTED;
    if (status != CM_OK) return command_exit(status);
    if (!cm_diff_comparable(job->diff)) return refuse(job);
    if (job->request.report.metric != CM_NO_INDEX &&
        !has_metric(job->diff, job->request.report.metric)) {
        (void)diag_error(job->call->diag, DIAG_COMPARE,
                         "cannot sort by %s: a side does not have it, or the devices differ",
                         job->request.sort);
        diag_hint(job->call->diag, "latency_ps requires --device, --measure or --backend; "
                                   "training metrics require --optimizer");
        return EXIT_INCOMPARABLE;
    }
    status = streams_write(job->request.output, write_diff, job, job->call->diag);
    if (status != CM_OK) return command_exit(status);
    if (lacks_times(&job->sides[0]) || lacks_times(&job->sides[1])) return EXIT_INCOMPARABLE;
    return job->request.exit_code && cm_diff_differs(job->diff) ? EXIT_DIFFERENT : EXIT_DONE;
}

static int read_metric(const struct invocation *call, const char *name, size_t *ret) {
    struct suggestion suggestion;
    struct cm_metric metric;
    if (name == NULL) return CM_OK;
    *ret = cm_metric_find(name);
    if (cm_metric_at(*ret, &metric) && (metric.of_modules || metric.of_operators)) return CM_OK;
    if (cm_metric_at(*ret, &metric))
        return options_fault(
            call, "option --sort requires a metric of modules or operators, got '%s'", name);
    suggest_init(&suggestion, name, strlen(name));
    for (size_t i = 0; cm_metric_at(i, &metric); i++) suggest_offer(&suggestion, metric.key);
    if (suggestion.best == NULL)
        return options_fault(call, "option --sort requires a metric, got '%s'", name);
    return options_fault(call, "option --sort requires a metric, got '%s', did you mean '%s'?",
                         name, suggestion.best);
}

/* Reads the paths of the two sides; refuses an output that is an input. */
static int read_paths(struct job *job, const char *const *paths) {
    const char *output = job->request.output;
    for (size_t i = 0; i < 2; i++) job->sides[i].path = paths[i];
    if (text_equal(paths[0], "-") && text_equal(paths[1], "-"))
        return options_fault(job->call, "only one of the two inputs can be standard input");
    if (outputs_is_file(output, paths[0]) || outputs_is_file(output, paths[1]))
        return options_fault(job->call, "output '%s' is also an input", output);
    return binding_check_output(job->call, &job->request.binding, output);
}
static int read_job(struct job *job) {
    const struct invocation *call = job->call;
    struct request *request = &job->request;
    struct option_list operands = {0, NULL};
    *request = (struct request){.color = COLOR_AUTO, .width = -1};
    cm_diff_options_init(&request->report);
    binding_defaults(&request->binding);
    timing_defaults(&request->timing);
    int status = options_parse(diff_options, call, request, &operands);
    if (status == CM_OK && operands.n != 2)
        status =
            options_fault(call, "diff requires two models or profiles, got %zu", operands.n);
    if (status == CM_OK) status = read_paths(job, operands.values);
    if (status == CM_OK) status = binding_read(call, &request->binding, &job->options);
    if (status == CM_OK) status = timing_check_one_precision(call, &request->timing);
    if (status == CM_OK) status = timing_read(call, &request->timing, &job->options);
    if (status == CM_OK) status = read_metric(call, request->sort, &request->report.metric);
    const bool is_page = request->format == FORMAT_HTML;
    if (status == CM_OK && is_page) status = cm_html_check(call->diag);
    job->options.memory_curve = is_page;
    job->options.memory_plan = is_page;
    request->report.units = (enum cm_units)request->units;
    return status;
}

int command_diff(const struct invocation *call) {
    struct job job = {.call = call};
    const int status = read_job(&job);
    const int exit_status = status == CM_OK ? run(&job) : command_exit(status);
    cm_diff_free(job.diff);
    binding_free(&job.request.binding);
    for (size_t i = 0; i < 2; i++) {
        cm_dims_free(job.sides[i].dims);
        cm_result_free(job.sides[i].result);
        cm_model_free(job.sides[i].model);
    }
    return exit_status;
}
