/* SPDX-License-Identifier: Apache-2.0 */
/* Options that select the source of times, the progress line of a measurement and its end by
 * Ctrl-C. --measure and --device are short for --backend. */
#include "cli/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/command.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/request.h"
#include "costmodel/backend.h"
#include "costmodel/times.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/interrupt.h"
#include "support/option_names.h"
#include "support/system.h"
#include "support/text.h"

const char *const timing_backends[] = {
    [MEASURE_NONE] = NULL, [MEASURE_CPU] = "onednn", [MEASURE_CUDA] = "cuda"};

const struct option_choice timing_measurers[] = {
    {"cpu", MEASURE_CPU, "the processors of this machine"},
    {"cuda", MEASURE_CUDA, "default: a GPU of NVIDIA"},
    {.name = NULL}};

const struct option_choice timing_precisions[] = {
    {"file", CM_PRECISION_AS_STORED, "default: as in the file"},
    {"fp32", CM_PRECISION_FP32, NULL},
    {"tf32", CM_PRECISION_TF32, "fp32 tensors"},
    {"fp16", CM_PRECISION_FP16, NULL},
    {"bf16", CM_PRECISION_BF16, NULL},
    {"int8", CM_PRECISION_INT8, "weights and operands of products, the rest in fp16"},
    {"fp8", CM_PRECISION_FP8, "as int8"},
    {"amp", CM_PRECISION_AMP, "torch.autocast: fp16 products; norms, softmax and sums in fp32"},
    {.name = NULL},
};

const struct option_choice timing_layouts[] = {
    {"auto", CM_LAYOUT_AUTO, "default: nchw, unless the backend runs another layout faster"},
    {"nchw", CM_LAYOUT_NCHW, NULL},
    {"nhwc", CM_LAYOUT_NHWC, NULL},
    {.name = NULL}};

const struct option_choice timing_runtimes[] = {
    {"tensorrt", CM_RUNTIME_TENSORRT, NULL},
    {"torch-compile", CM_RUNTIME_TORCH_COMPILE, NULL},
    {"torch-eager", CM_RUNTIME_TORCH_EAGER, NULL},
    {"ort-cuda", CM_RUNTIME_ORT_CUDA, NULL},
    {"ort-cpu", CM_RUNTIME_ORT_CPU, NULL},
    {"openvino", CM_RUNTIME_OPENVINO, NULL},
    {"ncnn", CM_RUNTIME_NCNN, NULL},
    {"compiled", CM_RUNTIME_TORCH_COMPILE, "measured: products with their elementwise nodes"},
    {"eager", CM_RUNTIME_TORCH_EAGER, "measured, default: each operator on its own"},
    {.name = NULL}};

#define PROGRESS_SECONDS 30

#define INTO(kind, member) OPTION_INTO(kind, struct timing, member)

/* clang-format off */
const struct option timing_options[] = {
    {.heading = "Times", .name = "measure", .common = true, INTO(CHOICE, measure), .rules = NO_FORMULA,
     .value = "WHERE", .alone = "cuda", .choices = timing_measurers,
     .help = "measure each distinct layer on:"},
    {.name = "device", .common = true, INTO(TEXT, device), .rules = NO_FORMULA, .value = "NAME",
     .names = names_of_devices, .files = "json", .list = true,
     .help = "model each layer's time with the roofline of a device, e.g. h200\n"
             "(listed by `costmodel backends`), or of a device description (.json);\n"
             "`costmodel profile --format html` compares a list such as h200,t4"},
    {.name = "backend", INTO(TEXT, backend), .rules = NO_FORMULA, .value = "NAME[:key=value,...]",
     .parts = parts_backend,
     .help = "take times from this backend, with these settings"},
    {.name = "precision", .common = true, INTO(CHOICES, precisions), .value = "PRECISION[,...]",
     .choices = timing_precisions,
     .help = "precision of floats, for bytes, times and limits; `costmodel profile`\n"
             "compares a list such as fp32,tf32,fp16:"},
    {.name = "amp", INTO(SET, amp), .help = "short for --precision amp"},
    {.name = "runtime", INTO(CHOICE, runtime), .rules = NO_FORMULA, .value = "RUNTIME", .choices = timing_runtimes,
     .help = "with --device, the program whose time is modelled (default: that of the\n"
             "device's first calibration, else torch-compile); measured or planned,\n"
             "whether products run with the elementwise nodes behind them:"},
    {.name = "layout", INTO(CHOICE, layout), .rules = NO_FORMULA, .value = "LAYOUT", .choices = timing_layouts,
     .help = "image layout:"},
    {.name = "autotune", INTO(INT, autotune), .rules = NO_FORMULA, .value = "K", .min = 1, .max = 1000,
     .help = "try up to K algorithms per layer and keep the fastest, if the backend\n"
             "has a choice (cuda); default 1: the recommended one"},
    {.name = "no-cache", INTO(UNSET, cache), .rules = NO_FORMULA,
     .help = "do not read or write the cache of measured times ($COSTMODEL_CACHE,\n"
             "$XDG_CACHE_HOME/costmodel or ~/.cache/costmodel)"},
    {.name = NULL},
};
/* clang-format on */

/* clang-format off */
const struct option timing_import[] = {
    {.name = "times", INTO(LIST, times), .value = "FILE", .files = "*",
     .rules = NEEDS_MODEL | NO_FORMULA | ONE_BATCH,
     .help = "take measured times from a profile of ONNX Runtime, a trace of PyTorch's\n"
             "profiler, counters of OpenVINO's benchmark_app, trtexec's --exportProfile\n"
             "(and --exportLayerInfo), or CSV (node,time_us);\n"
             "repeatable; with --device, also compare them with expected times"},
    {.name = NULL},
};
/* clang-format on */

void timing_defaults(struct timing *timing) {
    *timing = (struct timing){.cache = true,
                              .precisions = {.n = 1, .values = {CM_PRECISION_AS_STORED}},
                              .progress = PROGRESS_SECONDS};
}

const char *timing_given(const struct timing *timing) {
    struct timing defaults;
    timing_defaults(&defaults);
    if (timing->times.n > 0) return "times";
    if (timing->plan) return "cudnn-plan";
    if (timing->end_to_end) return "end-to-end";
    return options_changed(timing_options, timing, &defaults, 0);
}

static int set_backend(const struct invocation *call, const char *setting, const char *device,
                       struct cm_options *options) {
    options->backend = arena_printf(call->arena, "%s=%s", setting, device);
    return options->backend ? CM_OK : diag_no_memory(call->diag);
}

int timing_cache(struct arena *arena, const char **ret) {
    static const struct {
        const char *variable, *below;
    } places[] = {{"COSTMODEL_CACHE", ""},
                  {"XDG_CACHE_HOME", "/costmodel"},
                  {"HOME", "/.cache/costmodel"}};
    *ret = NULL;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const char *set = getenv(places[i].variable);
        if (set == NULL || set[0] == '\0') continue;
        *ret = arena_printf(arena, "%s%s", set, places[i].below);
        return *ret ? CM_OK : CM_NO_MEMORY;
    }
    return CM_OK;
}

/* Refuses options that exclude each other or that lack the source of times they require. */
static int check_timing(const struct invocation *call, const struct timing *timing,
                        int n_sources) {
    const char *source_option = timing->measure != MEASURE_NONE ? "measure"
                                : timing->backend != NULL       ? "backend"
                                : timing->plan                  ? "cudnn-plan"
                                                                : NULL;
    if (timing->times.n > 0 && source_option != NULL)
        return options_fault(call, "options --times and --%s are mutually exclusive",
                             source_option);
    const bool is_timed = n_sources > 0 || timing->plan;
    const bool is_run = n_sources > 0 && !timing->plan && timing->device == NULL;
    if (timing->end_to_end && !is_run)
        return options_fault(call, "option --end-to-end requires --measure or --backend");
    if (timing->autotune > 0 && !is_run)
        return options_fault(call, "option --autotune requires --measure or --backend");
    if (timing->layout != CM_LAYOUT_AUTO && !is_timed)
        return options_fault(call, "option --layout requires --measure, --backend, --device "
                                   "or --cudnn-plan");
    if (timing->runtime > CM_RUNTIME_TORCH_EAGER && (is_run || timing->plan))
        return options_fault(call, "option --runtime %s requires --device",
                             option_runtime_name(timing->runtime));
    if (timing->runtime == CM_RUNTIME_TORCH_COMPILE && timing->end_to_end)
        return options_fault(
            call, "options --end-to-end and --runtime compiled are mutually exclusive");
    if (n_sources > 1 && !timing->plan)
        return options_fault(
            call, "options --measure, --backend and --device are mutually exclusive, got %d",
            n_sources);
    return CM_OK;
}

static int read_times(const struct invocation *call, struct timing *timing,
                      struct cm_options *options) {
    const struct option_list *paths = &timing->times;
    timing->loaded = arena_array(call->arena, paths->n, sizeof(*timing->loaded));
    if (timing->loaded == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < paths->n; i++) {
        struct cm_times **times = &timing->loaded[timing->n_loaded];
        const int status = cm_times_load_file(paths->values[i], call->diag, times);
        if (status != CM_OK) return status;
        timing->n_loaded++;
    }
    options->n_times = timing->n_loaded;
    options->times = (const struct cm_times *const *)timing->loaded;
    return CM_OK;
}

void timing_free(struct timing *timing) {
    for (size_t i = 0; i < timing->n_loaded; i++) cm_times_free(timing->loaded[i]);
}

int timing_check_output(const struct invocation *call, const struct timing *timing,
                        const char *path) {
    for (size_t i = 0; path != NULL && i < timing->times.n; i++)
        if (outputs_is_file(path, timing->times.values[i]))
            return options_fault(call, "output '%s' is a file of --times", path);
    return CM_OK;
}

int timing_check_one_precision(const struct invocation *call, const struct timing *timing) {
    if (timing->precisions.n < 2) return CM_OK;
    return options_fault(call, "%s requires one precision, got '%s'", call->name,
                         timing->precisions.text);
}

int timing_read(const struct invocation *call, struct timing *timing,
                struct cm_options *options) {
    const int n_sources = (timing->measure != MEASURE_NONE) + (timing->backend != NULL) +
                          (timing->device != NULL);
    int status = check_timing(call, timing, n_sources);
    if (status != CM_OK) return status;
    if (timing->amp && timing->precisions.text != NULL &&
        !text_equal(timing->precisions.text, "amp"))
        return options_fault(call, "option --amp is --precision amp, got --precision %s",
                             timing->precisions.text);
    if (timing->amp) timing->precisions.values[0] = CM_PRECISION_AMP;
    options->autotune = timing->autotune;
    options->precision = (enum cm_precision)timing->precisions.values[0];
    options->layout = (enum cm_layout)timing->layout;
    options->runtime = (enum cm_runtime)timing->runtime;
    options->fuse =
        (timing->plan || timing->device == NULL) && timing->runtime == CM_RUNTIME_TORCH_COMPILE;
    if (timing->plan) { /* --device names the target GPU, not a device of the roofline */
        if (timing->measure != MEASURE_NONE)
            return options_fault(call,
                                 "options --measure and --cudnn-plan are mutually exclusive");
        if (timing->backend != NULL && timing->device != NULL)
            return options_fault(call, "options --backend and --device are mutually exclusive");
        options->plan_only = true;
        options->backend = timing->backend ? timing->backend : "cuda";
        return timing->device ? set_backend(call, "cuda:target", timing->device, options)
                              : CM_OK;
    }
    options->end_to_end = timing->end_to_end;
    if (timing->cache && timing_cache(call->arena, &options->cache) != CM_OK)
        return diag_no_memory(call->diag);
    options->backend = timing->backend ? timing->backend : timing_backends[timing->measure];
    status = read_times(call, timing, options);
    if (status != CM_OK || timing->device == NULL) return status;
    const char *device = NULL;
    status = cm_device_resolve(timing->device, call->diag, &device);
    if (status == CM_USAGE) diag_hint(call->diag, "costmodel backends lists the devices");
    if (status != CM_OK) return status;
    return set_backend(call, "roofline:device", device, options);
}

double progress_now(void) {
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#define BAR_COLUMNS 24

void progress_append_left(struct text *text, double seconds, size_t done, size_t total) {
    if (done == 0) return;
    const double left = seconds / (double)done * (double)(total - done);
    if (left < 120)
        text_printf(text, ", about %.0f s left", left);
    else if (left < 7200)
        text_printf(text, ", about %.0f min left", left / 60);
    else
        text_printf(text, ", about %.1f h left", left / 3600);
}

static void append_progress(struct text *text, const struct progress *progress,
                            const struct cm_progress *at, bool is_terminal) {
    if (progress->n_settings > 0)
        text_printf(text, "%s %zu of %zu", progress->setting, progress->setting_index,
                    progress->n_settings);
    if (text_equal(at->what, "batches")) return;
    text_printf(text, "%s%s ", progress->n_settings > 0 ? ": " : "", progress->verb);
    if (!text_equal(at->what, "layers")) {
        text_printf(text, "the %s", at->what);
        return;
    }
    if (is_terminal) { /* "[######                  ] " */
        const size_t filled = at->total > 0 ? BAR_COLUMNS * at->done / at->total : 0;
        text_append(text, "[");
        for (size_t i = 0; i < BAR_COLUMNS; i++) text_append(text, i < filled ? "#" : " ");
        text_append(text, "] ");
    }
    text_printf(text, "%zu of %zu, round %d", at->done + 1, at->total, at->round);
    progress_append_left(text, progress_now() - progress->begin, at->done, at->total);
}

static void progress_show(void *context, const struct cm_progress *at) {
    struct progress *progress = context;
    const bool is_terminal = system_is_terminal(stderr);
    if (text_equal(at->what, "batches")) {
        progress->setting_index = at->done + 1;
        progress->n_settings = at->total;
    }
    if (at->done == 0) progress->begin = progress_now();
    if (!is_terminal && progress_now() - progress->written < progress->interval) return;
    if (progress->interrupt && interrupt_is_pending(progress->interrupt)) return;
    progress->written = progress_now();
    struct arena *arena = arena_new("progress", 0);
    if (arena == NULL) return;
    struct text text = {.arena = arena};
    append_progress(&text, progress, at, is_terminal);
    if (is_terminal)
        fprintf(stderr, "\r\033[K%s", text_string(&text));
    else
        fprintf(stderr, "costmodel: %s\n", text_string(&text));
    (void)fflush(stderr);
    progress->has_line = is_terminal;
    arena_free(arena);
}

void progress_begin(struct progress *progress, const struct timing *timing, const char *output,
                    struct cm_options *options) {
    const bool measures = options->backend != NULL && timing->device == NULL;
    *progress = (struct progress){.verb = timing->plan ? "planning"
                                          : measures   ? "measuring"
                                                       : "modelling",
                                  .setting = timing->precisions.n > 1 ? "precision" : "batch",
                                  .interval = timing->progress,
                                  .written = progress_now()};
    options->progress = progress_show;
    options->progress_context = progress;
    if (measures)
        progress->interrupt = interrupt_begin(output == NULL || text_equal(output, "-"));
    if (progress->interrupt) options->stop = interrupt_descriptor(progress->interrupt);
}

void progress_end(struct progress *progress) {
    if (progress->has_line) fputs("\r\033[K", stderr);
    progress->is_interrupted = interrupt_end(progress->interrupt);
    progress->interrupt = NULL;
}

int progress_require_end(const struct progress *progress, int status,
                         struct cm_diagnostics *diag) {
    if (status < 0 || !progress->is_interrupted) return status;
    return diag_error(diag, DIAG_INTERRUPTED,
                      "a comparison requires all times, and measuring was interrupted");
}
