/* SPDX-License-Identifier: Apache-2.0 */
/* What --format offers: a row each, with the options that mean something to it. */
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
    /* NULL: it has nothing to say about several batches. */
    int (*write_sweep)(const struct request *request, const struct cm_sweep *sweep,
                       struct cm_diagnostics *diag, FILE *out);
    /* NULL: nor about formulas. */
    int (*write_formula)(const struct request *request, const struct cm_formula *formula,
                         FILE *out);
    unsigned takes;   /* enum format_option, a bit each */
    bool draws_times; /* there is nothing to write without them */
};

/* By request->format_name, into request->format. CM_OK, CM_USAGE. */
int format_find(const struct invocation *call, struct request *request) CM_MUST_CHECK;

/* Whether every option that was given means something to the format, and names what there is.
 * CM_OK, CM_USAGE, CM_NO_MEMORY. */
int format_check(const struct invocation *call, const struct request *request) CM_MUST_CHECK;

#endif
