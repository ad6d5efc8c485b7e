/* SPDX-License-Identifier: Apache-2.0 */
/* What `costmodel check` was asked for, and the files that it reads and writes. */
#ifndef CLI_CHECK_CHECK_COMMAND_H
#define CLI_CHECK_CHECK_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/binding.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/requested.h"
#include "cli/streams.h"
#include "costmodel/check.h"

struct check_request {
    struct binding binding;
    struct asked asked;
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
    int format; /* index into check_formats */
    const char *output;
    struct option_list reports; /* FORMAT=FILE */
    int color;                  /* enum color_choice */
};

/* Defaults, and what stands on the command line. CM_OK, CM_USAGE, CM_NO_MEMORY. */
int check_request_read(const struct invocation *call, struct check_request *ret) CM_MUST_CHECK;

/* How a verdict may be written; NULL past the last. */
const char *check_format_name(size_t index);

/* A file, and how a verdict is written into it. */
struct check_report {
    size_t format;
    const char *path; /* NULL: standard output */
};

/* Of FORMAT=FILE. CM_OK, CM_USAGE. */
int check_report_read(const struct invocation *call, const char *text,
                      struct check_report *ret) CM_MUST_CHECK;

/* Writes all of them, or no file at all. CM_OK, CM_IO, CM_NO_MEMORY. */
int check_reports_write(const struct invocation *call, const struct check_report *reports,
                        size_t n, const struct cm_verdict *verdict,
                        enum color_choice color) CM_MUST_CHECK;

/* Whole or not at all. */
int check_baseline_write(const char *path, const struct cm_baseline *baseline,
                         struct cm_diagnostics *diag) CM_MUST_CHECK;

/* What is to be profiled, and at which batches. */
struct check_plan {
    struct cm_options options; /* batch aside */
    size_t n_batches;
    const int64_t *batches; /* 0: as the file says */
    size_t n_beside;
    const int64_t *beside; /* that only limits name: for these limits alone */
};

/*
 * Adds to options that the command line gave what it left open: told by the budget, else by the
 * baseline; either may be NULL. CM_OK, CM_USAGE, CM_NO_MEMORY.
 */
int check_plan_make(const struct invocation *call, const struct check_request *request,
                    const struct cm_budget *budget, const struct cm_baseline *baseline,
                    struct check_plan *ret) CM_MUST_CHECK;

/* Lists the batches that limits name. CM_OK, CM_USAGE (a limit is at fault), CM_NO_MEMORY. */
int check_plan_take_limits(const struct invocation *call, size_t n,
                           const struct cm_check_limit *limits,
                           struct check_plan *plan) CM_MUST_CHECK;

/* Binds the dims of the model that nobody bound to what the baseline was taken at, and says so
 * on standard error. CM_OK, CM_NO_MEMORY. */
int check_plan_take_dims(const struct invocation *call, const struct cm_baseline *baseline,
                         struct cm_model *model, struct check_plan *plan) CM_MUST_CHECK;

/* What was read of a baseline; a profile that serves as one lives as long. */
struct check_baseline {
    struct cm_baseline *baseline; /* NULL: there is none */
    struct cm_result *profile;
    const char *missing; /* why there is none */
};

/* A file that does not exist is none. CM_OK, CM_REFUSED, CM_IO, CM_NO_MEMORY. */
int check_baseline_read(const char *path, struct arena *arena, struct cm_diagnostics *diag,
                        struct check_baseline *ret) CM_MUST_CHECK;
void check_baseline_free(struct check_baseline *baseline);

int check_budget_read(const char *path, struct arena *arena, struct cm_diagnostics *diag,
                      struct cm_budget **ret) CM_MUST_CHECK;

/* The command line that takes what the model costs now for the baseline; NULL: no memory. */
const char *check_accept_command(const struct invocation *call);

#endif
