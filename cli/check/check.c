/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel check`: the regression gate. Exit status 1 means a regression only; if the check
 * cannot compare, for example because the model is refused or a file is unreadable, the exit
 * status is 3. */
#include "cli/check/check_command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/history.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/streams.h"
#include "costmodel/llm.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/system.h"
#include "support/text.h"

/* The check of one model. */
struct check {
    const struct invocation *call;
    const struct check_item *item;
    const struct check_run *run;
    struct check_request request;
    struct cm_budget *budget;     /* NULL: none */
    struct cm_baseline *baseline; /* NULL: none */
    char *baseline_text;          /* of the file as read; NULL: no file */
    size_t baseline_size;         /* bytes */
    struct cm_result *profile; /* the baseline borrows from it; NULL: not made from a profile */
    struct check_plan plan;
    struct progress progress;
    size_t n_limits; /* 0: the defaults of the library */
    const struct cm_check_limit *limits;
    size_t n_results;
    struct cm_result unprofiled; /* the result if no limit requires a profile */
    size_t n_requested; /* results of requested batches, first; the others are for limits */
    struct cm_result **results;
    struct cm_llm *llm;         /* NULL: not required, or not a language model */
    const char *no_llm;         /* why */
    const char *message;        /* first error about the model; NULL: none */
    bool is_refused;            /* the model cannot be read or profiled */
    struct cm_verdict *verdict; /* NULL: none yet */
};

/* The checks of all models, and their reports. */
struct check_run {
    const struct invocation *call;
    size_t n;
    struct check *checks;
    size_t n_reports;
    struct check_report *reports; /* --format and --output, then --report */
    bool has_page;                /* one of them is a page of HTML */
};

static int check_exit(int status) {
    if (status == CM_OK) return EXIT_DONE;
    return status == CM_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE;
}

#define MAX_BUDGET ((size_t)1 << 20) /* bytes */

/* An unreadable budget is a usage error, like the rest of the command line. */
static int read_budget(struct check *check) {
    const char *path = check->request.budget;
    char *text = NULL;
    size_t size = 0;
    if (path == NULL) return CM_OK;
    int status =
        source_read_file(path, MAX_BUDGET, check->call->arena, check->call->diag, &text, &size);
    if (status == CM_OK)
        status = cm_budget_read_json(text, size, path, check->call->diag, &check->budget);
    return status == CM_REFUSED || status == CM_IO ? CM_USAGE : status;
}

static size_t skip_blanks(const char *text, size_t size, size_t at) {
    while (at < size && strchr(" \t\r\n:", text[at]) != NULL && text[at] != '\0') at++;
    return at;
}

/* Returns true if the text is a profile: an HTML page, or JSON with the schema of a profile,
 * wherever that key is. In a string value, its quotes would be escaped. */
static bool text_is_profile(const char *text, size_t size) {
    static const char key[] = "\"schema\"";
    static const char schema[] = "\"costmodel/profile/";
    const size_t first = skip_blanks(text, size, 0);
    if (first < size && text[first] == '<') return true;
    for (size_t i = first; i + sizeof(key) - 1 <= size; i++) {
        if (memcmp(text + i, key, sizeof(key) - 1) != 0) continue;
        const size_t value = skip_blanks(text, size, i + sizeof(key) - 1);
        if (size - value >= sizeof(schema) - 1 &&
            memcmp(text + value, schema, sizeof(schema) - 1) == 0)
            return true;
    }
    return false;
}

/* Reads the baseline file; *ret_text is NULL if there is none. */
static int read_baseline_text(const struct check *check, char **ret_text, size_t *ret_size) {
    const char *path = check->request.baseline;
    *ret_text = NULL;
    *ret_size = 0;
    if (!text_equal(path, "-") && access(path, F_OK) != 0) return CM_OK;
    return source_read_file(path, FILE_MAX_JSON, check->call->arena, check->call->diag,
                            ret_text, ret_size);
}

/* Reads the baseline or makes it from a profile. Only an update may create the file. */
static int read_baseline(struct check *check) {
    const struct invocation *call = check->call;
    const char *path = check->request.baseline;
    if (path == NULL) return CM_OK;
    int status = read_baseline_text(check, &check->baseline_text, &check->baseline_size);
    if (status != CM_OK) return status;
    const char *text = check->baseline_text;
    const size_t size = check->baseline_size;
    if (text == NULL && check->request.update) return CM_OK;
    if (text == NULL) {
        status = diag_error(call->diag, DIAG_IO,
                            "baseline file '%s' not found, --update-baseline creates it", path);
        diag_hint(call->diag, "see 'costmodel guide gate-a-repository'");
        return status;
    }
    if (!text_is_profile(text, size))
        return cm_baseline_read_json(text, size, path, call->diag, &check->baseline);
    status = cm_result_read_json(text, size, path, call->diag, &check->profile);
    if (status != CM_OK) return status;
    const struct cm_result *const results[] = {check->profile};
    return cm_baseline_make(results, 1, NULL, "", call->diag, &check->baseline);
}

/* Returns the commit that the environment of a CI job names; NULL: none. */
static const char *find_commit(void) {
    static const char *const variables[] = {"GITHUB_SHA", "CI_COMMIT_SHA"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        const size_t length = value == NULL ? 0 : strlen(value);
        if (length >= 7 && length <= 64 && strspn(value, "0123456789abcdef") == length)
            return value;
    }
    return NULL;
}

static int write_baseline(const void *baseline, FILE *out) {
    return cm_baseline_write_json(baseline, out);
}

/* Replaces the baseline file under the lock of its folder. Fails if another process changed the
 * file since it was read: its entry of the history would be lost. */
static int save_baseline(const struct check *check, struct cm_baseline *now) {
    const char *path = check->request.baseline;
    struct cm_diagnostics *diag = check->call->diag;
    char *text = NULL;
    size_t size = 0;
    int lock = -1;
    int status = outputs_lock_folder(path, check->call->arena, diag, &lock);
    if (status != CM_OK) return status;
    status = read_baseline_text(check, &text, &size);
    const char *before = check->baseline_text;
    bool is_same = before == NULL && text == NULL;
    now->commit = find_commit();
    if (before != NULL && text != NULL)
        is_same = size == check->baseline_size && memcmp(text, before, size) == 0;
    if (status == CM_OK && !is_same)
        status = diag_error(diag, DIAG_IO,
                            "baseline file '%s' changed during the run: run again", path);
    if (status == CM_OK) status = streams_write(path, write_baseline, now, diag);
    system_unlock_folder(lock);
    return status;
}

static int list_limits(struct check *check) {
    const struct option_list *given = &check->request.limits;
    const size_t n_budget = check->budget == NULL ? 0 : check->budget->n_limits;
    struct cm_check_limit *limits =
        arena_array(check->call->arena, n_budget + given->n, sizeof(*limits));
    if (limits == NULL) return diag_no_memory(check->call->diag);
    for (size_t i = 0; i < n_budget; i++)
        limits[check->n_limits++] =
            (struct cm_check_limit){check->budget->limits[i], check->request.budget};
    for (size_t i = 0; i < given->n; i++)
        limits[check->n_limits++] = (struct cm_check_limit){given->values[i], "--limit"};
    check->limits = limits;
    return CM_OK;
}

static int prepare(struct check *check) {
    const struct invocation *call = check->call;
    struct check_request *request = &check->request;
    int status = binding_read(call, &request->binding, &check->plan.options);
    if (status == CM_OK) status = timing_check_one_precision(call, &request->timing);
    if (status == CM_OK) status = timing_read(call, &request->timing, &check->plan.options);
    if (status == CM_OK) status = read_budget(check);
    if (status == CM_OK) status = read_baseline(check);
    if (status == CM_OK) status = list_limits(check);
    if (status == CM_OK)
        status = check_plan_make(call, request, check->budget, check->baseline, &check->plan);
    if (status == CM_OK && !request->update)
        status = check_plan_take_limits(call, check->n_limits, check->limits, &check->plan);
    if (status < 0) return status;
    /* imported times are of one batch */
    const size_t n_batches = check->plan.n_batches + check->plan.n_limit_batches;
    if (request->timing.times.n > 0 && n_batches > 1)
        return options_fault(call, "option --times requires one batch, got %zu", n_batches);
    return CM_OK;
}

/* Uses a profile that was read from a file, unless an option requires a new one or the budget
 * requires other options. */
static int use_profile(struct check *check, struct cm_result *taken,
                       struct cm_diagnostics *diag) {
    const struct cm_budget *budget = check->budget;
    struct binding binding = check->request.binding;
    if (binding.options.convention == NULL)
        binding.options.convention = cm_convention_at(0)->name;
    const char *blocking = timing_given(&check->request.timing);
    if (blocking == NULL) blocking = binding_given(&binding);
    check->results[check->n_results++] = taken;
    if (blocking != NULL)
        return diag_error(diag, DIAG_USAGE, "option --%s requires a model, not a profile",
                          blocking);
    if (budget == NULL) return CM_OK;
    /* the profile must have the convention, batches and dims of the budget */
    if (budget->convention[0] != '\0' &&
        !text_equal(budget->convention, taken->options.convention))
        return diag_error(diag, DIAG_COMPARE,
                          "the budget requires convention %s, the profile has %s",
                          budget->convention, taken->options.convention);
    for (size_t i = 0; i < budget->n_batches; i++)
        if (taken->options.batch != (int64_t)budget->batches[i])
            return diag_error(diag, DIAG_COMPARE,
                              "the budget requires batch %zu, the profile has another",
                              budget->batches[i]);
    for (size_t i = 0; i < budget->n_dims; i++)
        for (size_t k = 0; k < taken->options.n_dims; k++)
            if (text_equal(budget->dims[i].name, taken->options.dims[k].name) &&
                budget->dims[i].size != taken->options.dims[k].size)
                return diag_error(
                    diag, DIAG_COMPARE,
                    "the budget requires another size of dim %s than the profile has",
                    budget->dims[i].name);
    return CM_OK;
}

/* Prints messages about the model with its path and, for several batches, the batch. Keeps the
 * first error for report_refusal. */
static void print_messages(struct check *check, struct cm_diagnostics *diag, int64_t batch) {
    const char *model = check->request.model;
    for (size_t i = 0; check->message == NULL && i < cm_diagnostics_count(diag); i++)
        if (cm_diagnostics_get(diag, i)->severity == CM_ERROR)
            check->message =
                arena_strdup(check->call->arena, cm_diagnostics_get(diag, i)->message);
    const char *subject = NULL;
    if (batch > 0 && check->plan.n_batches + check->plan.n_limit_batches > 1)
        subject = arena_printf(check->call->arena, "%s, batch %" PRId64,
                               text_equal(model, "-") ? "standard input" : model, batch);
    messages_print(diag, subject == NULL ? model : subject,
                   (enum color_choice)check->request.color, check->call->diag);
}

/* Profiles one batch, with a list of messages of its own: a list keeps only the first ones. */
static int profile_batch(struct check *check, struct cm_model *model, int64_t batch) {
    struct cm_options options = check->plan.options;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (diag == NULL) return diag_no_memory(check->call->diag);
    options.batch = batch;
    options.memory_curve = check->run->has_page;
    options.memory_plan = check->run->has_page;
    progress_begin(&check->progress, &check->request.timing, check->run->reports[0].path,
                   &options);
    int status = cm_model_profile(model, &options, diag, &check->results[check->n_results]);
    progress_end(&check->progress);
    if (status == CM_OK) check->n_results++;
    status = progress_require_end(&check->progress, status, diag);
    print_messages(check, diag, batch);
    cm_diagnostics_free(diag);
    return status;
}

/* Profiles each batch. If a batch named only by limits fails, these limits are not compared.
 * The model is not profiled, and its dims need no sizes, if all limits are of a language model.
 */
static int profile_batches(struct check *check, struct cm_model *model) {
    const struct check_plan *plan = &check->plan;
    if (plan->n_llm_limits > 0 && plan->n_llm_limits == check->n_limits && !check->baseline) {
        check->unprofiled.model.path = check->request.model;
        check->unprofiled.options.convention = plan->options.convention;
        check->unprofiled.options.batch = CM_UNKNOWN;
        check->results[check->n_results++] = &check->unprofiled;
        check->n_requested = check->n_results;
        return CM_OK;
    }
    int status = check_plan_take_dims(check->call, check->baseline, model, &check->plan);
    for (size_t i = 0; i < plan->n_batches && status == CM_OK; i++)
        status = profile_batch(check, model, plan->batches[i]);
    check->is_refused = status != CM_OK && !check->progress.is_interrupted;
    check->n_requested = check->n_results;
    for (size_t i = 0; i < plan->n_limit_batches && status == CM_OK; i++) {
        size_t k = 0;
        while (k < check->n_results &&
               check->results[k]->options.batch != plan->limit_batches[i])
            k++;
        if (k < check->n_results) continue; /* profiled already */
        status = profile_batch(check, model, plan->limit_batches[i]);
        if (check->progress.is_interrupted) break;
        if (status == CM_REFUSED || status == CM_USAGE) status = CM_OK;
    }
    return status;
}

/* Analyses a language model if a limit names one of its figures. */
static int analyse_llm(struct check *check, struct cm_model *model) {
    struct cm_options options = check->plan.options;
    struct cm_llm_options llm;
    if (check->plan.n_llm_limits == 0) return CM_OK;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (diag == NULL) return diag_no_memory(check->call->diag);
    cm_llm_options_init(&llm);
    llm.ignore_dims = true;
    options.backend = NULL;
    const int status = cm_model_llm(model, &options, &llm, diag, &check->llm);
    for (size_t i = 0; check->no_llm == NULL && i < cm_diagnostics_count(diag); i++)
        if (cm_diagnostics_get(diag, i)->severity == CM_ERROR)
            check->no_llm = arena_printf(check->call->arena, "no language model: %s",
                                         cm_diagnostics_get(diag, i)->message);
    cm_diagnostics_free(diag);
    return status == CM_NO_MEMORY ? diag_no_memory(check->call->diag) : CM_OK;
}

/* Loads a profile, or profiles the model at each batch. Refuses outputs that are files of
 * the model. */
static int load_results(struct check *check) {
    const struct check_request *request = &check->request;
    const size_t capacity = check->plan.n_batches + check->plan.n_limit_batches + 1;
    struct cm_model *model = NULL;
    struct cm_result *taken = NULL;
    check->results = arena_array(check->call->arena, capacity, sizeof(struct cm_result *));
    struct cm_diagnostics *diag = check->results == NULL ? NULL : cm_diagnostics_new();
    if (diag == NULL) return diag_no_memory(check->call->diag);
    int status = cm_load_file(request->model, diag, &model, &taken);
    check->is_refused = status != CM_OK;
    if (taken != NULL) status = use_profile(check, taken, diag);
    if (model != NULL && (request->update || request->ratchet))
        status = outputs_keep_weights(model, request->baseline, diag);
    for (size_t i = 0; model != NULL && status == CM_OK && i < check->run->n_reports; i++)
        status = outputs_keep_weights(model, check->run->reports[i].path, diag);
    print_messages(check, diag, 0);
    cm_diagnostics_free(diag);
    check->n_requested = check->n_results;
    if (status == CM_OK && model != NULL) status = profile_batches(check, model);
    if (status == CM_OK && model != NULL) status = analyse_llm(check, model);
    if (taken != NULL) check->no_llm = "a profile has no figures of a language model";
    cm_model_free(model);
    return status;
}

/* Refuses outputs that would overwrite an input of the check or each other. */
static int check_paths(const struct check *check) {
    const struct check_request *request = &check->request;
    const struct check_run *run = check->run;
    for (size_t i = 0; i < run->n_reports; i++) {
        const char *path = run->reports[i].path;
        if (outputs_is_file(path, request->model) || outputs_is_file(path, request->baseline) ||
            outputs_is_file(path, request->budget))
            return options_fault(check->call, "output '%s' is also an input", path);
        const int status = binding_check_output(check->call, &request->binding, path);
        if (status != CM_OK) return status;
        for (size_t k = 0; k < i; k++)
            if (path != NULL && text_equal(path, run->reports[k].path))
                return options_fault(check->call, "output '%s' is given twice", path);
        if (run->n > 1 && run->reports[i].format == CHECK_FORMAT_HTML &&
            (path == NULL || strstr(path, "{name}") == NULL))
            return options_fault(check->call,
                                 "a page shows one model: pages of several require {name} in "
                                 "the file name");
    }
    if (!request->update && !request->ratchet) return CM_OK;
    if (request->update && outputs_is_file(request->baseline, request->model))
        return options_fault(check->call, "baseline '%s' is the model file", request->baseline);
    for (const struct check *other = run->checks; other < check; other++)
        if (request->baseline != NULL && text_equal(request->baseline, other->request.baseline))
            return options_fault(check->call,
                                 "baseline '%s' is of two models: {name} in it is the name of "
                                 "the model",
                                 request->baseline);
    return CM_OK;
}

static int list_reports(struct check_run *run) {
    const struct check_request *request = &run->checks[0].request;
    const struct option_list *more = &request->reports;
    run->reports = arena_array(run->call->arena, more->n + 1, sizeof(*run->reports));
    if (run->reports == NULL) return diag_no_memory(run->call->diag);
    run->reports[0].format = (size_t)request->format;
    run->reports[0].path = text_equal(request->output, "-") ? NULL : request->output;
    for (size_t i = 0; i < more->n; i++) {
        const int status = check_report_read(run->call, more->values[i], &run->reports[i + 1]);
        if (status != CM_OK) return status;
    }
    run->n_reports = more->n + 1;
    for (size_t i = 0; i < run->n_reports; i++) {
        struct check_report *report = &run->reports[i];
        run->has_page |= report->format == CHECK_FORMAT_HTML;
        if (run->n > 1) continue;
        report->path = check_expand_name(run->call->arena, report->path, request->model);
        if (arena_failed(run->call->arena)) return diag_no_memory(run->call->diag);
    }
    int status = run->has_page ? cm_html_check(run->call->diag) : CM_OK;
    for (size_t i = 0; i < run->n && status == CM_OK; i++)
        status = check_paths(&run->checks[i]);
    return status;
}

typedef int writer(const struct cm_verdict *verdict, FILE *out);

/* Indexed by check_report.format; NULL: the writer has another signature. */
static writer *const writers[] = {
    [CHECK_FORMAT_TEXT] = NULL, cm_verdict_write_json,  cm_verdict_write_markdown,
    cm_verdict_write_junit,     cm_verdict_write_sarif, cm_verdict_write_github,
    [CHECK_FORMAT_HTML] = NULL,
};

/* Writes a report to standard output, or to a temporary file *ret that the caller commits.
 * `page_of`: the check that a page shows. */
static int write_report(const struct check_run *run, const struct check_report *report,
                        const struct cm_verdict *verdict, const struct check *page_of,
                        struct output **ret) {
    struct cm_diagnostics *diag = run->call->diag;
    int status = report->path == NULL ? CM_OK : output_open(report->path, diag, ret);
    if (status != CM_OK) return status;
    FILE *out = report->path == NULL ? stdout : output_stream(*ret);
    if (writers[report->format] != NULL) {
        status = writers[report->format](verdict, out);
    } else if (report->format == CHECK_FORMAT_HTML) {
        const bool has_profile =
            page_of->n_results > 0 && page_of->results[0] != &page_of->unprofiled;
        status =
            cm_verdict_write_html(page_of->verdict, has_profile ? page_of->results[0] : NULL,
                                  page_of->baseline, diag, out);
    } else {
        struct cm_text_options options;
        cm_text_options_init(&options);
        options.width = streams_columns(out, -1, options.width);
        options.color = streams_color(out, (enum color_choice)run->checks[0].request.color);
        status = cm_verdict_write_text(verdict, &options, out);
    }
    if (status == CM_NO_MEMORY) return diag_no_memory(diag);
    return streams_finish(out, report->path == NULL ? "standard output" : report->path, diag);
}

/* Writes all reports, or no file at all: all are written before the first is renamed. Pages
 * have a file for each model. */
static int write_reports(const struct check_run *run, const struct cm_verdict *verdict) {
    struct arena *arena = run->call->arena;
    struct output **outputs = arena_array(arena, run->n_reports * run->n, sizeof(*outputs));
    if (outputs == NULL) return diag_no_memory(run->call->diag);
    /* a text on standard output would repeat the message */
    const bool is_refused = run->n == 1 && run->checks[0].is_refused;
    size_t n_files = 0;
    int status = CM_OK;
    for (size_t i = 0; i < run->n_reports; i++) {
        struct check_report report = run->reports[i];
        const size_t n_pages = report.format == CHECK_FORMAT_HTML ? run->n : 1;
        if (is_refused && report.path == NULL && report.format == CHECK_FORMAT_TEXT) continue;
        for (size_t k = 0; k < n_pages && status == CM_OK; k++) {
            const struct check *check = &run->checks[k];
            struct output *output = NULL;
            if (n_pages > 1)
                report.path =
                    check_expand_name(arena, run->reports[i].path, check->request.model);
            status = write_report(run, &report, verdict, check, &output);
            if (output != NULL) outputs[n_files++] = output;
        }
    }
    if (status == CM_OK) return output_commit_all(outputs, n_files, run->call->diag);
    for (size_t i = 0; i < n_files; i++) output_abandon(outputs[i]);
    return status;
}

/* Sets the verdict of a model that cannot be profiled: one case, which is not compared. */
static int judge_refusal(struct check *check) {
    const struct cm_check_finding finding = {
        .path = "",
        .state = "not-compared",
        .value = CM_UNKNOWN,
        .old = CM_UNKNOWN,
        .allowed = CM_UNKNOWN,
        .over = CM_UNKNOWN,
        .because = check->message == NULL ? "" : check->message,
    };
    struct arena *arena = check->call->arena;
    const struct cm_check_case refused = {
        .limit = "the model can be profiled",
        .source = "",
        .metric = "",
        .unit = "",
        .batch = CM_UNKNOWN,
        .state = "not-compared",
        .compared = 1,
        .n_findings = 1,
        .findings = arena_copy(arena, &finding, sizeof finding),
    };
    const char *convention = check->plan.options.convention;
    const struct cm_verdict verdict = {
        .model = check->request.model,
        .state = "not-compared",
        .not_compared = 1,
        .convention = convention == NULL ? cm_convention_at(0)->name : convention,
        .precision = "",
        .baseline = check->baseline == NULL ? "" : check->baseline->model,
        .times = "",
        .accept = "",
        .n_cases = 1,
        .cases = arena_copy(arena, &refused, sizeof refused),
    };
    check->verdict = arena_copy(arena, &verdict, sizeof verdict);
    return arena_failed(arena) ? diag_no_memory(check->call->diag) : CM_OK;
}

/* Returns the first metric that increased: "macs", "macs of layer1.0". */
static const char *first_increase(const struct check *check,
                                  const struct cm_baseline_trend *trend) {
    struct text text = {.arena = check->call->arena};
    text_append(&text, trend->increased_metric);
    if (trend->increased_module[0] != '\0') {
        text_append(&text, " of ");
        text_append_label(&text, trend->increased_module);
    }
    return text_string(&text);
}

/* Updates the baseline if a cost decreased and none increased. Prints the outcome. */
static int ratchet(const struct check *check) {
    const struct cm_baseline *old = check->baseline;
    struct cm_baseline_trend trend;
    struct cm_baseline *now = NULL;
    int status = cm_baseline_make((const struct cm_result *const *)check->results,
                                  check->n_requested, old, "", check->call->diag, &now);
    if (status != CM_OK) return status;
    status = cm_baseline_compare(old, now, check->n_limits, check->limits, check->call->diag,
                                 &trend);
    if (status == CM_OK && trend.decreased && !trend.increased && !trend.incomplete)
        status = save_baseline(check, now);
    if (status == CM_OK) {
        struct text line = {.arena = check->call->arena};
        text_append_name(&line, check->request.baseline);
        if (trend.incomplete)
            text_append(&line, " not updated: unknown operators or shapes");
        else if (!trend.comparable)
            text_append(&line, " not updated: it has other batches or options");
        else if (trend.increased)
            text_printf(&line, " not updated: %s increased", first_increase(check, &trend));
        else
            text_append(&line, trend.decreased ? " updated: costs decreased"
                                               : " not updated: no cost decreased");
        fprintf(stderr, "costmodel: %s\n", text_string(&line));
    }
    cm_baseline_free(now);
    return status;
}

/* Checks the limits. */
static int judge_model(struct check *check) {
    const struct check_request *request = &check->request;
    const struct invocation *call = check->call;
    struct cm_check_options options = {
        .size = sizeof options,
        .baseline = check->baseline,
        .no_baseline = "no baseline was given",
        .n_limits = check->n_limits,
        .limits = check->limits,
        .n_extra_profiles = check->n_results - check->n_requested,
        .allow_incomplete = request->allow_incomplete,
        .fail_ambiguous = request->fail_ambiguous,
        .top = (size_t)request->top,
        .accept = "",
        .llm = check->llm,
        .no_llm = check->no_llm,
        .commit = find_commit(),
        .n_waivers = check->item->n_waivers,
        .waivers = check->item->waivers,
    };
    if (request->baseline != NULL && !text_equal(request->baseline, "-"))
        options.accept = check_accept_command(&check->item->shown);
    if (options.accept == NULL) return diag_no_memory(call->diag);
    return cm_check((const struct cm_result *const *)check->results, check->n_results, &options,
                    call->diag, &check->verdict);
}

/* Refuses an update without --reason if a cost increased, if batches or options differ, or if
 * costs may be too low because of unknown operators or shapes. */
static int check_reason(const struct check *check, const struct cm_baseline *now) {
    const struct cm_baseline *old = check->baseline;
    if (old == NULL || check->request.reason != NULL) return CM_OK;
    struct cm_baseline_trend trend;
    const int status = cm_baseline_compare(old, now, check->n_limits, check->limits,
                                           check->call->diag, &trend);
    if (status != CM_OK) return status;
    if (!trend.comparable)
        return options_fault(check->call,
                             "%s has other batches or options: an update requires --reason",
                             check->request.baseline);
    if (trend.incomplete)
        return options_fault(check->call,
                             "unknown operators or shapes, %s would be too low: an update "
                             "requires --reason",
                             check->request.baseline);
    if (!trend.increased) return CM_OK;
    return options_fault(check->call, "%s increased: an update requires --reason",
                         first_increase(check, &trend));
}

static int update(struct check *check) {
    const struct check_request *request = &check->request;
    const char *reason = request->reason == NULL ? "" : request->reason;
    struct cm_baseline *now = NULL;
    for (size_t i = 0; i < check->n_requested; i++)
        if (cm_result_lacks_times(check->results[i]))
            return diag_error(check->call->diag, DIAG_BACKEND,
                              "%s is not written, because it would lack the times",
                              request->baseline);
    int status =
        cm_baseline_make((const struct cm_result *const *)check->results, check->n_requested,
                         check->baseline, reason, check->call->diag, &now);
    if (status == CM_OK) status = check_reason(check, now);
    if (status == CM_OK) status = save_baseline(check, now);
    if (status == CM_OK)
        printf("%s: written, %zu %s with %zu modules\n",
               text_name(check->call->arena, request->baseline), now->n_profiles,
               now->n_profiles == 1 ? "batch" : "batches", now->n_modules / now->n_profiles);
    cm_baseline_free(now);
    return status;
}

/* Runs one check up to its verdict. Returns its exit status; *ret_status is negative if the run
 * cannot go on. */
static int run_model(struct check *check, int *ret_status) {
    const struct check_request *request = &check->request;
    int status = prepare(check);
    const bool is_prepared = status == CM_OK;
    *ret_status = status;
    if (status == CM_USAGE || status == CM_NO_MEMORY) return check_exit(status);
    if (is_prepared) status = load_results(check);
    *ret_status = status == CM_NO_MEMORY ? status : CM_OK;
    if (status == CM_OK) status = request->update ? update(check) : judge_model(check);
    const struct cm_diagnostic *error = diag_first_error(check->call->diag);
    if (check->message == NULL && error != NULL) check->message = error->message;
    check->is_refused |= status != CM_OK && (check->run->n > 1 || !is_prepared);
    if (status == CM_OK && check->verdict != NULL) return cm_verdict_exit(check->verdict);
    if (check->is_refused && status != CM_NO_MEMORY && !request->update)
        *ret_status = judge_refusal(check);
    if (status == CM_NO_MEMORY) *ret_status = status;
    return check_exit(status);
}

/* Returns the worse exit status: a regression, then undecided, then usage, then a pass. */
static int worse(int exit_status, int other) {
    if (exit_status == 1 || other == 1) return 1;
    return exit_status > other ? exit_status : other;
}

/* Appends the costs of all models that were profiled to the file of --history. */
static int keep_history(const struct check_run *run) {
    const char *path = run->checks[0].request.history;
    struct text lines = {.arena = run->call->arena};
    int status = CM_OK;
    if (path == NULL) return CM_OK;
    for (size_t i = 0; i < run->n && status == CM_OK; i++) {
        const struct check *check = &run->checks[i];
        const bool has_profile =
            check->n_requested > 0 && check->results[0] != &check->unprofiled;
        if (has_profile && !check->is_refused)
            status = history_add_lines(run->call, check->verdict,
                                       (const struct cm_result *const *)check->results,
                                       check->n_requested, &lines);
    }
    return status == CM_OK ? history_append(run->call, path, &lines) : status;
}

/* Joins the verdicts, writes the reports and ratchets the baselines of models that pass. */
static int report(const struct check_run *run) {
    const struct invocation *call = run->call;
    struct cm_verdict *joined = NULL;
    const struct cm_verdict **verdicts = arena_array(call->arena, run->n, sizeof(*verdicts));
    if (verdicts == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < run->n; i++) {
        verdicts[i] = run->checks[i].verdict;
        if (verdicts[i] == NULL) return CM_OK; /* no reports: it failed for another reason */
    }
    int status = run->n == 1 ? CM_OK : cm_verdict_join(verdicts, run->n, call->diag, &joined);
    if (status == CM_OK) status = write_reports(run, joined == NULL ? verdicts[0] : joined);
    cm_verdict_free(joined);
    if (status == CM_OK) status = keep_history(run);
    for (size_t i = 0; i < run->n && status == CM_OK; i++) {
        const struct check *check = &run->checks[i];
        if (check->request.ratchet && !check->is_refused && check->baseline != NULL &&
            cm_verdict_exit(check->verdict) == 0)
            status = ratchet(check);
    }
    return status;
}

static int run_all(struct check_run *run) {
    int exit_status = EXIT_DONE;
    int status = list_reports(run);
    for (size_t i = 0; i < run->n && status == CM_OK; i++) {
        struct check *check = &run->checks[i];
        const int one = run_model(check, &status);
        if (check->progress.is_interrupted) return EXIT_INTERRUPTED;
        exit_status = i == 0 ? one : worse(exit_status, one);
    }
    if (status != CM_OK) return check_exit(status);
    if (run->checks[0].request.update)
        status = streams_finish(stdout, "standard output", run->call->diag);
    else
        status = report(run);
    return status == CM_OK ? exit_status : check_exit(status);
}

/* Parses the command line of each model. */
static int read_checks(struct check_run *run) {
    const struct invocation *call = run->call;
    struct option_list operands = {0, NULL};
    struct check_request given;
    struct check_items items = {0, NULL};
    int status = check_request_parse(call, &given, &operands);
    if (status == CM_OK) status = check_items_read(call, given.config, &operands, &items);
    if (status < 0) return status;
    run->checks = arena_array(call->arena, items.n, sizeof(*run->checks));
    if (run->checks == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < items.n && status == CM_OK; i++) {
        struct check *check = &run->checks[run->n];
        *check =
            (struct check){.call = &items.items[i].call, .item = &items.items[i], .run = run};
        status = check_request_read(check->item, &check->request);
        if (!check->request.is_skipped) run->n++;
    }
    if (status == CM_OK && run->n == 0)
        return options_fault(call, "option --update-baseline requires a model with a baseline");
    return status;
}

int command_check(const struct invocation *call) {
    struct check_run run = {.call = call};
    const int status = read_checks(&run);
    const int exit_status = status == CM_OK ? run_all(&run) : check_exit(status);
    for (size_t i = 0; i < run.n; i++) {
        struct check *check = &run.checks[i];
        for (size_t k = 0; k < check->n_results; k++) cm_result_free(check->results[k]);
        cm_llm_free(check->llm);
        cm_verdict_free(check->verdict);
        cm_baseline_free(check->baseline);
        cm_result_free(check->profile);
        cm_budget_free(check->budget);
        binding_free(&check->request.binding);
        timing_free(&check->request.timing);
    }
    return exit_status;
}
