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
#include "costmodel/costmodel.h"

struct format;

/* The bits of enum cm_format_use as bits of option.rules. */
#define TAKES(uses) ((unsigned)(uses) << 3)

/* Bits of option.rules. TAKES_...: the option requires a format that uses this. */
enum request_rule {
    NEEDS_MODEL = 1, /* not with a profile as input */
    NO_FORMULA = 2,  /* not with --formula */
    ONE_BATCH = 4,   /* not with several batches or precisions */
    TAKES_REPORT = TAKES(CM_USES_SECTIONS),
    TAKES_ROWS = TAKES(CM_USES_ROWS), /* --rows, --sort, --filter */
    TAKES_COLUMNS = TAKES(CM_USES_COLUMNS),
    TAKES_DEPTH = TAKES(CM_USES_DEPTH),
    TAKES_TOP = TAKES(CM_USES_TOP),
    TAKES_UNITS = TAKES(CM_USES_UNITS),
    TAKES_METRIC = TAKES(CM_USES_METRIC),
    TAKES_CURVE = TAKES(CM_USES_CURVE), /* --memory-curve */
    TAKES_EXPLAIN = TAKES(CM_USES_EXPLANATIONS),
    TAKES_WIDTH = TAKES(CM_USES_WIDTH),
    TAKES_PLAN = TAKES(CM_USES_PLAN), /* --memory-plan */
    TAKES_LAYERS = TAKES(CM_USES_LAYERS),
    TAKES_ALL = 2 * TAKES_LAYERS - TAKES_REPORT,
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
