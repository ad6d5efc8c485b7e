/* SPDX-License-Identifier: Apache-2.0 */
/* The value of one row in one column of a table, and its text in the selected style. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "report/number.h"

struct text;

enum cell_kind {
    CELL_NONE,   /* the row has no such figure */
    CELL_TEXT,   /* `words`, as in the file: writers escape it */
    CELL_COUNT,  /* `value`, always with all digits */
    CELL_FIGURE, /* `value` in `unit`, written in the selected style */
    CELL_SHARE,  /* `value` / `whole` */
    CELL_REAL,   /* `real`, a quotient of figures */
};

struct cell {
    enum cell_kind kind;
    enum number_unit unit;
    int64_t value;
    int64_t whole;
    double real;
    enum number_bound bound;
    struct text *words;
};

/* Returns false if the figure is missing or unknown (a negative `real`); true for a text. */
bool cell_is_known(const struct cell *cell);

/* Returns a known figure as a number; for a share, the fraction. */
double cell_real(const struct cell *cell);

/* Appends a known figure; nothing for texts and missing figures. */
void cell_append(struct text *text, const struct cell *cell, enum number_style style);

/* The same for reports: an unknown figure is "?", and a bound has its prefix. */
void cell_append_shown(struct text *text, const struct cell *cell, enum number_style style,
                       bool unicode);
