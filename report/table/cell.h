/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands where a row and a column of a table meet, and how it is written: the same value
 * in the units that were asked for, whatever the format is.
 */
#ifndef REPORT_TABLE_CELL_H
#define REPORT_TABLE_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "report/number.h"

struct text;

enum cell_kind {
    CELL_NONE,   /* the row has no such figure */
    CELL_TEXT,   /* `words`, as in the file: writers make it safe */
    CELL_COUNT,  /* `value` */
    CELL_FIGURE, /* `value`, of `unit` */
    CELL_SHARE,  /* `value` of `whole` */
    CELL_REAL,   /* `real`, a quotient of figures */
};

struct cell {
    enum cell_kind kind;
    enum number_unit unit;
    int64_t value;
    int64_t whole;
    double real;
    bool upper_bound; /* the figure is an upper bound */
    struct text *words;
};

/* False where the figure is unknown. Of a text, true. */
bool cell_is_known(const struct cell *cell);

/* A figure as a number, for comparisons; of a share the fraction. Known ones only. */
double cell_real(const struct cell *cell);

/* A known figure in these units; nothing of a text, and where there is none. */
void cell_append(struct text *text, const struct cell *cell, enum number_units units);

/* The same for people: "?" is not known, and an upper bound has CELL_UPPER_BOUND, or in
 * Markdown CELL_UPPER_BOUND_UTF8, before it. */
void cell_append_shown(struct text *text, const struct cell *cell, enum number_units units,
                       const char *upper_bound);
#define CELL_UPPER_BOUND      "<= "
#define CELL_UPPER_BOUND_UTF8 "≤ "

#endif
