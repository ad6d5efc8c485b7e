/* SPDX-License-Identifier: Apache-2.0 */
/* The writers of the formats in api/render.c. */
#pragma once

#include "costmodel/costmodel.h"

/* A report to write, with valid options. */
struct report {
    const struct cm_result *result; /* NULL: the sweep */
    const struct cm_sweep *sweep;   /* NULL: the result */
    const struct cm_text_options *text;
    const struct cm_table_options *table;
    struct cm_diagnostics *diag;
    FILE *out;
};

/* CM_OK, CM_USAGE (see cm_result_write; writes nothing), CM_REFUSED, CM_IO, CM_NO_MEMORY. */
typedef int report_writer(const struct report *report);

report_writer report_write_text;         /* a result */
report_writer report_write_explanations; /* its answers to cm_options.explain */
report_writer report_write_sweep;        /* a sweep, as text */
report_writer report_write_table;
report_writer report_write_deepspeed;
report_writer report_write_json;
report_writer report_write_csv;
report_writer report_write_markdown;
report_writer report_write_folded;
report_writer report_write_dot;
report_writer report_write_mermaid;
report_writer report_write_html;
report_writer report_write_trace;
