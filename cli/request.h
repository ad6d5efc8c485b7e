/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line of `costmodel profile` says: where the rows of its options put it. */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/asked.h"
#include "cli/options.h"
#include "cli/sweep.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_TRACE };

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
    const char *annotate; /* the model to write; NULL: not asked */
};

/* The library's own defaults, so that they are known in one place. */
void request_defaults(struct request *request);

#endif
