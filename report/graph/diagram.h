/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module tree as boxes and arrows, down to a depth: what is in each box, in the words of a
 * language of diagrams.
 */
#ifndef REPORT_GRAPH_DIAGRAM_H
#define REPORT_GRAPH_DIAGRAM_H

#include <stdio.h>

struct cm_diagnostics;
struct cm_result;
struct cm_table_options;
struct text;

struct diagram_language {
    const char *begin;
    const char *label; /* between a box and what stands in it, */
    const char *label_end;
    const char *arrow; /* and between two boxes */
    const char *arrow_end;
    const char *end;
    const char *line_end; /* within a label */
    /* Words without control characters, so that they stand for themselves in a label. */
    void (*append)(struct text *label, const char *words);
};

int diagram_write(const struct diagram_language *language, const struct cm_result *result,
                  const struct cm_table_options *options, struct cm_diagnostics *diag,
                  FILE *out) __attribute__((warn_unused_result));

#endif
