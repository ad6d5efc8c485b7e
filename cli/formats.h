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
    unsigned takes;     /* set of enum format_option */
    /* Writers of a result, of several batches and of formulas; NULL: not supported, or rows. */
    int (*write_result)(const struct request *request, const struct cm_result *result,
                        struct cm_diagnostics *diag, FILE *out);
    int (*write_sweep)(const struct request *request, const struct cm_sweep *sweep,
                       struct cm_diagnostics *diag, FILE *out);
    int (*write_formula)(const struct request *request, const struct cm_formula *formula,
                         FILE *out);
    /* Writers that take only table options; used if the ones above are NULL. */
    int (*write_rows)(const struct cm_result *result, const struct cm_table_options *options,
                      struct cm_diagnostics *diag, FILE *out);
    int (*write_sweep_rows)(const struct cm_sweep *sweep,
                            const struct cm_table_options *options, struct cm_diagnostics *diag,
                            FILE *out);
    int depth;        /* default of --depth for write_rows */
    bool draws_times; /* requires times */
};

/* Write the report in request->format. CM_OK, CM_USAGE, CM_IO, CM_NO_MEMORY. */
int format_write_result(const struct request *request, const struct cm_result *result,
                        struct cm_diagnostics *diag, FILE *out) CM_MUST_CHECK;
int format_write_sweep(const struct request *request, const struct cm_sweep *sweep,
                       struct cm_diagnostics *diag, FILE *out) CM_MUST_CHECK;

/* Returns true if the format supports several batches. */
bool format_has_sweep(const struct format *format);

/* Sets request->format by request->format_name. CM_OK, CM_USAGE. */
int format_find(const struct invocation *call, struct request *request) CM_MUST_CHECK;

/* Checks that the format supports all given options and that column names are valid. CM_OK,
 * CM_USAGE, CM_NO_MEMORY. */
int format_check(const struct invocation *call, const struct request *request) CM_MUST_CHECK;

#endif
