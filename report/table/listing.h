/* SPDX-License-Identifier: Apache-2.0 */
/* Selects and sorts the rows and columns of a table by --columns, --sort, --filter, --depth and
 * --top, for all formats with columns. */
#pragma once

#include <stddef.h>

#include "report/report.h"
#include "report/table/fields.h"
#include "report/table/filter.h"
#include "support/text.h"

struct cm_table_options;

struct listing {
    struct rows_of of;
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
    size_t n_left_out; /* rows omitted by --top */
    struct text words; /* text of the current cell */
};

/* Parses the options and selects the rows, in a new arena. `usual`: keys of the default
 * columns; NULL: fields_usual. After CM_OK, the caller must call listing_close. Returns
 * CM_OK, CM_USAGE or CM_NO_MEMORY. */
int listing_open(const struct cm_table_options *options, struct rows_of of, const char *usual,
                 struct cm_diagnostics *diag, struct listing *ret)
    __attribute__((warn_unused_result));
/* Frees the arena. Returns `status`, or CM_NO_MEMORY if an allocation in the arena failed. */
int listing_close(struct listing *listing, int status) __attribute__((warn_unused_result));

/* Returns the kind of rows that the options select. Either `result` or `sweep` is NULL. */
struct rows_of listing_rows(const struct report *report);

/* Returns the rank of each column (fields_rank), for struct table; NULL if out of memory. */
const size_t *listing_ranks(const struct listing *listing);

/* Sets *ret to a cell of the row-th selected row. Valid until the next call. */
void listing_cell(struct listing *listing, size_t row, size_t column, struct cell *ret);
