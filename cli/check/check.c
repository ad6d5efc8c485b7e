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
    size_t n_limits; /* 0: the library's own */
    const struct cm_check_limit *limits;
    size_t n_results;
    size_t n_asked; /* of the results, the first ones: those behind them only limits name */
    struct cm_result **results;
    size_t n_reports;
    struct check_report *reports; /* the main one, and behind it those of --report */
};

static int check_exit(int status) {
    if (status == CM_OK) return EXIT_DONE;
    return status == CM_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE;
}

/* A budget is a part of the command line: one that cannot be read is a fault of usage. */
static int read_budget(struct check *gate) {
    const struct check_request *request = &gate->request;
    if (request->budget == NULL) return CM_OK;
    const int status =
        check_budget_read(request->budget, gate->call->arena, gate->call->diag, &gate->budget);
    return status == CM_REFUSED || status == CM_IO ? CM_USAGE : status;
}

/* Those of the budget, then those of the command line. */
static int list_limits(struct check *gate) {
    const struct option_list *given = &gate->request.limits;
    const size_t n_budget = gate->budget == NULL ? 0 : gate->budget->n_limits;
    struct cm_check_limit *limits =
        arena_array(gate->call->arena, n_budget + given->n, sizeof(*limits));
    if (limits == NULL) return diag_no_memory(gate->call->diag);
    for (size_t i = 0; i < n_budget; i++)
        limits[gate->n_limits++] =
            (struct cm_check_limit){gate->budget->limits[i], gate->request.budget};
    for (size_t i = 0; i < given->n; i++)
        limits[gate->n_limits++] = (struct cm_check_limit){given->values[i], "--limit"};
    gate->limits = limits;
    return CM_OK;
}

static int prepare(struct check *gate) {
    const struct invocation *call = gate->call;
    struct check_request *request = &gate->request;
    int status = binding_read(call, &request->binding, &gate->plan.options);
    if (status == CM_OK) status = asked_read(call, &request->asked, &gate->plan.options);
    if (status == CM_OK) status = read_budget(gate);
    if (status == CM_OK)
        status =
            check_baseline_read(request->baseline, call->arena, call->diag, &gate->baseline);
    if (status == CM_OK) status = list_limits(gate);
    if (status == CM_OK)
        status =
            check_plan_make(call, request, gate->budget, gate->baseline.baseline, &gate->plan);
    if (status == CM_OK && !request->update)
        status = check_plan_take_limits(call, gate->n_limits, gate->limits, &gate->plan);
    return status;
}

/* What a budget asks for and a profile is not: to pass at one batch says nothing of another. */
static int check_taken(const struct check *gate, const struct cm_result *taken,
                       struct cm_diagnostics *diag) {
    const struct cm_budget *budget = gate->budget;
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

/* A profile that was taken before stays as it was taken. */
static int take_profile(struct check *gate, struct cm_result *taken,
                        struct cm_diagnostics *diag) {
    const char *anew = asked_given(&gate->request.asked);
    struct binding binding = gate->request.binding;
    if (binding.convention == NULL) binding.convention = cm_convention_at(0)->name;
    if (anew == NULL) anew = binding_given(&binding);
    gate->results[gate->n_results++] = taken;
    if (anew == NULL) return check_taken(gate, taken, diag);
    return diag_error(diag, DIAG_USAGE, "option --%s requires a model, not a profile", anew);
}

/* Messages about the model bear its path, of several batches which; those about limits and
 * files bear the program's name. */
static int tell(const struct check *gate, const struct cm_diagnostics *diag, int64_t batch) {
    const char *model = gate->request.model;
    const char *subject = text_equal(model, "-") ? "standard input" : model;
    if (batch > 0 && gate->plan.n_batches + gate->plan.n_beside > 1)
        subject = arena_printf(gate->call->arena, "%s, batch %" PRId64, subject, batch);
    if (subject == NULL) return diag_no_memory(gate->call->diag);
    messages_print(diag, subject, (enum color_choice)gate->request.color);
    return CM_OK;
}

/* With messages of its own: of one sink for all batches only the first few would be kept. */
static int profile_batch(struct check *gate, struct cm_model *model, int64_t batch) {
    struct progress progress = {.shown = false};
    struct cm_options options = gate->plan.options;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (diag == NULL) return diag_no_memory(gate->call->diag);
    options.batch = batch;
    options.progress = progress_show;
    options.progress_context = &progress;
    const int status = cm_model_profile(model, &options, diag, &gate->results[gate->n_results]);
    progress_end(&progress);
    if (status == CM_OK) gate->n_results++;
    const int told = tell(gate, diag, batch);
    cm_diagnostics_free(diag);
    return status == CM_OK ? told : status;
}

static int keep_weights(const struct check *gate, const struct cm_model *model,
                        struct cm_diagnostics *diag) {
    const struct check_request *request = &gate->request;
    const bool writes = request->update || request->ratchet;
    int status = writes ? outputs_keep_weights(model, request->baseline, diag) : CM_OK;
    for (size_t i = 0; status == CM_OK && i < gate->n_reports; i++)
        status = outputs_keep_weights(model, gate->reports[i].path, diag);
    return status;
}

static int load(struct check *gate, struct cm_diagnostics *diag, struct cm_model **ret) {
    struct cm_result *taken = NULL;
    gate->results =
        arena_array(gate->call->arena, gate->plan.n_batches + gate->plan.n_beside + 1,
                    sizeof(struct cm_result *));
    if (gate->results == NULL) return diag_no_memory(diag);
    const int status = cm_load_file(gate->request.model, diag, ret, &taken);
    if (status != CM_OK) return status;
    return taken != NULL ? take_profile(gate, taken, diag) : keep_weights(gate, *ret, diag);
}

static int load_and_tell(struct check *gate, struct cm_model **ret) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (diag == NULL) return diag_no_memory(gate->call->diag);
    const int status = load(gate, diag, ret);
    const int told = tell(gate, diag, 0);
    cm_diagnostics_free(diag);
    return status == CM_OK ? told : status;
}

static bool is_profiled(const struct check *gate, int64_t batch) {
    for (size_t i = 0; i < gate->n_results; i++)
        if (gate->results[i]->options.batch == batch) return true;
    return false;
}

/* What the model cannot be profiled at is told, and a limit there is one on nothing. */
static int profile_beside(struct check *gate, struct cm_model *model) {
    int status = CM_OK;
    for (size_t i = 0; i < gate->plan.n_beside && status == CM_OK; i++) {
        if (is_profiled(gate, gate->plan.beside[i])) continue;
        status = profile_batch(gate, model, gate->plan.beside[i]);
        if (status == CM_REFUSED || status == CM_USAGE) status = CM_OK;
    }
    return status;
}

/* Of a profile that was taken before there is no model. */
static int take_results(struct check *gate) {
    struct cm_model *model = NULL;
    int status = load_and_tell(gate, &model);
    if (status == CM_OK && model != NULL)
        status = check_plan_take_dims(gate->call, gate->baseline.baseline, model, &gate->plan);
    for (size_t i = 0; model != NULL && i < gate->plan.n_batches && status == CM_OK; i++)
        status = profile_batch(gate, model, gate->plan.batches[i]);
    gate->n_asked = gate->n_results;
    if (model != NULL && status == CM_OK) status = profile_beside(gate, model);
    cm_model_free(model);
    return status;
}

static int make_verdict(struct check *gate, struct cm_verdict **ret) {
    const struct check_request *request = &gate->request;
    struct cm_check_options options = {
        .baseline = gate->baseline.baseline,
        .no_baseline = gate->baseline.missing,
        .n_limits = gate->n_limits,
        .limits = gate->limits,
        .n_beside = gate->n_results - gate->n_asked,
        .allow_incomplete = request->allow_incomplete,
        .fail_ambiguous = request->fail_ambiguous,
        .top = (size_t)request->top,
        .accept = "",
    };
    if (request->baseline != NULL && !text_equal(request->baseline, "-"))
        options.accept = check_accept_command(gate->call);
    if (options.accept == NULL) return diag_no_memory(gate->call->diag);
    return cm_check((const struct cm_result *const *)gate->results, gate->n_results, &options,
                    gate->call->diag, ret);
}

/* What would destroy what it was made from, or what it is compared with. */
static int check_paths(const struct check *gate) {
    const struct check_request *request = &gate->request;
    for (size_t i = 0; i < gate->n_reports; i++) {
        const char *path = gate->reports[i].path;
        if (outputs_is_file(path, request->model) || outputs_is_file(path, request->baseline) ||
            outputs_is_file(path, request->budget))
            return options_fault(gate->call, "output '%s' is also an input", path);
        const int status = binding_check_output(gate->call, &request->binding, path);
        if (status != CM_OK) return status;
        for (size_t k = 0; k < i; k++)
            if (path != NULL && text_equal(path, gate->reports[k].path))
                return options_fault(gate->call, "output '%s' is given twice", path);
    }
    if (request->update && outputs_is_file(request->baseline, request->model))
        return options_fault(gate->call, "baseline '%s' is the model file", request->baseline);
    return CM_OK;
}

static int list_reports(struct check *gate) {
    const struct check_request *request = &gate->request;
    const struct option_list *more = &request->reports;
    struct check_report *reports =
        arena_array(gate->call->arena, more->n + 1, sizeof(*reports));
    if (reports == NULL) return diag_no_memory(gate->call->diag);
    reports[0].format = (size_t)request->format;
    reports[0].path = text_equal(request->output, "-") ? NULL : request->output;
    for (size_t i = 0; i < more->n; i++) {
        const int status = check_report_read(gate->call, more->values[i], &reports[i + 1]);
        if (status != CM_OK) return status;
    }
    gate->reports = reports;
    gate->n_reports = more->n + 1;
    return check_paths(gate);
}

/* "macs", "macs of layer1.0" */
static const char *say_dearest(const struct check *gate,
                               const struct cm_baseline_trend *trend) {
    struct text text;
    text_init(&text, gate->call->arena);
    text_append(&text, trend->dearest);
    if (trend->dearest_module[0] != '\0') {
        text_append(&text, " of ");
        text_append_label(&text, trend->dearest_module);
    }
    return text_string(&text);
}

/* Said where the verdict is not. */
static void tell_ratchet(const struct check *gate, const struct cm_baseline_trend *trend) {
    struct text path;
    text_init(&path, gate->call->arena);
    text_append_name(&path, gate->request.baseline);
    if (trend->incomplete)
        fprintf(stderr, "costmodel: %s not updated: unknown operators or shapes\n",
                text_string(&path));
    else if (!trend->comparable)
        fprintf(stderr, "costmodel: %s not updated: it has other batches or options\n",
                text_string(&path));
    else if (trend->dearer)
        fprintf(stderr, "costmodel: %s not updated: %s increased\n", text_string(&path),
                say_dearest(gate, trend));
    else if (trend->cheaper)
        fprintf(stderr, "costmodel: %s updated: costs decreased\n", text_string(&path));
    else
        fprintf(stderr, "costmodel: %s not updated: no cost decreased\n", text_string(&path));
}

/* After a pass: down, never up. */
static int ratchet(const struct check *gate) {
    const struct cm_baseline *old = gate->baseline.baseline;
    struct cm_baseline_trend trend;
    struct cm_baseline *now = NULL;
    int status = cm_baseline_make((const struct cm_result *const *)gate->results, gate->n_asked,
                                  old, "", gate->call->diag, &now);
    if (status != CM_OK) return status;
    status =
        cm_baseline_compare(old, now, gate->n_limits, gate->limits, gate->call->diag, &trend);
    if (status == CM_OK && trend.cheaper && !trend.dearer && !trend.incomplete)
        status = check_baseline_write(gate->request.baseline, now, gate->call->diag);
    if (status == CM_OK) tell_ratchet(gate, &trend);
    cm_baseline_free(now);
    return status;
}

static int run_check(struct check *gate) {
    struct cm_verdict *verdict = NULL;
    int status = make_verdict(gate, &verdict);
    if (status != CM_OK) return check_exit(status);
    status = check_reports_write(gate->call, gate->reports, gate->n_reports, verdict,
                                 (enum color_choice)gate->request.color);
    const int exit_status = cm_verdict_exit(verdict);
    if (status == CM_OK && gate->request.ratchet && exit_status == 0 &&
        gate->baseline.baseline != NULL)
        status = ratchet(gate);
    cm_verdict_free(verdict);
    return status == CM_OK ? exit_status : check_exit(status);
}

/* What got dearer, or only seems cheaper, wants a reason: the next who reads the file asks for
 * it. */
static int check_reason(const struct check *gate, const struct cm_baseline *now) {
    const struct cm_baseline *old = gate->baseline.baseline;
    if (old == NULL || gate->request.reason != NULL) return CM_OK;
    struct cm_baseline_trend trend;
    const int status =
        cm_baseline_compare(old, now, gate->n_limits, gate->limits, gate->call->diag, &trend);
    if (status != CM_OK) return status;
    if (!trend.comparable)
        return options_fault(gate->call,
                             "%s has other batches or options: an update requires --reason",
                             gate->request.baseline);
    if (trend.incomplete)
        return options_fault(gate->call,
                             "unknown operators or shapes, %s would be too low: an update "
                             "requires --reason",
                             gate->request.baseline);
    if (!trend.dearer) return CM_OK;
    return options_fault(gate->call, "%s increased: an update requires --reason",
                         say_dearest(gate, &trend));
}

static int update(struct check *gate) {
    const struct check_request *request = &gate->request;
    const char *reason = request->reason == NULL ? "" : request->reason;
    struct cm_baseline *now = NULL;
    int status = cm_baseline_make((const struct cm_result *const *)gate->results, gate->n_asked,
                                  gate->baseline.baseline, reason, gate->call->diag, &now);
    if (status == CM_OK) status = check_reason(gate, now);
    if (status == CM_OK)
        status = check_baseline_write(request->baseline, now, gate->call->diag);
    if (status == CM_OK) {
        struct text name;
        text_init(&name, gate->call->arena);
        text_append_name(&name, request->baseline);
        printf("%s: written, %zu %s with %zu modules\n", text_string(&name), now->n_profiles,
               now->n_profiles == 1 ? "batch" : "batches", now->n_modules / now->n_profiles);
    }
    cm_baseline_free(now);
    return status;
}

static int run(struct check *gate) {
    int status = check_request_read(gate->call, &gate->request);
    if (status == CM_OK) status = list_reports(gate);
    if (status == CM_OK) status = prepare(gate);
    if (status == CM_OK) status = take_results(gate);
    if (status != CM_OK) return check_exit(status);
    if (!gate->request.update) return run_check(gate);
    status = update(gate);
    if (status == CM_OK) status = streams_finish(stdout, "standard output", gate->call->diag);
    return check_exit(status);
}

int command_check(const struct invocation *call) {
    struct check gate = {.call = call};
    const int exit_status = run(&gate);
    for (size_t i = 0; i < gate.n_results; i++) cm_result_free(gate.results[i]);
    check_baseline_free(&gate.baseline);
    cm_budget_free(gate.budget);
    binding_free(&gate.request.binding);
    return exit_status;
}
