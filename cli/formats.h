/* SPDX-License-Identifier: Apache-2.0 */
/* Output formats of profile and the options that each supports. */
#ifndef CLI_FORMATS_H
#define CLI_FORMATS_H

#include <stdbool.h>
#include <stdio.h>

#include "costmodel/costmodel.h"

struct invocation;
struct request;

struct format {
    const char *name;
    const char *called; /* in messages */
    int (*write_result)(const struct request *request, const struct cm_result *result,
                        struct cm_diagnostics *diag, FILE *out);
    /* NULL: does not support several batches. */
    int (*write_sweep)(const struct request *request, const struct cm_sweep *sweep,
                       struct cm_diagnostics *diag, FILE *out);
    /* NULL: does not support formulas. */
    int (*write_formula)(const struct request *request, const struct cm_formula *formula,
                         FILE *out);
    unsigned takes;   /* set of enum format_option */
    bool draws_times; /* requires times */
};

/* Sets request->format by request->format_name. CM_OK, CM_USAGE. */
int format_find(const struct invocation *call, struct request *request) CM_MUST_CHECK;

/* Checks that the format supports all given options and that column names are valid. CM_OK,
 * CM_USAGE, CM_NO_MEMORY. */
int format_check(const struct invocation *call, const struct request *request) CM_MUST_CHECK;

#endif
