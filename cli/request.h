/* SPDX-License-Identifier: Apache-2.0 */
/* Parsed command line of `costmodel profile`. */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/binding.h"
#include "cli/options.h"
#include "cli/timing.h"

struct format;

/* Value of --depth, --top and --rows if not given: each format has its own default. */
#define NOT_GIVEN INT_MIN

struct request {
    const char *model;
    struct binding binding;
    struct option_list explain;
    const char *dump_after;
    int64_t memory_limit;
    bool memory_curve;
    bool memory_plan;
    struct timing timing;
    const char *calibrate; /* device description to write; NULL: none */
    const char *format_name;
    const struct format *format; /* format_find */
    int rows;                    /* enum cm_rows or NOT_GIVEN */
    const char *columns;
    const char *sort;
    struct option_list filters;
    const char *metric;
    int units; /* enum cm_units */
    int depth;
    int top;
    int width;
    bool detailed;
    bool operators;
    bool layers;
    bool kernels;
    int color; /* enum color_choice */
    const char *output;
    bool formula;
    const char *annotate; /* annotated model to write; NULL: none */
};

/* Sets the defaults of the library. */
void request_defaults(struct request *request);

#endif
