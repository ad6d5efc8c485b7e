/* SPDX-License-Identifier: Apache-2.0 */
/* Parsed command line of `costmodel profile`, and the report that it selects. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/binding.h"
#include "cli/options.h"
#include "cli/timing.h"
#include "costmodel/costmodel.h"

/* The bits of enum cm_format_use as bits of option.rules. */
#define TAKES(uses) ((unsigned)(uses) << 3)

/* Bits of option.rules. TAKES_X: the option requires a format that uses X. */
enum request_rule {
    NEEDS_MODEL = 1, /* not with a profile as input */
    NO_FORMULA = 2,  /* not with --formula */
    ONE_BATCH = 4,   /* not with several batches, precisions or devices */
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
    TAKES_PARALLEL = TAKES(CM_USES_LLM),
    TAKES_ALL = 2 * TAKES_PARALLEL - TAKES_REPORT,
};

/* Value of --depth, --top, --width and --rows if not given: each format has its default. */
#define NOT_GIVEN INT_MIN

/* A format of the library and how this program writes it. */
struct format {
    struct cm_format of;
    const char *called; /* name in messages: "a table" */
    unsigned takes;     /* set of TAKES_..., the options that it supports */
    bool of_formulas;   /* supports --formula */
};

struct request {
    const char *model;
    struct binding binding;
    struct option_list explain;
    struct timing timing;
    size_t n_devices;           /* of --device; 0: not given */
    const char *const *devices; /* their names */
    const char *parallel;
    const char *calibrate; /* device description to write; NULL: none */
    const char *format_name;
    struct format format; /* set by format_find */
    int rows;             /* enum cm_rows or NOT_GIVEN */
    struct option_list filters;
    struct cm_table_options table; /* members that the command line sets directly */
    struct cm_text_options text;   /* likewise */
    int units;                     /* enum cm_units */
    int depth;
    int top;
    int width;
    int color; /* enum color_choice */
    const char *output;
    bool formula;
    const char *annotate; /* annotated model to write; NULL: none */
};

/* Sets the defaults of the library. */
void request_defaults(struct request *request);

/* Returns true if the model is profiled at several batches, precisions or devices. */
bool request_is_sweep(const struct request *request);

/* Returns true if a sweep lists its layers. */
bool request_lists_layers(const struct request *request);

/* Returns the name of a given option that has one of these rules; NULL: none. */
const char *request_given(const struct request *request, unsigned rules);

/* The report to write. One of result, sweep and formula is set, the others are NULL. */
struct report {
    const struct request *request;
    const struct cm_result *result;
    const struct cm_sweep *sweep;
    const struct cm_formula *formula;
    const struct cm_llm *llm; /* divided as --parallel requires; NULL: not given */
    struct cm_diagnostics *diag;
};

/* Writes a struct report in its request->format. CM_OK, CM_USAGE, CM_IO, CM_NO_MEMORY. */
int format_write(const void *report, FILE *out) CM_MUST_CHECK;

/* Sets request->format from the valid name request->format_name. CM_OK, CM_NO_MEMORY. */
int format_find(const struct invocation *call, struct request *request) CM_MUST_CHECK;

/* Checks that the format supports all given options and that column names are valid. CM_OK,
 * CM_USAGE, CM_NO_MEMORY. */
int format_check(const struct invocation *call, const struct request *request) CM_MUST_CHECK;
