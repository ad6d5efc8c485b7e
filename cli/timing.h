/* SPDX-License-Identifier: Apache-2.0 */
/* Options that select the source of times, and the progress line of a measurement. */
#ifndef CLI_TIMING_H
#define CLI_TIMING_H

#include <stdbool.h>

#include "cli/options.h"
#include "costmodel/costmodel.h"

enum measure_target { MEASURE_NONE, MEASURE_CPU, MEASURE_CUDA };

struct timing {
    int measure; /* enum measure_target: --measure */
    const char *backend;
    const char *device; /* of the roofline, or target of --cudnn-plan */
    bool plan;          /* --cudnn-plan */
    int precision;      /* enum cm_precision */
    int runtime;        /* enum cm_runtime */
    bool end_to_end;    /* --end-to-end */
    bool cache;         /* use the cache of measured times */
    int layout;         /* enum cm_layout */
    int autotune;       /* algorithms to try; 0: not given */
};

/* Shared option table for times; only profile adds --cudnn-plan and --end-to-end. */
extern const struct option timing_options[];
/* The values of --runtime. */
extern const struct option_choice timing_runtimes[];

void timing_defaults(struct timing *timing);
/* Returns the name of an option that is not at its default; NULL: none. */
const char *timing_given(const struct timing *timing);

/* Sets options->backend and related members. CM_OK, CM_USAGE, CM_NO_MEMORY. */
int timing_read(const struct invocation *call, const struct timing *timing,
                struct cm_options *options) CM_MUST_CHECK;

/* Progress line on standard error during a measurement; only on a terminal. */
struct progress {
    bool shown;
    double begin; /* start time of the first layer, seconds */
};
void progress_show(void *progress, const struct cm_progress *at);
/* Erases the line. */
void progress_end(const struct progress *progress);

#endif
