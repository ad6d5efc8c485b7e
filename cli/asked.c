/* SPDX-License-Identifier: Apache-2.0 */
/* --measure and --device are short for what --backend says at length. */
#include "cli/asked.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "costmodel/backend.h"
#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

static const char *const measurers[] = {
    [ASKED_NOTHING] = NULL, [ASKED_CPU] = "onednn", [ASKED_CUDA] = "cuda"};

int asked_read(const struct invocation *call, const struct asked *asked,
               struct cm_options *options) {
    const int n =
        (asked->measure != ASKED_NOTHING) + (asked->backend != NULL) + (asked->device != NULL);
    if (n > 1)
        return options_fault(call, "want one of --measure, --backend and --device, got %d", n);
    if (n == 0 && asked->precision != CM_PRECISION_AS_STORED)
        return options_fault(call,
                             "--precision is of times: want --measure, --backend or --device");
    if (n == 0 && asked->layout != CM_LAYOUT_AUTO)
        return options_fault(call,
                             "--layout is of times: want --measure, --backend or --device");
    options->precision = (enum cm_precision)asked->precision;
    options->layout = (enum cm_layout)asked->layout;
    options->backend = asked->backend ? asked->backend : measurers[asked->measure];
    if (asked->device == NULL) return CM_OK;
    options->backend = arena_printf(call->arena, "roofline:device=%s", asked->device);
    return options->backend ? CM_OK : diag_no_memory(call->diag);
}

static double now(void) {
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The rest takes about as long for each as what is done. */
void progress_show(void *progress, size_t done, size_t total) {
    struct progress *line = progress;
    if (!isatty(STDERR_FILENO)) return;
    if (!line->shown) line->begin = now();
    line->shown = true;
    fprintf(stderr, "\r\033[Kmeasuring %zu of %zu", done + 1, total);
    if (done > 0) {
        const double each = (now() - line->begin) / (double)done;
        fprintf(stderr, ", about %.0f s left", each * (double)(total - done));
    }
    (void)fflush(stderr);
}

void progress_end(const struct progress *progress) {
    if (progress->shown) fputs("\r\033[K", stderr);
}
