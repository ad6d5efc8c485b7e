/* SPDX-License-Identifier: Apache-2.0 */
/* Options that select the source of times, and the progress line of a measurement. */
#pragma once

#include <stdbool.h>

#include "cli/options.h"
#include "costmodel/costmodel.h"

struct arena;
struct interrupt;
struct text;

enum measure_target { MEASURE_NONE, MEASURE_CPU, MEASURE_CUDA };

struct timing {
    int measure; /* enum measure_target: --measure */
    const char *backend;
    const char *device;               /* --device: of the roofline, or target of a plan */
    bool plan;                        /* --cudnn-plan */
    struct option_choices precisions; /* enum cm_precision */
    bool amp;                         /* --amp: precision amp */
    int runtime;                      /* enum cm_runtime */
    bool end_to_end;                  /* --end-to-end */
    bool cache;                       /* use the cache of measured times */
    int layout;                       /* enum cm_layout */
    int autotune;                     /* algorithms to try; 0: not given */
    int progress;                     /* seconds between lines of progress in a pipe */
    struct option_list times;         /* --times */
    size_t n_loaded;
    struct cm_times **loaded; /* timing_read fills it, timing_free frees it */
};

/* Shared option table for times; only profile adds --cudnn-plan and --end-to-end. */
extern const struct option timing_options[];
/* The values of --measure (enum measure_target). */
extern const struct option_choice timing_measurers[];
/* By enum measure_target: the backend that --measure selects; NULL for MEASURE_NONE. */
extern const char *const timing_backends[];
/* Finds the cache directory (XDG Base Directory Specification); *ret is NULL if there is none.
 * CM_OK, CM_NO_MEMORY. */
int timing_cache(struct arena *arena, const char **ret) CM_MUST_CHECK;
/* The values of --runtime, --precision and --layout. */
extern const struct option_choice timing_runtimes[];
extern const struct option_choice timing_precisions[];
extern const struct option_choice timing_layouts[];

void timing_defaults(struct timing *timing);
/* Returns the name of an option that is not at its default; NULL: none. Ignores --progress. */
const char *timing_given(const struct timing *timing);

/* Refuses several precisions for a command that supports one. CM_OK, CM_USAGE. */
int timing_check_one_precision(const struct invocation *call,
                               const struct timing *timing) CM_MUST_CHECK;

/* Sets options->backend and related members, with the first precision, and reads the files of
 * --times, which timing_free frees. CM_OK, CM_USAGE, CM_REFUSED, CM_IO, CM_NO_MEMORY. */
int timing_read(const struct invocation *call, struct timing *timing,
                struct cm_options *options) CM_MUST_CHECK;
void timing_free(struct timing *timing);
/* Refuses an output `path` that is a file of --times. CM_OK, CM_USAGE. */
int timing_check_output(const struct invocation *call, const struct timing *timing,
                        const char *path) CM_MUST_CHECK;
/* The row of --times, for commands that profile one model once. */
extern const struct option timing_import[];

/* Returns the seconds of a clock that is never set. */
double progress_now(void);
/* Appends ", about 40 s left": `done` of `total` items took `seconds`. */
void progress_append_left(struct text *text, double seconds, size_t done, size_t total);

/* The progress of a measurement on standard error, and its end by Ctrl-C, SIGPIPE, or because
 * the program that reads standard output has ended. On a terminal one line is rewritten;
 * otherwise a new line is written every `interval` seconds. */
struct progress {
    bool has_line;               /* a line is on the terminal */
    bool is_interrupted;         /* measuring was ended; set by progress_end */
    const char *verb;            /* "measuring" */
    double interval;             /* seconds */
    double begin;                /* start time of the first layer, seconds */
    double written;              /* time of the last line, seconds */
    const char *setting;         /* what changes between profiles: "batch", "precision" */
    size_t setting_index;        /* from 1 */
    size_t n_settings;           /* 0: one profile */
    struct interrupt *interrupt; /* NULL: Ctrl-C ends the program */
};
/* Starts the progress line, and sets the members of `options` that report progress. `output`:
 * file of the report; NULL: standard output. If a backend (also that of --cudnn-plan) is
 * selected without --device, Ctrl-C ends only the measurement until progress_end; otherwise it
 * ends the program. */
void progress_begin(struct progress *progress, const struct timing *timing, const char *output,
                    struct cm_options *options);
/* Erases the line, restores the signals and sets is_interrupted. */
void progress_end(struct progress *progress);
/* Returns `status`; an error if Ctrl-C was pressed, because a comparison requires all times. */
int progress_require_end(const struct progress *progress, int status,
                         struct cm_diagnostics *diag) CM_MUST_CHECK;
