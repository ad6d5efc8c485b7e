/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of modules, nodes, operators, and the batches and layers of a sweep, for
 * --columns, --sort and --filter in all formats. Metrics are the rows of
 * report/table/columns.c, each with its share of the total: "macs", "macs_share". */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/table/cell.h"

struct arena;
struct cm_result;
struct cm_sweep;
struct column;
struct text;

enum rows { ROWS_MODULES, ROWS_NODES, ROWS_OPERATORS, ROWS_BATCHES, ROWS_LAYERS };

/* The listed rows: batches of a sweep or its layers at each batch, or modules, nodes or
 * operators of a result. */
struct rows_of {
    enum rows rows;
    const struct cm_result *result;
    const struct cm_sweep *sweep;
};

/* The struct whose member a column shows. */
enum field_owner {
    OWNER_MODULE, /* the module, or the module that contains the node */
    OWNER_OPERATOR,
    OWNER_BATCH,
    OWNER_LAYER,
    OWNER_LAYER_TIME,
    OWNER_PLANS,      /* struct cm_sweep_plans */
    OWNER_LAYER_PLAN, /* struct cm_layer_plan */
    OWNER_STEP,       /* struct cm_step of the module or node */
    OWNER_ACHIEVED,   /* struct cm_achieved of the module */
};

/* A condition that a profile or sweep must meet to have a column. */
struct requirement {
    const char *words; /* for messages */
    bool (*is_met)(const struct rows_of *of);
};

struct field {
    const char *key;     /* name on the command line and in CSV */
    const char *heading; /* heading in reports */
    unsigned rows;       /* kinds of rows that have the column: a bit FIELD_OF for each */
    bool is_text;
    const char *empty;               /* shown instead of the text ""; NULL: nothing */
    const struct requirement *needs; /* NULL: always there */
    void (*get)(const struct field *field, const struct rows_of *of, size_t row,
                struct cell *ret);
    const struct column *column; /* the metric; NULL: not a metric */
    bool is_share;
    enum field_owner
        owner; /* owner, kind, unit, offset: the struct member that is shown, if any */
    enum cell_kind kind;
    enum number_unit unit;
    size_t offset;
};

#define FIELD_OF(rows) (1U << (rows))

/* By enum rows: "modules". */
extern const char *const rows_names[];

size_t rows_count(const struct rows_of *of);

/* Sets *ret to the i-th column of these rows; its texts may be in the arena. Returns false past
 * the last column, with ret->key "", and if out of memory, with ret->key NULL. */
bool field_at(enum rows rows, size_t i, struct arena *arena, struct field *ret);

/* Returns the default columns, keys separated by commas. A word that begins with @ stands for
 * the metrics that a sweep has: @counts, @all-counts (with integer MACs and operations, which
 * are parts of others), @times. */
const char *fields_usual(enum rows rows);

/* Returns the rank of a column: narrow tables omit the columns with the highest rank first. */
size_t fields_rank(const struct field *field);

/* Sets *ret to the value of a row; `words` is cleared and used for a text. */
void field_get(const struct field *field, const struct rows_of *of, size_t row,
               struct text *words, struct cell *ret);

/* Returns the text of a cell; for "" the `empty` of the column, if it has one. */
const char *field_words(const struct field *field, const struct cell *cell);
