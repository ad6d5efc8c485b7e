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

/* Bits of option.rules. TAKES_...: bits of format.takes too, the formats that support it. */
enum request_rule {
    NEEDS_MODEL = 1,  /* not with a profile as input */
    NO_FORMULA = 2,   /* not with --formula */
    ONE_BATCH = 4,    /* not with several batches or precisions */
    TAKES_REPORT = 8, /* sections of the text report */
    TAKES_ROWS = 16,  /* --rows, --sort, --filter */
    TAKES_COLUMNS = 32,
    TAKES_DEPTH = 64,
    TAKES_TOP = 128,
    TAKES_UNITS = 256,
    TAKES_METRIC = 512,
    TAKES_CURVE = 1024, /* --memory-curve */
    TAKES_EXPLAIN = 2048,
    TAKES_WIDTH = 4096,
    TAKES_PLAN = 8192, /* --memory-plan */
    TAKES_LAYERS = 16384,
    TAKES_TABLE = TAKES_ROWS | TAKES_COLUMNS | TAKES_DEPTH | TAKES_TOP | TAKES_UNITS,
    TAKES_ALL = 32768 - TAKES_REPORT,
};

/* Value of --depth, --top, --width and --rows if not given: each format has its own default.
 */
#define NOT_GIVEN INT_MIN

struct request {
    const char *model;
    struct binding binding;
    struct option_list explain;
    const char *dump_after;
    int64_t memory_limit;
    int64_t sample_bytes;
    bool memory_curve;
    bool memory_plan;
    struct timing timing;
    const char *calibrate; /* device description to write; NULL: none */
    const char *format_name;
    const struct format *format; /* set by format_find */
    int rows;                    /* enum cm_rows or NOT_GIVEN */
    const char *columns;
    const char *sort;
    struct option_list filters;
    const char *metric;
    int units; /* enum cm_units */
    int depth;
    int top;
    int width;
    bool tree;
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

/* Returns true if the model is profiled at several batches or precisions. */
bool request_is_sweep(const struct request *request);

/* Returns true if a sweep lists its layers. */
bool request_lists_layers(const struct request *request);

/* Returns the name of a given option that has one of these rules; NULL: none. */
const char *request_given(const struct request *request, unsigned rules);

#endif
