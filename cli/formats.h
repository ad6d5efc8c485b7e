/* SPDX-License-Identifier: Apache-2.0 */
/* Output formats of profile and the options that each supports. */
#ifndef CLI_FORMATS_H
#define CLI_FORMATS_H

#include <stdbool.h>
#include <stdio.h>

#include "costmodel/costmodel.h"

struct invocation;
struct request;

/* The report to write: one of result, sweep and formula, the others are NULL; a page of a sweep
 * has the first result too. */
struct report {
    const struct request *request;
    const struct cm_result *result;
    const struct cm_sweep *sweep;
    const struct cm_formula *formula;
    struct cm_diagnostics *diag;
};

/* A format of the library and how this program writes it. */
struct format {
    struct cm_format of;
    const char *called; /* in messages */
    unsigned takes;     /* set of TAKES_..., the options that it supports */
    bool of_sweeps;     /* supports several batches */
    bool of_formulas;   /* supports --formula */
};

/* Writes a struct report in its request->format. CM_OK, CM_USAGE, CM_IO, CM_NO_MEMORY. */
int format_write(const void *report, FILE *out) CM_MUST_CHECK;

/* Sets request->format by request->format_name, one of cm_format_at. CM_OK, CM_NO_MEMORY. */
int format_find(const struct invocation *call, struct request *request) CM_MUST_CHECK;

/* Checks that the format supports all given options and that column names are valid. CM_OK,
 * CM_USAGE, CM_NO_MEMORY. */
int format_check(const struct invocation *call, const struct request *request) CM_MUST_CHECK;

#endif
