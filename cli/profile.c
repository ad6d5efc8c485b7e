/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel profile`: loads a model, profiles it and writes the report. */
#include "cli/command.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/request.h"
#include "cli/streams.h"
#include "cli/timing.h"
#include "costmodel/costmodel.h"
#include "costmodel/llm.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#define MAX_VARIANTS 32 /* whose views a page has */

/* Reads the path of the model; --calibrate has none. */
static int read_operand(const struct invocation *call, const struct option_list *operands,
                        struct request *request) {
    const struct timing *timing = &request->timing;
    if (request->calibrate != NULL && operands->n > 0)
        return options_fault(call, "option --calibrate takes no model, got '%s'",
                             operands->values[0]);
    if (request->calibrate != NULL && timing->measure == MEASURE_NONE && !timing->backend)
        return options_fault(call, "option --calibrate requires --measure or --backend");
    if (request->calibrate != NULL) return CM_OK;
    if (operands->n == 0)
        return options_fault(call,
                             "no model given: a path is required, or - for standard input");
    if (operands->n > 1)
        return options_fault(call, "exactly one model is required, got '%s' and '%s'",
                             operands->values[0], operands->values[1]);
    if (operands->values[0][0] == '\0')
        return options_fault(call, "the path of the model must not be empty");
    request->model = operands->values[0];
    if (request->output != NULL && outputs_is_file(request->output, request->model))
        return options_fault(call, "output '%s' is the model file", request->output);
    return CM_OK;
}

static int times_fault(const struct invocation *call, const char *option) {
    return options_fault(
        call, "option --%s requires times: give --measure, --device, --times or --backend",
        option);
}

/* Refuses --format trace without times, and --layers and --kernels if no times were requested.
 * If times were requested but are missing, the report explains why. */
static int check_times(const struct invocation *call, const struct request *request,
                       const struct cm_result *result) {
    const char *option = request->text.layers    ? "layers"
                         : request->text.kernels ? "kernels"
                                                 : NULL;
    if (request->format.of.requires_times && !cm_result_timed(result))
        return diag_error(call->diag, result->measure == NULL ? DIAG_USAGE : DIAG_BACKEND,
                          "--format trace requires times, and there are none");
    if (option == NULL || (result->measure != NULL && !result->measure->planned)) return CM_OK;
    return times_fault(call, option);
}

/* For a profile as input: refuses options that require the model. */
static int check_profile(const struct request *request, const struct cm_result *result,
                         struct cm_diagnostics *diag) {
    const char *blocking = binding_given(&request->binding);
    if (blocking == NULL) blocking = timing_given(&request->timing);
    if (blocking == NULL) blocking = request_given(request, NEEDS_MODEL);
    if (blocking == NULL && request->binding.options.memory_curve &&
        result->memory.n_curve == 0)
        blocking = "memory-curve";
    if (blocking == NULL) return CM_OK;
    return diag_error(diag, DIAG_USAGE, "option --%s requires a model, not a profile",
                      blocking);
}

/* Figures of the node data of --annotate OUT.json, which writes a file OUT.FIGURE.json of each.
 */
static const char *const node_figures[] = {
    "latency_ps", "macs", "flops", "params", "bytes_read", "bytes_written", "activation_bytes"};

/* Returns the number of files that --annotate writes: 1 for a copy of the model. */
static size_t n_annotated(const char *path) {
    const size_t n = path == NULL ? 0 : strlen(path);
    if (n < 5 || !text_equal(path + n - 5, ".json")) return path != NULL;
    return sizeof(node_figures) / sizeof(node_figures[0]);
}

/* Sets *ret to the path of file i of --annotate. Returns CM_OK or CM_NO_MEMORY. */
static int annotated_path(const struct invocation *call, const char *path, size_t i,
                          const char **ret) {
    *ret = n_annotated(path) == 1 ? path
                                  : arena_printf(call->arena, "%.*s.%s.json",
                                                 (int)strlen(path) - 5, path, node_figures[i]);
    return *ret == NULL ? diag_no_memory(call->diag) : CM_OK;
}

/* Checks a file of --annotate: it is neither an input nor --output. */
static int check_annotated(const struct invocation *call, const struct request *request,
                           const char *path) {
    bool is_one = false;
    if (outputs_is_file(path, request->model))
        return options_fault(call, "annotated model '%s' is the model file", path);
    int status = binding_check_output(call, &request->binding, path);
    if (status == CM_OK) status = timing_check_output(call, &request->timing, path);
    if (status != CM_OK || request->output == NULL) return status;
    if (outputs_are_one(path, request->output, call->arena, &is_one) != CM_OK)
        return diag_no_memory(call->diag);
    if (is_one)
        return options_fault(call, "--output and --annotate are the same file '%s'", path);
    return CM_OK;
}

/* Checks --annotate: the model can be read twice, and no file is an input or --output. */
static int check_annotate(const struct invocation *call, const struct request *request) {
    const char *path = request->annotate;
    if (path == NULL || request->model == NULL) return CM_OK;
    if (text_equal(request->model, "-"))
        return options_fault(call,
                             "option --annotate requires the path of the model, standard input "
                             "cannot be read twice");
    if (text_equal(path, "-"))
        return options_fault(call, "option --annotate requires a file, got '-'");
    int status = CM_OK;
    for (size_t i = 0; status == CM_OK && i < n_annotated(request->annotate); i++) {
        status = annotated_path(call, request->annotate, i, &path);
        if (status == CM_OK) status = check_annotated(call, request, path);
    }
    return status;
}

/* A run of the command and its results, as in struct report. */
struct run {
    const struct invocation *call;
    const struct request *request;
    const struct cm_options *options;
    struct cm_diagnostics *diag; /* messages about the model */
    struct cm_model *model;      /* NULL: the result was read from a file */
    struct cm_result *result;
    struct cm_sweep *sweep;
    struct cm_formula *formula;
    bool is_interrupted;
};

/* Warns if the annotated model is in another folder than the external weights, whose paths are
 * relative to the model. */
static int warn_of_weights(const struct run *run) {
    const struct cm_memory *memory = &run->result->memory;
    const char *path = run->request->annotate;
    bool is_external = false;
    bool in_same_folder = false;
    for (size_t i = 0; i < memory->n_weights; i++)
        is_external |= text_equal(memory->weights[i].storage, "external");
    if (!is_external) return CM_OK;
    if (outputs_share_folder(path, run->request->model, run->call->arena, &in_same_folder) !=
        CM_OK)
        return diag_no_memory(run->diag);
    if (in_same_folder) return CM_OK;
    diag_warn(run->diag, DIAG_IO,
              "the model has external weight files, which '%s' expects in its own folder",
              path);
    diag_hint(run->diag, "copy the weight files there, or write it to the folder of the model");
    return CM_OK;
}

/* Profiles the model at each precision, batch and device, the device changing first. */
static int sweep(struct run *run, const struct cm_options *options) {
    const struct request *request = run->request;
    const struct option_choices *precisions = &request->timing.precisions;
    const struct option_integers *batches = &request->binding.batches;
    const size_t n_batches = batches->n > 0 ? batches->n : 1;
    const size_t n_devices = request->n_devices > 0 ? request->n_devices : 1;
    const size_t n = precisions->n * n_batches * n_devices;
    struct cm_sweep_point *points = arena_array(run->call->arena, n, sizeof(*points));
    if (points == NULL) return diag_no_memory(run->diag);
    for (size_t i = 0; i < n; i++) {
        const size_t at = i / n_devices;
        points[i] = (struct cm_sweep_point){
            batches->n > 0 ? batches->values[at % n_batches] : options->batch, options->n_dims,
            options->dims, (enum cm_precision)precisions->values[at / n_batches],
            request->n_devices > 0 ? request->devices[i % n_devices] : options->backend};
    }
    return cm_model_sweep_points(run->model, options, points, n, run->diag, &run->sweep);
}

/* A file of --annotate. */
struct annotated {
    const struct run *run;
    const char *figure; /* of the node data; NULL: a copy of the model */
};

static int write_annotated(const void *context, FILE *out) {
    const struct annotated *file = context;
    const struct run *run = file->run;
    if (file->figure == NULL) return cm_model_annotate(run->model, run->result, run->diag, out);
    return cm_model_node_data(run->model, run->result, file->figure, run->diag, out);
}

/* Writes the files of --annotate; that of times only if there are times. */
static int write_all_annotated(const struct run *run) {
    const char *path = run->request->annotate;
    const size_t n = n_annotated(path);
    int status = n == 1 ? warn_of_weights(run) : CM_OK;
    for (size_t i = 0; status == CM_OK && i < n; i++) {
        const struct annotated file = {run, n == 1 ? NULL : node_figures[i]};
        const bool is_timed = run->result->totals.latency_ps != CM_UNKNOWN;
        if (n > 1 && !is_timed && text_equal(file.figure, "latency_ps")) continue;
        status = annotated_path(run->call, run->request->annotate, i, &path);
        if (status == CM_OK) status = streams_write(path, write_annotated, &file, run->diag);
    }
    return status;
}

/* Loads a model or a profile. Profiles a model once or at several batches or precisions, or
 * finds its formula. Refuses outputs that are files of the model. */
static int make(struct run *run) {
    const struct request *request = run->request;
    const struct cm_options *options = run->options;
    struct cm_diagnostics *diag = run->diag;
    struct cm_options shown = *options;
    struct progress progress;
    int status = cm_load_file(request->model, diag, &run->model, &run->result);
    if (status != CM_OK) return status;
    if (run->result != NULL) return check_profile(request, run->result, diag);
    status = outputs_keep_weights(run->model, request->output, diag);
    for (size_t i = 0; status == CM_OK && i < n_annotated(request->annotate); i++) {
        const char *path = NULL;
        status = annotated_path(run->call, request->annotate, i, &path);
        if (status == CM_OK) status = outputs_keep_weights(run->model, path, diag);
    }
    if (status != CM_OK) return status;
    if (request->formula) return cm_model_formula(run->model, options, diag, &run->formula);
    const bool has_times = options->backend != NULL || options->n_times > 0;
    if (request->format.of.requires_times && (!has_times || options->plan_only))
        return diag_error(
            diag, DIAG_USAGE,
            "--format trace requires times: give --measure, --device, --times or --backend");
    progress_begin(&progress, &request->timing, request->output, &shown);
    if (!request_is_sweep(request))
        status = cm_model_profile(run->model, &shown, diag, &run->result);
    else
        status = sweep(run, &shown);
    progress_end(&progress);
    run->is_interrupted = progress.is_interrupted;
    if (status != CM_OK || request->annotate == NULL) return status;
    return write_all_annotated(run);
}

/* Prints an error if the model exceeds --memory-limit. Returns CM_REFUSED then. */
static int refuse_misfit(const struct invocation *call, const struct request *request,
                         const struct cm_result *result) {
    const struct cm_memory *memory = &result->memory;
    const struct cm_fit *fit = memory->fit;
    if (!fit || fit->fits) return CM_OK;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (diag == NULL) return diag_no_memory(call->diag);
    int status = CM_OK;
    if (memory->required_bytes == CM_UNKNOWN)
        status = diag_error(diag, DIAG_FIT,
                            "the model requires more than 2^63 bytes, the limit is %" PRId64,
                            fit->limit_bytes);
    else if (result->options.batch == CM_UNKNOWN)
        status = diag_error(diag, DIAG_FIT,
                            "the model requires %" PRId64 " bytes, the limit is %" PRId64,
                            memory->required_bytes, fit->limit_bytes);
    else
        status = diag_error(diag, DIAG_FIT,
                            "the model requires %" PRId64 " bytes at batch %" PRId64
                            ", the limit is %" PRId64,
                            memory->required_bytes, result->options.batch, fit->limit_bytes);
    const char *guide =
        result->device_memory.present ? "will-my-training-run-fit" : "which-batch-size";
    if (text_equal(fit->search, "none"))
        diag_hint(diag, "no batch fits; see 'costmodel guide %s'", guide);
    if (fit->largest_batch > 0)
        diag_hint(diag, "the largest batch that fits is %" PRId64 "; see 'costmodel guide %s'",
                  fit->largest_batch, guide);
    messages_print(diag, request->model, (enum color_choice)request->color, call->diag);
    cm_diagnostics_free(diag);
    return status;
}

/* States of a sweep row, best first. */
static const struct {
    const char *state;
    int exit_status;
    enum diag_code code; /* of the message; DIAG_N_CODES: no message */
} ends[] = {
    {"done", EXIT_DONE, DIAG_N_CODES},       {"incomplete", EXIT_INCOMPLETE, DIAG_N_CODES},
    {"usage", EXIT_USAGE, DIAG_USAGE},       {"misfit", EXIT_REFUSED, DIAG_FIT},
    {"refused", EXIT_REFUSED, DIAG_BATCH},   {"failed", EXIT_REFUSED, DIAG_BATCH},
    {"transient", EXIT_REFUSED, DIAG_BATCH},
};

static size_t end_of(const struct cm_sweep_row *row) {
    size_t end = 0;
    while (end + 1 < sizeof(ends) / sizeof(ends[0]) && !text_equal(ends[end].state, row->state))
        end++;
    return end;
}

/* Reports how many rows failed, and why the first of them did. */
static void report_failures(const struct invocation *call, const struct request *request,
                            const struct cm_sweep *sweep, struct cm_diagnostics *diag) {
    const struct cm_sweep_row *first = NULL;
    const bool has_precisions = request->timing.precisions.n > 1;
    const bool has_batches = request->binding.batches.n > 1;
    size_t n = 0;
    for (size_t i = 0; i < sweep->n_rows; i++) {
        if (ends[end_of(&sweep->rows[i])].code == DIAG_N_CODES) continue;
        if (n++ == 0) first = &sweep->rows[i];
    }
    if (first == NULL) return;
    const char *what = has_precisions ? "precisions" : has_batches ? "batches" : "devices";
    struct text name;
    text_init(&name, call->arena);
    if (has_precisions) text_append(&name, first->precision);
    if (has_batches) text_printf(&name, "%s%" PRId64, name.length ? ", " : "", first->batch);
    if (request->n_devices > 1)
        text_printf(&name, "%s%s", name.length ? ", " : "", first->device);
    if (has_precisions + has_batches + (request->n_devices > 1) > 1) what = "variants";
    (void)diag_error(diag, ends[end_of(first)].code,
                     "%zu of %zu %s failed, the first is %s: %s", n, sweep->n_rows, what,
                     text_string(&name), first->problem);
}

/* Divides the language model as --parallel requires. */
static int divide(const struct run *run, struct cm_llm **ret) {
    struct cm_llm_options llm;
    struct cm_options options = *run->options;
    cm_llm_options_init(&llm);
    llm.ignore_dims = true;
    options.backend = NULL;
    const int status =
        binding_read_parallel(run->call, run->request->parallel, &llm.tp, &llm.pp, NULL);
    return status < 0 ? status : cm_model_llm(run->model, &options, &llm, run->diag, ret);
}

/* Makes the report and writes it. Returns the exit status. */
static int run_report(const struct invocation *call, const struct request *request,
                      const struct cm_options *options) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct run run = {.call = call, .request = request, .options = options, .diag = diag};
    if (diag == NULL) return command_exit(diag_no_memory(call->diag));
    struct cm_llm *llm = NULL;
    int status = make(&run);
    if (status == CM_OK && request->parallel && run.model) status = divide(&run, &llm);
    cm_model_free(run.model);
    const struct cm_result *result = run.result;
    if (run.sweep != NULL) report_failures(call, request, run.sweep, diag);
    messages_print(diag, request->model, (enum color_choice)request->color, call->diag);
    if (status == CM_OK && result != NULL) status = check_times(call, request, result);
    bool has_result = result != NULL;
    for (size_t i = 0; run.sweep != NULL && i < run.sweep->n_rows; i++)
        has_result |= run.sweep->results[i] != NULL;
    if (status == CM_OK && (has_result || !request->format.of.is_page)) {
        const struct report report = {request, result, run.sweep, run.formula, llm, call->diag};
        status = streams_write(request->output, format_write, &report, call->diag);
    }
    if (status == CM_OK && result != NULL && run.sweep == NULL)
        status = refuse_misfit(call, request, result);
    /* a sweep exits with the status of its worst row */
    int exit_status = command_exit(status);
    if (status == CM_OK && run.sweep != NULL) {
        size_t worst = 0;
        for (size_t i = 0; i < run.sweep->n_rows; i++)
            if (end_of(&run.sweep->rows[i]) > worst) worst = end_of(&run.sweep->rows[i]);
        exit_status = ends[worst].exit_status;
    } else if (status == CM_OK && result != NULL) {
        if (cm_result_lacks_times(result) || !cm_result_complete(result))
            exit_status = EXIT_INCOMPLETE;
    }
    if (status == CM_OK && run.is_interrupted) exit_status = EXIT_INTERRUPTED;
    cm_llm_free(llm);
    cm_result_free(run.result);
    cm_sweep_free(run.sweep);
    cm_formula_free(run.formula);
    cm_diagnostics_free(diag);
    return exit_status;
}

static int check_sweep(const struct invocation *call, const struct request *request) {
    const struct cm_format *format = &request->format.of;
    const bool lists_devices = request->n_devices > 1 && !format->is_page;
    const struct {
        const char *option, *text;
        size_t n;
    } lists[] = {
        {"batch", request->binding.batches.text, request->binding.batches.n},
        {"precision", request->timing.precisions.text, request->timing.precisions.n},
        {"device", request->timing.device, request->n_devices},
    };
    size_t found[3] = {0};
    size_t n = 0;
    for (size_t i = 0; i < 3; i++)
        if (lists[i].n > 1) found[n++] = i;
    if (n == 0) {
        if (request->rows != CM_ROWS_LAYERS) return CM_OK;
        return options_fault(call, "a table of layers requires several batches or precisions, "
                                   "--rows nodes lists the times of one");
    }
    if (!format->is_page && n > 1)
        return options_fault(call,
                             "only one of --batch and --precision may be a list, got '%s' and "
                             "'%s'; `costmodel sweep` and --format html run all combinations",
                             lists[found[0]].text, lists[found[1]].text);
    /* an option or format that requires a single profile */
    const char *single = request_given(request, ONE_BATCH);
    if (single == NULL && request->rows != NOT_GIVEN && request->rows != CM_ROWS_LAYERS)
        single = "rows";
    if (single == NULL && (!format->of_sweeps || lists_devices)) {
        single = arena_printf(call->arena, "format %s", format->name);
        if (single == NULL) return diag_no_memory(call->diag);
    }
    if (single == NULL) return CM_OK;
    return options_fault(call, "option --%s requires one %s, got '%s'%s", single,
                         lists[found[0]].option, lists[found[0]].text,
                         lists_devices ? "; `costmodel sweep` and --format html compare several"
                                       : "");
}

static int write_calibration(const void *context, FILE *out) {
    const struct run *run = context;
    return cm_calibrate(run->options, run->diag, out);
}

/* As timing_read, for each device: request->devices becomes their backends. */
static int read_devices(const struct invocation *call, struct request *request,
                        struct cm_options *options) {
    const size_t n = request->n_devices;
    if (n == 0) return timing_read(call, &request->timing, options);
    const char **backends = arena_array(call->arena, n, sizeof(*backends));
    if (backends == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < n; i++) {
        request->timing.device = request->devices[i];
        const int status = timing_read(call, &request->timing, options);
        if (status != CM_OK) return status;
        backends[i] = options->backend;
    }
    options->backend = backends[0];
    request->devices = backends;
    return CM_OK;
}

static int read_request(const struct invocation *call, struct request *request,
                        struct cm_options *options) {
    struct option_list operands = {0, NULL};
    request_defaults(request);
    int status = options_parse(profile_options, call, request, &operands);
    if (status == CM_OK) status = read_operand(call, &operands, request);
    if (status == CM_OK) status = binding_read(call, &request->binding, options);
    if (status == CM_OK)
        status = binding_check_output(call, &request->binding, request->output);
    if (status == CM_OK) status = format_find(call, request);
    if (status == CM_OK)
        status = options_split(call, "device", request->timing.device, &request->n_devices,
                               &request->devices);
    if (status == CM_OK) status = check_sweep(call, request);
    if (status == CM_OK) status = check_annotate(call, request);
    const char *barred = request_given(request, NO_FORMULA);
    if (status == CM_OK && request->formula && barred != NULL)
        status =
            options_fault(call, "options --formula and --%s are mutually exclusive", barred);
    if (status == CM_OK) status = format_check(call, request);
    if (status != CM_OK) return status;
    const bool is_page = request->format.of.is_page;
    options->dump = stderr;
    options->sweep_layers = request_lists_layers(request) && !is_page;
    options->sweep_results = is_page ? MAX_VARIANTS : 0;
    options->memory_curve |= is_page || request->format.of.requires_times;
    options->memory_plan |= is_page;
    options->fit_device = is_page && request->binding.batches.n > 1;
    options->n_explain = request->explain.n;
    options->explain = request->explain.values;
    status = timing_check_output(call, &request->timing, request->output);
    if (status == CM_OK) status = read_devices(call, request, options);
    if (status != CM_OK) return status;
    if (request_is_sweep(request) && options->sweep_layers && options->backend == NULL)
        return times_fault(call, request->text.layers ? "layers" : "rows layers");
    if (options->sample_bytes > 0 &&
        ((options->backend == NULL && options->n_times == 0) || options->plan_only))
        return options_fault(call, "option --sample-bytes requires --measure, --backend, "
                                   "--device or --times");
    return CM_OK;
}

static int run_request(const struct invocation *call, struct request *request) {
    struct cm_options options;
    int status = read_request(call, request, &options);
    if (status != CM_OK) return command_exit(status);
    if (request->calibrate == NULL) return run_report(call, request, &options);
    const struct run calibration = {.options = &options, .diag = call->diag};
    status = streams_write(request->calibrate, write_calibration, &calibration, call->diag);
    /* The exit status for an unusable backend is the same as for a profile. */
    return status == CM_REFUSED ? EXIT_INCOMPLETE : command_exit(status);
}

int command_profile(const struct invocation *call) {
    struct request request;
    const int exit_status = run_request(call, &request);
    binding_free(&request.binding);
    timing_free(&request.timing);
    return exit_status;
}
