/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be listed of modules, nodes, operators and the batches of a sweep: the one table
 * that --columns, --sort and --filter know, whatever the format is. The metrics among them are
 * the rows of report/table/columns.c, each with its share of the total: "macs", "macs_share".
 */
#ifndef REPORT_TABLE_FIELDS_H
#define REPORT_TABLE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/table/cell.h"

struct arena;
struct cm_result;
struct cm_sweep;
struct column;
struct text;

enum rows { ROWS_MODULES, ROWS_NODES, ROWS_OPERATORS, ROWS_BATCHES };

/* What is listed: of a sweep its batches, of a result the rest. */
struct rows_of {
    enum rows rows;
    const struct cm_result *result;
    const struct cm_sweep *sweep;
};

struct field {
    const char *key;     /* on the command line, and in CSV */
    const char *heading; /* for people */
    unsigned rows;       /* one bit for each of enum rows that has it: FIELD_OF */
    bool is_text;
    const char *empty; /* what people see for the text ""; NULL: nothing */
    const char *needs; /* what the profile has to be, of a figure that not all have; NULL */
    bool (*is_there)(const struct rows_of *of); /* NULL: always */
    void (*get)(const struct field *field, const struct rows_of *of, size_t row,
                struct cell *ret);
    const struct column *column; /* of a metric */
    bool is_share;
};

#define FIELD_OF(rows) (1U << (rows))

/* "modules" */
extern const char *const rows_names[];

size_t rows_count(const struct rows_of *of);

/* The i-th that such rows have, in the order in which they are listed; its words may be in the
 * arena. False: no more, or, with a key of NULL, no memory. */
bool field_at(enum rows rows, size_t i, struct arena *arena, struct field *ret);

/* Keys with commas between them: what is shown when nobody says what. */
const char *fields_usual(enum rows rows);

/* The value of a row; `words` is cleared and used for what is a text. */
void field_get(const struct field *field, const struct rows_of *of, size_t row,
               struct text *words, struct cell *ret);

#endif
