/* SPDX-License-Identifier: Apache-2.0 */
/* --measure and --device are short for what --backend says at length. */
#include "cli/asked.h"

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

static const char *const measurers[] = {
    [ASKED_NOTHING] = NULL, [ASKED_CPU] = "onednn", [ASKED_CUDA] = "cuda"};

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
    options->backend = asked->backend ? asked->backend : measurers[asked->measure];
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
