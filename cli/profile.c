/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel profile`, the main job: load, profile, report. */
#include "cli/profile.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/asked.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "cli/shapes.h"
#include "cli/streams.h"
#include "cli/sweep.h"
#include "costmodel/backend.h"
#include "costmodel/costmodel.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_TRACE };

/* What the command line says. */
struct request {
    const char *model;
    struct option_list dims;
    struct option_list inputs;
    struct option_list values;
    struct option_list explain;
    const char *batch; /* as it was given; NULL: not */
    struct batches batches;
    int mode; /* enum cm_mode */
    const char *convention;
    const char *optimizer;
    bool amp;
    struct option_list freeze;
    struct option_list checkpoint;
    bool strict;
    const char *dump_after;
    const char *module_source;
    const char *group;
    int schedule; /* enum cm_schedule */
    int64_t memory_limit;
    int64_t memory_alignment;
    bool memory_curve;
    bool memory_plan;
    struct asked asked;
    const char *calibrate; /* the file to write; NULL: not asked */
    int format;            /* enum format */
    int depth;
    int top;
    int width;
    bool detailed;
    bool operators;
    bool layers;
    bool kernels;
    int color; /* enum color_choice */
    const char *output;
};

static const struct option_choice modes[] = {
    {"model", CM_MODE_MODEL},
    {"training", CM_MODE_TRAINING},
    {"inference", CM_MODE_INFERENCE},
    {NULL, 0},
};

static const struct option_choice schedules[] = {
    {"file", CM_SCHEDULE_FILE},
    {"min-memory", CM_SCHEDULE_MIN_MEMORY},
    {NULL, 0},
};

static const struct option_choice measurers[] = {
    {"cpu", ASKED_CPU},
    {"cuda", ASKED_CUDA},
    {NULL, 0},
};

static const struct option_choice precisions[] = {
    {"fp32", CM_PRECISION_AS_STORED},
    {"tf32", CM_PRECISION_TF32},
    {"fp16", CM_PRECISION_FP16},
    {"bf16", CM_PRECISION_BF16},
    {"int8", CM_PRECISION_INT8},
    {"fp8", CM_PRECISION_FP8},
    {NULL, 0},
};

static const struct option_choice layouts[] = {
    {"auto", CM_LAYOUT_AUTO},
    {"nchw", CM_LAYOUT_NCHW},
    {"nhwc", CM_LAYOUT_NHWC},
    {NULL, 0},
};

static const struct option_choice formats[] = {
    {"text", FORMAT_TEXT},
    {"json", FORMAT_JSON},
    {"trace", FORMAT_TRACE},
    {NULL, 0},
};

static const struct option_choice colors[] = {
    {"auto", COLOR_AUTO},
    {"always", COLOR_ALWAYS},
    {"never", COLOR_NEVER},
    {NULL, 0},
};

#define AT(want, member) OPTION_AT(struct request, want, member)

/* clang-format off */
const struct option profile_options[] = {
    {.heading = "The model", .name = "batch", .kind = OPTION_TEXT,
     .offset = AT(const char *, batch), .value = "N[,N...]",
     .help = "batch size, also of a file that was exported with another one\n"
             "(default: the file's, 1 where that is free); of several, as\n"
             "1,8,32, a table"},
    {.name = "dim", .kind = OPTION_LIST, .offset = AT(struct option_list, dims),
     .value = "NAME=N",
     .help = "size of a free dim, as --dim seq=128; may be given many times"},
    {.name = "input", .kind = OPTION_LIST, .offset = AT(struct option_list, inputs),
     .value = "NAME=SHAPE",
     .help = "whole shape of an input, as --input image=1x3x224x224; may be\n"
             "given many times"},
    {.name = "value", .kind = OPTION_LIST, .offset = AT(struct option_list, values),
     .value = "NAME=LIST",
     .help = "contents of an input, as --value shape=1,3,-1 of numbers, true and\n"
             "false, or texts; may be given many times"},
    {.name = "mode", .kind = OPTION_CHOICE, .offset = AT(int, mode), .value = "MODE",
     .choices = modes,
     .help = "training or inference for every layer that differs between the\n"
             "two, or model: as the file says (default)"},
    {.heading = "Counting", .name = "convention", .kind = OPTION_TEXT,
     .offset = AT(const char *, convention), .value = "NAME",
     .help = "whose rules count FLOPs: deepspeed (default), exact, macs,\n"
             "torch, fvcore, ptflops, ptflops-aten, thop, onnx-tool"},
    {.name = "explain", .kind = OPTION_LIST, .offset = AT(struct option_list, explain),
     .value = "NAME",
     .help = "instead of the report: how the figures of a node (by name, output\n"
             "or number) or a module (by path) come about, and what each\n"
             "convention makes of it; may be given many times"},
    {.name = "strict", .kind = OPTION_SET, .offset = AT(bool, strict),
     .help = "refuse a model with an unknown operator or shape"},
    {.name = "dump-after", .kind = OPTION_TEXT, .offset = AT(const char *, dump_after),
     .value = "PASS",
     .help = "print the graph to standard error as it stands after this pass"},
    {.heading = "A training step", .name = "optimizer", .kind = OPTION_TEXT,
     .offset = AT(const char *, optimizer), .value = "NAME",
     .help = "count a step of sgd, momentum, adam or adamw: backward, what is kept\n"
             "for it, gradients and states; layers train unless --mode inference"},
    {.name = "amp", .kind = OPTION_SET, .offset = AT(bool, amp),
     .help = "in mixed precision: 2-byte activations, weights and gradients, and\n"
             "4-byte master weights and states"},
    {.name = "freeze", .kind = OPTION_LIST, .offset = AT(struct option_list, freeze),
     .value = "PATTERN",
     .help = "parameters that do not learn, by their name or a module's, as\n"
             "--freeze 'layer1.*'; may be given many times"},
    {.name = "checkpoint", .kind = OPTION_LIST, .offset = AT(struct option_list, checkpoint),
     .value = "MODULE",
     .help = "a module, or a pattern of some, that keeps its inputs alone and is\n"
             "run again for backward; may be given many times"},
    {.heading = "Modules", .name = "module-source", .kind = OPTION_TEXT,
     .offset = AT(const char *, module_source), .value = "NAME",
     .help = "tell modules from this alone: metadata, functions, scopes, paddle,\n"
             "mxnet, parameters, fused or types (default: the first of these\n"
             "that knows a node)"},
    {.name = "group", .kind = OPTION_TEXT, .offset = AT(const char *, group),
     .value = "REGEX",
     .help = "instead of modules one group for each text that this POSIX extended\n"
             "expression, or its first (...), matches in their paths"},
    {.heading = "Memory", .name = "schedule", .kind = OPTION_CHOICE, .offset = AT(int, schedule),
     .value = "ORDER", .choices = schedules,
     .help = "in which order nodes run: file (default), or min-memory: one with\n"
             "a lower peak, where a search finds one"},
    {.name = "memory-limit", .kind = OPTION_BYTES, .offset = AT(int64_t, memory_limit),
     .value = "SIZE",
     .help = "does it fit into that much, as 16GiB, and how large a batch does?\n"
             "Weights and arena, or the peak of a step with --optimizer; no\n"
             "workspace of kernels"},
    {.name = "memory-alignment", .kind = OPTION_INT64, .offset = AT(int64_t, memory_alignment),
     .value = "N", .min = 1, .max = 1 << 30,
     .help = "places in the arena are multiples of N bytes, a power of two\n"
             "(default 1)"},
    {.name = "memory-curve", .kind = OPTION_SET, .offset = AT(bool, memory_curve),
     .help = "what is alive at each node: drawn in text, a list in json"},
    {.name = "memory-plan", .kind = OPTION_SET,
     .offset = AT(bool, memory_plan),
     .help = "json: the place of every value in one arena of activations"},
    {.heading = "Times", .name = "measure", .kind = OPTION_CHOICE,
     .offset = AT(int, asked.measure), .value = "WHERE", .alone = "cuda", .choices = measurers,
     .help = "run each distinct layer: on a GPU (cuda, also without =WHERE) or on\n"
             "this machine's processors (cpu)"},
    {.name = "device", .kind = OPTION_TEXT, .offset = AT(const char *, asked.device),
     .value = "NAME",
     .help = "the least time of each layer by the published figures of a device, as\n"
             "h200 (costmodel backends lists them), or of a file (.json)"},
    {.name = "plan", .kind = OPTION_SET, .offset = AT(bool, asked.plan),
     .help = "how cuDNN would run each distinct layer on a GPU that need not be\n"
             "here, or why it would not; with --device, for that one"},
    {.name = "backend", .kind = OPTION_TEXT, .offset = AT(const char *, asked.backend),
     .value = "NAME[:key=value,...]",
     .help = "ask this backend, with these settings"},
    {.name = "precision", .kind = OPTION_CHOICE, .offset = AT(int, asked.precision),
     .value = "PRECISION", .choices = precisions,
     .help = "run the fp32 of the file as fp32 (default), tf32, fp16, bf16, int8 or\n"
             "fp8; of the last two the operands of products, all else as fp16"},
    {.name = "layout", .kind = OPTION_CHOICE, .offset = AT(int, asked.layout),
     .value = "LAYOUT", .choices = layouts,
     .help = "where the channels of images stand: auto (default: as the file, or\n"
             "where a backend does better), nchw or nhwc"},
    {.name = "e2e", .kind = OPTION_SET, .offset = AT(bool, asked.e2e),
     .help = "run all that is measured once more as one network, and compare it with\n"
             "the sum of its layers"},
    {.name = "calibrate", .kind = OPTION_TEXT, .offset = AT(const char *, calibrate),
     .value = "FILE.json",
     .help = "instead of a model: measure what the device reaches at its best, and\n"
             "write a description of it that --device takes"},
    {.name = "no-cache", .kind = OPTION_UNSET, .offset = AT(bool, asked.cache),
     .help = "neither use times that were measured before nor keep new ones (in\n"
             "$COSTMODEL_CACHE, $XDG_CACHE_HOME/costmodel or ~/.cache/costmodel)"},
    {.heading = "The report", .name = "format", .kind = OPTION_CHOICE, .offset = AT(int, format),
     .value = "FORMAT", .choices = formats,
     .help = "text for people (default), json for programs, trace: with times, a\n"
             "timeline for chrome://tracing and Perfetto"},
    {.name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = AT(const char *, output),
     .value = "FILE",
     .help = "write there, whole or not at all (default: standard output)"},
    {.name = "depth", .kind = OPTION_INT, .offset = AT(int, depth), .value = "N",
     .min = -1, .max = INT_MAX,
     .help = "text: aggregate module depths 0 to N (default -1: all)"},
    {.name = "top", .kind = OPTION_INT, .offset = AT(int, top), .value = "N",
     .min = 0, .max = INT_MAX,
     .help = "text: name N modules at each depth (default 1, 0: all)"},
    {.name = "no-detail", .kind = OPTION_UNSET, .offset = AT(bool, detailed),
     .help = "text: leave out the module tree"},
    {.name = "operators", .kind = OPTION_SET, .offset = AT(bool, operators),
     .help = "text: the costs by operator too"},
    {.name = "layers", .kind = OPTION_SET, .offset = AT(bool, layers),
     .help = "text, with times: each distinct piece of work and its time too"},
    {.name = "kernels", .kind = OPTION_SET, .offset = AT(bool, kernels),
     .help = "text, with times: the time by kernel too"},
    {.name = "width", .kind = OPTION_INT, .offset = AT(int, width), .value = "N",
     .min = 0, .max = INT_MAX,
     .help = "text: columns at which long lines are folded (default 100, 0: never)"},
    {.name = "color", .kind = OPTION_CHOICE, .offset = AT(int, color), .value = "WHEN",
     .choices = colors,
     .help = "auto (default: on a terminal, unless NO_COLOR is set), always or\n"
             "never"},
    {.name = NULL},
};
/* clang-format on */

/* The library's own defaults, so that they are known in one place. */
static void set_defaults(struct request *request) {
    struct cm_options options;
    struct cm_text_options text;
    cm_options_init(&options);
    cm_text_options_init(&text);
    *request = (struct request){
        .mode = (int)options.mode,
        .convention = options.convention,
        .strict = options.strict,
        .module_source = options.module_source,
        .group = options.group,
        .schedule = (int)options.schedule,
        .memory_limit = options.memory_limit,
        .memory_alignment = options.memory_alignment,
        .memory_curve = options.memory_curve,
        .memory_plan = options.memory_plan,
        .asked = {.cache = true},
        .format = FORMAT_TEXT,
        .depth = text.depth,
        .top = text.top,
        .width = text.width,
        .detailed = text.detailed,
        .color = COLOR_AUTO,
    };
}

static int take_model(const struct invocation *call, const struct option_list *operands,
                      const char **ret) {
    if (operands->n == 0) {
        return options_fault(call, "no model is given, want a path, or - for standard input");
    }
    if (operands->n > 1) {
        return options_fault(call, "want one model, got '%s' and '%s'", operands->values[0],
                             operands->values[1]);
    }
    if (operands->values[0][0] == '\0') {
        return options_fault(call, "the model's path is empty");
    }
    *ret = operands->values[0];
    return CM_OK;
}

/* What there is to write: one of the two. */
struct findings {
    const struct cm_result *result;
    const struct cm_sweep *sweep;
};

static int write_report(const struct request *request, const struct findings *findings,
                        FILE *out) {
    const struct cm_result *result = findings->result;
    struct cm_text_options options;
    if (request->format == FORMAT_JSON)
        return result ? cm_result_write_json(result, out)
                      : cm_sweep_write_json(findings->sweep, out);
    if (request->format == FORMAT_TRACE) return cm_result_write_trace(result, out);
    cm_text_options_init(&options);
    options.depth = request->depth;
    options.top = request->top;
    options.detailed = request->detailed;
    options.operators = request->operators;
    options.layers = request->layers;
    options.kernels = request->kernels;
    options.width = request->width;
    options.color = streams_color(out, (enum color_choice)request->color);
    if (!result) return cm_sweep_write_text(findings->sweep, &options, out);
    if (result->n_explanations > 0) return cm_result_write_explanations(result, &options, out);
    options.unicode = streams_utf8();
    return cm_result_write_text(result, &options, out);
}

/* A report that replaced its own model would destroy it. */
static bool is_model(const struct request *request) {
    struct stat model;
    struct stat output;
    if (text_equal(request->model, "-") || stat(request->model, &model) != 0) return false;
    return stat(request->output, &output) == 0 && model.st_dev == output.st_dev &&
           model.st_ino == output.st_ino;
}

static int write_file(const struct invocation *call, const struct request *request,
                      const struct findings *findings) {
    struct output *output = NULL;
    int status = output_open(request->output, call->diag, &output);
    if (status != CM_OK) return status;
    FILE *stream = output_stream(output);
    status = write_report(request, findings, stream);
    if (status == CM_OK || status == CM_IO) {
        const int flushed = streams_flush(stream, request->output, call->diag);
        status = status == CM_OK ? flushed : status;
    }
    if (status == CM_OK) return output_commit(output, call->diag);
    output_abandon(output);
    return status;
}

static int write_stdout(const struct invocation *call, const struct request *request,
                        const struct findings *findings) {
    const int status = write_report(request, findings, stdout);
    if (status == CM_NO_MEMORY) return status;
    const int flushed = streams_flush(stdout, "standard output", call->diag);
    return status == CM_OK ? flushed : status;
}

static int write_findings(const struct invocation *call, const struct request *request,
                          const struct findings *findings) {
    if (request->format == FORMAT_TRACE && !cm_result_timed(findings->result))
        return diag_error(call->diag, DIAG_USAGE, "there are no times to draw a trace of");
    const bool to_stdout = request->output == NULL || text_equal(request->output, "-");
    const int status =
        to_stdout ? write_stdout(call, request, findings) : write_file(call, request, findings);
    return status == CM_NO_MEMORY ? diag_no_memory(call->diag) : status;
}

/* A profile into *ret, or of several batches a sweep into *ret_sweep. */
static int profile_model(const struct request *request, const struct cm_options *options,
                         struct cm_diagnostics *diag, struct cm_result **ret,
                         struct cm_sweep **ret_sweep) {
    const struct batches *batches = &request->batches;
    struct cm_model *model = NULL;
    struct progress progress = {.shown = false};
    struct cm_options shown = *options;
    int status = cm_model_load_file(request->model, diag, &model);
    if (status != CM_OK) return status;
    shown.progress = progress_show;
    shown.progress_context = &progress;
    status = ret_sweep
                 ? cm_model_sweep(model, &shown, batches->items, batches->n, diag, ret_sweep)
                 : cm_model_profile(model, &shown, diag, ret);
    progress_end(&progress);
    cm_model_free(model);
    return status;
}

/* Messages about the model bear its path. */
static void tell(const struct request *request, const struct cm_diagnostics *diag) {
    const bool piped = text_equal(request->model, "-");
    messages_print(diag, piped ? "standard input" : request->model,
                   (enum color_choice)request->color);
}

/* They go out before the report. */
static int profile_and_tell(const struct request *request, const struct cm_options *options,
                            struct cm_diagnostics *diag, struct cm_result **ret) {
    const int status = profile_model(request, options, diag, ret, NULL);
    tell(request, diag);
    return status;
}

static int misfit(const struct cm_result *result, struct cm_diagnostics *diag) {
    const struct cm_memory *memory = &result->memory;
    const int64_t limit = memory->fit->limit_bytes;
    const int64_t batch = result->options.batch;
    if (memory->required_bytes == CM_UNKNOWN)
        return diag_error(diag, DIAG_FIT,
                          "more than 2^63 bytes are required, the limit is %" PRId64, limit);
    if (batch == CM_UNKNOWN)
        return diag_error(diag, DIAG_FIT,
                          "%" PRId64 " bytes are required, the limit is %" PRId64,
                          memory->required_bytes, limit);
    return diag_error(diag, DIAG_FIT,
                      "%" PRId64 " bytes are required at batch %" PRId64
                      ", the limit is %" PRId64,
                      memory->required_bytes, batch, limit);
}

/* After the report, which says the same at length. */
static int refuse_misfit(const struct request *request, const struct cm_result *result) {
    const struct cm_fit *fit = result->memory.fit;
    if (!fit || fit->fits) return CM_OK;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (diag == NULL) return CM_NO_MEMORY;
    const int status = misfit(result, diag);
    if (text_equal(fit->search, "none")) diag_hint(diag, "no batch fits");
    if (fit->largest_batch > 0)
        diag_hint(diag, "the largest batch that fits is %" PRId64, fit->largest_batch);
    tell(request, diag);
    cm_diagnostics_free(diag);
    return status;
}

/* Times, or plans, that were asked for are there, too. */
static bool is_complete(const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    return cm_result_complete(result) && (!measure || measure->problem[0] == '\0');
}

static int run_request(const struct invocation *call, const struct request *request,
                       const struct cm_options *options) {
    struct cm_result *result = NULL;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (diag == NULL) return command_exit(diag_no_memory(call->diag));
    int status = profile_and_tell(request, options, diag, &result);
    int exit_status = command_exit(status);
    if (status == CM_OK) {
        const struct findings findings = {.result = result};
        status = write_findings(call, request, &findings);
        if (status == CM_OK) status = refuse_misfit(request, result);
        const int done = is_complete(result) ? EXIT_DONE : EXIT_INCOMPLETE;
        exit_status = status == CM_OK ? done : command_exit(status);
    }
    cm_result_free(result);
    cm_diagnostics_free(diag);
    return exit_status;
}

static int run_sweep(const struct invocation *call, const struct request *request,
                     const struct cm_options *options) {
    struct cm_sweep *sweep = NULL;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (diag == NULL) return command_exit(diag_no_memory(call->diag));
    int status = profile_model(request, options, diag, NULL, &sweep);
    tell(request, diag);
    if (status == CM_OK) {
        const struct findings findings = {.sweep = sweep};
        status = write_findings(call, request, &findings);
    }
    const int exit_status = status == CM_OK ? sweep_exit(sweep) : command_exit(status);
    cm_sweep_free(sweep);
    cm_diagnostics_free(diag);
    return exit_status;
}

/* What says something about one profile has nothing to say about several. */
static int check_sweep(const struct invocation *call, const struct request *request) {
    const char *single = request->explain.n > 0            ? "explain"
                         : request->memory_curve           ? "memory-curve"
                         : request->memory_plan            ? "memory-plan"
                         : request->dump_after != NULL     ? "dump-after"
                         : request->asked.plan             ? "plan"
                         : request->asked.e2e              ? "e2e"
                         : request->operators              ? "operators"
                         : request->layers                 ? "layers"
                         : request->kernels                ? "kernels"
                         : request->format == FORMAT_TRACE ? "format trace"
                                                           : NULL;
    if (request->batches.n < 2 || single == NULL) return CM_OK;
    return options_fault(call, "option --%s wants one batch, got '%s'", single, request->batch);
}

static int write_calibration(const struct invocation *call, const struct request *request,
                             const struct cm_options *options) {
    struct output *output = NULL;
    int status = output_open(request->calibrate, call->diag, &output);
    if (status != CM_OK) return status;
    FILE *stream = output_stream(output);
    status = cm_calibrate(options, call->diag, stream);
    if (status == CM_OK) status = streams_flush(stream, request->calibrate, call->diag);
    if (status == CM_OK) return output_commit(output, call->diag);
    output_abandon(output);
    return status;
}

/* A backend that cannot be used is told as it is of a profile. */
static int run_calibration(const struct invocation *call, const struct request *request,
                           const struct cm_options *options) {
    const int status = write_calibration(call, request, options);
    return status == CM_REFUSED ? EXIT_INCOMPLETE : command_exit(status);
}

static int check_calibration(const struct invocation *call, const struct request *request,
                             const struct option_list *operands) {
    if (operands->n > 0)
        return options_fault(call, "option --calibrate takes no model, got '%s'",
                             operands->values[0]);
    if (request->asked.measure == ASKED_NOTHING && request->asked.backend == NULL)
        return options_fault(call, "option --calibrate wants --measure or --backend");
    return CM_OK;
}

static int read_request(const struct invocation *call, struct request *request,
                        struct cm_options *options) {
    struct option_list operands = {0, NULL};
    set_defaults(request);
    int status = options_parse(profile_options, call, request, &operands);
    if (status == CM_OK && request->calibrate != NULL)
        status = check_calibration(call, request, &operands);
    else if (status == CM_OK)
        status = take_model(call, &operands, &request->model);
    if (status == CM_OK && request->model != NULL && request->output != NULL &&
        is_model(request)) {
        return options_fault(call, "the output '%s' is the model itself", request->output);
    }
    cm_options_init(options);
    if (status == CM_OK) status = sweep_read(call, request->batch, &request->batches);
    if (status == CM_OK) status = check_sweep(call, request);
    if (request->batches.n == 1) options->batch = request->batches.items[0];
    options->mode = (enum cm_mode)request->mode;
    options->convention = request->convention;
    options->optimizer = request->optimizer;
    options->amp = request->amp;
    options->n_freeze = request->freeze.n;
    options->freeze = request->freeze.values;
    options->n_checkpoint = request->checkpoint.n;
    options->checkpoint = request->checkpoint.values;
    options->strict = request->strict;
    options->dump_after = request->dump_after;
    options->module_source = request->module_source;
    options->group = request->group;
    options->dump = stderr;
    options->schedule = (enum cm_schedule)request->schedule;
    options->memory_limit = request->memory_limit;
    options->memory_alignment = request->memory_alignment;
    options->memory_curve = request->memory_curve || request->format == FORMAT_TRACE;
    options->memory_plan = request->memory_plan;
    if (status == CM_OK) status = asked_read(call, &request->asked, options);
    if (status == CM_OK && request->format == FORMAT_TRACE &&
        (options->backend == NULL || options->plan_only))
        status = options_fault(call, "--format trace draws times: give --measure, --device or "
                                     "--backend");
    options->n_explain = request->explain.n;
    options->explain = request->explain.values;
    if (status == CM_OK) status = shapes_read_dims(call, &request->dims, options);
    if (status == CM_OK) status = shapes_read_inputs(call, &request->inputs, options);
    if (status == CM_OK) status = shapes_read_values(call, &request->values, options);
    return status;
}

int command_profile(const struct invocation *call) {
    struct request request;
    struct cm_options options;
    const int status = read_request(call, &request, &options);
    if (status != CM_OK) return command_exit(status);
    if (request.calibrate != NULL) return run_calibration(call, &request, &options);
    if (request.batches.n > 1) return run_sweep(call, &request, &options);
    return run_request(call, &request, &options);
}
