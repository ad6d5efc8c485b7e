/* SPDX-License-Identifier: Apache-2.0 */
/* Parsed command line of `costmodel check`, its planned profiles and its report files. */
#pragma once

#include <stdbool.h>

#include "cli/binding.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/timing.h"
#include "costmodel/check.h"

/* One of the models to check. */
struct check_item {
    struct invocation call;  /* arguments of the file, of the command line, and the model */
    struct invocation shown; /* arguments that check this model alone, for `accept` */
    const char *at;          /* place in the file; NULL: of the command line */
    size_t n_waivers;
    const struct cm_check_waiver *waivers;
};

struct check_items {
    size_t n;
    struct check_item *items;
};

/* Lists the models: the operands, or, with `config` or without operands, those of a
 * configuration file (docs/config.md) that are among the operands, if there are any. CM_OK,
 * CM_USAGE, CM_NO_MEMORY. */
int check_items_read(const struct invocation *call, const char *config,
                     const struct option_list *operands, struct check_items *ret) CM_MUST_CHECK;

/* Returns the path with {name} replaced by the file name of the model without extension; NULL
 * if `path` is, or out of memory. */
const char *check_expand_name(struct arena *arena, const char *path, const char *model);

struct check_request {
    struct binding binding;
    struct timing timing;
    const char *model;
    const char *baseline;
    const char *budget;
    const char *config;
    struct option_list limits;
    bool allow_incomplete;
    bool fail_ambiguous;
    int top;
    bool update;
    bool is_skipped; /* an update of a model of the file that has no baseline */
    bool ratchet;
    const char *reason;
    int format; /* as in check_report */
    const char *output;
    struct option_list reports; /* FORMAT=FILE */
    const char *history;
    int color; /* enum color_choice */
};

/* Parses the command line without checking combinations. CM_OK, CM_USAGE, CM_NO_MEMORY. */
int check_request_parse(const struct invocation *call, struct check_request *ret,
                        struct option_list *operands) CM_MUST_CHECK;
/* The same, for the messages only. */
int check_request_try(const struct invocation *call) CM_MUST_CHECK;
/* Parses and checks the arguments of one model. CM_OK, CM_USAGE, CM_NO_MEMORY. */
int check_request_read(const struct check_item *item, struct check_request *ret) CM_MUST_CHECK;

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

/* Returns the command with these arguments that accepts the current costs as the baseline; NULL
 * if out of memory. */
const char *check_accept_command(const struct invocation *call);
