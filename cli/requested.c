/* SPDX-License-Identifier: Apache-2.0 */
/* --measure and --device are short for what --backend says at length. */
#include "cli/requested.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "costmodel/backend.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

static const char *const backends[] = {
    [ASKED_NOTHING] = NULL, [ASKED_CPU] = "onednn", [ASKED_CUDA] = "cuda"};

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

#define AT(want, member) OPTION_AT(struct asked, want, member)

/* clang-format off */
const struct option asked_times[] = {
    {.heading = "Times", .name = "measure", .kind = OPTION_CHOICE,
     .offset = AT(int, measure), .value = "WHERE", .alone = "cuda", .choices = measurers,
     .help = "run each distinct layer: on a GPU (cuda, also without =WHERE) or on\n"
             "this machine's processors (cpu)"},
    {.name = "device", .kind = OPTION_TEXT, .offset = AT(const char *, device),
     .value = "NAME",
     .help = "the least time of each layer by the published figures of a device, as\n"
             "h200 (costmodel backends lists them), or of a file (.json)"},
    {.name = "backend", .kind = OPTION_TEXT, .offset = AT(const char *, backend),
     .value = "NAME[:key=value,...]",
     .help = "ask this backend, with these settings"},
    {.name = "precision", .kind = OPTION_CHOICE, .offset = AT(int, precision),
     .value = "PRECISION", .choices = precisions,
     .help = "run the fp32 of the file as fp32 (default), tf32, fp16, bf16, int8 or\n"
             "fp8; of the last two the operands of products, all else as fp16"},
    {.name = "layout", .kind = OPTION_CHOICE, .offset = AT(int, layout),
     .value = "LAYOUT", .choices = layouts,
     .help = "where the channels of images stand: auto (default: as the file, or\n"
             "where a backend does better), nchw or nhwc"},
    {.name = "autotune", .kind = OPTION_INT, .offset = AT(int, autotune),
     .value = "K", .min = 1, .max = 1000,
     .help = "run up to K algorithms of each layer where the backend has a choice\n"
             "(cuda), and keep the fastest (default 1: the one it recommends)"},
    {.name = "no-cache", .kind = OPTION_UNSET, .offset = AT(bool, cache),
     .help = "neither use times that were measured before nor keep new ones (in\n"
             "$COSTMODEL_CACHE, $XDG_CACHE_HOME/costmodel or ~/.cache/costmodel)"},
    {.name = NULL},
};
/* clang-format on */

void asked_defaults(struct asked *asked) {
    *asked = (struct asked){.cache = true};
}

const char *asked_given(const struct asked *asked) {
    struct asked defaults;
    asked_defaults(&defaults);
    if (asked->plan) return "plan";
    if (asked->e2e) return "e2e";
    return options_changed(asked_times, asked, &defaults);
}

static int set_backend(const struct invocation *call, const char *setting, const char *device,
                       struct cm_options *options) {
    options->backend = arena_printf(call->arena, "%s=%s", setting, device);
    return options->backend ? CM_OK : diag_no_memory(call->diag);
}

/* --device says what for, not who is asked. */
static int read_plan(const struct invocation *call, const struct asked *asked,
                     struct cm_options *options) {
    if (asked->measure != ASKED_NOTHING)
        return options_fault(call, "want one of --measure and --plan, which runs nothing");
    if (asked->backend != NULL && asked->device != NULL)
        return options_fault(call, "want one of --backend and --device, got both");
    options->plan_only = true;
    options->backend = asked->backend ? asked->backend : "cuda";
    return asked->device ? set_backend(call, "cuda:target", asked->device, options) : CM_OK;
}

/* As the XDG base directory specification has it; *ret NULL: there is no place. */
static int find_cache(struct arena *arena, const char **ret) {
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

/* An option of times wants somebody who tells them, one of running somebody who runs. */
static int check_asked(const struct invocation *call, const struct asked *asked, int n) {
    const bool is_timed = n > 0 || asked->plan;
    const bool is_run = n > 0 && !asked->plan && asked->device == NULL;
    if (asked->e2e && !is_run)
        return options_fault(call, "option --e2e runs layers: want --measure or --backend");
    if (asked->autotune > 0 && !is_run)
        return options_fault(call, "--autotune runs layers: want --measure or --backend");
    if (asked->precision != CM_PRECISION_AS_STORED && !is_timed)
        return options_fault(call, "--precision is of times and plans: want --measure, "
                                   "--backend, --device or --plan");
    if (asked->layout != CM_LAYOUT_AUTO && !is_timed)
        return options_fault(call, "--layout is of times and plans: want --measure, --backend, "
                                   "--device or --plan");
    if (n > 1 && !asked->plan)
        return options_fault(call, "want one of --measure, --backend and --device, got %d", n);
    return CM_OK;
}

int asked_read(const struct invocation *call, const struct asked *asked,
               struct cm_options *options) {
    const int n =
        (asked->measure != ASKED_NOTHING) + (asked->backend != NULL) + (asked->device != NULL);
    const int status = check_asked(call, asked, n);
    if (status != CM_OK) return status;
    options->autotune = asked->autotune;
    options->precision = (enum cm_precision)asked->precision;
    options->layout = (enum cm_layout)asked->layout;
    if (asked->plan) return read_plan(call, asked, options);
    options->e2e = asked->e2e;
    if (asked->cache && find_cache(call->arena, &options->cache) != CM_OK)
        return diag_no_memory(call->diag);
    options->backend = asked->backend ? asked->backend : backends[asked->measure];
    if (asked->device == NULL) return CM_OK;
    return set_backend(call, "roofline:device", asked->device, options);
}

static double now(void) {
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The rest takes about as long for each as what is done. */
static void show_layers(const struct progress *line, const struct cm_progress *at) {
    fprintf(stderr, "%zu of %zu, round %d", at->done + 1, at->total, at->round);
    if (at->done == 0) return;
    const double each = (now() - line->begin) / (double)at->done;
    fprintf(stderr, ", about %.0f s left", each * (double)(at->total - at->done));
}

void progress_show(void *progress, const struct cm_progress *at) {
    struct progress *line = progress;
    if (!isatty(STDERR_FILENO)) return;
    if (at->done == 0) line->begin = now();
    line->shown = true;
    fputs("\r\033[Kmeasuring ", stderr);
    if (text_equal(at->what, "layers"))
        show_layers(line, at);
    else
        fprintf(stderr, "the %s", at->what);
    (void)fflush(stderr);
}

void progress_end(const struct progress *progress) {
    if (progress->shown) fputs("\r\033[K", stderr);
}
