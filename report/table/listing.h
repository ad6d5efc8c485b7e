/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows and which columns a table has, and in which order: what --columns, --sort,
 * --filter, --depth and --top say, for every format that has columns.
 */
#ifndef REPORT_TABLE_LISTING_H
#define REPORT_TABLE_LISTING_H

#include <stddef.h>

#include "report/table/fields.h"
#include "report/table/filter.h"
#include "support/text.h"

struct cm_table_options;

struct listing {
    const struct rows_of *of;
    struct arena *arena;
    size_t n_fields;
    struct field *fields;
    bool is_sorted;
    bool is_ascending;
    struct field sort;
    size_t n_filters;
    struct filter *filters;
    size_t n_rows;
    size_t *rows;
    size_t n_left_out; /* by --top */
    struct text words;
};

/*
 * The columns, and what sorts and filters, without a look at any row. `usual`: keys, where the
 * options name none; those that the profile has not are left out. CM_OK, CM_USAGE with a
 * message, CM_NO_MEMORY.
 */
int listing_read(const struct cm_table_options *options, enum rows rows, const char *usual,
                 struct arena *arena, struct cm_diagnostics *diag, struct listing *ret)
    __attribute__((warn_unused_result));

/* The same, and the rows. */
int listing_make(const struct cm_table_options *options, const struct rows_of *of,
                 const char *usual, struct arena *arena, struct cm_diagnostics *diag,
                 struct listing *ret) __attribute__((warn_unused_result));

/* What rows_of a result with these options is. */
struct rows_of listing_rows(const struct cm_result *result,
                            const struct cm_table_options *options);

/* The units of figures; `automatic` is what CM_UNITS_AUTO means. */
enum number_units listing_units(const struct cm_table_options *options,
                                enum number_units automatic);

/* Of the row-th row that was chosen. Valid until the next call. */
void listing_cell(struct listing *listing, size_t row, size_t column, struct cell *ret);

#endif
