/* SPDX-License-Identifier: Apache-2.0 */
/* Parsed command line of `costmodel check`, its planned profiles and its report files. */
#pragma once

#include <stdbool.h>

#include "cli/binding.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/timing.h"
#include "costmodel/check.h"

struct check_request {
    struct binding binding;
    struct timing timing;
    const char *model;
    const char *baseline;
    const char *budget;
    struct option_list limits;
    bool allow_incomplete;
    bool fail_ambiguous;
    int top;
    bool update;
    bool ratchet;
    const char *reason;
    int format; /* as in check_report */
    const char *output;
    struct option_list reports; /* FORMAT=FILE */
    int color;                  /* enum color_choice */
};

/* Parses the command line. CM_OK, CM_USAGE, CM_NO_MEMORY. */
int check_request_read(const struct invocation *call, struct check_request *ret) CM_MUST_CHECK;

/* Formats whose writers do not have the common signature (`writers` in check.c). */
enum { CHECK_FORMAT_TEXT = 0, CHECK_FORMAT_HTML = 6 };

/* A report file and its format. */
struct check_report {
    size_t format;    /* index of the format, in the order text, json, ... of --format */
    const char *path; /* NULL: standard output */
};

/* Parses FORMAT=FILE. CM_OK, CM_USAGE. */
int check_report_read(const struct invocation *call, const char *text,
                      struct check_report *ret) CM_MUST_CHECK;

/* Options and batches to profile. */
struct check_plan {
    struct cm_options options; /* without the batch */
    size_t n_batches;
    const int64_t *batches; /* 0: the batch of the file */
    size_t n_limit_batches;
    const int64_t *limit_batches; /* batches that limits name, profiled for these limits */
    size_t n_llm_limits;          /* limits that name figures of a language model */
};

/* Completes the options of the command line from the budget, then from the baseline (NULL:
 * none). CM_OK, CM_USAGE, CM_NO_MEMORY. */
int check_plan_make(const struct invocation *call, const struct check_request *request,
                    const struct cm_budget *budget, const struct cm_baseline *baseline,
                    struct check_plan *ret) CM_MUST_CHECK;

/* Lists the batches that limits name, and counts those that name figures of a language model.
 * CM_OK, CM_USAGE (invalid limit), CM_NO_MEMORY. */
int check_plan_take_limits(const struct invocation *call, size_t n,
                           const struct cm_check_limit *limits,
                           struct check_plan *plan) CM_MUST_CHECK;

/* Binds unbound dims of the model to their sizes in the baseline, with a message on standard
 * error. CM_OK, CM_NO_MEMORY. */
int check_plan_take_dims(const struct invocation *call, const struct cm_baseline *baseline,
                         struct cm_model *model, struct check_plan *plan) CM_MUST_CHECK;

/* Returns the command that accepts the current costs as the baseline; NULL if out of memory. */
const char *check_accept_command(const struct invocation *call);
