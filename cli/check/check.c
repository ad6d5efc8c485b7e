/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `costmodel check`: the regression gate. Exit status 1 means a regression only; if the check
 * cannot compare, for example because the model is refused or a file is unreadable, the exit
 * status is 3.
 */
#include "cli/check/check_command.h"

#include <inttypes.h>

#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/streams.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* One run. */
struct check {
    const struct invocation *call;
    struct check_request request;
    struct cm_budget *budget; /* NULL: none */
    struct check_baseline baseline;
    struct check_plan plan;
    size_t n_limits; /* 0: the defaults of the library */
    const struct cm_check_limit *limits;
    size_t n_results;
    size_t n_requested; /* the first n_requested results; the others are only named by limits */
    struct cm_result **results;
    size_t n_reports;
    struct check_report *reports; /* --format and --output, then --report */
};

static int check_exit(int status) {
    if (status == CM_OK) return EXIT_DONE;
    return status == CM_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE;
}

/* An unreadable budget is a usage error, like the rest of the command line. */
static int read_budget(struct check *check) {
    const struct check_request *request = &check->request;
    if (request->budget == NULL) return CM_OK;
    const int status = check_budget_read(request->budget, check->call->arena, check->call->diag,
                                         &check->budget);
    return status == CM_REFUSED || status == CM_IO ? CM_USAGE : status;
}

/* Lists the limits of the budget, then those of the command line. */
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
    if (status == CM_OK) status = timing_read(call, &request->timing, &check->plan.options);
    if (status == CM_OK) status = read_budget(check);
    if (status == CM_OK)
        status =
            check_baseline_read(request->baseline, call->arena, call->diag, &check->baseline);
    if (status == CM_OK) status = list_limits(check);
    if (status == CM_OK)
        status = check_plan_make(call, request, check->budget, check->baseline.baseline,
                                 &check->plan);
    if (status == CM_OK && !request->update)
        status = check_plan_take_limits(call, check->n_limits, check->limits, &check->plan);
    return status;
}

/* Checks that a given profile was made with the options of the budget. */
static int check_taken(const struct check *check, const struct cm_result *taken,
                       struct cm_diagnostics *diag) {
    const struct cm_budget *budget = check->budget;
    const char *convention = taken->options.convention;
    if (budget == NULL) return CM_OK;
    if (budget->convention[0] != '\0' && !text_equal(budget->convention, convention))
        return diag_error(diag, DIAG_COMPARE,
                          "the budget requires convention %s, the profile has %s",
                          budget->convention, convention);
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

/* Uses a profile that was read from a file, unless an option requires a new one. */
static int take_profile(struct check *check, struct cm_result *taken,
                        struct cm_diagnostics *diag) {
    const char *blocking = timing_given(&check->request.timing);
    struct binding binding = check->request.binding;
    if (binding.convention == NULL) binding.convention = cm_convention_at(0)->name;
    if (blocking == NULL) blocking = binding_given(&binding);
    check->results[check->n_results++] = taken;
    if (blocking == NULL) return check_taken(check, taken, diag);
    return diag_error(diag, DIAG_USAGE, "option --%s requires a model, not a profile",
                      blocking);
}

/* Prints messages about the model with its path and, for several batches, the batch. */
static int print_messages(const struct check *check, const struct cm_diagnostics *diag,
                          int64_t batch) {
    const char *model = check->request.model;
    const char *subject = text_equal(model, "-") ? "standard input" : model;
    if (batch > 0 && check->plan.n_batches + check->plan.n_limit_batches > 1)
        subject = arena_printf(check->call->arena, "%s, batch %" PRId64, subject, batch);
    if (subject == NULL) return diag_no_memory(check->call->diag);
    messages_print(diag, subject, (enum color_choice)check->request.color);
    return CM_OK;
}

/* Each batch has its own list of messages, because a list keeps only the first ones. */
static int profile_batch(struct check *check, struct cm_model *model, int64_t batch) {
    struct progress progress = {.shown = false};
    struct cm_options options = check->plan.options;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (diag == NULL) return diag_no_memory(check->call->diag);
    options.batch = batch;
    options.progress = progress_show;
    options.progress_context = &progress;
    const int status =
        cm_model_profile(model, &options, diag, &check->results[check->n_results]);
    progress_end(&progress);
    if (status == CM_OK) check->n_results++;
    const int printed = print_messages(check, diag, batch);
    cm_diagnostics_free(diag);
    return status == CM_OK ? printed : status;
}

static int keep_weights(const struct check *check, const struct cm_model *model,
                        struct cm_diagnostics *diag) {
    const struct check_request *request = &check->request;
    const bool writes = request->update || request->ratchet;
    int status = writes ? outputs_keep_weights(model, request->baseline, diag) : CM_OK;
    for (size_t i = 0; status == CM_OK && i < check->n_reports; i++)
        status = outputs_keep_weights(model, check->reports[i].path, diag);
    return status;
}

static int load(struct check *check, struct cm_diagnostics *diag, struct cm_model **ret) {
    struct cm_result *taken = NULL;
    check->results =
        arena_array(check->call->arena, check->plan.n_batches + check->plan.n_limit_batches + 1,
                    sizeof(struct cm_result *));
    if (check->results == NULL) return diag_no_memory(diag);
    const int status = cm_load_file(check->request.model, diag, ret, &taken);
    if (status != CM_OK) return status;
    return taken != NULL ? take_profile(check, taken, diag) : keep_weights(check, *ret, diag);
}

static int load_and_print(struct check *check, struct cm_model **ret) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (diag == NULL) return diag_no_memory(check->call->diag);
    const int status = load(check, diag, ret);
    const int printed = print_messages(check, diag, 0);
    cm_diagnostics_free(diag);
    return status == CM_OK ? printed : status;
}

static bool is_profiled(const struct check *check, int64_t batch) {
    for (size_t i = 0; i < check->n_results; i++)
        if (check->results[i]->options.batch == batch) return true;
    return false;
}

/* Profiles the batches that only limits name. If that fails, their limits are not compared. */
static int profile_limit_batches(struct check *check, struct cm_model *model) {
    int status = CM_OK;
    for (size_t i = 0; i < check->plan.n_limit_batches && status == CM_OK; i++) {
        if (is_profiled(check, check->plan.limit_batches[i])) continue;
        status = profile_batch(check, model, check->plan.limit_batches[i]);
        if (status == CM_REFUSED || status == CM_USAGE) status = CM_OK;
    }
    return status;
}

/* Loads the model and profiles it at each batch, or loads a profile. */
static int take_results(struct check *check) {
    struct cm_model *model = NULL;
    int status = load_and_print(check, &model);
    if (status == CM_OK && model != NULL)
        status =
            check_plan_take_dims(check->call, check->baseline.baseline, model, &check->plan);
    for (size_t i = 0; model != NULL && i < check->plan.n_batches && status == CM_OK; i++)
        status = profile_batch(check, model, check->plan.batches[i]);
    check->n_requested = check->n_results;
    if (model != NULL && status == CM_OK) status = profile_limit_batches(check, model);
    cm_model_free(model);
    return status;
}

static int make_verdict(struct check *check, struct cm_verdict **ret) {
    const struct check_request *request = &check->request;
    struct cm_check_options options = {
        .baseline = check->baseline.baseline,
        .no_baseline = check->baseline.missing,
        .n_limits = check->n_limits,
        .limits = check->limits,
        .n_beside = check->n_results - check->n_requested,
        .allow_incomplete = request->allow_incomplete,
        .fail_ambiguous = request->fail_ambiguous,
        .top = (size_t)request->top,
        .accept = "",
    };
    if (request->baseline != NULL && !text_equal(request->baseline, "-"))
        options.accept = check_accept_command(check->call);
    if (options.accept == NULL) return diag_no_memory(check->call->diag);
    return cm_check((const struct cm_result *const *)check->results, check->n_results, &options,
                    check->call->diag, ret);
}

/* Refuses outputs that would overwrite an input or each other. */
static int check_paths(const struct check *check) {
    const struct check_request *request = &check->request;
    for (size_t i = 0; i < check->n_reports; i++) {
        const char *path = check->reports[i].path;
        if (outputs_is_file(path, request->model) || outputs_is_file(path, request->baseline) ||
            outputs_is_file(path, request->budget))
            return options_fault(check->call, "output '%s' is also an input", path);
        const int status = binding_check_output(check->call, &request->binding, path);
        if (status != CM_OK) return status;
        for (size_t k = 0; k < i; k++)
            if (path != NULL && text_equal(path, check->reports[k].path))
                return options_fault(check->call, "output '%s' is given twice", path);
    }
    if (request->update && outputs_is_file(request->baseline, request->model))
        return options_fault(check->call, "baseline '%s' is the model file", request->baseline);
    return CM_OK;
}

static int list_reports(struct check *check) {
    const struct check_request *request = &check->request;
    const struct option_list *more = &request->reports;
    struct check_report *reports =
        arena_array(check->call->arena, more->n + 1, sizeof(*reports));
    if (reports == NULL) return diag_no_memory(check->call->diag);
    reports[0].format = (size_t)request->format;
    reports[0].path = text_equal(request->output, "-") ? NULL : request->output;
    for (size_t i = 0; i < more->n; i++) {
        const int status = check_report_read(check->call, more->values[i], &reports[i + 1]);
        if (status != CM_OK) return status;
    }
    check->reports = reports;
    check->n_reports = more->n + 1;
    return check_paths(check);
}

/* Returns the first metric that increased: "macs", "macs of layer1.0". */
static const char *first_increase(const struct check *check,
                                  const struct cm_baseline_trend *trend) {
    struct text text;
    text_init(&text, check->call->arena);
    text_append(&text, trend->dearest);
    if (trend->dearest_module[0] != '\0') {
        text_append(&text, " of ");
        text_append_label(&text, trend->dearest_module);
    }
    return text_string(&text);
}

/* Reports the result of --ratchet on standard error. */
static void print_ratchet(const struct check *check, const struct cm_baseline_trend *trend) {
    struct text path;
    text_init(&path, check->call->arena);
    text_append_name(&path, check->request.baseline);
    if (trend->incomplete)
        fprintf(stderr, "costmodel: %s not updated: unknown operators or shapes\n",
                text_string(&path));
    else if (!trend->comparable)
        fprintf(stderr, "costmodel: %s not updated: it has other batches or options\n",
                text_string(&path));
    else if (trend->dearer)
        fprintf(stderr, "costmodel: %s not updated: %s increased\n", text_string(&path),
                first_increase(check, trend));
    else if (trend->cheaper)
        fprintf(stderr, "costmodel: %s updated: costs decreased\n", text_string(&path));
    else
        fprintf(stderr, "costmodel: %s not updated: no cost decreased\n", text_string(&path));
}

/* Updates the baseline after a pass if costs decreased and none increased. */
static int ratchet(const struct check *check) {
    const struct cm_baseline *old = check->baseline.baseline;
    struct cm_baseline_trend trend;
    struct cm_baseline *now = NULL;
    int status = cm_baseline_make((const struct cm_result *const *)check->results,
                                  check->n_requested, old, "", check->call->diag, &now);
    if (status != CM_OK) return status;
    status = cm_baseline_compare(old, now, check->n_limits, check->limits, check->call->diag,
                                 &trend);
    if (status == CM_OK && trend.cheaper && !trend.dearer && !trend.incomplete)
        status = check_baseline_write(check->request.baseline, now, check->call->diag);
    if (status == CM_OK) print_ratchet(check, &trend);
    cm_baseline_free(now);
    return status;
}

static int run_check(struct check *check) {
    struct cm_verdict *verdict = NULL;
    int status = make_verdict(check, &verdict);
    if (status != CM_OK) return check_exit(status);
    status = check_reports_write(check->call, check->reports, check->n_reports, verdict,
                                 (enum color_choice)check->request.color);
    const int exit_status = cm_verdict_exit(verdict);
    if (status == CM_OK && check->request.ratchet && exit_status == 0 &&
        check->baseline.baseline != NULL)
        status = ratchet(check);
    cm_verdict_free(verdict);
    return status == CM_OK ? exit_status : check_exit(status);
}

/* Requires --reason if a cost increased, or if decreases may be due to unknown operators. */
static int check_reason(const struct check *check, const struct cm_baseline *now) {
    const struct cm_baseline *old = check->baseline.baseline;
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
    if (!trend.dearer) return CM_OK;
    return options_fault(check->call, "%s increased: an update requires --reason",
                         first_increase(check, &trend));
}

static int update(struct check *check) {
    const struct check_request *request = &check->request;
    const char *reason = request->reason == NULL ? "" : request->reason;
    struct cm_baseline *now = NULL;
    int status =
        cm_baseline_make((const struct cm_result *const *)check->results, check->n_requested,
                         check->baseline.baseline, reason, check->call->diag, &now);
    if (status == CM_OK) status = check_reason(check, now);
    if (status == CM_OK)
        status = check_baseline_write(request->baseline, now, check->call->diag);
    if (status == CM_OK) {
        struct text name;
        text_init(&name, check->call->arena);
        text_append_name(&name, request->baseline);
        printf("%s: written, %zu %s with %zu modules\n", text_string(&name), now->n_profiles,
               now->n_profiles == 1 ? "batch" : "batches", now->n_modules / now->n_profiles);
    }
    cm_baseline_free(now);
    return status;
}

static int run(struct check *check) {
    int status = check_request_read(check->call, &check->request);
    if (status == CM_OK) status = list_reports(check);
    if (status == CM_OK) status = prepare(check);
    if (status == CM_OK) status = take_results(check);
    if (status != CM_OK) return check_exit(status);
    if (!check->request.update) return run_check(check);
    status = update(check);
    if (status == CM_OK) status = streams_finish(stdout, "standard output", check->call->diag);
    return check_exit(status);
}

int command_check(const struct invocation *call) {
    struct check check = {.call = call};
    const int exit_status = run(&check);
    for (size_t i = 0; i < check.n_results; i++) cm_result_free(check.results[i]);
    check_baseline_free(&check.baseline);
    cm_budget_free(check.budget);
    binding_free(&check.request.binding);
    return exit_status;
}
